/* A slot: one stream to one receiver, with an SSRC of its own for the whole call, into which the packets of changing sources are
 * rewritten. Times are in microseconds of any steady clock. */
#ifndef CM_SLOT_H
#define CM_SLOT_H

#include "cm_rtp.h"

enum {
	/* Packets that come this late are still forwarded. A power of two. */
	CM_SLOT_WINDOW = 512,
	/* A greater step in a source's sequence numbers is a new beginning. */
	CM_SLOT_MAX_STEP = 3000,
	/* How often one packet is sent again to one receiver. */
	CM_RESEND_TRIES = 3,
	/* A sequence of retransmissions may have this many bytes, whatever the receiver's rate. */
	CM_RESEND_BURST = 48 * 1024,
};

enum cm_verdict {
	CM_SENT,
	/* Not from the source that the slot has. */
	CM_NOT_THE_SOURCE,
	/* From before the switch, or older than the window. */
	CM_TOO_OLD,
	CM_DUPLICATE,
	/* Far from the last packet: dropped unless the next one follows it. */
	CM_OUT_OF_STEP,
	/* Not RTP that can be rewritten, or too large for `capacity`. */
	CM_INVALID,
	/* Of a payload type that the receiver did not negotiate. */
	CM_NO_PAYLOAD_TYPE,
	/* Retransmission: unknown to this slot, or a bound was reached. */
	CM_REFUSED,
};

/* How one receiver wants the packets of one of its slots. */
struct cm_format {
	/* 255: none. By the source's codec, numbered by the caller from 0. */
	uint8_t payload_types[4];
	uint8_t rtx_payload_types[4];
	struct cm_extension_ids ids;
	char mid[16];
	uint8_t mid_size;
};

struct cm_slot {
	/* Set by cm_slot_init. */
	uint32_t ssrc, rtx_ssrc;
	uint32_t clock_rate;
	bool is_audio;

	/* The source that the slot has. */
	bool has_source;
	uint32_t uid, source_ssrc;
	/* No packet of this source was sent yet. */
	bool is_first;
	uint8_t codec;
	/* The source's packet 0 is the first one that was sent. */
	uint16_t source_sequence;
	int64_t highest;
	/* The slot's sequence number of packet 0. */
	uint16_t base_sequence;
	uint32_t timestamp_offset;
	bool has_expected;
	uint16_t expected;

	/* The slot, over all sources. */
	bool has_sent;
	uint16_t last_sequence;
	uint32_t last_timestamp;
	uint64_t last_time;
	uint64_t packets, bytes;
	/* Which packets of the window were sent. */
	uint64_t sent[CM_SLOT_WINDOW / 64];

	uint16_t rtx_sequence;
	uint64_t rtx_packets, rtx_bytes;
	/* Bytes that may be sent again. */
	uint32_t resend_budget;
	/* The tries of each packet of the window, by the slot's sequence number. */
	uint8_t tries[CM_SLOT_WINDOW];
};

/* Prepares a slot. `random` chooses where numbers begin: sequence numbers begin below 2^15, because a receiver assumes that they have
 * not wrapped yet. Without retransmission `rtx_ssrc` is 0. */
void cm_slot_init(
	struct cm_slot *slot, uint32_t ssrc, uint32_t rtx_ssrc, uint32_t clock_rate, bool is_audio, uint64_t random);

/* Gives the slot another source; `codec` is the index of the receiver's payload type. The next packet that is sent continues the
 * slot's numbers; what the source numbered lower is too old from then on. For video that is the first packet of a key frame, and
 * what cm_ring_next lists behind it is to be written next: these packets have overtaken it. */
void cm_slot_switch(struct cm_slot *slot, uint32_t uid, uint32_t source_ssrc, uint8_t codec);
/* Takes the source away. */
void cm_slot_clear(struct cm_slot *slot);

/* Prepares for new keys of SRTP. Their receiver assumes that numbers have not wrapped yet and cannot know better, so the next number is
 * brought below 2^15: half of the numbers are left out when it is not, so that the receiver takes it for a new beginning and not for a
 * loss. The source stays, with its timestamps and gaps, but what it numbered up to now is too old: a number from before a wrap would
 * confuse the receiver in the same way. */
void cm_slot_renew(struct cm_slot *slot);

/* Rewrites a packet of the source to `to`: SSRC, sequence number, timestamp, payload type, extensions, and the uid as the only CSRC.
 * Sets `written` to its size when the verdict is CM_SENT. Never writes a sequence number twice. */
enum cm_verdict cm_slot_write(
	struct cm_slot *slot, const struct cm_rtp *rtp, const uint8_t *data, const struct cm_format *format, uint64_t now,
	uint8_t *to, size_t capacity, size_t *written);

/* The source's sequence number of a packet that the slot has sent; false when it is not of this source or window. */
bool cm_slot_source_sequence(const struct cm_slot *slot, uint16_t sequence, uint16_t *source_sequence);

/* Rewrites a packet of the source as a retransmission (RFC 4588) of the slot's packet `sequence`. CM_REFUSED after CM_RESEND_TRIES,
 * and when the retransmissions of this slot reach a quarter of its other bytes. */
enum cm_verdict cm_slot_resend(
	struct cm_slot *slot, uint16_t sequence, const struct cm_rtp *rtp, const uint8_t *data, const struct cm_format *format,
	uint64_t now, uint8_t *to, size_t capacity, size_t *written);

/* A sender report of the source in the slot's numbers; false when the slot has sent nothing of it. */
bool cm_slot_report_timestamp(const struct cm_slot *slot, uint32_t source_timestamp, uint32_t *timestamp);

#endif
