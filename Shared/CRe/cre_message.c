#include "cre_internal.h"

void cre_address_of(struct cre_address *address, const struct sa *from)
{
	if (sa_ntop(from, address->host, sizeof(address->host)))
		address->host[0] = '\0';
	address->port = sa_port(from);
}

static void fill_party(struct cre_party *party, const struct sip_taddr *from)
{
	party->display = cre_span_of(&from->dname);
	party->uri = cre_span_of(&from->auri);
	/* In a header without angle brackets, libre includes the white space before the parameters in the URI. */
	while (party->uri.count && strchr(" \t\r\n", party->uri.bytes[party->uri.count - 1]))
		party->uri.count--;
	party->user = cre_span_of(&from->uri.user);
	party->host = cre_span_of(&from->uri.host);
	party->tag = cre_span_of(&from->tag);
	party->port = from->uri.port;
}

struct cre_message *cre_message_decode(const void *bytes, size_t count)
{
	struct sip_msg *message = NULL;
	struct mbuf *buffer = mbuf_alloc(count ? count : 1);

	if (!buffer)
		return NULL;
	if (!mbuf_write_mem(buffer, bytes, count)) {
		buffer->pos = 0;
		if (sip_msg_decode(&message, buffer))
			message = NULL;
	}
	mem_deref(buffer);
	return (struct cre_message *)message;
}

void cre_message_free(struct cre_message *message)
{
	mem_deref(message);
}

void cre_message_view(const struct cre_message *opaque, struct cre_message_view *view)
{
	const struct sip_msg *message = cre_to_libre(opaque);
	const char *start = message->req ? message->met.p : message->ver.p;
	const struct mbuf *buffer = message->mb;
	const struct sip_hdr *contact = sip_msg_hdr(message, SIP_HDR_CONTACT);
	struct sip_addr address;

	memset(view, 0, sizeof(*view));
	view->is_request = message->req;
	view->method = cre_span_of(&message->met);
	view->uri = cre_span_of(&message->ruri);
	view->uri_scheme = cre_span_of(&message->uri.scheme);
	view->uri_user = cre_span_of(&message->uri.user);
	view->uri_host = cre_span_of(&message->uri.host);
	view->status = message->scode;
	view->reason = cre_span_of(&message->reason);
	fill_party(&view->from, &message->from);
	fill_party(&view->to, &message->to);
	view->call_id = cre_span_of(&message->callid);
	view->sequence = message->cseq.num;
	view->sequence_method = cre_span_of(&message->cseq.met);
	view->via_host = cre_span_of(&message->via.sentby);
	if (contact && !sip_addr_decode(&address, &contact->val))
		view->contact_uri = cre_span_of(&address.auri);
	view->body.bytes = (const char *)mbuf_buf(buffer);
	view->body.count = mbuf_get_left(buffer);
	view->all.bytes = start;
	view->all.count = (size_t)((const char *)buffer->buf + buffer->end - start);
	view->transport = message->tp == SIP_TRANSP_TLS ? CRE_TLS : message->tp == SIP_TRANSP_TCP ? CRE_TCP : CRE_UDP;
	cre_address_of(&view->source, &message->src);
}

bool cre_message_next_header(
	const struct cre_message *message, const void **cursor, struct cre_span *name, struct cre_span *value)
{
	const struct le *element = *cursor ? ((const struct le *)*cursor)->next : cre_to_libre(message)->hdrl.head;
	const struct sip_hdr *header = list_ledata(element);

	if (!header)
		return false;
	*cursor = element;
	*name = cre_span_of(&header->name);
	*value = cre_span_of(&header->val);
	return true;
}
