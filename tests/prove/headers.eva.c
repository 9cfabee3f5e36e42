// SPDX-License-Identifier: GPL-2.0
/*
 * The functions that read and write headers, with any octets, any lengths and
 * any structs.
 *
 * Code: mpa/negotiate.c, ddp_glue/ddp.c, ddp_glue/rdmap.c, mpa_marker_check_all()
 * of mpa/fpdu.c.
 *
 * Properties: no undefined behaviour; no read behind the last octet of the
 * caller's input, no write behind the room that the caller must provide. The
 * input ends where its memory ends.
 *
 * For scripts/prove:
 * RUN segment      drive_segment
 * RUN read         drive_read
 * RUN terminate    drive_terminate
 * RUN frame        drive_frame
 * RUN negotiation  drive_negotiation
 * RUN build        drive_build
 * RUN markers      drive_markers
 * MUTANT segment-of-nothing     drive_segment     ddp_glue/ddp.c   s/if (!ulpdu_len)/if (0)/
 * MUTANT segment-cut-short      drive_segment     ddp_glue/ddp.c   s/if (ulpdu_len < ddp/if (ulpdu_len + 1 < ddp/
 * MUTANT opcode-behind-table    drive_segment     ddp_glue/rdmap.c s/opcode >= RDMAP_NUM/opcode > RDMAP_NUM/
 * MUTANT terminate-cut-short    drive_terminate   ddp_glue/rdmap.c s/if (len < RDMAP_TERM_CTRL_LEN)/if (len < 1)/
 * MUTANT terminate-without-read drive_terminate   ddp_glue/rdmap.c s/if (!fault->read_hdr)/if (0)/
 * MUTANT frame-cut-short        drive_short_frame mpa/negotiate.c    s/have <= FRAME_REV/have < FRAME_REV/
 * MUTANT frame-without-data     drive_short_frame mpa/negotiate.c    s/have < MPA_STARTUP_HDR_LEN + ret/have < MPA_STARTUP_HDR_LEN/
 * MUTANT frame-half-enhanced    drive_short_frame mpa/negotiate.c    s/pd_len < MPA_ENH_LEN/pd_len < 2/
 * MUTANT build-too-long         drive_build       mpa/negotiate.c    s/MPA_MAX_PRIVATE_DATA - enh_len/MPA_MAX_PRIVATE_DATA/
 * MUTANT marker-behind-end      drive_markers     mpa/fpdu.c       s/off < wire_len/off <= wire_len/
 */
#include <mpa/negotiate.h>
#include <mpa/pure.h>

#include "__fc_builtin.h"
#include "ddp_glue/ddp.h"
#include "ddp_glue/rdmap.h"
#include "mpa/fpdu.h"

/* Octets of the longest FPDU, Markers included. */
#define LONGEST	66072u

static __u8 octets[LONGEST];

/* @len octets of any value; their memory ends behind the last one. */
static __u8 *any_octets(__u32 len)
{
	__u8 *p = octets + (LONGEST - len);

	if (len)
		Frama_C_make_unknown((char *)p, len);
	return p;
}

static __u32 any_u32(void)
{
	return Frama_C_unsigned_int_interval(0, 0xffffffff);
}

static __u16 any_u16(void)
{
	return Frama_C_unsigned_int_interval(0, 0xffff);
}

static __u8 any_u8(void)
{
	return Frama_C_unsigned_int_interval(0, 0xff);
}

static bool any_bool(void)
{
	return Frama_C_interval(0, 1);
}

static __u32 any_position(void)
{
	return any_u32() & ~3u;
}

static struct mpa_offer any_offer(void)
{
	struct mpa_offer offer = {
		.rev = any_u8(),
		.rdmac = any_bool(),
		.markers = any_bool(),
		.crc = any_bool(),
		.reject = any_bool(),
		.enhanced = any_bool(),
		.large = any_bool(),
		.p2p = any_bool(),
		.rtr = any_u8(),
		.ird = any_u16(),
		.ord = any_u16(),
		.pd_len = any_u16(),
	};

	return offer;
}

