/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The administrator's settings. Each is a parameter of mpa.ko and a file of
 * each device (/sys/class/infiniband/NAME/iwmpa/), the numbers only the former:
 *
 *	MPA_SETTING(ID, field, name, type, preset, text)
 *	MPA_NUMBER(name, least, most, preset, text)
 *
 * @ID: IWM_SETTING_ID in enum iwm_setting
 * @field: of struct mpa_settings
 * @name: of the parameter and the file; a number is the variable mpa_name
 * @type: bool or mpa_large
 * @preset: what the parameter is at first, as its file shows it
 * @text: for "modinfo mpa", administration.md and mpa(4) ('make documents')
 *
 * MPA_OPTION() is MPA_SETTING() for those that are also the option MPA_ID of a
 * program's socket. Each includer defines what it needs to make its own table.
 */
#ifndef MPA_SETTING
#define MPA_SETTING(id, field, name, type, preset, text)
#endif
#ifndef MPA_OPTION
#define MPA_OPTION	MPA_SETTING
#endif
#ifndef MPA_NUMBER
#define MPA_NUMBER(name, least, most, preset, text)
#endif

MPA_OPTION(MARKERS, markers, markers, bool, N,
	   "require Markers in received data; the peer decides for the other direction")
MPA_OPTION(CRC, crc, crc, bool, Y,
	   "use CRC32c; it is off only where both ends say N")
MPA_OPTION(RDMAC, rdmac, rdmac, bool, Y,
	   "serve peers of the RDMA Consortium's revision 0, with Markers and CRC; N: refuse them")
MPA_OPTION(PACKING, packing, packing, bool, Y,
	   "several short FPDUs may share a TCP segment; N: one each")
MPA_SETTING(EARLY, early, early_placement, bool, Y,
	    "place out-of-order data at once, if markers is Y and CRC is on; N: all in order")
MPA_SETTING(LARGE, large, large_fpdus, mpa_large, local,
	    "send FPDUs larger than a TCP segment: never, local (this host), always, agreed (both)")
MPA_NUMBER(startup_timeout, 1, 3600, 20,
	   "seconds for the whole startup of a connection")
MPA_NUMBER(max_half_open, 1, 1048576, 1024,
	   "connections of one listener that may wait for a Request")

#undef MPA_SETTING
#undef MPA_OPTION
#undef MPA_NUMBER
