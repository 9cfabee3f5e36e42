/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of MPA connections: Documentation/tracing.md explains them. The
 * names of fields are an interface: scripts read them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mpa

#if !defined(MPA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MPA_TRACE_H

#include <linux/tracepoint.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <trace/events/net_probe_common.h>
#include "conn.h"
#include "fpdu.h"

TRACE_DEFINE_ENUM(MPA_ERR_NONE);
TRACE_DEFINE_ENUM(MPA_ERR_TCP_LOST);
TRACE_DEFINE_ENUM(MPA_ERR_CRC);
TRACE_DEFINE_ENUM(MPA_ERR_MARKER);
TRACE_DEFINE_ENUM(MPA_ERR_STARTUP);

#define mpa_trace_error(err)						\
	__print_symbolic(err,						\
			 { MPA_ERR_NONE, "none" },			\
			 { MPA_ERR_TCP_LOST, "tcp_lost" },		\
			 { MPA_ERR_CRC, "crc" },			\
			 { MPA_ERR_MARKER, "marker" },			\
			 { MPA_ERR_STARTUP, "startup" })

/* Which connection: its address in the kernel, and the ports of its socket. */
#define MPA_TRACE_CONN							\
	__field(const void *, conn)					\
	__field(u16, sport)						\
	__field(u16, dport)

#define MPA_TRACE_SET_CONN(c)						\
	do {								\
		__entry->conn = (c);					\
		__entry->sport = ntohs(inet_sk((c)->sk)->inet_sport);	\
		__entry->dport = ntohs(inet_sk((c)->sk)->inet_dport);	\
	} while (0)

/* Markers in an FPDU, from its lengths. */
#define mpa_trace_markers(wire, ulpdu_len)				\
	(((wire) - mpa_fpdu_content(ulpdu_len)) / MPA_MARKER_LEN)

#define MPA_TRACE_CONN_FMT	"conn=%p sport=%u dport=%u "
#define MPA_TRACE_CONN_ARGS	__entry->conn, __entry->sport, __entry->dport

/* A Request or a Reply (RFC 5044 section 7.1.1). */
TRACE_EVENT(mpa_startup_frame,
	TP_PROTO(const struct mpa_conn *conn, bool sent, bool reply,
		 const struct mpa_offer *offer),
	TP_ARGS(conn, sent, reply, offer),
	TP_STRUCT__entry(
		MPA_TRACE_CONN
		__field(u8, sent)
		__field(u8, reply)
		__field(u8, rev)
		__field(u8, markers)
		__field(u8, crc)
		__field(u8, reject)
		__field(u8, enhanced)
		__field(u8, large)
		__field(u8, p2p)
		__field(u8, rtr)
		__field(u16, ird)
		__field(u16, ord)
		__field(u16, pd_len)
	),
	TP_fast_assign(
		MPA_TRACE_SET_CONN(conn);
		__entry->sent = sent;
		__entry->reply = reply;
		__entry->rev = offer->rev;
		__entry->markers = offer->markers;
		__entry->crc = offer->crc;
		__entry->reject = offer->reject;
		__entry->enhanced = offer->enhanced;
		__entry->large = offer->large;
		__entry->p2p = offer->p2p;
		__entry->rtr = offer->enhanced ? offer->rtr : 0;
		__entry->ird = offer->enhanced ? offer->ird : 0;
		__entry->ord = offer->enhanced ? offer->ord : 0;
		__entry->pd_len = offer->pd_len;
	),
	TP_printk(MPA_TRACE_CONN_FMT "%s %s rev=%u M=%u C=%u R=%u S=%u A=%u rtr=%s ird=%u ord=%u pd_len=%u large=%u",
		  MPA_TRACE_CONN_ARGS, __entry->sent ? "sent" : "received",
		  __entry->reply ? "Reply" : "Request", __entry->rev,
		  __entry->markers, __entry->crc, __entry->reject,
		  __entry->enhanced, __entry->p2p,
		  __print_flags(__entry->rtr, "|",
				{ MPA_RTR_SEND, "send" },
				{ MPA_RTR_WRITE, "write" },
				{ MPA_RTR_READ, "read" }),
		  __entry->ird, __entry->ord, __entry->pd_len, __entry->large)
);

