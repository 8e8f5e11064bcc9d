#include <string.h>

#include "cm_bytes.h"
#include "cm_slot.h"

static const uint8_t NO_PAYLOAD_TYPE = 255;

void cm_slot_init(
	struct cm_slot *slot, uint32_t ssrc, uint32_t rtx_ssrc, uint32_t clock_rate, bool is_audio, uint64_t random)
{
	memset(slot, 0, sizeof *slot);
	slot->ssrc = ssrc;
	slot->rtx_ssrc = rtx_ssrc;
	slot->clock_rate = clock_rate;
	slot->is_audio = is_audio;
	/* The first packet has the number after these. */
	slot->last_sequence = (uint16_t)((random & 0x7FFF) - 1);
	slot->rtx_sequence = (uint16_t)((random >> 16 & 0x7FFF) - 1);
	slot->last_timestamp = (uint32_t)(random >> 32);
	slot->resend_budget = CM_RESEND_BURST;
}

void cm_slot_switch(struct cm_slot *slot, uint32_t uid, uint32_t source_ssrc, uint8_t codec)
{
	slot->has_source = true;
	slot->uid = uid;
	slot->source_ssrc = source_ssrc;
	slot->codec = codec;
	slot->is_first = true;
	slot->has_expected = false;
}

void cm_slot_clear(struct cm_slot *slot)
{
	slot->has_source = false;
}

void cm_slot_renew(struct cm_slot *slot)
{
	uint16_t left_out = (uint16_t)(slot->last_sequence + 1) & 0x8000;

	slot->last_sequence = (uint16_t)(slot->last_sequence + left_out);
	if (!slot->has_source || slot->is_first)
		return;
	/* The packet behind the highest one is number 0 of the source. */
	slot->source_sequence = (uint16_t)(slot->source_sequence + (uint64_t)slot->highest + 1);
	slot->base_sequence = (uint16_t)(slot->base_sequence + (uint64_t)slot->highest + 1 + left_out);
	slot->highest = -1;
	slot->has_expected = false;
	memset(slot->sent, 0, sizeof slot->sent);
}

static bool is_marked(const struct cm_slot *slot, int64_t index)
{
	return slot->sent[index % CM_SLOT_WINDOW / 64] >> (index % 64) & 1;
}

static void mark(struct cm_slot *slot, int64_t index)
{
	slot->sent[index % CM_SLOT_WINDOW / 64] |= (uint64_t)1 << (index % 64);
}

/* Makes this packet number 0 of the source. */
static void begin(struct cm_slot *slot, const struct cm_rtp *rtp, uint64_t now)
{
	uint32_t step = slot->clock_rate / 100;

	if (slot->has_sent) {
		uint64_t elapsed = now > slot->last_time ? now - slot->last_time : 0;
		/* Over a day, no receiver has kept anything that it could compare. */
		uint64_t ticks = elapsed < (uint64_t)86400 * 1000000 ? elapsed * slot->clock_rate / 1000000 : step;

		if (ticks > step)
			step = (uint32_t)ticks;
	}
	slot->source_sequence = rtp->sequence;
	slot->base_sequence = (uint16_t)(slot->last_sequence + 1);
	slot->timestamp_offset = slot->last_timestamp + step - rtp->timestamp;
	slot->highest = -1;
	slot->has_expected = false;
	memset(slot->sent, 0, sizeof slot->sent);
}

/* Finds the number of a packet of the source that has begun. */
static enum cm_verdict place(struct cm_slot *slot, const struct cm_rtp *rtp, uint64_t now, int64_t *index)
{
	int step = cm_ahead16(rtp->sequence, (uint16_t)(slot->source_sequence + (uint64_t)slot->highest));

	if (step >= CM_SLOT_MAX_STEP || step <= -CM_SLOT_MAX_STEP) {
		bool follows = slot->has_expected && rtp->sequence == slot->expected;

		slot->has_expected = true;
		slot->expected = (uint16_t)(rtp->sequence + 1);
		if (!follows)
			return CM_OUT_OF_STEP;
		begin(slot, rtp, now);
		*index = 0;
		return CM_SENT;
	}
	*index = slot->highest + step;
	if (*index < 0 || step <= -CM_SLOT_WINDOW)
		return CM_TOO_OLD;
	return step <= 0 && is_marked(slot, *index) ? CM_DUPLICATE : CM_SENT;
}

static void advance(struct cm_slot *slot, int64_t index)
{
	int64_t passed;

	if (index <= slot->highest)
		return;
	if (index - slot->highest >= CM_SLOT_WINDOW)
		memset(slot->sent, 0, sizeof slot->sent);
	else
		for (passed = slot->highest + 1; passed <= index; passed++)
			slot->sent[passed % CM_SLOT_WINDOW / 64] &= ~((uint64_t)1 << (passed % 64));
	slot->highest = index;
}

/* The header of the slot's packet of this source. */
static struct cm_rtp_header header_of(
	const struct cm_slot *slot, const struct cm_rtp *rtp, const struct cm_format *format, uint64_t now)
{
	struct cm_rtp_header header = {
		.ssrc = slot->ssrc,
		.csrc = slot->uid,
		.timestamp = rtp->timestamp + slot->timestamp_offset,
		/* Seconds in 18 bits of fraction. */
		.send_time = (uint32_t)(now % 64000000 * 262144 / 1000000),
		.marker = rtp->marker,
		.ids = format->ids,
		.mid_size = format->mid_size,
	};

	memcpy(header.mid, format->mid, sizeof header.mid);
	return header;
}

