#include <string.h>

#include "cm_bytes.h"
#include "cm_rtcp.h"

enum {
	TYPE_SR = 200,
	TYPE_RR = 201,
	TYPE_SDES = 202,
	TYPE_BYE = 203,
	TYPE_TRANSPORT = 205,
	TYPE_PAYLOAD = 206,
	FORMAT_NACK = 1,
	FORMAT_TRANSPORT = 15,
	FORMAT_PLI = 1,
	FORMAT_FIR = 4,
	FORMAT_AFB = 15,
	SDES_CNAME = 1,
	BLOCK_SIZE = 24,
	MAX_COUNT = 31,
	MAX_NACK = 100,
	MAX_NAME = 64,
};

static const uint32_t REMB = 0x52454D42;

bool cm_rtcp_is_valid(const uint8_t *data, size_t size)
{
	size_t at = 0;

	if (size < 4 || size > CM_PACKET_SIZE)
		return false;
	while (at < size) {
		size_t length;

		if (size - at < 4 || data[at] >> 6 != 2)
			return false;
		length = 4U * (cm_get16(data + at + 2) + 1U);
		if (length > size - at)
			return false;
		at += length;
		/* Only the last packet may have padding. */
		if (data[at - length] & 0x20 && at < size)
			return false;
	}
	return true;
}

static void read_feedback(struct cm_rtcp *rtcp, const uint8_t *data, unsigned type, unsigned format, size_t start, size_t end)
{
	size_t fci = end - start - 12, count;

	rtcp->media_ssrc = cm_get32(data + start + 8);
	rtcp->offset = (uint16_t)(start + 12);
	rtcp->size = (uint16_t)fci;
	if (type == TYPE_TRANSPORT) {
		if (format == FORMAT_NACK) {
			rtcp->kind = CM_RTCP_NACK;
			rtcp->items = (uint16_t)(fci / 4);
		}
		else if (format == FORMAT_TRANSPORT)
			rtcp->kind = CM_RTCP_TRANSPORT;
	}
	else if (format == FORMAT_PLI)
		rtcp->kind = CM_RTCP_PLI;
	else if (format == FORMAT_FIR) {
		rtcp->kind = CM_RTCP_FIR;
		rtcp->items = (uint16_t)(fci / 8);
	}
	else if (format == FORMAT_AFB && fci >= 8 && cm_get32(data + start + 12) == REMB) {
		unsigned exponent = data[start + 17] >> 2;
		uint64_t mantissa = cm_get24(data + start + 17) & 0x3FFFF;

		count = data[start + 16];
		if (fci < 8 + 4 * count)
			return;
		rtcp->kind = CM_RTCP_REMB;
		/* Larger than 64 bits: as much as there is. */
		rtcp->bitrate = exponent > 46 ? UINT64_MAX : mantissa << exponent;
		rtcp->items = (uint16_t)count;
		rtcp->offset = (uint16_t)(start + 20);
	}
}

bool cm_rtcp_next(struct cm_rtcp *rtcp, const uint8_t *data, size_t size, size_t *position)
{
	size_t start = *position, end, padding = 0;
	unsigned type, count;

	*rtcp = (struct cm_rtcp){0};
	if (size > CM_PACKET_SIZE || start > size || size - start < 4 || data[start] >> 6 != 2)
		return false;
	end = start + 4U * (cm_get16(data + start + 2) + 1U);
	if (end > size)
		return false;
	*position = end;
	type = data[start + 1];
	count = data[start] & 0x1F;
	if (data[start] & 0x20) {
		padding = data[end - 1];
		/* Only the last packet may have padding. RFC 3550 asks for a multiple of 4 bytes, but senders of transport-wide
		   feedback add other numbers of bytes, so any number is taken. */
		if (padding == 0 || padding > end - start - 4 || end < size)
			return false;
		end -= padding;
	}
	if (end - start < 8)
		return true;
	rtcp->ssrc = cm_get32(data + start + 4);
	switch (type) {
	case TYPE_SR:
		if (end - start < 28U + BLOCK_SIZE * count)
			return false;
		rtcp->kind = CM_RTCP_SENDER_REPORT;
		rtcp->report = (struct cm_sender_report){
			.ntp = (uint64_t)cm_get32(data + start + 8) << 32 | cm_get32(data + start + 12),
			.timestamp = cm_get32(data + start + 16),
			.packets = cm_get32(data + start + 20),
			.bytes = cm_get32(data + start + 24),
		};
		rtcp->items = (uint16_t)count;
		rtcp->offset = (uint16_t)(start + 28);
		break;
	case TYPE_RR:
		if (end - start < 8U + BLOCK_SIZE * count)
			return false;
		rtcp->kind = CM_RTCP_RECEIVER_REPORT;
		rtcp->items = (uint16_t)count;
		rtcp->offset = (uint16_t)(start + 8);
		break;
	case TYPE_BYE:
		if (end - start < 4U + 4 * count)
			return false;
		rtcp->kind = CM_RTCP_BYE;
		rtcp->items = (uint16_t)count;
		rtcp->offset = (uint16_t)(start + 4);
		break;
	case TYPE_TRANSPORT:
	case TYPE_PAYLOAD:
		if (end - start < 12)
			return false;
		read_feedback(rtcp, data, type, count, start, end);
		break;
	default:
		break;
	}
	return true;
}

