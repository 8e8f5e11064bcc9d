#include "cm_bytes.h"
#include "cm_codec.h"

enum {
	NAL_SPS = 7,
	NAL_STAP_A = 24,
	NAL_STAP_B = 25,
	NAL_FU_A = 28,
	NAL_FU_B = 29,
};

bool cm_vp8_read(struct cm_vp8 *vp8, const uint8_t *payload, size_t size)
{
	size_t at = 1;
	uint8_t extended;

	*vp8 = (struct cm_vp8){0};
	if (size < 1)
		return false;
	vp8->is_discardable = payload[0] & 0x20;
	/* The S bit, in partition 0. */
	vp8->is_start = (payload[0] & 0x17) == 0x10;
	if (payload[0] & 0x80) {
		if (size < at + 1)
			return false;
		extended = payload[at++];
		if (extended & 0x80) {
			if (size < at + 1)
				return false;
			vp8->has_picture_id = true;
			vp8->is_long_id = payload[at] >> 7;
			if (vp8->is_long_id) {
				if (size < at + 2)
					return false;
				vp8->picture_id = cm_get16(payload + at) & 0x7FFF;
				at += 2;
			}
			else
				vp8->picture_id = payload[at++];
		}
		if (extended & 0x40) {
			if (size < at + 1)
				return false;
			vp8->has_tl0 = true;
			vp8->tl0 = payload[at++];
		}
		if (extended & 0x30) {
			if (size < at + 1)
				return false;
			vp8->has_tid = extended & 0x20;
			vp8->tid = payload[at++] >> 6;
		}
	}
	vp8->descriptor_size = (uint8_t)at;
	/* RFC 6386, section 9.1: frame tag of 3 bytes, then for key frames a start code and the size. */
	if (!vp8->is_start || size < at + 1 || payload[at] & 1)
		return true;
	vp8->is_key = true;
	if (size >= at + 10 && cm_get24(payload + at + 3) == 0x9D012A) {
		vp8->width = (uint16_t)((payload[at + 7] << 8 | payload[at + 6]) & 0x3FFF);
		vp8->height = (uint16_t)((payload[at + 9] << 8 | payload[at + 8]) & 0x3FFF);
	}
	return true;
}

static bool begins_key(uint8_t nal)
{
	/* An IDR slice alone may need parameters that were sent before, which a new receiver does not have. */
	return (nal & 0x1F) == NAL_SPS;
}

bool cm_h264_is_key(const uint8_t *payload, size_t size)
{
	size_t at;

	if (size < 1)
		return false;
	switch (payload[0] & 0x1F) {
	case NAL_STAP_A:
	case NAL_STAP_B:
		/* A STAP-B has a decoding order number before the first unit. */
		for (at = (payload[0] & 0x1F) == NAL_STAP_A ? 1 : 3; at + 2 < size;) {
			size_t length = cm_get16(payload + at);

			at += 2;
			if (length == 0 || length > size - at)
				return false;
			if (begins_key(payload[at]))
				return true;
			at += length;
		}
		return false;
	case NAL_FU_A:
	case NAL_FU_B:
		/* The first fragment. */
		return size >= 2 && payload[1] & 0x80 && begins_key(payload[1]);
	default:
		return begins_key(payload[0]);
	}
}
