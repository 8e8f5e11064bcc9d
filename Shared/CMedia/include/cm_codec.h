/* What the server reads of encoded video: whether a packet begins a key frame. Sources: RFC 7741 (VP8), RFC 6184 (H.264). */
#ifndef CM_CODEC_H
#define CM_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cm_vp8 {
	/* The packet begins a frame: the first partition's first byte. */
	bool is_start;
	bool is_key;
	/* The picture can be dropped without harm to later ones. */
	bool is_discardable;
	bool has_picture_id;
	bool has_tl0;
	bool has_tid;
	/* Whether the picture id has 15 bits, else 7. */
	bool is_long_id;
	uint16_t picture_id;
	uint8_t tl0;
	uint8_t tid;
	/* Of a key frame that begins here, else 0. */
	uint16_t width, height;
	/* The bytes of the payload descriptor. */
	uint8_t descriptor_size;
};

/* Reads the payload of a VP8 packet. False when it is too short for what it says. */
bool cm_vp8_read(struct cm_vp8 *vp8, const uint8_t *payload, size_t size);

/* Whether this payload begins a key frame that a receiver can begin with: its sequence parameter set, as a packet, within one, or as
 * the first fragment. Slices of an IDR picture without one do not count; encoders that send parameters only once are asked for key
 * frames in vain. */
bool cm_h264_is_key(const uint8_t *payload, size_t size);

#endif