struct cm_report_block cm_rtcp_block(const struct cm_rtcp *rtcp, const uint8_t *data, unsigned index)
{
	const uint8_t *at = data + rtcp->offset + BLOCK_SIZE * (size_t)index;
	uint32_t lost;

	if (index >= rtcp->items || (rtcp->kind != CM_RTCP_SENDER_REPORT && rtcp->kind != CM_RTCP_RECEIVER_REPORT))
		return (struct cm_report_block){0};
	lost = cm_get24(at + 5);
	return (struct cm_report_block){
		.ssrc = cm_get32(at),
		.fraction_lost = at[4],
		.lost = lost & 0x800000 ? (int32_t)lost - 0x1000000 : (int32_t)lost,
		.sequence = cm_get32(at + 8),
		.jitter = cm_get32(at + 12),
		.last_report = cm_get32(at + 16),
		.delay = cm_get32(at + 20),
	};
}

uint32_t cm_rtcp_ssrc(const struct cm_rtcp *rtcp, const uint8_t *data, unsigned index)
{
	/* An entry of FIR has its number and three reserved bytes behind the source. */
	size_t width = rtcp->kind == CM_RTCP_FIR ? 8 : 4;

	if (index >= rtcp->items
	    || (rtcp->kind != CM_RTCP_FIR && rtcp->kind != CM_RTCP_REMB && rtcp->kind != CM_RTCP_BYE))
		return 0;
	return cm_get32(data + rtcp->offset + width * index);
}

void cm_rtcp_nack(
	const struct cm_rtcp *rtcp, const uint8_t *data, unsigned index, uint16_t *sequence, uint16_t *following)
{
	*sequence = *following = 0;
	if (index >= rtcp->items || rtcp->kind != CM_RTCP_NACK)
		return;
	*sequence = cm_get16(data + rtcp->offset + 4 * (size_t)index);
	*following = cm_get16(data + rtcp->offset + 4 * (size_t)index + 2);
}

/* Room for a packet with its header written; NULL when it does not fit. `size` is a multiple of 4. */
static uint8_t *put(struct cm_rtcp_writer *writer, unsigned count, unsigned type, uint32_t ssrc, size_t size)
{
	uint8_t *at = writer->to + writer->size;

	if (writer->is_full || size > writer->capacity - writer->size) {
		writer->is_full = true;
		return NULL;
	}
	writer->size += size;
	at[0] = (uint8_t)(2 << 6 | count);
	at[1] = (uint8_t)type;
	cm_put16(at + 2, (uint16_t)(size / 4 - 1));
	cm_put32(at + 4, ssrc);
	return at;
}

static void put_blocks(uint8_t *at, const struct cm_report_block *blocks, unsigned count)
{
	unsigned index;

	for (index = 0; index < count; index++, at += BLOCK_SIZE) {
		const struct cm_report_block *block = blocks + index;
		int32_t lost = block->lost > 0x7FFFFF ? 0x7FFFFF : block->lost < -0x800000 ? -0x800000 : block->lost;

		cm_put32(at, block->ssrc);
		at[4] = block->fraction_lost;
		cm_put24(at + 5, (uint32_t)lost & 0xFFFFFF);
		cm_put32(at + 8, block->sequence);
		cm_put32(at + 12, block->jitter);
		cm_put32(at + 16, block->last_report);
		cm_put32(at + 20, block->delay);
	}
}

void cm_rtcp_put_sender_report(
	struct cm_rtcp_writer *writer, uint32_t ssrc, const struct cm_sender_report *report,
	const struct cm_report_block *blocks, unsigned count)
{
	uint8_t *at;

	if (count > MAX_COUNT)
		count = MAX_COUNT;
	at = put(writer, count, TYPE_SR, ssrc, 28 + BLOCK_SIZE * (size_t)count);
	if (!at)
		return;
	cm_put32(at + 8, (uint32_t)(report->ntp >> 32));
	cm_put32(at + 12, (uint32_t)report->ntp);
	cm_put32(at + 16, report->timestamp);
	cm_put32(at + 20, report->packets);
	cm_put32(at + 24, report->bytes);
	put_blocks(at + 28, blocks, count);
}

