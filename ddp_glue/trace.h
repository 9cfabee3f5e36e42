/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of queue pairs: Documentation/tracing.md describes them. Scripts
 * read the fields by name, so the names are an interface.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM iwmpa

#if !defined(DDP_GLUE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DDP_GLUE_TRACE_H

#include <linux/tracepoint.h>
#include "cq.h"
#include "sq.h"

TRACE_DEFINE_ENUM(IWM_QP_IDLE);
TRACE_DEFINE_ENUM(IWM_QP_RTS);
TRACE_DEFINE_ENUM(IWM_QP_CLOSING);
TRACE_DEFINE_ENUM(IWM_QP_TERMINATE);
TRACE_DEFINE_ENUM(IWM_QP_ERROR);

#define iwm_trace_state(state)						\
	__print_symbolic(state,						\
			 { IWM_QP_IDLE, "IDLE" },			\
			 { IWM_QP_RTS, "RTS" },				\
			 { IWM_QP_CLOSING, "CLOSING" },			\
			 { IWM_QP_TERMINATE, "TERMINATE" },		\
			 { IWM_QP_ERROR, "ERROR" })

TRACE_DEFINE_ENUM(SIW_OP_WRITE);
TRACE_DEFINE_ENUM(SIW_OP_READ);
TRACE_DEFINE_ENUM(SIW_OP_READ_LOCAL_INV);
TRACE_DEFINE_ENUM(SIW_OP_SEND);
TRACE_DEFINE_ENUM(SIW_OP_SEND_REMOTE_INV);
TRACE_DEFINE_ENUM(SIW_OP_RECEIVE);
TRACE_DEFINE_ENUM(SIW_OP_REG_MR);
TRACE_DEFINE_ENUM(SIW_OP_INVAL_STAG);

#define iwm_trace_opcode(opcode)					\
	__print_symbolic(opcode,					\
			 { SIW_OP_WRITE, "WRITE" },			\
			 { SIW_OP_READ, "READ" },			\
			 { SIW_OP_READ_LOCAL_INV, "READ_INV" },		\
			 { SIW_OP_SEND, "SEND" },			\
			 { SIW_OP_SEND_REMOTE_INV, "SEND_INV" },	\
			 { SIW_OP_RECEIVE, "RECEIVE" },			\
			 { SIW_OP_REG_MR, "REG_MR" },			\
			 { SIW_OP_INVAL_STAG, "LOCAL_INV" })

TRACE_DEFINE_ENUM(SIW_WC_SUCCESS);
TRACE_DEFINE_ENUM(SIW_WC_LOC_LEN_ERR);
TRACE_DEFINE_ENUM(SIW_WC_LOC_PROT_ERR);
TRACE_DEFINE_ENUM(SIW_WC_LOC_QP_OP_ERR);
TRACE_DEFINE_ENUM(SIW_WC_WR_FLUSH_ERR);
TRACE_DEFINE_ENUM(SIW_WC_REM_ACCESS_ERR);
TRACE_DEFINE_ENUM(SIW_WC_REM_INV_REQ_ERR);

#define iwm_trace_status(status)					\
	__print_symbolic(status,					\
			 { SIW_WC_SUCCESS, "SUCCESS" },			\
			 { SIW_WC_LOC_LEN_ERR, "LOC_LEN_ERR" },		\
			 { SIW_WC_LOC_PROT_ERR, "LOC_PROT_ERR" },	\
			 { SIW_WC_LOC_QP_OP_ERR, "LOC_QP_OP_ERR" },	\
			 { SIW_WC_WR_FLUSH_ERR, "WR_FLUSH_ERR" },	\
			 { SIW_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR" },	\
			 { SIW_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR" })

TRACE_DEFINE_ENUM(RDMAP_WRITE);
TRACE_DEFINE_ENUM(RDMAP_READ_RESPONSE);
TRACE_DEFINE_ENUM(RDMAP_SEND);
TRACE_DEFINE_ENUM(RDMAP_SEND_INVAL);
TRACE_DEFINE_ENUM(RDMAP_SEND_SE);
TRACE_DEFINE_ENUM(RDMAP_SEND_SE_INVAL);