/*
 * The header has as many octets as the ULPDU, at most 18. Eva does not remember
 * what a comparison has told it about an octet, so each value of T is a case of
 * its own here.
 */
static void drive_header(__u32 len, __u8 t)
{
	__u8 hdr[DDP_MAX_HDR_LEN], version = any_bool(), *p = any_octets(len);
	__u32 more = len < DDP_MAX_HDR_LEN ? 0 : any_u32();
	struct rdmap_error err;
	struct ddp_segment seg;

	if (len)
		p[0] = t | any_u8() % DDP_CTRL_TAGGED;
	if (!rdmap_segment_parse(p, len + more, version, &seg, &err))
		rdmap_segment_build(hdr, &seg, version);
}

void drive_segment(void)
{
	__u32 len;

	//@ loop unroll 20;
	for (len = 0; len <= DDP_MAX_HDR_LEN; len++) {
		drive_header(len, 0);
		drive_header(len, DDP_CTRL_TAGGED);
	}
}

void drive_read(void)
{
	struct rdmap_read rr;

	rdmap_read_parse(any_octets(RDMAP_READ_REQUEST_LEN), &rr);
	rdmap_read_build(any_octets(RDMAP_READ_REQUEST_LEN), &rr);
}

void drive_terminate(void)
{
	__u8 body[RDMAP_TERM_MAX_LEN], ddp_hdr[DDP_MAX_HDR_LEN], read_hdr[RDMAP_READ_REQUEST_LEN];
	struct rdmap_fault fault = {
		.err = { any_u8(), any_u8(), any_u8() },
		.ddp_hdr = any_bool() ? ddp_hdr : NULL,
		.ddp_len = any_u16(),
		.read_hdr = any_bool() ? read_hdr : NULL,
	};
	struct rdmap_error err;
	__u32 len;

	Frama_C_make_unknown((char *)ddp_hdr, sizeof(ddp_hdr));
	Frama_C_make_unknown((char *)read_hdr, sizeof(read_hdr));
	rdmap_terminate_build(body, &fault);
	//@ loop unroll 6;
	for (len = 0; len <= RDMAP_TERM_CTRL_LEN; len++)
		rdmap_terminate_parse(any_octets(len), len, &err);
	rdmap_terminate_parse(any_octets(RDMAP_TERM_CTRL_LEN), RDMAP_TERM_CTRL_LEN + any_u16(), &err);
}

/* A complete frame is within its input, and so are its Private Data. */
static void parse_frames(__u32 longest)
{
	struct mpa_offer offer;
	__u32 have;
	int len;

	//@ loop unroll 600;
	for (have = 0; have <= longest; have++) {
		len = mpa_startup_parse(any_octets(have), have, any_bool(), any_u8(), &offer);
		if (len <= 0)
			continue;
		//@ assert frame_is_there: len <= have;
		//@ assert private_data_are_there: 20 + offer.pd_len <= have;
	}
}

void drive_frame(void)
{
	parse_frames(MPA_STARTUP_MAX_LEN + 1);
}

/* Enough to show a mutant. */
void drive_short_frame(void)
{
	parse_frames(32);
}

void drive_negotiation(void)
{
	struct mpa_offer local = any_offer(), remote = any_offer(), reply;
	struct mpa_agreed agreed;

	mpa_startup_answer(&local, &remote, &reply, &agreed);
	mpa_startup_conclude(&local, &remote, &agreed);
	mpa_startup_rdmac(&local, &agreed);
}

void drive_build(void)
{
	struct mpa_offer offer = any_offer();
	__u8 frame[MPA_STARTUP_MAX_LEN];

	mpa_startup_build(frame, any_bool(), &offer, any_octets(MPA_MAX_PRIVATE_DATA));
}

/*
 * With Markers, positions and lengths are multiples of four. Tries every length
 * up to eight Markers, and the longest.
 */
void drive_markers(void)
{
	__u32 len;

	any_octets(LONGEST);
	//@ loop unroll 1100;
	for (len = 4; len <= 8 * MPA_MARKER_INTERVAL; len += 4)
		mpa_marker_check_all(octets + (LONGEST - len), len, any_position());
	mpa_marker_check_all(octets, LONGEST, any_position());
}
