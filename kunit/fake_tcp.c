// SPDX-License-Identifier: GPL-2.0
#include <linux/bvec.h>
#include <linux/mm.h>
#include "conn.h"
#include "fake_tcp.h"
#include "sock.h"
#include "surroundings.h"

struct fake_memory fake_memory;
struct fake_tcp fake_tcp;

struct page *tx_kunit_alloc_pages(gfp_t flags, unsigned int order)
{
	struct page *page;

	if (order > fake_memory.largest_order || !fake_memory.left)
		return NULL;
	page = alloc_pages(flags, order);
	if (page)
		set_page_private(page, (unsigned long)&fake_memory);
	if (page && fake_memory.num_given < FAKE_MEMORY_GIVEN)
		fake_memory.given[fake_memory.num_given++] = page;
	fake_memory.left--;
	return page;
}

static void take_part(const struct bio_vec *vec, u32 len)
{
	struct fake_part *part = &fake_tcp.parts[fake_tcp.num_parts++];

	get_page(vec->bv_page);
	*part = (struct fake_part){ .page = vec->bv_page, .off = vec->bv_offset, .len = len };
}

int mpa_sock_send_pages(struct mpa_conn *conn, const struct mpa_sock_piece *piece)
{
	u32 len = min(piece->len, fake_tcp.space), left = len, i, n;

	if (fake_tcp.dead)
		return fake_tcp.dead;
	if (!len || WARN_ON_ONCE(fake_tcp.num_parts + piece->num_parts > FAKE_TCP_PARTS))
		return -EAGAIN;
	for (i = 0; left; i++, left -= n) {
		n = min(left, piece->part[i].bv_len);
		take_part(&piece->part[i], n);
	}
	fake_tcp.space -= len;
	fake_tcp.len += len;
	fake_tcp.calls++;
	fake_tcp.more = piece->more || piece->rest;
	return len;
}

void mpa_sock_end_record(struct sock *sk)
{
	if (fake_tcp.num_ends && fake_tcp.ends[fake_tcp.num_ends - 1] == fake_tcp.len)
		return;
	if (!WARN_ON_ONCE(fake_tcp.num_ends == FAKE_TCP_ENDS))
		fake_tcp.ends[fake_tcp.num_ends++] = fake_tcp.len;
}

u32 mpa_sock_fit(struct sock *sk, struct mpa_sock_paged *paged, u32 len)
{
	return len;
}

u32 mpa_sock_join(struct sock *sk, struct mpa_sock_paged *paged,
		  const struct mpa_sock_piece *piece, u32 len)
{
	return piece->num_parts < MPA_SOCK_PARTS ? len : 0;
}

u32 mpa_sock_fill(struct sock *sk, u32 mss)
{
	u32 end = fake_tcp.num_ends ? fake_tcp.ends[fake_tcp.num_ends - 1] : 0;

	return (fake_tcp.len - max(end, fake_tcp.cut)) % mss;
}

u32 mpa_sock_emss(struct sock *sk)
{
	return fake_tcp.emss;
}

/* TCP sends all that it has, although the last segment is not full. */
void fake_tcp_send_partly(void)
{
	fake_tcp.cut = fake_tcp.len;
	if (!WARN_ON_ONCE(fake_tcp.num_ends == FAKE_TCP_ENDS))
		fake_tcp.ends[fake_tcp.num_ends++] = fake_tcp.len;
}

/* Everything is acknowledged: TCP releases the pages. */
void fake_tcp_release(void)
{
	u32 i;

	for (i = 0; i < fake_tcp.num_parts; i++)
		put_page(fake_tcp.parts[i].page);
	fake_tcp.num_parts = 0;
}
