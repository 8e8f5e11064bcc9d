/* SRTP and SRTCP of one participant in one direction. By libsrtp2, which no other file knows. Sources: RFC 3711, 7714.
 *
 * State changes only by authentic packets. Packets begin at a multiple of four bytes; they are changed in place. */
#ifndef CM_SRTP_H
#define CM_SRTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cm_keys.h"

enum {
	/* A packet that is so far behind is too old. */
	CM_SRTP_WINDOW = 1024,
	/* What protection adds at most to a packet: the tag of GCM, and the index of SRTCP. */
	CM_SRTP_OVERHEAD = 16 + 4,
	/* The most SSRCs in one direction: of a participant, and of the slots that a node sends to it (16 for audio, 25 for video with
	 * as many for retransmissions, and one of reports without a slot). */
	CM_SRTP_RECEIVED_SOURCES = 16,
	CM_SRTP_SENT_SOURCES = 16 + 2 * 25 + 1,
};

enum cm_srtp_verdict {
	CM_AUTHENTIC,
	/* Made without the key, changed on its way, or no packet at all. */
	CM_FORGED,
	CM_REPLAYED,
	/* CM_SRTP_WINDOW or more behind. Whether it is authentic is not known, as for CM_REPLAYED. */
	CM_BEHIND_WINDOW,
	/* Of an SSRC beyond CM_SRTP_RECEIVED_SOURCES. */
	CM_TOO_MANY_SOURCES,
};

struct cm_srtp;

/* What the counters of one direction say. */
struct cm_srtp_counts {
	uint64_t authentic, forged, replayed, too_old, too_many_sources;
};

/* Makes one direction from cm_suite_size bytes of master key and salt, which the caller may forget then. Returns 0, ENOMEM, or
 * EINVAL when the library cannot work. */
int cm_srtp_make(struct cm_srtp **srtp, enum cm_suite suite, const uint8_t *key_and_salt, bool is_sending);
/* NULL is allowed. */
void cm_srtp_free(struct cm_srtp *srtp);

/* Authenticates and decrypts a packet; the size becomes that of the plain one. What is not authentic is no longer to be read. */
enum cm_srtp_verdict cm_srtp_unprotect(struct cm_srtp *srtp, uint8_t *packet, size_t *size);
enum cm_srtp_verdict cm_srtp_unprotect_rtcp(struct cm_srtp *srtp, uint8_t *packet, size_t *size);

/* Encrypts a packet and adds its tag. False when the capacity is less than CM_SRTP_OVERHEAD more than the size, when the packet is
 * none, when its number was sent before or is CM_SRTP_WINDOW or more behind, and for an SSRC beyond CM_SRTP_SENT_SOURCES; it is
 * not to be sent then. */
bool cm_srtp_protect(struct cm_srtp *srtp, uint8_t *packet, size_t *size, size_t capacity);
bool cm_srtp_protect_rtcp(struct cm_srtp *srtp, uint8_t *packet, size_t *size, size_t capacity);

struct cm_srtp_counts cm_srtp_counts(const struct cm_srtp *srtp);

#endif
