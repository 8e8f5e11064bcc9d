#include "cre_sdp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <re/re.h>

enum {
	ADDRESS_SIZE = 64,
	CLOCK_RATE = 8000,
};

/* The addresses of these variables identify a format: libre keeps them as the format's data. */
static char format_ulaw;
static char format_alaw;
static char format_event;

struct cre_sdp {
	struct sdp_session *session;
	/* Owned by `session`. */
	struct sdp_media *audio;
	char address[ADDRESS_SIZE];
	char rtcp_address[ADDRESS_SIZE];
};

static const char *preferred_profile(unsigned profiles)
{
	return profiles == CRE_SDP_SECURE ? "RTP/SAVP" : "RTP/AVP";
}

static int add_formats(struct cre_sdp *sdp, const struct cre_sdp_local *local)
{
	char number[12];
	int error = sdp_format_add(NULL, sdp->audio, false, "0", "PCMU", CLOCK_RATE, 1, NULL, NULL, &format_ulaw, false,
				   NULL);

	if (!error)
		error = sdp_format_add(NULL, sdp->audio, false, "8", "PCMA", CLOCK_RATE, 1, NULL, NULL, &format_alaw,
				       false, NULL);
	if (!error && local->event_payload_type >= 0) {
		re_snprintf(number, sizeof(number), "%d", local->event_payload_type);
		error = sdp_format_add(NULL, sdp->audio, false, number, "telephone-event", CLOCK_RATE, 1, NULL, NULL,
				       &format_event, false, "0-15");
	}
	return error;
}

int cre_sdp_open(struct cre_sdp **result, const struct cre_sdp_local *local)
{
	struct cre_sdp *sdp = calloc(1, sizeof(*sdp));
	struct sa address;
	int error;

	if (!sdp)
		return ENOMEM;
	error = sa_set_str(&address, local->address, 0);
	if (!error)
		error = sdp_session_alloc(&sdp->session, &address);
	if (!error)
		error = sdp_media_add(&sdp->audio, sdp->session, "audio", local->port,
				      preferred_profile(local->profiles));
	if (!error && local->profiles == (CRE_SDP_PLAIN | CRE_SDP_SECURE))
		error = sdp_media_set_alt_protos(sdp->audio, 3, "RTP/AVPF", "RTP/SAVP", "RTP/SAVPF");
	else if (!error)
		error = sdp_media_set_alt_protos(sdp->audio, 1,
						 local->profiles == CRE_SDP_SECURE ? "RTP/SAVPF" : "RTP/AVPF");
	if (!error)
		error = add_formats(sdp, local);
	if (!error)
		error = sdp_media_set_lattr(sdp->audio, true, "ptime", "20");
	if (error)
		cre_sdp_close(sdp);
	else
		*result = sdp;
	return error;
}

void cre_sdp_close(struct cre_sdp *sdp)
{
	if (!sdp)
		return;
	mem_deref(sdp->session);
	free(sdp);
}

int cre_sdp_decode(struct cre_sdp *sdp, const uint8_t *bytes, size_t count, bool is_offer)
{
	struct mbuf *buffer = mbuf_alloc(count + 2);
	int error;

	if (!buffer)
		return ENOMEM;
	error = mbuf_write_mem(buffer, bytes, count);
	/* Some senders omit the last line's CRLF, which libre requires. */
	if (!error)
		error = mbuf_write_str(buffer, "\r\n");
	buffer->pos = 0;
	if (!error)
		error = sdp_decode(sdp->session, buffer, is_offer);
	mem_deref(buffer);
	return error;
}

static void read_formats(const struct cre_sdp *sdp, struct cre_sdp_remote *remote)
{
	const struct le *element;

	for (element = list_head(sdp_media_format_lst(sdp->audio, false)); element; element = element->next) {
		const struct sdp_format *format = element->data;

		if (!format->sup || format->pt < 0 || format->pt > 127)
			continue;
		if (format->data == &format_event) {
			if (remote->event_payload_type < 0)
				remote->event_payload_type = format->pt;
		}
		else if (remote->audio_payload_type < 0) {
			remote->audio_payload_type = format->pt;
			remote->is_alaw = format->data == &format_alaw;
		}
	}
	for (element = list_head(sdp_media_format_lst(sdp->audio, true)); element; element = element->next) {
		const struct sdp_format *format = element->data;

		if (format->sup && format->data == &format_event)
			remote->local_event_payload_type = format->pt;
	}
}

int cre_sdp_get_remote(struct cre_sdp *sdp, struct cre_sdp_remote *remote)
{
	const struct sa *address = sdp_media_raddr(sdp->audio);
	enum sdp_dir direction = sdp_media_rdir(sdp->audio);
	const char *profile = sdp_media_proto(sdp->audio);
	struct sa rtcp;

	memset(remote, 0, sizeof(*remote));
	remote->audio_payload_type = remote->event_payload_type = remote->local_event_payload_type = -1;
	if (!sa_isset(address, SA_PORT))
		return ENOENT;
	if (sa_ntop(address, sdp->address, sizeof(sdp->address)))
		return ENOENT;
	sdp_media_raddr_rtcp(sdp->audio, &rtcp);
	if (sa_ntop(&rtcp, sdp->rtcp_address, sizeof(sdp->rtcp_address)))
		return ENOENT;
	remote->address = sdp->address;
	remote->port = sa_port(address);
	remote->rtcp_address = sdp->rtcp_address;
	remote->rtcp_port = sa_port(&rtcp);
	/* libre reports the direction as seen from our side. */
	remote->sends = direction & SDP_RECVONLY;
	remote->receives = direction & SDP_SENDONLY;
	remote->is_unspecified = !sa_isset(address, SA_ADDR);
	remote->is_secure_profile = profile && strstr(profile, "SAVP");
	read_formats(sdp, remote);
	return 0;
}

struct visit {
	cre_sdp_value_h *handler;
	void *context;
};

static bool visit_attribute(const char *name, const char *value, void *arg)
{
	const struct visit *visit = arg;

	(void)name;
	visit->handler(value, visit->context);
	return false;
}

void cre_sdp_each_crypto(const struct cre_sdp *sdp, cre_sdp_value_h *handler, void *context)
{
	struct visit visit = {handler, context};

	sdp_media_rattr_apply(sdp->audio, "crypto", visit_attribute, &visit);
}

int cre_sdp_set_crypto(struct cre_sdp *sdp, const char *value)
{
	return sdp_media_set_lattr(sdp->audio, true, "crypto", "%s", value);
}

int cre_sdp_encode(struct cre_sdp *sdp, bool is_offer, uint8_t *bytes, size_t capacity, size_t *count)
{
	struct mbuf *buffer = NULL;
	int error = sdp_encode(&buffer, sdp->session, is_offer);

	if (error)
		return error;
	if (buffer->end > capacity)
		error = ENOBUFS;
	else {
		memcpy(bytes, buffer->buf, buffer->end);
		*count = buffer->end;
	}
	mem_deref(buffer);
	return error;
}
