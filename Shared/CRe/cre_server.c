#include "cre_internal.h"

const struct cre_message *cre_server_request_message(const struct cre_server_request *request)
{
	return cre_from_libre(request->message);
}

void cre_server_request_on_cancel(struct cre_server_request *request, void (*handler)(void *context), void *context)
{
	request->cancelled = handler;
	request->context = context;
}

int cre_server_request_reply(
	struct cre_server_request *request, uint16_t status, const char *reason, bool record_route, struct cre_span rest,
	struct cre_span *encoded)
{
	struct mbuf *reply = NULL;
	int error;

	if (!request->stack)
		return ECONNABORTED;
	if (!request->transaction)
		return EALREADY;
	error = sip_treplyf(
		&request->transaction, &reply, request->stack->sip, request->message, record_route, status, reason, "%b",
		rest.bytes, rest.count);
	if (error)
		return error;
	mem_deref(request->reply);
	request->reply = reply;
	*encoded = (struct cre_span){(const char *)reply->buf, reply->end};
	return 0;
}

int cre_server_request_resend(struct cre_server_request *request, struct cre_span packet)
{
	struct sa destination;
	struct mbuf *buffer;
	struct pl ignored;
	int error;

	if (!request->stack)
		return ECONNABORTED;
	buffer = mbuf_alloc(packet.count ? packet.count : 1);
	if (!buffer)
		return ENOMEM;
	error = mbuf_write_mem(buffer, (const uint8_t *)packet.bytes, packet.count);
	buffer->pos = 0;
	sip_reply_addr(
		&destination, request->message, !msg_param_exists(&request->message->via.params, "rport", &ignored));
	if (!error)
		error = sip_send(
			request->stack->sip, request->message->sock, request->message->tp, &destination, buffer);
	mem_deref(buffer);
	return error;
}

void cre_server_request_free(struct cre_server_request *request)
{
	if (!request)
		return;
	list_unlink(&request->le);
	mem_deref(request->transaction);
	mem_deref(request->message);
	mem_deref(request->reply);
	mem_deref(request);
}
