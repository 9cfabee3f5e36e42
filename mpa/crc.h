/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC32c of an FPDU (RFC 5044 section 4.4): mpa_crc_start(), mpa_crc_add() and
 * mpa_crc_finish(), or mpa_crc_digest() for an FPDU in one piece. Newer kernels
 * have CRC32c in their library, older ones in the crypto API.
 */
#ifndef MPA_CRC_H
#define MPA_CRC_H

#ifdef HAVE_CRC32C_LIBRARY
#include "crc_library.h"
#else
#include "crc_shash.h"
#endif

#endif /* MPA_CRC_H */
