/* STUN Binding messages as ICE needs them: reading, authenticating, answering. Sources: RFC 8489, 8445.
 *
 * A request is judged in an order that makes strangers cheap: cm_stun_read checks length, cookie and FINGERPRINT, then finds the
 * server's ufrag in USERNAME; the caller looks this up, and only for one that it knows cm_stun_is_authentic computes an HMAC. */
#ifndef CM_STUN_H
#define CM_STUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CM_STUN_TRANSACTION_SIZE = 12,
	/* The most unknown attributes that a refusal names. */
	CM_STUN_UNKNOWN_MAX = 4,
	CM_HMAC_SHA1_SIZE = 20,
};

enum cm_stun_kind {
	CM_STUN_REQUEST,
	CM_STUN_SUCCESS,
	CM_STUN_ERROR,
};

enum cm_stun_role {
	CM_STUN_ROLE_NONE,
	CM_STUN_ROLE_CONTROLLING,
	CM_STUN_ROLE_CONTROLLED,
};

/* The code of ERROR-CODE. */
enum {
	CM_STUN_UNKNOWN_ATTRIBUTE = 420,
	CM_STUN_ROLE_CONFLICT = 487,
};

/* An address of UDP. IPv4 has the first four bytes; an IPv4 address that a socket shows as IPv6 (RFC 4291, 2.5.5.2) is to be given
 * as IPv4, else its owner does not recognize it. */
struct cm_address {
	uint8_t bytes[16];
	uint16_t port;
	bool is_ipv6;
};

/* HMAC-SHA1 of a message; CMedia has no cryptography of its own. False when it cannot be computed. */
typedef bool cm_hmac_sha1_h(
	const uint8_t *key, size_t key_size, const uint8_t *data, size_t size, uint8_t to[CM_HMAC_SHA1_SIZE]);

/* The password of the side that is asked, and what computes with it. */
struct cm_stun_secret {
	const uint8_t *password;
	size_t size;
	cm_hmac_sha1_h *hmac;
};

struct cm_stun {
	enum cm_stun_kind kind;
	uint8_t transaction[CM_STUN_TRANSACTION_SIZE];
	/* Of the whole message, and where MESSAGE-INTEGRITY begins; 0: none. */
	uint16_t size, integrity_offset;
	/* What USERNAME has before its first colon: the ufrag of the side that is asked. */
	uint16_t ufrag_offset, ufrag_size;
	uint32_t priority;
	enum cm_stun_role role;
	bool is_nominating;
	/* Comprehension-required attributes that are not known here: how many, and the first of them. */
	uint16_t unknown_count;
	uint16_t unknown[CM_STUN_UNKNOWN_MAX];
	/* Of an error; 0: none. */
	uint16_t error;
	/* XOR-MAPPED-ADDRESS of a success. */
	bool has_address;
	struct cm_address address;
};

/* Reads a message. False for what is no Binding message of at most CM_PACKET_SIZE bytes with a right FINGERPRINT at its end, for
 * an attribute that contradicts its length, and for a request without a ufrag or MESSAGE-INTEGRITY. Nothing is to be answered then.
 * Attributes behind MESSAGE-INTEGRITY are ignored, and of two of a kind the second. */
bool cm_stun_read(struct cm_stun *stun, const uint8_t *data, size_t size);

/* Whether MESSAGE-INTEGRITY is right; compared in constant time. `data` is what was read. */
bool cm_stun_is_authentic(const struct cm_stun *stun, const uint8_t *data, const struct cm_stun_secret *secret);

/* With what an authentic request is to be refused by a server that is always controlled (ICE-lite); 0: with nothing. */
unsigned cm_stun_refusal(const struct cm_stun *request);

/* Writes the answer to an authentic request: its refusal, else success with the address that it came from. Returns its size; 0 when
 * it does not fit, or would have more than 1.2 times the size of the request. */
size_t cm_stun_write_answer(
	const struct cm_stun *request, const struct cm_address *from, const struct cm_stun_secret *secret, uint8_t *to,
	size_t capacity);

/* What a controlling client asks with. */
struct cm_stun_check {
	uint8_t transaction[CM_STUN_TRANSACTION_SIZE];
	/* The server's ufrag, a colon, the client's. */
	const char *username;
	size_t username_size;
	uint32_t priority;
	/* Of the role. */
	uint64_t tie_breaker;
	bool is_nominating;
};

/* Writes a request. Returns its size, and 0 when it does not fit. */
size_t cm_stun_write_request(
	const struct cm_stun_check *check, const struct cm_stun_secret *secret, uint8_t *to, size_t capacity);

#endif
