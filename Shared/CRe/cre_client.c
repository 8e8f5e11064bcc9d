#include "cre_internal.h"

struct cre_client_request {
	/* Set to NULL by libre when the transaction ends. */
	struct sip_request *request;
	cre_response_h *handler;
	void *context;
};

static void response_arrived(int error, const struct sip_msg *message, void *arg)
{
	struct cre_client_request *request = arg;

	request->handler(request->context, error, cre_from_libre(message));
}

static struct cre_client_request *make(cre_response_h *handler, void *context)
{
	struct cre_client_request *request = mem_zalloc(sizeof(*request), NULL);

	if (!request)
		return NULL;
	request->handler = handler;
	request->context = context;
	return request;
}

void cre_client_request_cancel(struct cre_client_request *request)
{
	sip_request_cancel(request->request);
}

void cre_client_request_free(struct cre_client_request *request)
{
	mem_deref(request);
}

int cre_dialog_make(
	struct cre_dialog **dialog, const char *target, const char *to, const char *from_name, const char *from,
	const char *const *routes, uint32_t route_count)
{
	return sip_dialog_alloc(
		(struct sip_dialog **)dialog, target, to, from_name, from, (const char **)routes, route_count);
}

int cre_dialog_accept(struct cre_dialog **dialog, const struct cre_server_request *request)
{
	return sip_dialog_accept((struct sip_dialog **)dialog, request->message);
}

int cre_dialog_fork(struct cre_dialog **dialog, struct cre_dialog *origin, const struct cre_message *message)
{
	return sip_dialog_fork((struct sip_dialog **)dialog, (struct sip_dialog *)origin, cre_to_libre(message));
}

int cre_dialog_update(struct cre_dialog *dialog, const struct cre_message *message)
{
	return sip_dialog_update((struct sip_dialog *)dialog, cre_to_libre(message));
}

bool cre_dialog_matches(const struct cre_dialog *dialog, const struct cre_message *message)
{
	return sip_dialog_cmp((const struct sip_dialog *)dialog, cre_to_libre(message));
}

bool cre_dialog_accepts_sequence(struct cre_dialog *dialog, const struct cre_message *message)
{
	return sip_dialog_rseq_valid((struct sip_dialog *)dialog, cre_to_libre(message));
}

const char *cre_dialog_call_id(const struct cre_dialog *dialog)
{
	return sip_dialog_callid((const struct sip_dialog *)dialog);
}

uint32_t cre_dialog_next_sequence(const struct cre_dialog *dialog)
{
	return sip_dialog_lseq((const struct sip_dialog *)dialog);
}

int cre_dialog_request(
	struct cre_client_request **result, struct cre_sip *stack, struct cre_dialog *dialog, const char *method,
	struct cre_span rest, cre_response_h *handler, void *context)
{
	struct cre_client_request *request = make(handler, context);
	int error;

	if (!request)
		return ENOMEM;
	error = sip_drequestf(
		&request->request, stack->sip, true, method, (struct sip_dialog *)dialog, 0, NULL, NULL, response_arrived,
		request, "%b", rest.bytes, rest.count);
	if (error)
		mem_deref(request);
	else
		*result = request;
	return error;
}

int cre_dialog_acknowledge(struct cre_sip *stack, struct cre_dialog *dialog, uint32_t sequence, struct cre_span rest)
{
	return sip_drequestf(
		NULL, stack->sip, false, "ACK", (struct sip_dialog *)dialog, sequence, NULL, NULL, NULL, NULL, "%b",
		rest.bytes, rest.count);
}

void cre_dialog_free(struct cre_dialog *dialog)
{
	mem_deref(dialog);
}
