#include <net/if.h>

#include "cre_internal.h"

enum {
	/* Sizes of libre's hash tables, powers of two. Enough for a few thousand transactions without long chains. */
	TRANSACTION_BUCKETS = 2048,
	CONNECTION_BUCKETS = 256,
	DNS_SERVERS = 8,
};

static enum sip_transp libre_transport(enum cre_transport transport)
{
	switch (transport) {
	case CRE_UDP:
		return SIP_TRANSP_UDP;
	case CRE_TCP:
		return SIP_TRANSP_TCP;
	case CRE_TLS:
		return SIP_TRANSP_TLS;
	}
	return SIP_TRANSP_NONE;
}

/* Drops datagrams that are not SIP, for each of which libre would write a line to standard error. STUN and the empty
 * lines of keep-alives are passed on to libre. */
static bool datagram_arrived(struct sa *source, struct mbuf *buffer, void *arg)
{
	struct cre_sip *stack = arg;
	struct sip_msg *message;
	size_t position = buffer->pos;
	int error;

	(void)source;
	if (mbuf_get_left(buffer) <= 4 || mbuf_buf(buffer)[0] < 4)
		return false;
	error = sip_msg_decode(&message, buffer);
	buffer->pos = position;
	if (!error) {
		mem_deref(message);
		return false;
	}
	stack->handlers.garbage(stack->handlers.context);
	return true;
}

/* Installs the datagram filter on a UDP socket. libre makes its sockets known only through the messages received on
 * them. */
static void watch_socket(struct cre_sip *stack, const struct sip_msg *message)
{
	size_t i;

	if (message->tp != SIP_TRANSP_UDP)
		return;
	for (i = 0; i < CRE_MAX_SOCKETS && stack->sockets[i]; i++) {
		if (stack->sockets[i] == message->sock)
			return;
	}
	if (i < CRE_MAX_SOCKETS &&
	    !udp_register_helper(&stack->sieves[i], message->sock, 0, NULL, datagram_arrived, stack))
		stack->sockets[i] = message->sock;
}

static void transaction_cancelled(void *arg)
{
	struct cre_server_request *request = arg;

	if (request->cancelled)
		request->cancelled(request->context);
}

static bool request_arrived(const struct sip_msg *message, void *arg)
{
	struct cre_sip *stack = arg;
	struct cre_server_request *request = mem_zalloc(sizeof(*request), NULL);

	watch_socket(stack, message);
	/* Out of memory: the request is ignored, and the peer retransmits it. */
	if (!request)
		return true;
	request->stack = stack;
	request->message = mem_ref((void *)message);
	/* libre keeps no server transaction for an ACK. */
	if (pl_strcmp(&message->met, "ACK") &&
	    sip_strans_alloc(&request->transaction, stack->sip, message, transaction_cancelled, request)) {
		mem_deref(request->message);
		mem_deref(request);
		return true;
	}
	list_append(&stack->pending, &request->le, request);
	stack->handlers.request(stack->handlers.context, request);
	return true;
}

static bool response_arrived(const struct sip_msg *message, void *arg)
{
	struct cre_sip *stack = arg;

	watch_socket(stack, message);
	stack->handlers.stray(stack->handlers.context, cre_from_libre(message));
	return true;
}

static void message_passed(
	bool is_sent, enum sip_transp transport, const struct sa *source, const struct sa *destination,
	const uint8_t *packet, size_t length, void *arg)
{
	struct cre_sip *stack = arg;
	struct cre_address from, to;

	if (!stack->handlers.trace)
		return;
	cre_address_of(&from, source);
	cre_address_of(&to, destination);
	stack->handlers.trace(
		stack->handlers.context, is_sent,
		transport == SIP_TRANSP_TLS ? CRE_TLS : transport == SIP_TRANSP_TCP ? CRE_TCP : CRE_UDP, &from, &to,
		(struct cre_span){(const char *)packet, length});
}