enum cm_verdict cm_slot_write(
	struct cm_slot *slot, const struct cm_rtp *rtp, const uint8_t *data, const struct cm_format *format, uint64_t now,
	uint8_t *to, size_t capacity, size_t *written)
{
	struct cm_rtp_header header;
	enum cm_verdict verdict = CM_SENT;
	int64_t index = 0;
	size_t size;
	bool was_first = slot->is_first;

	*written = 0;
	if (!slot->has_source || rtp->ssrc != slot->source_ssrc)
		return CM_NOT_THE_SOURCE;
	if (slot->codec >= sizeof format->payload_types || format->payload_types[slot->codec] == NO_PAYLOAD_TYPE)
		return CM_NO_PAYLOAD_TYPE;
	/* Nothing is changed for a packet that will not fit: header, CSRC, and at most 28 bytes of extensions. */
	if (capacity < CM_RTP_HEADER_SIZE + 32U + rtp->payload_size)
		return CM_INVALID;
	if (was_first)
		begin(slot, rtp, now);
	else {
		verdict = place(slot, rtp, now, &index);
		if (verdict != CM_SENT)
			return verdict;
	}
	header = header_of(slot, rtp, format, now);
	header.sequence = (uint16_t)(slot->base_sequence + (uint64_t)index);
	header.payload_type = format->payload_types[slot->codec];
	/* The marker of audio begins a talk spurt: a receiver may adapt its delay there. That of video ends a picture. */
	header.marker = rtp->marker || (was_first && slot->is_audio);
	size = cm_rtp_write(&header, to, capacity);
	if (size == 0)
		return CM_INVALID;
	memcpy(to + size, data + rtp->payload_offset, rtp->payload_size);
	*written = size + rtp->payload_size;

	slot->is_first = false;
	slot->has_expected = false;
	if (index > slot->highest) {
		advance(slot, index);
		slot->last_sequence = header.sequence;
		slot->last_timestamp = header.timestamp;
		slot->last_time = now;
	}
	mark(slot, index);
	slot->tries[header.sequence % CM_SLOT_WINDOW] = 0;
	slot->has_sent = true;
	slot->packets++;
	slot->bytes += rtp->payload_size;
	slot->resend_budget += rtp->payload_size / 4U;
	if (slot->resend_budget > CM_RESEND_BURST)
		slot->resend_budget = CM_RESEND_BURST;
	return CM_SENT;
}

/* The number of a packet of the present source that was sent; -1 when there is none. */
static int64_t sent_index(const struct cm_slot *slot, uint16_t sequence)
{
	int64_t index;

	if (!slot->has_source || slot->is_first)
		return -1;
	index = slot->highest + cm_ahead16(sequence, (uint16_t)(slot->base_sequence + (uint64_t)slot->highest));
	if (index < 0 || index > slot->highest || slot->highest - index >= CM_SLOT_WINDOW || !is_marked(slot, index))
		return -1;
	return index;
}

bool cm_slot_source_sequence(const struct cm_slot *slot, uint16_t sequence, uint16_t *source_sequence)
{
	int64_t index = sent_index(slot, sequence);

	if (index < 0)
		return false;
	*source_sequence = (uint16_t)(slot->source_sequence + (uint64_t)index);
	return true;
}

enum cm_verdict cm_slot_resend(
	struct cm_slot *slot, uint16_t sequence, const struct cm_rtp *rtp, const uint8_t *data, const struct cm_format *format,
	uint64_t now, uint8_t *to, size_t capacity, size_t *written)
{
	struct cm_rtp_header header;
	uint8_t *tries = &slot->tries[sequence % CM_SLOT_WINDOW];
	uint16_t source_sequence;
	uint32_t cost = rtp->payload_size + 2U;
	size_t size;

	*written = 0;
	if (!slot->has_source || rtp->ssrc != slot->source_ssrc)
		return CM_NOT_THE_SOURCE;
	if (slot->rtx_ssrc == 0 || slot->codec >= sizeof format->rtx_payload_types
	    || format->rtx_payload_types[slot->codec] == NO_PAYLOAD_TYPE)
		return CM_NO_PAYLOAD_TYPE;
	if (!cm_slot_source_sequence(slot, sequence, &source_sequence) || source_sequence != rtp->sequence
	    || *tries >= CM_RESEND_TRIES || cost > slot->resend_budget)
		return CM_REFUSED;
	header = header_of(slot, rtp, format, now);
	header.ssrc = slot->rtx_ssrc;
	header.sequence = (uint16_t)(slot->rtx_sequence + 1);
	header.payload_type = format->rtx_payload_types[slot->codec];
	size = cm_rtp_write(&header, to, capacity);
	if (size == 0 || capacity - size < cost)
		return CM_INVALID;
	cm_put16(to + size, sequence);
	memcpy(to + size + 2, data + rtp->payload_offset, rtp->payload_size);
	*written = size + cost;
	slot->rtx_sequence++;
	slot->rtx_packets++;
	slot->rtx_bytes += cost;
	slot->resend_budget -= cost;
	(*tries)++;
	return CM_SENT;
}

bool cm_slot_report_timestamp(const struct cm_slot *slot, uint32_t source_timestamp, uint32_t *timestamp)
{
	if (!slot->has_source || slot->is_first)
		return false;
	*timestamp = source_timestamp + slot->timestamp_offset;
	return true;
}
