/* RTP packets: what a datagram is, and the header with its extensions. Sources: RFC 7983, 3550, 8285, 6464.
 *
 * In all of CMedia: nothing allocates memory, keeps a pointer after the call, or calls the system. What is named `data` and `size`
 * is read within these bounds only. */
#ifndef CM_RTP_H
#define CM_RTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* The greatest packet that is read or written. */
	CM_PACKET_SIZE = 1500,
	CM_RTP_HEADER_SIZE = 12,
	/* The greatest extension id: ids of two-byte extensions have eight bits. */
	CM_EXTENSION_ID_MAX = 255,
	/* The level of silence, in -dBov. */
	CM_LEVEL_SILENCE = 127,
};

enum cm_kind {
	CM_KIND_UNKNOWN,
	CM_KIND_STUN,
	CM_KIND_DTLS,
	CM_KIND_RTP,
	CM_KIND_RTCP,
};

/* What a datagram is, by its first two bytes. */
enum cm_kind cm_kind_of(const uint8_t *data, size_t size);

struct cm_rtp {
	uint32_t ssrc;
	uint32_t timestamp;
	uint16_t sequence;
	uint8_t payload_type;
	bool marker;
	uint8_t csrc_count;
	/* The bytes of an id and of a length in the extension's elements: 1 or 2; 0 when there are no elements that can be read. */
	uint8_t extension_form;
	uint16_t extension_offset;
	uint16_t extension_size;
	uint16_t payload_offset;
	/* Without padding. */
	uint16_t payload_size;
};

/* Reads a header. Returns false for what is no RTP packet of version 2, contradicts its own lengths, or has more than
 * CM_PACKET_SIZE bytes. */
bool cm_rtp_read(struct cm_rtp *rtp, const uint8_t *data, size_t size);

/* Finds the extension with that id (1...255; 15 is reserved in the one-byte form and never found). Returns its value, which lies in
 * `data`, and sets `size`; NULL when there is none. */
const uint8_t *cm_rtp_extension(const struct cm_rtp *rtp, const uint8_t *data, unsigned id, uint8_t *size);

/* Each of these reads one extension. False when it is missing or its size is wrong; an id of 0 is never found. */
bool cm_rtp_level(const struct cm_rtp *rtp, const uint8_t *data, unsigned id, uint8_t *level, bool *is_voice);
bool cm_rtp_transport_sequence(const struct cm_rtp *rtp, const uint8_t *data, unsigned id, uint16_t *sequence);
/* Seconds with 6 bits before the point and 18 behind it. */
bool cm_rtp_send_time(const struct cm_rtp *rtp, const uint8_t *data, unsigned id, uint32_t *time);

/* The level of an Opus packet in -dBov: the claim of its extension; without one -40 for packets over 10 bytes, else silence. Packets
 * of up to 3 bytes are silence, whatever they claim. */
uint8_t cm_opus_level(const struct cm_rtp *rtp, const uint8_t *data, unsigned id);

/* Where the extensions of one receiver go; 0: not sent. Ids are 1...14. */
struct cm_extension_ids {
	uint8_t send_time;
	uint8_t mid;
};

/* What cm_rtp_write writes before the payload. */
struct cm_rtp_header {
	uint32_t ssrc;
	uint32_t csrc;
	uint32_t timestamp;
	/* As in cm_rtp_send_time. */
	uint32_t send_time;
	uint16_t sequence;
	uint8_t payload_type;
	bool marker;
	struct cm_extension_ids ids;
	/* Up to 16 bytes; not sent when ids.mid is 0. */
	char mid[16];
	uint8_t mid_size;
};

/* Writes a header with one CSRC, and extensions in the one-byte form. Returns its size, and 0 when it does not fit. */
size_t cm_rtp_write(const struct cm_rtp_header *header, uint8_t *to, size_t capacity);

#endif
