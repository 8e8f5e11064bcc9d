/* _GNU_SOURCE makes <dlfcn.h> declare RTLD_NEXT. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <sys/socket.h>

#include "cre_internal.h"

typedef int accept_function(
	struct tcp_conn **connection, struct tcp_sock *socket, tcp_estab_h *established, tcp_recv_h *received,
	tcp_close_h *closed, void *arg);
typedef int listen_function(struct tcp_sock *socket, int backlog);

/* The gate of this thread's loop; NULL when all connections are accepted. */
static _Thread_local cre_gate_h *gate;
static _Thread_local void *gate_context;

void cre_gate_set(cre_gate_h *handler, void *context)
{
	gate = handler;
	gate_context = context;
}

void cre_gate_clear(void *context)
{
	if (gate_context != context)
		return;
	gate = NULL;
	gate_context = NULL;
}

/* Replaces libre's function of this name, and calls it. libre's SIP accepts every connection, without a limit and
 * without a hook to refuse one, but it drops a connection for which tcp_accept returns an error. */
int tcp_accept(
	struct tcp_conn **connection, struct tcp_sock *socket, tcp_estab_h *established, tcp_recv_h *received,
	tcp_close_h *closed, void *arg)
{
	static _Thread_local accept_function *next;
	struct cre_address address;
	struct sa peer;
	int error;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "tcp_accept");
	if (!next)
		return ENOSYS;
	error = next(connection, socket, established, received, closed, arg);
	if (error || !gate)
		return error;
	error = tcp_conn_peer_get(*connection, &peer);
	if (!error) {
		cre_address_of(&address, &peer);
		if (!gate(gate_context, tcp_conn_fd(*connection), &address))
			error = ECONNREFUSED;
	}
	if (error)
		*connection = mem_deref(*connection);
	return error;
}

/* Also replaces libre's function, which uses a backlog of five connections. A further caller's connection is retried
 * only after a second, and an attacker who connects continuously keeps the backlog full. */
int tcp_sock_listen(struct tcp_sock *socket, int backlog)
{
	static _Thread_local listen_function *next;

	(void)backlog;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "tcp_sock_listen");
	return next ? next(socket, SOMAXCONN) : ENOSYS;
}

bool cre_is_connected(int descriptor, const struct cre_address *to)
{
	struct cre_address address;
	struct sa peer;

	sa_init(&peer, AF_UNSPEC);
	peer.len = sizeof(peer.u);
	if (getpeername(descriptor, &peer.u.sa, &peer.len) || sa_af(&peer) == AF_UNSPEC)
		return false;
	cre_address_of(&address, &peer);
	return address.port == to->port && !strcmp(address.host, to->host);
}
