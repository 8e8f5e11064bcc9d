#include <string.h>

#include "cm_bytes.h"
#include "cm_rtp.h"

enum {
	ONE_BYTE_PROFILE = 0xBEDE,
	/* The lowest four bits are for the application. */
	TWO_BYTE_PROFILE = 0x1000,
};

enum cm_kind cm_kind_of(const uint8_t *data, size_t size)
{
	if (size < 2)
		return CM_KIND_UNKNOWN;
	if (data[0] <= 3)
		return CM_KIND_STUN;
	if (data[0] >= 20 && data[0] <= 63)
		return CM_KIND_DTLS;
	if (data[0] < 128 || data[0] > 191)
		return CM_KIND_UNKNOWN;
	return data[1] >= 192 && data[1] <= 223 ? CM_KIND_RTCP : CM_KIND_RTP;
}

bool cm_rtp_read(struct cm_rtp *rtp, const uint8_t *data, size_t size)
{
	size_t at = CM_RTP_HEADER_SIZE, padding = 0;

	if (size < at || size > CM_PACKET_SIZE || data[0] >> 6 != 2)
		return false;
	*rtp = (struct cm_rtp){
		.ssrc = cm_get32(data + 8),
		.timestamp = cm_get32(data + 4),
		.sequence = cm_get16(data + 2),
		.payload_type = data[1] & 0x7F,
		.marker = data[1] >> 7,
		.csrc_count = data[0] & 0x0F,
	};
	at += 4U * rtp->csrc_count;
	if (data[0] & 0x10) {
		size_t words;
		uint16_t profile;

		if (size < at + 4)
			return false;
		profile = cm_get16(data + at);
		words = cm_get16(data + at + 2);
		at += 4;
		if (size < at + 4 * words)
			return false;
		if (profile == ONE_BYTE_PROFILE)
			rtp->extension_form = 1;
		else if ((profile & 0xFFF0) == TWO_BYTE_PROFILE)
			rtp->extension_form = 2;
		rtp->extension_offset = (uint16_t)at;
		rtp->extension_size = (uint16_t)(4 * words);
		at += 4 * words;
	}
	if (size < at)
		return false;
	if (data[0] & 0x20) {
		padding = data[size - 1];
		/* The count of the padding includes itself. */
		if (padding == 0 || at + padding > size)
			return false;
	}
	rtp->payload_offset = (uint16_t)at;
	rtp->payload_size = (uint16_t)(size - padding - at);
	return true;
}

const uint8_t *cm_rtp_extension(const struct cm_rtp *rtp, const uint8_t *data, unsigned id, uint8_t *size)
{
	size_t at = rtp->extension_offset, end = at + rtp->extension_size;

	if (id == 0 || id > CM_EXTENSION_ID_MAX || rtp->extension_form == 0)
		return NULL;
	while (at < end) {
		unsigned found;
		size_t length;

		/* An id of 0 is one byte of padding in both forms. */
		if (data[at] == 0) {
			at++;
			continue;
		}
		if (rtp->extension_form == 1) {
			found = data[at] >> 4;
			length = (data[at] & 0x0F) + 1U;
			at += 1;
			/* RFC 8285, section 4.2: id 15 ends the walk; id 0 with a length is to be skipped. */
			if (found == 15)
				return NULL;
		}
		else {
			if (end - at < 2)
				return NULL;
			found = data[at];
			length = data[at + 1];
			at += 2;
		}
		if (length > end - at)
			return NULL;
		if (found == id) {
			*size = (uint8_t)length;
			return data + at;
		}
		at += length;
	}
	return NULL;
}

bool cm_rtp_level(const struct cm_rtp *rtp, const uint8_t *data, unsigned id, uint8_t *level, bool *is_voice)
{
	uint8_t size = 0;
	const uint8_t *value = cm_rtp_extension(rtp, data, id, &size);

	/* In the two-byte form, RFC 6464 allows a byte of padding. */
	if (!value || size < 1 || size > 2)
		return false;
	*level = value[0] & 0x7F;
	*is_voice = value[0] >> 7;
	return true;
}

bool cm_rtp_transport_sequence(const struct cm_rtp *rtp, const uint8_t *data, unsigned id, uint16_t *sequence)
{
	uint8_t size = 0;
	const uint8_t *value = cm_rtp_extension(rtp, data, id, &size);

	if (!value || size != 2)
		return false;
	*sequence = cm_get16(value);
	return true;
}

bool cm_rtp_send_time(const struct cm_rtp *rtp, const uint8_t *data, unsigned id, uint32_t *time)
{
	uint8_t size = 0;
	const uint8_t *value = cm_rtp_extension(rtp, data, id, &size);

	if (!value || size != 3)
		return false;
	*time = cm_get24(value);
	return true;
}

uint8_t cm_opus_level(const struct cm_rtp *rtp, const uint8_t *data, unsigned id)
{
	uint8_t level;
	bool is_voice;

	if (rtp->payload_size <= 3)
		return CM_LEVEL_SILENCE;
	if (cm_rtp_level(rtp, data, id, &level, &is_voice))
		return level;
	return rtp->payload_size > 10 ? 40 : CM_LEVEL_SILENCE;
}

size_t cm_rtp_write(const struct cm_rtp_header *header, uint8_t *to, size_t capacity)
{
	const struct cm_extension_ids *ids = &header->ids;
	size_t mid_size = ids->mid && header->mid_size <= sizeof header->mid ? header->mid_size : 0;
	size_t elements = (ids->send_time ? 4U : 0U) + (mid_size ? 1 + mid_size : 0);
	size_t words = (elements + 3) / 4;
	size_t size = CM_RTP_HEADER_SIZE + 4 + (words ? 4 + 4 * words : 0);
	uint8_t *at = to + CM_RTP_HEADER_SIZE + 4;

	if (size > capacity || ids->send_time > 14 || ids->mid > 14)
		return 0;
	to[0] = (uint8_t)(2 << 6 | (words ? 0x10 : 0) | 1);
	to[1] = (uint8_t)((header->marker ? 0x80 : 0) | (header->payload_type & 0x7F));
	cm_put16(to + 2, header->sequence);
	cm_put32(to + 4, header->timestamp);
	cm_put32(to + 8, header->ssrc);
	cm_put32(to + 12, header->csrc);
	if (!words)
		return size;
	cm_put16(at, ONE_BYTE_PROFILE);
	cm_put16(at + 2, (uint16_t)words);
	at += 4;
	memset(at, 0, 4 * words);
	if (ids->send_time) {
		*at = (uint8_t)(ids->send_time << 4 | 2);
		cm_put24(at + 1, header->send_time & 0xFFFFFF);
		at += 4;
	}
	if (mid_size) {
		*at = (uint8_t)(ids->mid << 4 | (mid_size - 1));
		memcpy(at + 1, header->mid, mid_size);
	}
	return size;
}