/* The result of startup: @status is 0 or a negative errno. */
TRACE_EVENT(mpa_startup_end,
	TP_PROTO(const struct mpa_conn *conn, int status),
	TP_ARGS(conn, status),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__array(u8, saddr, sizeof(struct sockaddr_in6))
		__array(u8, daddr, sizeof(struct sockaddr_in6))
		__field(u8, initiator)
		__field(int, status)
	),
	TP_fast_assign(
		const struct sock *sk = conn->sk;
		const struct inet_sock *inet = inet_sk(sk);

		__entry->conn = conn;
		memset(__entry->saddr, 0, sizeof(struct sockaddr_in6));
		memset(__entry->daddr, 0, sizeof(struct sockaddr_in6));
		TP_STORE_ADDR_PORTS(__entry, inet, sk);
		__entry->initiator = conn->initiator;
		__entry->status = status;
	),
	TP_printk("conn=%p local=%pISpc peer=%pISpc %s status=%d",
		  __entry->conn, __entry->saddr, __entry->daddr,
		  __entry->initiator ? "Initiator" : "Responder",
		  __entry->status)
);

/* Full Operation begins, with the result of the negotiation. */
TRACE_EVENT(mpa_full,
	TP_PROTO(const struct mpa_conn *conn),
	TP_ARGS(conn),
	TP_STRUCT__entry(
		MPA_TRACE_CONN
		__field(u8, rev)
		__field(u8, tx_markers)
		__field(u8, rx_markers)
		__field(u8, crc)
		__field(u16, ird)
		__field(u16, ord)
		__field(u32, emss)
		__field(u32, mulpdu)
		__field(u32, large)
	),
	TP_fast_assign(
		MPA_TRACE_SET_CONN(conn);
		__entry->rev = conn->agreed.rev;
		__entry->tx_markers = conn->agreed.tx_markers;
		__entry->rx_markers = conn->agreed.rx_markers;
		__entry->crc = conn->agreed.crc;
		__entry->ird = conn->agreed.ird;
		__entry->ord = conn->agreed.ord;
		__entry->emss = conn->tx.plan.emss;
		__entry->mulpdu = mpa_fpdu_mulpdu(conn->tx.plan.emss,
						  conn->agreed.tx_markers);
		__entry->large = conn->tx.large;
	),
	TP_printk(MPA_TRACE_CONN_FMT "rev=%u tx_markers=%u rx_markers=%u crc=%u ird=%u ord=%u emss=%u mulpdu=%u large=%u",
		  MPA_TRACE_CONN_ARGS, __entry->rev, __entry->tx_markers,
		  __entry->rx_markers, __entry->crc, __entry->ird,
		  __entry->ord, __entry->emss, __entry->mulpdu, __entry->large)
);

/* The receive direction has ended. */
TRACE_EVENT(mpa_end,
	TP_PROTO(const struct mpa_conn *conn, enum mpa_error err, int status),
	TP_ARGS(conn, err, status),
	TP_STRUCT__entry(
		MPA_TRACE_CONN
		__field(u8, err)
		__field(int, status)
	),
	TP_fast_assign(
		MPA_TRACE_SET_CONN(conn);
		__entry->err = err;
		__entry->status = status;
	),
	TP_printk(MPA_TRACE_CONN_FMT "err=%s status=%d",
		  MPA_TRACE_CONN_ARGS, mpa_trace_error(__entry->err),
		  __entry->status)
);

/*
 * FPDUs. @pos is the stream position of the first octet, @wire counts the
 * octets, Markers included, @ulpdu_len those of the ULPDU.
 */
DECLARE_EVENT_CLASS(mpa_rx,
	TP_PROTO(const struct mpa_conn *conn, u32 pos, u32 wire, u32 ulpdu_len,
		 enum mpa_error err),
	TP_ARGS(conn, pos, wire, ulpdu_len, err),
	TP_STRUCT__entry(
		MPA_TRACE_CONN
		__field(u32, pos)
		__field(u32, wire)
		__field(u32, ulpdu_len)
		__field(u32, markers)
		__field(u8, crc)
		__field(u8, err)
	),
	TP_fast_assign(
		MPA_TRACE_SET_CONN(conn);
		__entry->pos = pos;
		__entry->wire = wire;
		__entry->ulpdu_len = ulpdu_len;
		__entry->markers = mpa_trace_markers(wire, ulpdu_len);
		__entry->crc = conn->rx.crc;
		__entry->err = err;
	),
	/* The CRC is checked first: with a bad Marker the CRC was good. */
	TP_printk(MPA_TRACE_CONN_FMT "pos=%u wire=%u ulpdu_len=%u markers=%u crc=%s err=%s",
		  MPA_TRACE_CONN_ARGS, __entry->pos, __entry->wire,
		  __entry->ulpdu_len, __entry->markers,
		  !__entry->crc ? "off" :
		  __entry->err == MPA_ERR_CRC ? "bad" : "good",
		  mpa_trace_error(__entry->err))
);