#define iwm_trace_message(opcode)					\
	__print_symbolic(opcode,					\
			 { RDMAP_WRITE, "WRITE" },			\
			 { RDMAP_READ_RESPONSE, "READ_RESPONSE" },	\
			 { RDMAP_SEND, "SEND" },			\
			 { RDMAP_SEND_INVAL, "SEND_INV" },		\
			 { RDMAP_SEND_SE, "SEND_SE" },			\
			 { RDMAP_SEND_SE_INVAL, "SEND_SE_INV" })

TRACE_DEFINE_ENUM(IWM_SQ_BLOCKED_TCP);
TRACE_DEFINE_ENUM(IWM_SQ_BLOCKED_STARTUP);
TRACE_DEFINE_ENUM(IWM_SQ_BLOCKED_READ);
TRACE_DEFINE_ENUM(IWM_SQ_BLOCKED_MEMORY);

#define iwm_trace_blocked(why)						\
	__print_symbolic(why,						\
			 { IWM_SQ_BLOCKED_TCP, "tcp" },			\
			 { IWM_SQ_BLOCKED_STARTUP, "startup" },		\
			 { IWM_SQ_BLOCKED_READ, "read" },		\
			 { IWM_SQ_BLOCKED_MEMORY, "memory" })

/* The meaning of a Terminate's layer, type and code: RFC 5040 4.8. */
#define IWM_TERM(layer, etype, ecode)	((layer) << 12 | (etype) << 8 | (ecode))
#define iwm_trace_terminate(layer, etype, ecode)			\
	__print_symbolic(IWM_TERM(layer, etype, ecode),			\
			 { IWM_TERM(0, 0, 0x00), "local catastrophic error" },	\
			 { IWM_TERM(0, 1, 0x00), "RDMAP: invalid STag" },	\
			 { IWM_TERM(0, 1, 0x01), "RDMAP: base or bounds violation" }, \
			 { IWM_TERM(0, 1, 0x02), "RDMAP: access rights violation" }, \
			 { IWM_TERM(0, 1, 0x03), "RDMAP: STag of another stream" }, \
			 { IWM_TERM(0, 1, 0x04), "RDMAP: TO wrap" },		\
			 { IWM_TERM(0, 1, 0x09), "RDMAP: STag cannot be invalidated" }, \
			 { IWM_TERM(0, 1, 0xff), "RDMAP: unspecified" },	\
			 { IWM_TERM(0, 2, 0x05), "RDMAP: invalid version" },	\
			 { IWM_TERM(0, 2, 0x06), "RDMAP: unexpected opcode" },	\
			 { IWM_TERM(0, 2, 0x07), "RDMAP: catastrophic, stream" }, \
			 { IWM_TERM(0, 2, 0x08), "RDMAP: catastrophic, global" }, \
			 { IWM_TERM(0, 2, 0x09), "RDMAP: STag cannot be invalidated" }, \
			 { IWM_TERM(0, 2, 0xff), "RDMAP: unspecified" },	\
			 { IWM_TERM(1, 0, 0x00), "DDP: local catastrophic error" }, \
			 { IWM_TERM(1, 1, 0x00), "DDP: invalid STag" },		\
			 { IWM_TERM(1, 1, 0x01), "DDP: base or bounds violation" }, \
			 { IWM_TERM(1, 1, 0x02), "DDP: STag of another stream" }, \
			 { IWM_TERM(1, 1, 0x03), "DDP: TO wrap" },		\
			 { IWM_TERM(1, 1, 0x04), "DDP: invalid version, Tagged" }, \
			 { IWM_TERM(1, 2, 0x01), "DDP: invalid QN" },		\
			 { IWM_TERM(1, 2, 0x02), "DDP: no buffer for the MSN" }, \
			 { IWM_TERM(1, 2, 0x03), "DDP: MSN out of range" },	\
			 { IWM_TERM(1, 2, 0x04), "DDP: invalid MO" },		\
			 { IWM_TERM(1, 2, 0x05), "DDP: message too long" },	\
			 { IWM_TERM(1, 2, 0x06), "DDP: invalid version, Untagged" }, \
			 { IWM_TERM(2, 0, 0x01), "MPA: TCP connection lost" },	\
			 { IWM_TERM(2, 0, 0x02), "MPA: CRC error" },		\
			 { IWM_TERM(2, 0, 0x03), "MPA: Marker error" },		\
			 { IWM_TERM(2, 0, 0x04), "MPA: invalid startup frame" },	\
			 { IWM_TERM(2, 0, 0x05), "MPA: local catastrophic error" }, \
			 { IWM_TERM(2, 0, 0x06), "MPA: insufficient IRD" },	\
			 { IWM_TERM(2, 0, 0x07), "MPA: no matching RTR" })

