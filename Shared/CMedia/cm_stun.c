#include <string.h>

#include "cm_bytes.h"
#include "cm_rtp.h"
#include "cm_stun.h"

enum {
	HEADER_SIZE = 20,
	ATTRIBUTE_SIZE = 4,
	INTEGRITY_SIZE = ATTRIBUTE_SIZE + CM_HMAC_SHA1_SIZE,
	FINGERPRINT_SIZE = ATTRIBUTE_SIZE + 4,
	TYPE_REQUEST = 0x0001,
	TYPE_SUCCESS = 0x0101,
	TYPE_ERROR = 0x0111,
	MAPPED_ADDRESS = 0x0001,
	USERNAME = 0x0006,
	INTEGRITY = 0x0008,
	ERROR_CODE = 0x0009,
	UNKNOWN_ATTRIBUTES = 0x000A,
	REALM = 0x0014,
	NONCE = 0x0015,
	XOR_MAPPED_ADDRESS = 0x0020,
	PRIORITY = 0x0024,
	USE_CANDIDATE = 0x0025,
	/* From here on, who does not know an attribute may ignore it. */
	OPTIONAL = 0x8000,
	FINGERPRINT = 0x8028,
	CONTROLLED = 0x8029,
	CONTROLLING = 0x802A,
	FAMILY_IPV4 = 1,
	FAMILY_IPV6 = 2,
};

static const uint32_t COOKIE = 0x2112A442;
/* FINGERPRINT differs from the CRC of other protocols in the same datagrams. */
static const uint32_t FINGERPRINT_XOR = 0x5354554E;

/* CRC-32 of ITU V.42, four bits at a time. */
static uint32_t crc32(const uint8_t *data, size_t size)
{
	static const uint32_t table[16] = {
		0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
		0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
	};
	uint32_t crc = 0xFFFFFFFF;

	for (size_t i = 0; i < size; i++) {
		crc = table[(crc ^ data[i]) & 15] ^ crc >> 4;
		crc = table[(crc ^ data[i] >> 4) & 15] ^ crc >> 4;
	}
	return ~crc;
}

static bool has_fingerprint(const uint8_t *data, size_t size)
{
	const uint8_t *last = data + size - FINGERPRINT_SIZE;

	return cm_get16(last) == FINGERPRINT && cm_get16(last + 2) == 4
		&& cm_get32(last + 4) == (crc32(data, size - FINGERPRINT_SIZE) ^ FINGERPRINT_XOR);
}

/* The same operation for both directions: the address becomes what is sent, and the reverse. */
static void mask_address(struct cm_address *address, const uint8_t transaction[CM_STUN_TRANSACTION_SIZE])
{
	uint8_t mask[16];

	cm_put32(mask, COOKIE);
	memcpy(mask + 4, transaction, CM_STUN_TRANSACTION_SIZE);
	address->port ^= (uint16_t)(COOKIE >> 16);
	for (size_t i = 0; i < (address->is_ipv6 ? 16 : 4); i++)
		address->bytes[i] ^= mask[i];
}

static bool read_address(struct cm_stun *stun, const uint8_t *value, size_t size)
{
	struct cm_address *address = &stun->address;

	if (size < 4 || size != (value[1] == FAMILY_IPV6 ? 20U : 8U) || (value[1] != FAMILY_IPV4 && value[1] != FAMILY_IPV6))
		return false;
	*address = (struct cm_address){.port = cm_get16(value + 2), .is_ipv6 = value[1] == FAMILY_IPV6};
	memcpy(address->bytes, value + 4, size - 4);
	mask_address(address, stun->transaction);
	stun->has_address = true;
	return true;
}

static bool read_username(struct cm_stun *stun, const uint8_t *data, size_t at, size_t size)
{
	const uint8_t *colon = size ? memchr(data + at, ':', size) : NULL;

	if (!colon)
		return false;
	stun->ufrag_offset = (uint16_t)at;
	stun->ufrag_size = (uint16_t)(colon - (data + at));
	return stun->ufrag_size > 0;
}

static bool read_role(struct cm_stun *stun, enum cm_stun_role role, size_t size)
{
	if (stun->role == CM_STUN_ROLE_NONE)
		stun->role = role;
	return size == 8;
}

static void note_unknown(struct cm_stun *stun, unsigned type)
{
	if (stun->unknown_count < CM_STUN_UNKNOWN_MAX)
		stun->unknown[stun->unknown_count] = (uint16_t)type;
	stun->unknown_count++;
}