int cre_sip_open(struct cre_sip **result, const struct cre_sip_handlers *handlers, const char *software)
{
	struct sa servers[DNS_SERVERS];
	uint32_t count = DNS_SERVERS;
	struct cre_sip *stack = mem_zalloc(sizeof(*stack), NULL);
	int error;

	if (!stack)
		return ENOMEM;
	stack->handlers = *handlers;
	list_init(&stack->pending);
	list_init(&stack->names);
	/* Without a name server, numeric addresses still work; names fail when they are looked up. */
	if (dns_srv_get(NULL, 0, servers, &count))
		count = 0;
	error = dnsc_alloc(&stack->dns, NULL, servers, count);
	if (!error)
		error = sip_alloc(
			&stack->sip, stack->dns, TRANSACTION_BUCKETS, TRANSACTION_BUCKETS, CONNECTION_BUCKETS, software,
			NULL, stack);
	if (!error)
		error = sip_listen(&stack->requests, stack->sip, true, request_arrived, stack);
	if (!error)
		error = sip_listen(&stack->responses, stack->sip, false, response_arrived, stack);
	if (error) {
		cre_sip_close(stack);
		return error;
	}
	sip_set_trace_handler(stack->sip, message_passed);
	*result = stack;
	return 0;
}

int cre_sip_listen(
	struct cre_sip *stack, enum cre_transport transport, const char *host, uint16_t port, uint16_t *bound)
{
	struct sa local, listening;
	int error = sa_set_str(&local, host, port);

	if (error)
		return error;
	if (transport == CRE_TLS && !stack->tls)
		return EPROTONOSUPPORT;
	error = sip_transp_add(stack->sip, libre_transport(transport), &local, stack->tls);
	if (error)
		return error;
	/* libre reports the port of the first listener of a transport only, so only that one may be opened with port 0. */
	*bound = port;
	if (!port) {
		error = sip_transp_laddr(stack->sip, &listening, libre_transport(transport), &local);
		if (!error)
			*bound = sa_port(&listening);
	}
	return error;
}

void cre_sip_flush_transports(struct cre_sip *stack)
{
	sip_transp_flush(stack->sip);
}

void cre_sip_close(struct cre_sip *stack)
{
	struct le *element;
	size_t i;

	if (!stack)
		return;
	/* A forced close makes libre close its requests twice, since a handler that learns of one's end may start
	 * another. */
	sip_close(stack->sip, true);
	for (element = stack->pending.head; element; element = stack->pending.head) {
		struct cre_server_request *request = element->data;

		request->transaction = mem_deref(request->transaction);
		request->stack = NULL;
		list_unlink(element);
	}
	for (i = 0; i < CRE_MAX_SOCKETS; i++)
		mem_deref(stack->sieves[i]);
	mem_deref(stack->requests);
	mem_deref(stack->responses);
	mem_deref(stack->sip);
	mem_deref(stack->dns);
	mem_deref(stack->tls);
	list_flush(&stack->names);
	mem_deref(stack);
}

struct address_list {
	struct cre_address *addresses;
	size_t room;
	size_t count;
	int family;
};

static void add_address(struct address_list *list, const struct sa *address)
{
	struct cre_address text;
	size_t i;

	if (list->count == list->room || sa_af(address) != list->family || sa_is_linklocal(address))
		return;
	cre_address_of(&text, address);
	for (i = 0; i < list->count; i++) {
		if (!strcmp(list->addresses[i].host, text.host))
			return;
	}
	text.port = 0;
	list->addresses[list->count++] = text;
}

static bool interface_found(const char *name, const struct sa *address, void *arg)
{
	(void)name;
	add_address(arg, address);
	return false;
}

size_t cre_local_addresses(bool v6, struct cre_address *addresses, size_t room)
{
	struct address_list list = {addresses, room, 0, v6 ? AF_INET6 : AF_INET};
	struct sa source;

	if (!net_default_source_addr_get(list.family, &source))
		add_address(&list, &source);
	net_if_apply(interface_found, &list);
	return list.count;
}
