// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of RFC 5044, sections 4.2 to 4.5: where FPDUs end and Markers
 * lie.
 *
 * Code: mpa/fpdu.h, mpa/fpdu.c. The contracts below are for their functions, for
 * any position and length.
 *
 * Properties:
 * - header, ULPDU, pad and CRC are a multiple of four octets, and a shorter
 *   FPDU would not be enough;
 * - an FPDU has as many Markers as it has multiples of 512, and does not end
 *   within a Marker; octet_by_octet() gives the same length;
 * - the MULPDU is the formula of section 4.5, and an FPDU of that length fits
 *   into a segment at any position of the stream;
 * - the FPDU that is made for a piece of the stream fits, and a longer one
 *   does not;
 * - the Markers of an FPDU lead back to its start.
 *
 * Taken as given: mpa_marker_check_all(). headers.eva.c shows which octets it
 * reads, and unit tests show what it returns.
 *
 * WP knows little about bit operations. It takes the facts below as axioms; a
 * program (FACTS) tries each of them with every number of its range.
 *
 * For scripts/prove:
 * FACTS bits
 * RUN contracts  mpa_marker_check_all,get_unaligned_be16,get_unaligned_be32,get_unaligned_be64,put_unaligned_be16,put_unaligned_be32,put_unaligned_be64
 * MUTANT pad-forgets-header    mpa_fpdu_pad        mpa/fpdu.h    s/-(MPA_HDR_LEN + len) & 3/-len \& 3/
 * MUTANT gap-of-a-whole        mpa_marker_gap      mpa/fpdu.h    s/return -pos & (MPA_MARKER_INTERVAL - 1)/return MPA_MARKER_INTERVAL - (pos \& (MPA_MARKER_INTERVAL - 1))/
 * MUTANT marker-behind-the-end mpa_marker_count    mpa/fpdu.h    s/content - gap + MPA_MARKER_SPAN - 1/content - gap + MPA_MARKER_SPAN/
 * MUTANT leading-one-forgotten mpa_fpdu_wire_len   mpa/fpdu.h    s/mpa_marker_count(pos, content)/mpa_marker_count(pos + 4, content)/
 * MUTANT room-ends-in-a-marker mpa_marker_content  mpa/fpdu.c    s/tail <= MPA_MARKER_LEN/tail < 2/
 * MUTANT room-not-rounded      mpa_fpdu_room       mpa/fpdu.h    s/pos) : room) & ~3u/pos) : room)/
 * MUTANT mulpdu-rounds-down    mpa_fpdu_mulpdu     mpa/fpdu.c    s/emss + MPA_MARKER_INTERVAL - 1/emss/
 * MUTANT mulpdu-without-mod    mpa_fpdu_mulpdu     mpa/fpdu.c    s/ + emss % 4//
 * MUTANT leading-one-counted   mpa_marker_encode   mpa/fpdu.h    s/ptr && !mpa_marker_gap(fpdu_start)/0/
 * MUTANT found-behind-leading  mpa_marker_find     mpa/fpdu.h    s/if (!mpa_marker_gap(.start - MPA_MARKER_LEN))/if (0)/
 */
/* Each holds for low <= x < high. */
#define FACTS \
	FACT(wrap_below, -4294967296, 0, (uint32_t)x == x + 4294967296) \
	FACT(wrap_above, 4294967296, 8589934592, (uint32_t)x == x - 4294967296) \
	FACT(low_2, 0, 4294967296, (x & 3) == x % 4) \
	FACT(low_9, 0, 4294967296, (x & 511) == x % 512) \
	FACT(low_16, 0, 4294967296, (x & 65535) == x % 65536) \
	FACT(high_14, 0, 4294967296, (x & 65532) == x % 65536 - x % 4) \
	FACT(high_30, 0, 4294967296, (x & 4294967292) == x - x % 4)

#ifdef PROVE_FACTS
#include <stdint.h>

