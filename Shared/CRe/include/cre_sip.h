/* libre's SIP transports, transactions and dialogs, in plain C types.
 *
 * Everything here runs on the loop's thread. Functions that return int return 0 or an errno value. Text that is passed in is
 * never taken for a format. */
#ifndef CRE_SIP_H
#define CRE_SIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes inside something else, without an end mark; `bytes` may be NULL when `count` is 0. */
struct cre_span {
	const char *bytes;
	size_t count;
};

enum cre_transport {
	CRE_UDP = 0,
	CRE_TCP = 1,
	CRE_TLS = 2,
};

enum { CRE_ADDRESS_SIZE = 64 };

/* A numeric address, with an end mark. */
struct cre_address {
	char host[CRE_ADDRESS_SIZE];
	uint16_t port;
};

/* A From or To header, taken apart. */
struct cre_party {
	struct cre_span display;
	struct cre_span uri;
	struct cre_span user;
	struct cre_span host;
	struct cre_span tag;
	uint16_t port;
};

/* What a message says; the spans live as long as the message. */
struct cre_message_view {
	bool is_request;
	struct cre_span method;
	struct cre_span uri;
	struct cre_span uri_scheme;
	struct cre_span uri_user;
	struct cre_span uri_host;
	uint16_t status;
	struct cre_span reason;
	struct cre_party from;
	struct cre_party to;
	struct cre_span call_id;
	uint32_t sequence;
	struct cre_span sequence_method;
	struct cre_span via_host;
	/* The URI of the first Contact; empty when there is none that can be read. */
	struct cre_span contact_uri;
	struct cre_span body;
	/* The whole message, from its first line to the end of its body. */
	struct cre_span all;
	enum cre_transport transport;
	struct cre_address source;
};

struct cre_message;
/* Reads a message that was copied out before; NULL when it is none. */
struct cre_message *cre_message_decode(const void *bytes, size_t count);
void cre_message_free(struct cre_message *message);
void cre_message_view(const struct cre_message *message, struct cre_message_view *view);
/* Walks over the header fields in their order; `*cursor` starts as NULL. Via and Route values come one by one, others as they
 * stand on their lines. */
bool cre_message_next_header(
	const struct cre_message *message, const void **cursor, struct cre_span *name, struct cre_span *value);

struct cre_server_request;
struct cre_sip;

struct cre_sip_handlers {
	/* A request that is no retransmission. The receiver owns it and frees it. */
	void (*request)(void *context, struct cre_server_request *request);
	/* A response without a transaction, such as another copy of a 2xx to INVITE. */
	void (*stray)(void *context, const struct cre_message *message);
	/* Every message that passes, if set; `packet` is not kept. */
	void (*trace)(
		void *context, bool is_sent, enum cre_transport transport, const struct cre_address *source,
		const struct cre_address *destination, struct cre_span packet);
	/* A datagram that is no SIP message. */
	void (*garbage)(void *context);
	void *context;
};

/* Makes a stack without transports. `software` goes to User-Agent and Server. */
int cre_sip_open(struct cre_sip **stack, const struct cre_sip_handlers *handlers, const char *software);
/* Listens on a numeric address; port 0 takes any that is free, `*bound` tells which. */
int cre_sip_listen(
	struct cre_sip *stack, enum cre_transport transport, const char *host, uint16_t port, uint16_t *bound);
/* Gives up all transports, to listen anew. */
void cre_sip_flush_transports(struct cre_sip *stack);
/* Sets what TLS shows and trusts, before cre_sip_listen for TLS: a PEM file with certificate and key (may be NULL: none is
 * shown), and a PEM file of authorities (may be NULL: the system's). Peers that we call must show a certificate that these vouch
 * for, in one of the names given to cre_sip_trust_name. */
int cre_sip_set_tls(struct cre_sip *stack, const char *certificate_file, const char *authority_file);
/* Adds a host name or numeric address that a server's certificate may be for. */
int cre_sip_trust_name(struct cre_sip *stack, const char *name);
/* Forgets all those names. */
void cre_sip_forget_names(struct cre_sip *stack);

