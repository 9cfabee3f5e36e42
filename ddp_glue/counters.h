/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of iwmpa.ko, per CPU: IWM_COUNTER(ID, name, text), as
 * MPA_COUNTER() in <mpa/counters.h>.
 */
#ifndef IWM_COUNTER
#error "define IWM_COUNTER() first"
#endif

IWM_COUNTER(RX_SENDS, rx_sends,
	    "Send messages received")
IWM_COUNTER(RX_WRITES, rx_writes,
	    "RDMA Write messages received")
IWM_COUNTER(RX_READ_REQUESTS, rx_read_requests,
	    "RDMA Read Requests received")
IWM_COUNTER(RX_READ_RESPONSES, rx_read_responses,
	    "RDMA Read Responses received")
IWM_COUNTER(RX_TERMINATES, rx_terminates,
	    "Terminates received: the peer has found an error")
IWM_COUNTER(TX_SENDS, tx_sends,
	    "Send messages sent")
IWM_COUNTER(TX_WRITES, tx_writes,
	    "RDMA Write messages sent")
IWM_COUNTER(TX_READ_REQUESTS, tx_read_requests,
	    "RDMA Read Requests sent")
IWM_COUNTER(TX_READ_RESPONSES, tx_read_responses,
	    "RDMA Read Responses sent")
IWM_COUNTER(TX_TERMINATES, tx_terminates,
	    "Terminates sent: this side has found an error")
IWM_COUNTER(RX_DDP_ERRORS, rx_ddp_errors,
	    "segments that DDP refused: bad STag, rights, bounds, queue, sequence or length")
IWM_COUNTER(RX_RDMAP_ERRORS, rx_rdmap_errors,
	    "messages that RDMAP refused, or for which this host had a bad receive or a full CQ")
IWM_COUNTER(RX_WAITS, rx_waits,
	    "Sends that met no receive work request and waited for one")
IWM_COUNTER(RNR, rx_no_buffer,
	    "Sends for which no receive work request came in time: the program posts too few")
IWM_COUNTER(LOCAL_ERRORS, local_errors,
	    "bad send work requests of a program on this host")
IWM_COUNTER(CQ_OVERFLOWS, cq_overflows,
	    "completions lost because the program's CQ is too small; their connections end")
IWM_COUNTER(DOORBELLS, doorbells,
	    "calls to send posts: doorbells of programs, posts of kernel consumers")
IWM_COUNTER(CM_REFUSED, cm_refused,
	    "connections refused because the peer's Private Data has more than 255 octets")
IWM_COUNTER(CM_FALLBACKS, cm_fallbacks,
	    "second attempts to connect, with [revision 1](#peers-of-other-revisions)")
IWM_COUNTER(HAND_RETRIES, hand_retries,
	    "further attempts to reach the peer of a queue pair that a program connects by hand")

#undef IWM_COUNTER