/* An FPDU was verified in its turn; without an error it is delivered next. */
DEFINE_EVENT(mpa_rx, mpa_rx_fpdu,
	TP_PROTO(const struct mpa_conn *conn, u32 pos, u32 wire, u32 ulpdu_len,
		 enum mpa_error err),
	TP_ARGS(conn, pos, wire, ulpdu_len, err)
);

/* An FPDU was placed before its turn: octets in front of it are missing. */
DEFINE_EVENT(mpa_rx, mpa_rx_early,
	TP_PROTO(const struct mpa_conn *conn, u32 pos, u32 wire, u32 ulpdu_len,
		 enum mpa_error err),
	TP_ARGS(conn, pos, wire, ulpdu_len, err)
);

/* An FPDU was written; it goes to TCP with the next mpa_tx_batch. */
TRACE_EVENT(mpa_tx_fpdu,
	TP_PROTO(const struct mpa_conn *conn, u32 wire, u32 ulpdu_len),
	TP_ARGS(conn, wire, ulpdu_len),
	TP_STRUCT__entry(
		MPA_TRACE_CONN
		__field(u64, pos)
		__field(u32, wire)
		__field(u32, ulpdu_len)
		__field(u32, markers)
		__field(u8, crc)
	),
	TP_fast_assign(
		MPA_TRACE_SET_CONN(conn);
		__entry->pos = conn->tx.written - wire;
		__entry->wire = wire;
		__entry->ulpdu_len = ulpdu_len;
		__entry->markers = mpa_trace_markers(wire, ulpdu_len);
		__entry->crc = conn->tx.writer.crc;
	),
	TP_printk(MPA_TRACE_CONN_FMT "pos=%llu wire=%u ulpdu_len=%u markers=%u crc=%s",
		  MPA_TRACE_CONN_ARGS, __entry->pos, __entry->wire,
		  __entry->ulpdu_len, __entry->markers,
		  __entry->crc ? "on" : "off")
);

/* TCP has taken octets of the stream; more may be waiting. */
TRACE_EVENT(mpa_tx_batch,
	TP_PROTO(const struct mpa_conn *conn, u64 octets, u32 fpdus),
	TP_ARGS(conn, octets, fpdus),
	TP_STRUCT__entry(
		MPA_TRACE_CONN
		__field(u64, octets)
		__field(u32, fpdus)
		__field(u64, waiting)
	),
	TP_fast_assign(
		MPA_TRACE_SET_CONN(conn);
		__entry->octets = octets;
		__entry->fpdus = fpdus;
		__entry->waiting = conn->tx.written - conn->tx.plan.accepted;
	),
	TP_printk(MPA_TRACE_CONN_FMT "octets=%llu fpdus=%u waiting=%llu",
		  MPA_TRACE_CONN_ARGS, __entry->octets, __entry->fpdus,
		  __entry->waiting)
);

/* TCP's send buffer is full. Traced once, until TCP has taken everything. */
TRACE_EVENT(mpa_tx_blocked,
	TP_PROTO(const struct mpa_conn *conn),
	TP_ARGS(conn),
	TP_STRUCT__entry(
		MPA_TRACE_CONN
		__field(u64, waiting)
		__field(int, queued)
		__field(int, sndbuf)
	),
	TP_fast_assign(
		MPA_TRACE_SET_CONN(conn);
		__entry->waiting = conn->tx.written - conn->tx.plan.accepted;
		__entry->queued = conn->sk->sk_wmem_queued;
		__entry->sndbuf = conn->sk->sk_sndbuf;
	),
	TP_printk(MPA_TRACE_CONN_FMT "waiting=%llu queued=%d sndbuf=%d",
		  MPA_TRACE_CONN_ARGS, __entry->waiting, __entry->queued,
		  __entry->sndbuf)
);

/* TCP has taken everything that waited, after @ns nanoseconds. */
TRACE_EVENT(mpa_tx_unblocked,
	TP_PROTO(const struct mpa_conn *conn, u64 ns),
	TP_ARGS(conn, ns),
	TP_STRUCT__entry(
		MPA_TRACE_CONN
		__field(u64, ns)
	),
	TP_fast_assign(
		MPA_TRACE_SET_CONN(conn);
		__entry->ns = ns;
	),
	TP_printk(MPA_TRACE_CONN_FMT "ns=%llu",
		  MPA_TRACE_CONN_ARGS, __entry->ns)
);

#endif /* MPA_TRACE_H */

/* Looked up along the include path, of which include/ is a part. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../mpa
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
