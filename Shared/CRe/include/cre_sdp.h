/* The session descriptions of one audio stream, over libre's SDP, in plain C types.
 *
 * An object serves one exchange, and is then freed: libre's own state cannot be put back when a description turns out to be
 * unacceptable. Functions that return int return 0 or an errno value. */
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
	/* The numeric address to be told to the peer. */
	const char *address;
	uint16_t port;
	/* What an offer may come with, of cre_sdp_profiles; our own offer is secure when only that is set. */
	unsigned profiles;
	/* The payload type of telephone-event, or -1 for none. */
	int event_payload_type;
};

/* The peer's side. */
struct cre_sdp_remote {
	/* Live as long as the object. */
	const char *address;
	const char *rtcp_address;
	uint16_t port;
	uint16_t rtcp_port;
	/* As the peer sees it. */
	bool sends;
	bool receives;
	/* The address is 0.0.0.0, the old way to put on hold; or it is a name, which libre does not look up. */
	bool is_unspecified;
	bool is_secure_profile;
	/* What to send; -1 when nothing fits. */
	int audio_payload_type;
	bool is_alaw;
	/* What to send events with, and to receive them with; -1 when there is no telephone-event at 8000. */
	int event_payload_type;
	int local_event_payload_type;
};

struct cre_sdp;
int cre_sdp_open(struct cre_sdp **sdp, const struct cre_sdp_local *local);
void cre_sdp_close(struct cre_sdp *sdp);
/* Reads the peer's description. EBADMSG: not SDP; others: not acceptable. */
int cre_sdp_decode(struct cre_sdp *sdp, const uint8_t *bytes, size_t count, bool is_offer);
/* What was read. ENOENT: no audio stream that can be had. */
int cre_sdp_get_remote(struct cre_sdp *sdp, struct cre_sdp_remote *remote);
typedef void cre_sdp_value_h(const char *value, void *context);
/* The values of `a=crypto` lines of the audio stream, in order. */
void cre_sdp_each_crypto(const struct cre_sdp *sdp, cre_sdp_value_h *handler, void *context);
int cre_sdp_set_crypto(struct cre_sdp *sdp, const char *value);
/* Writes our description; its o= line is the first after v=. ENOBUFS: it has more bytes. */
int cre_sdp_encode(struct cre_sdp *sdp, bool is_offer, uint8_t *bytes, size_t capacity, size_t *count);

#endif
