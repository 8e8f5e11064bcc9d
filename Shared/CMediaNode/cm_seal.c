#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>

#include "cm_bytes.h"
#include "cm_seal.h"

enum {
	KEY_SIZE = 16,
	SALT_MAX = 14,
	GCM_SALT = 12,
	GCM_TAG = 16,
	AUTHENTICATION_KEY = 20,
	SHA1_TAG = 10,
	REPORT_HEADER = 8,
	PACKET_HEADER = 12,
	/* Of a packet's numbers. */
	HALF = 32768,
	/* Labels of RFC 3711, section 4.3.2; those of SRTCP are three more. */
	LABEL_CIPHER = 0,
	LABEL_AUTHENTICATION = 1,
	LABEL_SALT = 2,
	LABELS_OF_REPORTS = 3,
	/* SSRCs for which memory is taken at once. */
	SOURCES_STEP = 8,
};

/* The bit of a report's index that says so. */
static const uint32_t ENCRYPTED = 0x80000000;

/* What was sent of an SSRC. */
struct sent_source {
	uint32_t ssrc;
	/* The number of the last report; the first one has 1. */
	uint32_t reports;
	bool has_sent;
	/* The rollover counter and the number of the packet that is farthest, and which of the last CM_SRTP_WINDOW were sent. */
	uint64_t highest;
	uint64_t sent[CM_SRTP_WINDOW / 64];
};

/* The session keys of packets, or of reports. */
struct sealing {
	EVP_CIPHER_CTX *cipher;
	/* Of CM with SHA1. */
	EVP_MAC_CTX *authentication;
	uint8_t salt[SALT_MAX];
};

struct cm_sealer {
	enum cm_suite suite;
	struct sealing packets, reports;
	struct sent_source *sources;
	unsigned count, capacity;
};

/* What is encrypted and authenticated: `clear` bytes, then `secret` ones. */
struct parts {
	uint8_t *data;
	size_t clear, secret;
};

/* Keys */

/* RFC 3711, section 4.3.3: the key stream of AES in counter mode. */
static bool derive(const uint8_t *master, const uint8_t salt[SALT_MAX], int label, uint8_t *to, size_t size)
{
	EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
	uint8_t iv[16] = {0};
	int written;
	bool is_derived;

	memcpy(iv, salt, SALT_MAX);
	iv[7] ^= (uint8_t)label;
	memset(to, 0, size);
	is_derived = cipher && EVP_EncryptInit_ex(cipher, EVP_aes_128_ctr(), NULL, master, iv) == 1
		&& EVP_EncryptUpdate(cipher, to, &written, to, (int)size) == 1;
	EVP_CIPHER_CTX_free(cipher);
	return is_derived;
}

static EVP_MAC_CTX *make_authentication(const uint8_t key[AUTHENTICATION_KEY])
{
	char digest[] = "SHA1";
	OSSL_PARAM parameters[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_end(),
	};
	EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *made = hmac ? EVP_MAC_CTX_new(hmac) : NULL;

	EVP_MAC_free(hmac);
	if (made && EVP_MAC_init(made, key, AUTHENTICATION_KEY, parameters) == 1)
		return made;
	EVP_MAC_CTX_free(made);
	return NULL;
}

static bool make_sealing(struct sealing *sealing, enum cm_suite suite, const uint8_t *key_and_salt, int labels)
{
	uint8_t salt[SALT_MAX] = {0}, key[KEY_SIZE], authentication[AUTHENTICATION_KEY];
	bool is_gcm = suite == CM_SUITE_GCM_128, is_made;

	memcpy(salt, key_and_salt + KEY_SIZE, cm_suite_size(suite) - KEY_SIZE);
	sealing->cipher = EVP_CIPHER_CTX_new();
	is_made = sealing->cipher && derive(key_and_salt, salt, labels + LABEL_CIPHER, key, sizeof key)
		&& derive(key_and_salt, salt, labels + LABEL_SALT, sealing->salt, is_gcm ? GCM_SALT : SALT_MAX)
		&& EVP_EncryptInit_ex(sealing->cipher, is_gcm ? EVP_aes_128_gcm() : EVP_aes_128_ctr(), NULL, key, NULL) == 1;
	if (is_made && !is_gcm) {
		is_made = derive(key_and_salt, salt, labels + LABEL_AUTHENTICATION, authentication, sizeof authentication);
		sealing->authentication = is_made ? make_authentication(authentication) : NULL;
		is_made = sealing->authentication != NULL;
	}
	cm_forget(salt, sizeof salt);
	cm_forget(key, sizeof key);
	cm_forget(authentication, sizeof authentication);
	return is_made;
}