int main(void)
{
	int64_t x;
	int n = 0;

/* Returns the number of the first fact that does not hold. */
#define FACT(name, low, high, fact)		\
	n++;					\
	for (x = low; x < high; x++)		\
		if (!(fact))			\
			return n;
	FACTS
	return 0;
}
#else

#include <mpa/pure.h>
#include <mpa/wire.h>

#define FACT(name, low, high, fact) \
	axiom name: \forall integer x; low <= x < high ==> fact;
/*@
	axiomatic Bits { FACTS }

	// Multiples of 512 in [a, b): the number of Markers that start there.
	logic integer markers(integer a, integer b) = (b + 511) / 512 - (a + 511) / 512;

	// Octets of the stream that n octets take with the Markers among them.
	logic integer gap(integer pos) = (512 - pos % 512) % 512;
	logic integer laid(integer pos, integer n) =
		n <= gap(pos) ? n : n + 4 * ((n - gap(pos) + 507) / 508);

	// Octets of the stream that an FPDU takes.
	logic integer content(integer ulpdu) = (ulpdu + 5) / 4 * 4 + 4;
	logic integer wire(integer ulpdu, integer markers, integer pos) =
		markers != 0 ? laid(pos, content(ulpdu)) : content(ulpdu);
*/

/*@ requires len <= 65535;
    assigns \nothing;
    ensures \result <= 3;
    ensures (2 + len + \result) % 4 == 0;
*/
static inline __u32 mpa_fpdu_pad(__u32 len);

/*@ requires len <= 65535;
    assigns \nothing;
    ensures \result % 4 == 0;
    ensures 2 + len + 4 <= \result <= 2 + len + 3 + 4;
    ensures \result == content(len);
*/
static inline __u32 mpa_fpdu_content(__u32 len);

/*@ assigns \nothing;
    ensures \result == gap(pos);
    ensures \result < 512 && (pos + \result) % 512 == 0;
*/
static inline __u32 mpa_marker_gap(__u32 pos);

/*@ requires pos % 4 == 0;
    requires 1 <= content <= 1000000;
    assigns \nothing;
    ensures content + 4 * \result == laid(pos, content);
    ensures \result == markers(pos, pos + content + 4 * \result);
    ensures (pos + content + 4 * \result - 1) % 512 >= 4;
*/
static inline __u32 mpa_marker_count(__u32 pos, __u32 content);

/*@ requires pos % 4 == 0;
    requires ulpdu_len <= 65535;
    assigns \nothing;
    ensures \result % 4 == 0;
    ensures \result == wire(ulpdu_len, markers, pos);
    ensures !markers ==> 2 + ulpdu_len + 4 <= \result <= 2 + ulpdu_len + 3 + 4;
    ensures markers ==> 2 + ulpdu_len + 4 <= \result - 4 * markers(pos, pos + \result) <= 2 + ulpdu_len + 3 + 4;
    ensures markers ==> (pos + \result - 1) % 512 >= 4;
*/
static inline __u32 mpa_fpdu_wire_len(__u32 ulpdu_len, bool markers, __u32 pos);

/*@ requires pos % 4 == 0;
    requires room <= 0x7fffffff;
    assigns \nothing;
    ensures laid(pos, \result) <= room < laid(pos, \result + 1);
*/
__u32 mpa_marker_content(__u32 room, __u32 pos);

/*@ requires pos % 4 == 0;
    requires room <= 0x7fffffff;
    assigns \nothing;
    ensures \result <= 64768;
    ensures \result > 0 ==> wire(\result, markers, pos) <= room;
    ensures \result == 64768 || room < wire(\result + 1, markers, pos);
*/
static inline __u32 mpa_fpdu_room(__u32 room, bool markers, __u32 pos);