/* The QP: the device's index, as "rdma dev" shows it, and the QP's number. */
#define IWM_TRACE_QP							\
	__field(u32, dev)						\
	__field(u32, qpn)

#define IWM_TRACE_SET_QP(qp)						\
	do {								\
		__entry->dev = (qp)->dev->ibdev.index;			\
		__entry->qpn = (qp)->qpn;				\
	} while (0)

#define IWM_TRACE_QP_FMT	"dev=%u qpn=%u "
#define IWM_TRACE_QP_ARGS	__entry->dev, __entry->qpn

/* @conn is that of mpa.ko's events, or NULL without a connection. */
TRACE_EVENT(iwm_qp_state,
	TP_PROTO(const struct iwm_qp *qp, enum iwm_qp_state from,
		 enum iwm_qp_state to),
	TP_ARGS(qp, from, to),
	TP_STRUCT__entry(
		IWM_TRACE_QP
		__field(const void *, conn)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		IWM_TRACE_SET_QP(qp);
		__entry->conn = qp->conn;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk(IWM_TRACE_QP_FMT "conn=%p %s -> %s", IWM_TRACE_QP_ARGS,
		  __entry->conn, iwm_trace_state(__entry->from),
		  iwm_trace_state(__entry->to))
);

/*
 * A work request for the send queue. The kernel does not see a program write
 * its ring: for a program the event shows when the kernel takes the entry.
 */
TRACE_EVENT(iwm_post_send,
	TP_PROTO(const struct iwm_qp *qp, u64 wr_id, u8 opcode, u32 num_sge),
	TP_ARGS(qp, wr_id, opcode, num_sge),
	TP_STRUCT__entry(
		IWM_TRACE_QP
		__field(u64, wr_id)
		__field(u8, opcode)
		__field(u32, num_sge)
	),
	TP_fast_assign(
		IWM_TRACE_SET_QP(qp);
		__entry->wr_id = wr_id;
		__entry->opcode = opcode;
		__entry->num_sge = num_sge;
	),
	TP_printk(IWM_TRACE_QP_FMT "wr_id=%#llx opcode=%s num_sge=%u",
		  IWM_TRACE_QP_ARGS, __entry->wr_id,
		  iwm_trace_opcode(__entry->opcode), __entry->num_sge)
);

/* A receive work request of a kernel consumer for a QP without SRQ. */
TRACE_EVENT(iwm_post_recv,
	TP_PROTO(const struct iwm_qp *qp, u64 wr_id, u32 num_sge),
	TP_ARGS(qp, wr_id, num_sge),
	TP_STRUCT__entry(
		IWM_TRACE_QP
		__field(u64, wr_id)
		__field(u32, num_sge)
	),
	TP_fast_assign(
		IWM_TRACE_SET_QP(qp);
		__entry->wr_id = wr_id;
		__entry->num_sge = num_sge;
	),
	TP_printk(IWM_TRACE_QP_FMT "wr_id=%#llx num_sge=%u",
		  IWM_TRACE_QP_ARGS, __entry->wr_id, __entry->num_sge)
);

/* A work request is complete. @cqe: the poster gets a completion. */
TRACE_EVENT(iwm_complete,
	TP_PROTO(const struct iwm_qp *qp, const struct iwm_wc *wc, bool cqe),
	TP_ARGS(qp, wc, cqe),
	TP_STRUCT__entry(
		IWM_TRACE_QP
		__field(u64, wr_id)
		__field(u8, opcode)
		__field(u8, status)
		__field(u32, octets)
		__field(u8, cqe)
	),
	TP_fast_assign(
		IWM_TRACE_SET_QP(qp);
		__entry->wr_id = wc->id;
		__entry->opcode = wc->opcode;
		__entry->status = wc->status;
		__entry->octets = wc->bytes;
		__entry->cqe = cqe;
	),
	TP_printk(IWM_TRACE_QP_FMT "wr_id=%#llx opcode=%s status=%s octets=%u cqe=%u",
		  IWM_TRACE_QP_ARGS, __entry->wr_id,
		  iwm_trace_opcode(__entry->opcode),
		  iwm_trace_status(__entry->status), __entry->octets,
		  __entry->cqe)
);

/* Payload of a segment has been placed if @ret is 0; else @ret is the error. */
TRACE_EVENT(iwm_place,
	TP_PROTO(const struct iwm_qp *qp, u8 opcode, const struct ib_sge *at,
		 int ret),
	TP_ARGS(qp, opcode, at, ret),
	TP_STRUCT__entry(
		IWM_TRACE_QP
		__field(u8, opcode)
		__field(u32, stag)
		__field(u64, to)
		__field(u32, len)
		__field(int, ret)
	),
	TP_fast_assign(
		IWM_TRACE_SET_QP(qp);
		__entry->opcode = opcode;
		__entry->stag = at->lkey;
		__entry->to = at->addr;
		__entry->len = at->length;
		__entry->ret = ret;
	),
	TP_printk(IWM_TRACE_QP_FMT "%s stag=%#x to=%#llx len=%u ret=%d",
		  IWM_TRACE_QP_ARGS, iwm_trace_message(__entry->opcode),
		  __entry->stag, __entry->to, __entry->len, __entry->ret)
);

/* A Terminate. @sent: this side has found the error; otherwise the peer has. */
TRACE_EVENT(iwm_terminate,
	TP_PROTO(const struct iwm_qp *qp, bool sent,
		 const struct rdmap_error *err),
	TP_ARGS(qp, sent, err),
	TP_STRUCT__entry(
		IWM_TRACE_QP
		__field(u8, sent)
		__field(u8, layer)
		__field(u8, etype)
		__field(u8, ecode)
	),
	TP_fast_assign(
		IWM_TRACE_SET_QP(qp);
		__entry->sent = sent;
		__entry->layer = err->layer;
		__entry->etype = err->etype;
		__entry->ecode = err->ecode;
	),
	TP_printk(IWM_TRACE_QP_FMT "%s layer=%u etype=%u ecode=%#x (%s)",
		  IWM_TRACE_QP_ARGS, __entry->sent ? "sent" : "received",
		  __entry->layer, __entry->etype, __entry->ecode,
		  iwm_trace_terminate(__entry->layer, __entry->etype,
				      __entry->ecode))
);

/* A Send that met no receive has got one, or waits no longer. */
TRACE_EVENT(iwm_rx_waited,
	TP_PROTO(const struct iwm_qp *qp, u64 ns, bool found),
	TP_ARGS(qp, ns, found),
	TP_STRUCT__entry(
		IWM_TRACE_QP
		__field(u64, ns)
		__field(bool, found)
	),
	TP_fast_assign(
		IWM_TRACE_SET_QP(qp);
		__entry->ns = ns;
		__entry->found = found;
	),
	TP_printk(IWM_TRACE_QP_FMT "ns=%llu %s", IWM_TRACE_QP_ARGS,
		  __entry->ns, __entry->found ? "found" : "none")
);

/* Work requests or Responses cannot be sent, or can be sent again. */
DECLARE_EVENT_CLASS(iwm_sq_wait,
	TP_PROTO(const struct iwm_qp *qp, enum sq_blocked why),
	TP_ARGS(qp, why),
	TP_STRUCT__entry(
		IWM_TRACE_QP
		__field(u8, why)
		__field(u32, reads)
	),
	TP_fast_assign(
		IWM_TRACE_SET_QP(qp);
		__entry->why = why;
		__entry->reads = iwm_sq_reads(qp->sq);
	),
	TP_printk(IWM_TRACE_QP_FMT "why=%s reads=%u", IWM_TRACE_QP_ARGS,
		  iwm_trace_blocked(__entry->why), __entry->reads)
);

DEFINE_EVENT(iwm_sq_wait, iwm_sq_blocked,
	TP_PROTO(const struct iwm_qp *qp, enum sq_blocked why),
	TP_ARGS(qp, why)
);

DEFINE_EVENT(iwm_sq_wait, iwm_sq_unblocked,
	TP_PROTO(const struct iwm_qp *qp, enum sq_blocked why),
	TP_ARGS(qp, why)
);

#endif /* DDP_GLUE_TRACE_H */

/* The path is relative to include/, which is in the include path. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../ddp_glue
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