/* The library overwrites the keys that it frees. */
static void end_sealing(struct sealing *sealing)
{
	EVP_CIPHER_CTX_free(sealing->cipher);
	EVP_MAC_CTX_free(sealing->authentication);
	cm_forget(sealing->salt, sizeof sealing->salt);
}

struct cm_sealer *cm_sealer_make(enum cm_suite suite, const uint8_t *key_and_salt)
{
	struct cm_sealer *sealer = calloc(1, sizeof *sealer);

	if (!sealer)
		return NULL;
	sealer->suite = suite;
	if (make_sealing(&sealer->packets, suite, key_and_salt, 0)
	    && make_sealing(&sealer->reports, suite, key_and_salt, LABELS_OF_REPORTS))
		return sealer;
	cm_sealer_free(sealer);
	return NULL;
}

void cm_sealer_free(struct cm_sealer *sealer)
{
	if (!sealer)
		return;
	end_sealing(&sealer->packets);
	end_sealing(&sealer->reports);
	free(sealer->sources);
	free(sealer);
}

/* Numbers */

/* NULL beyond CM_SRTP_SENT_SOURCES, and without memory. */
static struct sent_source *source_of(struct cm_sealer *sealer, uint32_t ssrc)
{
	struct sent_source *grown;
	unsigned index;

	for (index = 0; index < sealer->count; index++)
		if (sealer->sources[index].ssrc == ssrc)
			return sealer->sources + index;
	if (sealer->count == CM_SRTP_SENT_SOURCES)
		return NULL;
	if (sealer->count == sealer->capacity) {
		grown = realloc(sealer->sources, (sealer->capacity + SOURCES_STEP) * sizeof *grown);
		if (!grown)
			return NULL;
		sealer->sources = grown;
		sealer->capacity += SOURCES_STEP;
	}
	sealer->sources[sealer->count] = (struct sent_source){.ssrc = ssrc};
	return sealer->sources + sealer->count++;
}

static bool is_marked(const struct sent_source *source, uint64_t index)
{
	return source->sent[index % CM_SRTP_WINDOW / 64] >> (index % 64) & 1;
}

/* The index of a packet as its receiver will guess it (RFC 3711, section 3.3.1). False when it is too far behind, or was sent. */
static bool index_of(const struct sent_source *source, uint16_t sequence, uint64_t *index)
{
	uint64_t rollovers = source->highest >> 16;
	uint16_t last = (uint16_t)source->highest;

	*index = sequence;
	if (!source->has_sent)
		return true;
	if (last < HALF && sequence - last > HALF) {
		if (rollovers == 0)
			return false;
		rollovers--;
	}
	else if (last >= HALF && last - HALF > sequence)
		rollovers++;
	*index = rollovers << 16 | sequence;
	if (*index > source->highest)
		/* More packets than keys may encrypt. */
		return *index >> 48 == 0;
	return source->highest - *index < CM_SRTP_WINDOW && !is_marked(source, *index);
}

static void mark(struct sent_source *source, uint64_t index)
{
	uint64_t passed;

	if (!source->has_sent || index >= source->highest + CM_SRTP_WINDOW)
		memset(source->sent, 0, sizeof source->sent);
	else
		for (passed = source->highest + 1; passed <= index; passed++)
			source->sent[passed % CM_SRTP_WINDOW / 64] &= ~((uint64_t)1 << (passed % 64));
	if (!source->has_sent || index > source->highest)
		source->highest = index;
	source->has_sent = true;
	source->sent[index % CM_SRTP_WINDOW / 64] |= (uint64_t)1 << (index % 64);
}

/* Encryption */

/* RFC 7714, section 8.1: zeros, SSRC, the number, masked with the salt. `more` is authenticated behind the clear part. */
static bool seal_gcm(const struct sealing *sealing, const struct parts *parts, uint64_t number, const uint8_t *more)
{
	uint8_t iv[GCM_SALT] = {0}, *secret = parts->data + parts->clear;
	int written, at;

	/* Behind the first bytes of a packet or report, which have it. */
	memcpy(iv + 2, parts->data + (more ? 4 : 8), 4);
	cm_put16(iv + 6, (uint16_t)(number >> 32));
	cm_put32(iv + 8, (uint32_t)number);
	for (at = 0; at < GCM_SALT; at++)
		iv[at] ^= sealing->salt[at];
	return EVP_EncryptInit_ex(sealing->cipher, NULL, NULL, NULL, iv) == 1
		&& EVP_EncryptUpdate(sealing->cipher, NULL, &written, parts->data, (int)parts->clear) == 1
		&& (!more || EVP_EncryptUpdate(sealing->cipher, NULL, &written, more, 4) == 1)
		&& (!parts->secret || EVP_EncryptUpdate(sealing->cipher, secret, &written, secret, (int)parts->secret) == 1)
		&& EVP_EncryptFinal_ex(sealing->cipher, secret + parts->secret, &written) == 1
		&& EVP_CIPHER_CTX_ctrl(sealing->cipher, EVP_CTRL_AEAD_GET_TAG, GCM_TAG, secret + parts->secret) == 1;
}