/*@ requires pos % 4 == 0 && fpdu_start % 4 == 0;
    assigns \nothing;
    ensures \let distance = (pos - fpdu_start + 4294967296) % 4294967296;
	\result == (distance > 0 && fpdu_start % 512 == 0 ? distance - 4 : distance) % 65536;
*/
static inline __be32 mpa_marker_encode(__u32 pos, __u32 fpdu_start);

/*@ requires pos % 4 == 0 && fpdu_start % 4 == 0;
    assigns \nothing;
    ensures \let distance = (pos - fpdu_start + 4294967296) % 4294967296;
	\result != 0 <==> marker % 65536 - marker % 4 ==
		(distance > 0 && fpdu_start % 512 == 0 ? distance - 4 : distance) % 65536;
*/
static inline bool mpa_marker_check(__be32 marker, __u32 pos, __u32 fpdu_start);

/*@ requires \valid(start);
    assigns *start;
    ensures \let pointer = marker % 65536 - marker % 4;
	\let place = (pos - pointer + 4294967296) % 4294967296;
	(\result != 0 <==> pointer == 0 || place % 512 != 0) &&
	(pointer == 0 ==> *start == pos) &&
	(pointer != 0 && place % 512 == 4 ==> *start == place - 4) &&
	(pointer != 0 && place % 512 > 4 ==> *start == place);
*/
static inline bool mpa_marker_find(__be32 marker, __u32 pos, __u32 *start);

/*@ assigns \nothing;
    ensures \let formula = emss - (6 + (markers ? 4 * ((emss + 511) / 512) : 0) + emss % 4);
	\result == (formula < 128 ? 128 : formula > 64768 ? 64768 : formula);
*/
__u32 mpa_fpdu_mulpdu(__u32 emss, bool markers);

#include "mpa/fpdu.c"

/*@ requires pos % 4 == 0;
    requires content <= 100000;
    assigns \nothing;
    ensures \result == laid(pos, content);
*/
static __u32 octet_by_octet(__u32 content, __u32 pos)
{
	__u32 used = 0, n;
	//@ ghost __u32 num = 0;

	/*@ loop invariant n <= content && num <= n && used == n + 4 * num;
	    loop invariant num == 0 ==> used <= gap(pos);
	    loop invariant num > 0 ==> gap(pos) + 512 * num - 508 < used <= gap(pos) + 512 * num;
	    loop assigns n, used, num;
	    loop variant content - n;
	*/
	for (n = 0; n < content; n++) {
		if ((pos + used) % 512 == 0) {
			used += 4;
			//@ ghost num++;
		}
		used++;
	}
	return used;
}

/*@ requires pos % 4 == 0 && content >= 1 && content <= 100000;
    assigns \nothing;
*/
static void count_is_naive(__u32 content, __u32 pos)
{
	__u32 naive = octet_by_octet(content, pos);
	__u32 len = content + 4 * mpa_marker_count(pos, content);

	//@ assert naive == len;
}

/*@ requires pos % 4 == 0;
    assigns \nothing;
*/
static void mulpdu_fits(__u32 emss, bool markers, __u32 pos)
{
	__u32 mulpdu = mpa_fpdu_mulpdu(emss, markers);
	__u32 len = mpa_fpdu_wire_len(mulpdu, markers, pos);

	//@ assert emss >= 141 ==> len <= emss;
}

/*
 * An FPDU's Markers lead back to its start. An FPDU never starts right behind a
 * Marker: that Marker would be its own first octets.
 */
/*@ requires pos % 512 == 0 && start % 4 == 0 && start % 512 != 4;
    requires (pos - start + 4294967296) % 4294967296 <= 65535;
    assigns \nothing;
*/
static void marker_leads_back(__u32 pos, __u32 start)
{
	__be32 marker = mpa_marker_encode(pos, start);
	bool right = mpa_marker_check(marker, pos, start);
	__u32 found_start;
	bool found = mpa_marker_find(marker, pos, &found_start);

	//@ assert right: right != 0;
	//@ assert found: found != 0 && found_start == start;
}

#endif
