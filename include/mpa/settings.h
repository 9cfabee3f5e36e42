/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The administrator's settings that are on or off, each a parameter of mpa.ko
 * and a file of each device (/sys/class/infiniband/NAME/iwmpa/):
 *
 *	MPA_SETTING(ID, field, name, preset, text)
 *
 * @ID: IWM_SETTING_ID in enum iwm_setting
 * @field: of struct mpa_settings
 * @name: of the parameter and the file
 * @preset: what the parameter is at first
 * @text: the parameter's description
 *
 * Each includer defines MPA_SETTING() to make its own table.
 */
#ifndef MPA_SETTING
#error "define MPA_SETTING() first"
#endif

MPA_SETTING(MARKERS, markers, markers, false,
	    "Require Markers in received data, on new connections (default: N)")
MPA_SETTING(CRC, crc, crc, true,
	    "Use CRC32c on new connections; off only when the peer wants it off too (default: Y)")
MPA_SETTING(RDMAC, rdmac, rdmac, true,
	    "Serve peers that speak the RDMA Consortium's revision 0 (default: Y)")
MPA_SETTING(PACKING, packing, packing, true,
	    "Put several short FPDUs into one TCP segment (default: Y)")
MPA_SETTING(EARLY, early, early_placement, true,
	    "Place out-of-order data early, on new connections with Markers and CRC (default: Y)")

#undef MPA_SETTING
