/* The stream of CRe with its static functions within reach; its own names are kept apart from those in the library. */
#define cre_rtp_open cfuzz_cre_rtp_open
#define cre_rtp_port cfuzz_cre_rtp_port
#define cre_rtp_set_peer cfuzz_cre_rtp_set_peer
#define cre_rtp_set_keys cfuzz_cre_rtp_set_keys
#define cre_rtp_start_reports cfuzz_cre_rtp_start_reports
#define cre_rtp_send cfuzz_cre_rtp_send
#define cre_rtp_counts cfuzz_cre_rtp_counts
#define cre_rtp_close cfuzz_cre_rtp_close
#include "../../../Shared/CRe/cre_media.c"
#include "../../../Shared/CRe/cre_internal.h"

#include "cfuzz.h"

struct receiver {
	cfuzz_payload_h *handler;
	void *context;
};

static void packet_arrived(const struct cre_rtp_packet *packet, void *arg)
{
	const struct receiver *receiver = arg;

	receiver->handler(packet->payload, packet->count, packet->payload_type, packet->timestamp, receiver->context);
}

void cfuzz_rtp(unsigned kind, const uint8_t *data, size_t size, cfuzz_payload_h *handler, void *context)
{
	struct receiver receiver = {handler, context};
	struct cre_rtp rtp = {.handler = packet_arrived, .context = &receiver};
	uint8_t key[CRE_SRTP_KEY_SIZE] = {1, 2, 3};
	/* As much as there is, so that a read beyond it is noticed. */
	struct mbuf *buffer = mbuf_alloc(size ? size : 1);
	struct rtp_header header;
	struct rtcp_msg *report = NULL;
	struct sa source;

	sa_set_str(&source, "127.0.0.1", 4000);
	rtp.peer = rtp.peer_rtcp = rtp.destination = source;
	sa_init(&rtp.signalling, AF_UNSPEC);
	rtp.has_peer = true;
	if (kind & 2)
		cre_rtp_set_keys(&rtp, key, key);
	mbuf_write_mem(buffer, data, size);
	buffer->pos = 0;
	if (kind & 1) {
		if (!filter_rtcp(&source, buffer, &rtp) && !rtcp_decode(&report, buffer))
			mem_deref(report);
	}
	else if (!filter_rtp(&source, buffer, &rtp) && !rtp_hdr_decode(&header, buffer))
		rtp_arrived(&source, &header, buffer, &rtp);
	cre_rtp_set_keys(&rtp, NULL, NULL);
	mem_deref(buffer);
}

void cfuzz_dialog(const struct cre_message *message)
{
	struct cre_server_request request = {.message = (struct sip_msg *)message};
	struct cre_dialog *origin = NULL, *dialog = NULL;
	int error;

	if (cre_to_libre(message)->req)
		error = cre_dialog_accept(&dialog, &request);
	else {
		error = cre_dialog_make(&origin, "sip:desk@127.0.0.1", "sip:desk@127.0.0.1", "Trunk",
					"sip:trunk@127.0.0.1", NULL, 0);
		if (!error)
			error = cre_dialog_fork(&dialog, origin, message);
	}
	if (!error) {
		cre_dialog_matches(dialog, message);
		cre_dialog_accepts_sequence(dialog, message);
		cre_dialog_update(dialog, message);
		cre_dialog_call_id(dialog);
		cre_dialog_next_sequence(dialog);
	}
	cre_dialog_free(dialog);
	cre_dialog_free(origin);
}
