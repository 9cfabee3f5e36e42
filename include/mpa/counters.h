/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of mpa.ko, per CPU, summed by the consumer:
 *
 *	MPA_COUNTER(ID, name, proc_name, text)
 *
 * @ID: MPA_STAT_ID in enum mpa_stat
 * @name: of "rdma statistic"
 * @proc_name: of /proc/net/mpa_stat, or NULL
 * @text: for administration.md ('make documents')
 *
 * Each includer defines MPA_COUNTER() to make its own table.
 */
#ifndef MPA_COUNTER
#error "define MPA_COUNTER() first"
#endif

MPA_COUNTER(RX_FPDUS, rx_fpdus, "MpaRxFpdus",
	    "frames received")
MPA_COUNTER(RX_OCTETS, rx_octets, "MpaRxOctets",
	    "octets of the TCP stream received in Full Operation, Markers included")
MPA_COUNTER(RX_PASSES, rx_passes, "MpaRxPasses",
	    "passes over TCP's queue that delivered frames: `rx_fpdus / rx_passes` is the batch")
MPA_COUNTER(RX_STASHED, rx_stashed, "MpaRxStashed",
	    "frames copied as TCP's window or memory ran out: raise `tcp_rmem` or `tcp_mem`")
MPA_COUNTER(RX_PLACED_EARLY, rx_placed_early, NULL,
	    "frames placed while octets before them were missing: loss or reordering")
MPA_COUNTER(RX_CRC_ERRORS, rx_crc_errors, "MpaRxCrcErrors",
	    "frames with a wrong CRC (error 2): damaged on the way; the connection ends")
MPA_COUNTER(RX_MARKER_ERRORS, rx_marker_errors, "MpaRxMarkerErrors",
	    "frames with a wrong Marker (error 3): a fault of the peer; the connection ends")
MPA_COUNTER(TX_FPDUS, tx_fpdus, "MpaTxFpdus",
	    "frames sent")
MPA_COUNTER(TX_OCTETS, tx_octets, "MpaTxOctets",
	    "octets of the TCP stream sent in Full Operation, Markers included")
MPA_COUNTER(TX_BATCHES, tx_batches, "MpaTxBatches",
	    "hand-overs to TCP: `tx_fpdus / tx_batches` is the batch")
MPA_COUNTER(TX_BLOCKED, tx_blocked, "MpaTxBlocked",
	    "hand-overs that met a full socket: the network or the peer is slower")
MPA_COUNTER(TX_UNALIGNED, tx_unaligned, "MpaTxUnaligned",
	    "large FPDUs, and segments that TCP cut elsewhere than planned")
MPA_COUNTER(STARTUP_ERRORS, startup_errors, "MpaStartupErrors",
	    "startups whose Request or Reply was malformed, missing or could not be agreed on")
MPA_COUNTER(STARTUP_TIMEOUTS, startup_timeouts, "MpaStartupTimeouts",
	    "startups, as Initiator or Responder, that took longer than `startup_timeout`")
MPA_COUNTER(STARTUP_REFUSED, startup_refused, "MpaStartupRefused",
	    "connections refused: `max_half_open`, no memory, no listener, or a full backlog")
MPA_COUNTER(CONNECTIONS, connections, "MpaConnections",
	    "connections that reached Full Operation")

#undef MPA_COUNTER
