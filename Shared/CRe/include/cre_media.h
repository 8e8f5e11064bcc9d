/* One RTP stream with its RTCP, plain or SRTP, over libre's sockets, in plain C types.
 *
 * Everything here runs on the loop's thread. Functions that return int return 0 or an errno value. */
#ifndef CRE_MEDIA_H
#define CRE_MEDIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* Master key and salt of AES_CM_128_HMAC_SHA1_80. */
	CRE_SRTP_KEY_SIZE = 30,
};

struct cre_rtp_packet {
	uint32_t source;
	uint32_t timestamp;
	uint16_t sequence;
	uint8_t payload_type;
	bool marker;
	/* Valid only during the handler's call. */
	const uint8_t *payload;
	size_t count;
};

/* Numbers of packets that were sent, accepted and dropped. */
struct cre_rtp_counts {
	uint64_t sent;
	uint64_t unsent;
	uint64_t received;
	/* Dropped: not from the peer's address. */
	uint64_t strangers;
	/* Dropped: failed SRTP authentication, or replayed an earlier packet. */
	uint64_t unauthentic;
	/* Dropped: invalid RTP padding. */
	uint64_t malformed;
};

typedef void cre_rtp_packet_h(const struct cre_rtp_packet *packet, void *context);

struct cre_rtp;
/* Binds an even port of the range for RTP and the next one for RTCP. Packets are dropped until cre_rtp_set_peer is
 * called. */
int cre_rtp_open(struct cre_rtp **rtp, const char *address, uint16_t first_port, uint16_t last_port,
		 cre_rtp_packet_h *handler, void *context);
uint16_t cre_rtp_port(const struct cre_rtp *rtp);
/* Sets where to send packets, and from whom to accept them: from any port of `address`, and of `signalling` (NULL for
 * none), the address that the peer's SIP comes from. Once packets come from `signalling`, ours are sent to their source. */
int cre_rtp_set_peer(struct cre_rtp *rtp, const char *address, uint16_t port, const char *rtcp_address,
		     uint16_t rtcp_port, const char *signalling);
/* Sets the SRTP keys, of CRE_SRTP_KEY_SIZE bytes each; NULL for both means plain RTP. An unchanged key keeps its SRTP
 * state. */
int cre_rtp_set_keys(struct cre_rtp *rtp, const uint8_t *local, const uint8_t *remote);
/* Starts the RTCP reports. To be called again when the peer's address has changed. */
void cre_rtp_start_reports(struct cre_rtp *rtp, const char *name, uint32_t clock_rate);
/* Sends a packet with the next sequence number. */
int cre_rtp_send(struct cre_rtp *rtp, uint8_t payload_type, bool marker, uint32_t timestamp, const uint8_t *payload,
		 size_t count);
struct cre_rtp_counts cre_rtp_counts(const struct cre_rtp *rtp);
/* Sends RTCP BYE if the reports were started, and closes the stream. The handler is not called again. Ignores NULL. */
void cre_rtp_close(struct cre_rtp *rtp);

#endif