/* Reads one attribute before MESSAGE-INTEGRITY; false when its value cannot be what it says. */
static bool read_attribute(struct cm_stun *stun, const uint8_t *data, unsigned type, size_t at, size_t size)
{
	switch (type) {
	case USERNAME:
		return stun->ufrag_size || read_username(stun, data, at, size);
	case ERROR_CODE:
		if (size < 4)
			return false;
		if (!stun->error)
			stun->error = (uint16_t)(100 * (data[at + 2] & 7) + data[at + 3]);
		return true;
	case XOR_MAPPED_ADDRESS:
		return stun->has_address || read_address(stun, data + at, size);
	case PRIORITY:
		if (size != 4)
			return false;
		if (!stun->priority)
			stun->priority = cm_get32(data + at);
		return true;
	case USE_CANDIDATE:
		stun->is_nominating = true;
		return size == 0;
	case CONTROLLED:
		return read_role(stun, CM_STUN_ROLE_CONTROLLED, size);
	case CONTROLLING:
		return read_role(stun, CM_STUN_ROLE_CONTROLLING, size);
	case MAPPED_ADDRESS:
	case UNKNOWN_ATTRIBUTES:
	case REALM:
	case NONCE:
		return true;
	default:
		if (type < OPTIONAL)
			note_unknown(stun, type);
		return true;
	}
}

static bool read_attributes(struct cm_stun *stun, const uint8_t *data, size_t end)
{
	size_t at = HEADER_SIZE;

	while (at < end) {
		unsigned type;
		size_t size;

		/* Everything is padded to words, so that at least a whole header is there. */
		type = cm_get16(data + at);
		size = cm_get16(data + at + 2);
		at += ATTRIBUTE_SIZE;
		if (size > end - at)
			return false;
		if (type == INTEGRITY) {
			stun->integrity_offset = (uint16_t)(at - ATTRIBUTE_SIZE);
			return size == CM_HMAC_SHA1_SIZE;
		}
		if (!read_attribute(stun, data, type, at, size))
			return false;
		at += (size + 3) & ~(size_t)3;
	}
	return true;
}

bool cm_stun_read(struct cm_stun *stun, const uint8_t *data, size_t size)
{
	unsigned type;

	if (size < HEADER_SIZE + FINGERPRINT_SIZE || size > CM_PACKET_SIZE || size % 4 != 0
		|| cm_get16(data + 2) != size - HEADER_SIZE || cm_get32(data + 4) != COOKIE)
		return false;
	type = cm_get16(data);
	if (type != TYPE_REQUEST && type != TYPE_SUCCESS && type != TYPE_ERROR)
		return false;
	if (!has_fingerprint(data, size))
		return false;
	*stun = (struct cm_stun){
		.kind = type == TYPE_REQUEST ? CM_STUN_REQUEST : type == TYPE_SUCCESS ? CM_STUN_SUCCESS : CM_STUN_ERROR,
		.size = (uint16_t)size,
	};
	memcpy(stun->transaction, data + 8, CM_STUN_TRANSACTION_SIZE);
	if (!read_attributes(stun, data, size - FINGERPRINT_SIZE))
		return false;
	return stun->kind != CM_STUN_REQUEST || (stun->ufrag_size && stun->integrity_offset);
}

/* The HMAC of what is before MESSAGE-INTEGRITY, with a length that ends behind it. */
static bool compute_integrity(
	const struct cm_stun_secret *secret, const uint8_t *data, size_t size, uint8_t to[CM_HMAC_SHA1_SIZE])
{
	uint8_t text[CM_PACKET_SIZE];

	memcpy(text, data, size);
	cm_put16(text + 2, (uint16_t)(size - HEADER_SIZE + INTEGRITY_SIZE));
	return secret->hmac(secret->password, secret->size, text, size, to);
}

bool cm_stun_is_authentic(const struct cm_stun *stun, const uint8_t *data, const struct cm_stun_secret *secret)
{
	uint8_t right[CM_HMAC_SHA1_SIZE], difference = 0;
	size_t at = stun->integrity_offset;

	if (!at || !compute_integrity(secret, data, at, right))
		return false;
	for (size_t i = 0; i < sizeof right; i++)
		difference |= right[i] ^ data[at + ATTRIBUTE_SIZE + i];
	return difference == 0;
}

unsigned cm_stun_refusal(const struct cm_stun *request)
{
	if (request->unknown_count)
		return CM_STUN_UNKNOWN_ATTRIBUTE;
	return request->role == CM_STUN_ROLE_CONTROLLED ? CM_STUN_ROLE_CONFLICT : 0;
}

struct writer {
	uint8_t *to;
	size_t size, capacity;
	bool is_full;
};

