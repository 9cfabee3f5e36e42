// SPDX-License-Identifier: GPL-2.0
/*
 * Segmentation of a message under the MULPDU (RFC 5041 section 5.2).
 */
#include "ddp.h"

/**
 * ddp_segment_payload() - octets of payload for a message's next segment
 * @left: octets of the message that are not sent yet; 0 for a message
 *        without payload, which takes one segment
 * @room: octets that the next ULPDU may hold
 * @hdr_len: octets of the segment's header, less than @room
 * @last: set to whether this segment is the message's last
 *
 * Return: octets of payload, at most @left and @room - @hdr_len.
 */
__u32 ddp_segment_payload(__u32 left, __u32 room, __u32 hdr_len, bool *last)
{
	__u32 max = room - hdr_len;

	*last = left <= max;
	return *last ? left : max;
}