void cm_rtcp_put_receiver_report(
	struct cm_rtcp_writer *writer, uint32_t ssrc, const struct cm_report_block *blocks, unsigned count)
{
	uint8_t *at;

	if (count > MAX_COUNT)
		count = MAX_COUNT;
	at = put(writer, count, TYPE_RR, ssrc, 8 + BLOCK_SIZE * (size_t)count);
	if (at)
		put_blocks(at + 8, blocks, count);
}

void cm_rtcp_put_name(
	struct cm_rtcp_writer *writer, const uint32_t *ssrcs, unsigned count, const char *name, size_t name_size)
{
	size_t chunk;
	uint8_t *at;
	unsigned index;

	if (count == 0)
		return;
	if (count > MAX_COUNT)
		count = MAX_COUNT;
	if (name_size > MAX_NAME)
		name_size = MAX_NAME;
	/* Source, item, and at least one zero byte that ends the list, up to a multiple of 4. */
	chunk = (4 + 2 + name_size + 1 + 3) / 4 * 4;
	at = put(writer, count, TYPE_SDES, ssrcs[0], 4 + chunk * count);
	if (!at)
		return;
	for (index = 0, at += 4; index < count; index++, at += chunk) {
		memset(at, 0, chunk);
		cm_put32(at, ssrcs[index]);
		at[4] = SDES_CNAME;
		at[5] = (uint8_t)name_size;
		memcpy(at + 6, name, name_size);
	}
}

void cm_rtcp_put_bye(struct cm_rtcp_writer *writer, uint32_t ssrc)
{
	put(writer, 1, TYPE_BYE, ssrc, 8);
}

/* The lost packets that the entry which begins with `sequences[0]` can name. */
static unsigned nack_entry(const uint16_t *sequences, unsigned count, uint16_t *following)
{
	unsigned used = 1;

	for (*following = 0; used < count; used++) {
		int ahead = cm_ahead16(sequences[used], sequences[0]);

		if (ahead < 1 || ahead > 16)
			break;
		*following |= (uint16_t)(1 << (ahead - 1));
	}
	return used;
}

void cm_rtcp_put_nack(
	struct cm_rtcp_writer *writer, uint32_t ssrc, uint32_t media_ssrc, const uint16_t *sequences, unsigned count)
{
	unsigned entries = 0, index;
	uint16_t following;
	uint8_t *at;

	if (count > MAX_NACK)
		count = MAX_NACK;
	if (count == 0)
		return;
	for (index = 0; index < count; entries++)
		index += nack_entry(sequences + index, count - index, &following);
	at = put(writer, FORMAT_NACK, TYPE_TRANSPORT, ssrc, 12 + 4 * (size_t)entries);
	if (!at)
		return;
	cm_put32(at + 8, media_ssrc);
	for (index = 0, at += 12; index < count; at += 4) {
		unsigned used = nack_entry(sequences + index, count - index, &following);

		cm_put16(at, sequences[index]);
		cm_put16(at + 2, following);
		index += used;
	}
}

void cm_rtcp_put_pli(struct cm_rtcp_writer *writer, uint32_t ssrc, uint32_t media_ssrc)
{
	uint8_t *at = put(writer, FORMAT_PLI, TYPE_PAYLOAD, ssrc, 12);

	if (at)
		cm_put32(at + 8, media_ssrc);
}

void cm_rtcp_put_fir(struct cm_rtcp_writer *writer, uint32_t ssrc, uint32_t media_ssrc, uint8_t number)
{
	uint8_t *at = put(writer, FORMAT_FIR, TYPE_PAYLOAD, ssrc, 20);

	if (!at)
		return;
	/* RFC 5104, section 4.3.1.2: the source is in the entry, and zero here. */
	cm_put32(at + 8, 0);
	cm_put32(at + 12, media_ssrc);
	cm_put32(at + 16, (uint32_t)number << 24);
}

void cm_rtcp_put_remb(
	struct cm_rtcp_writer *writer, uint32_t ssrc, uint64_t bitrate, const uint32_t *ssrcs, unsigned count)
{
	unsigned exponent = 0, index;
	uint8_t *at;

	if (count > MAX_COUNT)
		count = MAX_COUNT;
	while (bitrate >> exponent > 0x3FFFF)
		exponent++;
	at = put(writer, FORMAT_AFB, TYPE_PAYLOAD, ssrc, 20 + 4 * (size_t)count);
	if (!at)
		return;
	cm_put32(at + 8, 0);
	cm_put32(at + 12, REMB);
	at[16] = (uint8_t)count;
	cm_put24(at + 17, (uint32_t)exponent << 18 | (uint32_t)(bitrate >> exponent));
	for (index = 0; index < count; index++)
		cm_put32(at + 20 + 4 * index, ssrcs[index]);
}
