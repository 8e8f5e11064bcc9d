/* DTLS 1.2 servers that agree on SRTP keys with browsers. By OpenSSL, which no other file but cm_keys.c knows. Sources: RFC 6347,
 * 5764, 8122.
 *
 * There are no cookies: the caller passes on only what comes from an address that ICE has checked, and sends to no other. */
#ifndef CM_DTLS_H
#define CM_DTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cm_keys.h"

enum {
	CM_FINGERPRINT_SIZE = 32,
	/* The greatest datagram that is sent. */
	CM_DTLS_MTU = 1200,
	/* A flight without an answer is sent again after this time, then after twice as long, and so on up to the greatest. After 12
	 * repetitions, some 9 seconds, the handshake has failed. */
	CM_DTLS_RESEND_MS = 50,
	CM_DTLS_RESEND_MAX_MS = 1000,
	/* The most bytes of a peer's certificates. */
	CM_DTLS_CERTIFICATES_MAX = 16 * 1024,
};

enum cm_dtls_state {
	CM_DTLS_HANDSHAKING,
	/* The peer is who the offer said, and there are keys. */
	CM_DTLS_DONE,
	/* Where it ends; cm_dtls_reason says more. */
	CM_DTLS_FAILED,
	/* The peer's certificate is not the one of the offer. */
	CM_DTLS_WRONG_FINGERPRINT,
	/* The peer knows none of the suites. */
	CM_DTLS_NO_SUITE,
	/* The peer ended it after the handshake. */
	CM_DTLS_CLOSED,
};

/* A certificate and what all connections have in common. */
struct cm_dtls_context;
struct cm_dtls;

/* Sends one datagram. Called within cm_dtls_receive, cm_dtls_tick and cm_dtls_close only, and must not call these. */
typedef void cm_dtls_send_h(void *context, const uint8_t *data, size_t size);

/* Makes a P-256 certificate that is valid for a year. Returns NULL without memory or random numbers. */
struct cm_dtls_context *cm_dtls_context_make(void);
/* After its connections are closed. NULL is allowed. */
void cm_dtls_context_free(struct cm_dtls_context *context);

/* The SHA-256 of the certificate. */
void cm_dtls_context_fingerprint(const struct cm_dtls_context *context, uint8_t to[CM_FINGERPRINT_SIZE]);

/* A server that waits for a peer with that certificate. Returns NULL without memory. */
struct cm_dtls *cm_dtls_open(
	struct cm_dtls_context *context, const uint8_t fingerprint[CM_FINGERPRINT_SIZE], cm_dtls_send_h *send,
	void *send_context);

/* Says goodbye when the handshake is done, and frees the connection. NULL is allowed. */
void cm_dtls_close(struct cm_dtls *dtls);

/* Takes one datagram, and answers. What is no record of DTLS changes nothing. */
enum cm_dtls_state cm_dtls_receive(struct cm_dtls *dtls, const uint8_t *data, size_t size);

/* Sends a flight again when its time has come. To be called each 10 ms or so, while handshaking. */
enum cm_dtls_state cm_dtls_tick(struct cm_dtls *dtls);

/* The keys; false before the handshake is done. They are for the caller to forget. */
bool cm_dtls_keys(const struct cm_dtls *dtls, struct cm_media_keys *keys);

/* Why it failed, in the library's words; empty when it did not. */
const char *cm_dtls_reason(const struct cm_dtls *dtls);

#endif
