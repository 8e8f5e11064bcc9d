/* Media keys: X25519 between a participant and its node, HKDF for the keys of both directions, HMAC for STUN. By libcrypto.
 * Sources: RFC 7748, 5869, 2104. */
#ifndef CM_KEYS_H
#define CM_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CM_X25519_SIZE = 32,
	/* A master key of 16 bytes, then its salt: 12 bytes for GCM, 14 for CM. */
	CM_KEY_AND_SALT_MAX = 30,
	/* As many blocks as HKDF can number. */
	CM_HKDF_MAX = 255 * 32,
};

/* What protects packets, by the names of RFC 7714 and 3711. */
enum cm_suite {
	CM_SUITE_GCM_128,
	CM_SUITE_CM_128_SHA1_80,
};

/* The bytes of a master key and its salt: 28 or 30. */
size_t cm_suite_size(enum cm_suite suite);

struct cm_key_pair {
	uint8_t private_key[CM_X25519_SIZE];
	uint8_t public_key[CM_X25519_SIZE];
};

/* A participant's keys, each a master key with its salt. */
struct cm_media_keys {
	enum cm_suite suite;
	/* What the participant sends with, and what the node sends to it with. */
	uint8_t client[CM_KEY_AND_SALT_MAX];
	uint8_t server[CM_KEY_AND_SALT_MAX];
};

/* A new key pair. False when the system has no random numbers. */
bool cm_key_pair_make(struct cm_key_pair *pair);

/* The secret that two key pairs share. False for a public key of low order, whose secret everybody knows. */
bool cm_x25519(
	uint8_t shared[CM_X25519_SIZE], const uint8_t private_key[CM_X25519_SIZE], const uint8_t peer_key[CM_X25519_SIZE]);

struct cm_bytes {
	const uint8_t *data;
	size_t size;
};

/* Expands a secret to `size` bytes, at most CM_HKDF_MAX. */
bool cm_hkdf_sha256(uint8_t *to, size_t size, struct cm_bytes secret, struct cm_bytes salt, struct cm_bytes info);

/* The keys between a participant and its node; the salt is the participant's id. `pair` is of either side, `peer_key` of the other.
 * False for a peer's key of low order. */
bool cm_keys_derive(
	struct cm_media_keys *keys, enum cm_suite suite, const struct cm_key_pair *pair,
	const uint8_t peer_key[CM_X25519_SIZE], struct cm_bytes participant);

/* Overwrites a secret with zeros, which the compiler does not leave out. */
void cm_forget(void *secret, size_t size);

/* The function of `struct cm_stun_secret`. False without memory. */
bool cm_hmac_sha1(const uint8_t *key, size_t key_size, const uint8_t *data, size_t size, uint8_t to[20]);

#endif