/* Says whether a connection of TCP or TLS that somebody opened is taken. */
typedef bool cre_gate_h(void *context, int descriptor, const struct cre_address *peer);
/* Has this thread's loop ask about each; without a gate all are taken. */
void cre_gate_set(cre_gate_h *handler, void *context);
/* Ends that, unless another gate was set meanwhile. */
void cre_gate_clear(void *context);
/* Whether a descriptor is a connection to that peer. */
bool cre_is_connected(int descriptor, const struct cre_address *to);

/* Ends it: transactions end with ECONNABORTED, server requests can no longer be answered. */
void cre_sip_close(struct cre_sip *stack);

/* The local numeric addresses for a wildcard, the one of the default route first. Returns how many were written. */
size_t cre_local_addresses(bool v6, struct cre_address *addresses, size_t room);

/* A request from a peer. */
const struct cre_message *cre_server_request_message(const struct cre_server_request *request);
/* Calls back once when a CANCEL arrives before the final answer; libre has answered the CANCEL. */
void cre_server_request_on_cancel(struct cre_server_request *request, void (*handler)(void *context), void *context);
/* Answers. `rest` is what follows To, From, Via, Call-ID, CSeq and Server: header lines, the empty line, the body. `*encoded` is
 * the whole message; it lives until the next call for this request. ECONNABORTED when the stack is closed. */
int cre_server_request_reply(
	struct cre_server_request *request, uint16_t status, const char *reason, bool record_route, struct cre_span rest,
	struct cre_span *encoded);
/* Sends bytes to where answers to this request go, outside of its transaction. */
int cre_server_request_resend(struct cre_server_request *request, struct cre_span packet);
void cre_server_request_free(struct cre_server_request *request);

/* A request to a peer. The handler gets each response, or an errno value and NULL; a final response or an error is the last
 * call. */
struct cre_client_request;
typedef void cre_response_h(void *context, int error, const struct cre_message *message);

/* Cancels an INVITE: at once when a provisional response came, else with the first one. */
void cre_client_request_cancel(struct cre_client_request *request);
/* Frees it; only after its last call back. */
void cre_client_request_free(struct cre_client_request *request);

struct cre_dialog;
/* A dialog that is not established; `routes` are URIs. */
int cre_dialog_make(
	struct cre_dialog **dialog, const char *target, const char *to, const char *from_name, const char *from,
	const char *const *routes, uint32_t route_count);
/* A dialog from an INVITE, with the tag that answers to it carry. */
int cre_dialog_accept(struct cre_dialog **dialog, const struct cre_server_request *request);
/* The dialog that a response with Contact makes of one that is not established, which stays as it is. */
int cre_dialog_fork(struct cre_dialog **dialog, struct cre_dialog *origin, const struct cre_message *message);
/* Takes the target from the Contact of a request or response. */
int cre_dialog_update(struct cre_dialog *dialog, const struct cre_message *message);
bool cre_dialog_matches(const struct cre_dialog *dialog, const struct cre_message *message);
/* False for a request that is older than the last one; else it becomes the last one. */
bool cre_dialog_accepts_sequence(struct cre_dialog *dialog, const struct cre_message *message);
const char *cre_dialog_call_id(const struct cre_dialog *dialog);
/* The CSeq number that the next request gets. */
uint32_t cre_dialog_next_sequence(const struct cre_dialog *dialog);
/* A request in the dialog, in a transaction. `rest` is what follows CSeq and User-Agent. */
int cre_dialog_request(
	struct cre_client_request **request, struct cre_sip *stack, struct cre_dialog *dialog, const char *method,
	struct cre_span rest, cre_response_h *handler, void *context);
/* An ACK for a 2xx. */
int cre_dialog_acknowledge(
	struct cre_sip *stack, struct cre_dialog *dialog, uint32_t sequence, struct cre_span rest);
void cre_dialog_free(struct cre_dialog *dialog);

#endif