/* RFC 3711, section 4.1.1. */
static bool encrypt_counter(const struct sealing *sealing, const struct parts *parts, uint64_t number, const uint8_t *ssrc)
{
	uint8_t iv[16] = {0}, *secret = parts->data + parts->clear;
	int written, at;

	memcpy(iv + 4, ssrc, 4);
	cm_put16(iv + 8, (uint16_t)(number >> 32));
	cm_put32(iv + 10, (uint32_t)number);
	for (at = 0; at < SALT_MAX; at++)
		iv[at] ^= sealing->salt[at];
	return EVP_EncryptInit_ex(sealing->cipher, NULL, NULL, NULL, iv) == 1
		&& (!parts->secret || EVP_EncryptUpdate(sealing->cipher, secret, &written, secret, (int)parts->secret) == 1);
}

/* Writes the tag of `size` bytes and four more. */
static bool authenticate(const struct sealing *sealing, const uint8_t *data, size_t size, const uint8_t *more, uint8_t *tag)
{
	uint8_t whole[AUTHENTICATION_KEY];
	size_t written;
	bool is_done = EVP_MAC_init(sealing->authentication, NULL, 0, NULL) == 1
		&& EVP_MAC_update(sealing->authentication, data, size) == 1
		&& EVP_MAC_update(sealing->authentication, more, 4) == 1
		&& EVP_MAC_final(sealing->authentication, whole, &written, sizeof whole) == 1;

	if (is_done)
		memcpy(tag, whole, SHA1_TAG);
	return is_done;
}

/* The header with its sources and extension; 0 when it is longer than the packet. */
static size_t header_size(const uint8_t *packet, size_t size)
{
	size_t header = PACKET_HEADER;

	if (size < header)
		return 0;
	header += 4U * (packet[0] & 15);
	if (packet[0] & 0x10) {
		if (size < header + 4)
			return 0;
		header += 4 + 4U * cm_get16(packet + header + 2);
	}
	return header <= size ? header : 0;
}

bool cm_seal_packet(struct cm_sealer *sealer, uint8_t *packet, size_t *size)
{
	const struct sealing *sealing = &sealer->packets;
	size_t header = header_size(packet, *size);
	struct parts parts = {packet, header, *size - header};
	struct sent_source *source = header ? source_of(sealer, cm_get32(packet + 8)) : NULL;
	uint8_t rollovers[4];
	uint64_t index;
	bool is_sealed = false;

	if (!source || !index_of(source, cm_get16(packet + 2), &index))
		return false;
	cm_put32(rollovers, (uint32_t)(index >> 16));
	switch (sealer->suite) {
	case CM_SUITE_GCM_128:
		is_sealed = seal_gcm(sealing, &parts, index, NULL);
		*size += GCM_TAG;
		break;
	case CM_SUITE_CM_128_SHA1_80:
		is_sealed = encrypt_counter(sealing, &parts, index, packet + 8)
			&& authenticate(sealing, packet, *size, rollovers, packet + *size);
		*size += SHA1_TAG;
		break;
	}
	/* Even when it failed: what was encrypted with a number is not encrypted again with it. */
	mark(source, index);
	return is_sealed;
}

bool cm_seal_report(struct cm_sealer *sealer, uint8_t *packet, size_t *size)
{
	const struct sealing *sealing = &sealer->reports;
	struct parts parts = {packet, REPORT_HEADER, *size - REPORT_HEADER};
	struct sent_source *source = *size < REPORT_HEADER ? NULL : source_of(sealer, cm_get32(packet + 4));
	uint8_t index[4];
	bool is_sealed = false;

	/* More reports than keys may encrypt. */
	if (!source || source->reports == ENCRYPTED - 1)
		return false;
	cm_put32(index, ++source->reports | ENCRYPTED);
	switch (sealer->suite) {
	case CM_SUITE_GCM_128:
		is_sealed = seal_gcm(sealing, &parts, source->reports, index);
		memcpy(packet + *size + GCM_TAG, index, 4);
		*size += GCM_TAG + 4;
		break;
	case CM_SUITE_CM_128_SHA1_80:
		is_sealed = encrypt_counter(sealing, &parts, source->reports, packet + 4)
			&& authenticate(sealing, packet, *size, index, packet + *size + 4);
		memcpy(packet + *size, index, 4);
		*size += 4 + SHA1_TAG;
		break;
	}
	return is_sealed;
}
