/* The session descriptions (SDP) of one audio stream, over libre's SDP, in plain C types.
 *
 * An object serves one offer/answer exchange and is then freed: libre's state cannot be restored when a description
 * turns out to be unacceptable. Functions that return int return 0 or an errno value. */
#ifndef CRE_SDP_H
#define CRE_SDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cre_sdp_profiles {
	/* RTP/AVP and RTP/AVPF. */
	CRE_SDP_PLAIN = 1,
	/* RTP/SAVP and RTP/SAVPF. */
	CRE_SDP_SECURE = 2,
};

/* Our side. */
struct cre_sdp_local {
	/* The numeric address announced to the peer. */
	const char *address;
	uint16_t port;
	/* Flags of cre_sdp_profiles that a peer's offer may use. Our own offer is secure when only CRE_SDP_SECURE is
	 * set. */
	unsigned profiles;
	/* The payload type of telephone-event, or -1 for none. */
	int event_payload_type;
};

/* The peer's side. */
struct cre_sdp_remote {
	/* The strings are valid as long as the object. */
	const char *address;
	const char *rtcp_address;
	uint16_t port;
	uint16_t rtcp_port;
	/* The direction of the stream as seen from the peer. */
	bool sends;
	bool receives;
	/* The address is 0.0.0.0, which is the old way to put a call on hold, or a name, which libre does not resolve. */
	bool is_unspecified;
	bool is_secure_profile;
	/* The payload type to send audio with; -1 when no offered format is supported. */
	int audio_payload_type;
	bool is_alaw;
	/* The payload types to send and to receive events with; -1 when there is no telephone-event at 8000 Hz. */
	int event_payload_type;
	int local_event_payload_type;
};

struct cre_sdp;
int cre_sdp_open(struct cre_sdp **sdp, const struct cre_sdp_local *local);
void cre_sdp_close(struct cre_sdp *sdp);
/* Reads the peer's description. Returns EBADMSG when it is not SDP, other errors when it is not acceptable. */
int cre_sdp_decode(struct cre_sdp *sdp, const uint8_t *bytes, size_t count, bool is_offer);
/* Returns the peer's side as read. ENOENT: there is no usable audio stream. */
int cre_sdp_get_remote(struct cre_sdp *sdp, struct cre_sdp_remote *remote);
typedef void cre_sdp_value_h(const char *value, void *context);
/* Calls `handler` with the value of each `a=crypto` line of the audio stream, in order. */
void cre_sdp_each_crypto(const struct cre_sdp *sdp, cre_sdp_value_h *handler, void *context);
int cre_sdp_set_crypto(struct cre_sdp *sdp, const char *value);
/* Writes our description; its o= line directly follows v=. Returns ENOBUFS when it exceeds `capacity`. */
int cre_sdp_encode(struct cre_sdp *sdp, bool is_offer, uint8_t *bytes, size_t capacity, size_t *count);

#endif
