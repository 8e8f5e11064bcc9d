/* What a browser is to a media node, for tests: a DTLS client, and the cryptography of SRTP by another library than the node's. A whole
 * participant is in cm_caller.h. */
#ifndef CM_PEER_H
#define CM_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CM_PEER_DATAGRAM_SIZE = 1500,
	CM_PEER_KEYS_MAX = 60,
};

struct cm_peer_settings {
	/* In OpenSSL's names, with colons; empty: none is offered. */
	const char *profiles;
	/* So many bytes make the ClientHello longer. */
	size_t padding;
	/* The size of its datagrams. */
	long mtu;
	bool has_rsa, has_certificate;
};

struct cm_peer;

/* NULL when the library refuses the settings. */
struct cm_peer *cm_peer_make(const struct cm_peer_settings *settings);
void cm_peer_free(struct cm_peer *peer);

/* The SHA-256 of its certificate. */
void cm_peer_fingerprint(const struct cm_peer *peer, uint8_t to[32]);

/* Begins or goes on with the handshake, or reads, with a datagram or without one. False when it has failed, or the server said
 * goodbye. */
bool cm_peer_receive(struct cm_peer *peer, const uint8_t *data, size_t size);
/* Sends again what was not answered in time. */
void cm_peer_tick(struct cm_peer *peer);

/* The next datagram that it sent: its size; 0: none. */
size_t cm_peer_take(struct cm_peer *peer, uint8_t to[CM_PEER_DATAGRAM_SIZE]);

bool cm_peer_is_done(const struct cm_peer *peer);
/* The SHA-256 of the server's certificate, once it is known. */
bool cm_peer_server_fingerprint(const struct cm_peer *peer, uint8_t to[32]);
/* Keys of client and server, then their salts, as exported; returns their size, 0: none. */
size_t cm_peer_keys(const struct cm_peer *peer, uint8_t to[CM_PEER_KEYS_MAX]);
/* Sends data over DTLS, which means nothing to the node. */
void cm_peer_write(struct cm_peer *peer, const uint8_t *data, size_t size);

/* Says goodbye. */
void cm_peer_close(struct cm_peer *peer);

/* The key derivation of RFC 3711, section 4.3.1: a session key from master key, salt of 14 bytes and label. */
bool cm_peer_derive(const uint8_t key[16], const uint8_t salt[14], uint8_t label, uint8_t *to, size_t size);
/* AES-128 in counter mode. */
bool cm_peer_counter(const uint8_t key[16], const uint8_t iv[16], uint8_t *data, size_t size);

struct cm_peer_text {
	const uint8_t *data;
	size_t size;
};

/* AES-128-GCM: writes as many bytes as the text has, and 16 more. */
bool cm_peer_seal(
	const uint8_t key[16], const uint8_t iv[12], struct cm_peer_text associated, struct cm_peer_text plain, uint8_t *to);

#endif