/* Room for an attribute, whose padding is zero; NULL when it does not fit. */
static uint8_t *write_attribute(struct writer *writer, unsigned type, size_t size)
{
	size_t padded = (size + 3) & ~(size_t)3;
	uint8_t *at = writer->to + writer->size;

	if (writer->is_full || ATTRIBUTE_SIZE + padded > writer->capacity - writer->size) {
		writer->is_full = true;
		return NULL;
	}
	cm_put16(at, (uint16_t)type);
	cm_put16(at + 2, (uint16_t)size);
	memset(at + ATTRIBUTE_SIZE, 0, padded);
	writer->size += ATTRIBUTE_SIZE + padded;
	return at + ATTRIBUTE_SIZE;
}

static struct writer write_header(unsigned type, const uint8_t *transaction, uint8_t *to, size_t capacity)
{
	struct writer writer = {.to = to, .capacity = capacity < CM_PACKET_SIZE ? capacity : CM_PACKET_SIZE};

	if (writer.capacity < HEADER_SIZE) {
		writer.is_full = true;
		return writer;
	}
	cm_put16(to, (uint16_t)type);
	cm_put32(to + 4, COOKIE);
	memcpy(to + 8, transaction, CM_STUN_TRANSACTION_SIZE);
	writer.size = HEADER_SIZE;
	return writer;
}

/* Writes MESSAGE-INTEGRITY and FINGERPRINT. Returns the size of the whole; 0 when it does not fit. */
static size_t finish(struct writer *writer, const struct cm_stun_secret *secret)
{
	size_t text = writer->size;
	uint8_t *integrity = write_attribute(writer, INTEGRITY, CM_HMAC_SHA1_SIZE);
	uint8_t *fingerprint = write_attribute(writer, FINGERPRINT, 4);

	if (!integrity || !fingerprint || !compute_integrity(secret, writer->to, text, integrity))
		return 0;
	cm_put16(writer->to + 2, (uint16_t)(writer->size - HEADER_SIZE));
	cm_put32(fingerprint, crc32(writer->to, writer->size - FINGERPRINT_SIZE) ^ FINGERPRINT_XOR);
	return writer->size;
}

static void write_address(
	struct writer *writer, const struct cm_address *from, const uint8_t transaction[CM_STUN_TRANSACTION_SIZE])
{
	struct cm_address masked = *from;
	size_t size = from->is_ipv6 ? 16 : 4;
	uint8_t *at = write_attribute(writer, XOR_MAPPED_ADDRESS, 4 + size);

	if (!at)
		return;
	mask_address(&masked, transaction);
	at[1] = from->is_ipv6 ? FAMILY_IPV6 : FAMILY_IPV4;
	cm_put16(at + 2, masked.port);
	memcpy(at + 4, masked.bytes, size);
}

/* Without a phrase, which nobody reads, so that the answer stays small. */
static void write_refusal(struct writer *writer, const struct cm_stun *request, unsigned code)
{
	size_t count = request->unknown_count < CM_STUN_UNKNOWN_MAX ? request->unknown_count : CM_STUN_UNKNOWN_MAX;
	uint8_t *at = write_attribute(writer, ERROR_CODE, 4);

	if (!at)
		return;
	at[2] = (uint8_t)(code / 100);
	at[3] = (uint8_t)(code % 100);
	if (code != CM_STUN_UNKNOWN_ATTRIBUTE)
		return;
	at = write_attribute(writer, UNKNOWN_ATTRIBUTES, 2 * count);
	for (size_t i = 0; at && i < count; i++)
		cm_put16(at + 2 * i, request->unknown[i]);
}

size_t cm_stun_write_answer(
	const struct cm_stun *request, const struct cm_address *from, const struct cm_stun_secret *secret, uint8_t *to,
	size_t capacity)
{
	unsigned refusal = cm_stun_refusal(request);
	struct writer writer =
		write_header(refusal ? TYPE_ERROR : TYPE_SUCCESS, request->transaction, to, capacity);
	size_t size;

	if (refusal)
		write_refusal(&writer, request, refusal);
	else
		write_address(&writer, from, request->transaction);
	size = finish(&writer, secret);
	return 5 * size <= 6U * request->size ? size : 0;
}

size_t cm_stun_write_request(
	const struct cm_stun_check *check, const struct cm_stun_secret *secret, uint8_t *to, size_t capacity)
{
	struct writer writer = write_header(TYPE_REQUEST, check->transaction, to, capacity);
	uint8_t *username = write_attribute(&writer, USERNAME, check->username_size);
	uint8_t *role = write_attribute(&writer, CONTROLLING, 8);
	uint8_t *priority = write_attribute(&writer, PRIORITY, 4);

	if (!username || !role || !priority)
		return 0;
	memcpy(username, check->username, check->username_size);
	cm_put32(role, (uint32_t)(check->tie_breaker >> 32));
	cm_put32(role + 4, (uint32_t)check->tie_breaker);
	cm_put32(priority, check->priority);
	if (check->is_nominating)
		write_attribute(&writer, USE_CANDIDATE, 0);
	return finish(&writer, secret);
}
