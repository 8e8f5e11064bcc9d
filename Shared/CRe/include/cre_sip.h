/* libre's SIP transports, transactions and dialogs, in plain C types.
 *
 * Everything here must be called on the loop's thread. Functions that return int return 0 or an errno value. Strings
 * that are passed in are never used as format strings. */
#ifndef CRE_SIP_H
#define CRE_SIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of another buffer, not NUL-terminated. `bytes` may be NULL when `count` is 0. */
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

/* A numeric address, NUL-terminated, and a port. */
struct cre_address {
	char host[CRE_ADDRESS_SIZE];
	uint16_t port;
};

/* The parsed parts of a From or To header. */
struct cre_party {
	struct cre_span display;
	struct cre_span uri;
	struct cre_span user;
	struct cre_span host;
	struct cre_span tag;
	uint16_t port;
};

/* The parsed parts of a message. The spans are valid as long as the message. */
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
	/* The URI of the first Contact header; empty when there is none or it cannot be parsed. */
	struct cre_span contact_uri;
	struct cre_span body;
	/* The whole message, from its first line to the end of its body. */
	struct cre_span all;
	enum cre_transport transport;
	struct cre_address source;
};

struct cre_message;
/* Parses the bytes of a message. Returns NULL when they are not a SIP message. */
struct cre_message *cre_message_decode(const void *bytes, size_t count);
void cre_message_free(struct cre_message *message);
void cre_message_view(const struct cre_message *message, struct cre_message_view *view);
/* Iterates over the header fields in their order; `*cursor` starts as NULL. Via and Route values are returned one at a
 * time, those of other headers as they are on their lines. */
bool cre_message_next_header(
	const struct cre_message *message, const void **cursor, struct cre_span *name, struct cre_span *value);

struct cre_server_request;
struct cre_sip;

struct cre_sip_handlers {
	/* Called for a request that is not a retransmission. The handler owns it and must free it. */
	void (*request)(void *context, struct cre_server_request *request);
	/* Called for a response without a transaction, such as a repeated 2xx to an INVITE. */
	void (*stray)(void *context, const struct cre_message *message);
	/* Called for every message sent or received; may be NULL. `packet` is valid only during the call. */
	void (*trace)(
		void *context, bool is_sent, enum cre_transport transport, const struct cre_address *source,
		const struct cre_address *destination, struct cre_span packet);
	/* Called for a datagram that is not a SIP message. */
	void (*garbage)(void *context);
	void *context;
};

/* Makes a stack without transports. `software` is sent in the User-Agent and Server headers. */
int cre_sip_open(struct cre_sip **stack, const struct cre_sip_handlers *handlers, const char *software);
/* Listens on a numeric address. Port 0 selects any free port; `*bound` is set to the port used. */
int cre_sip_listen(
	struct cre_sip *stack, enum cre_transport transport, const char *host, uint16_t port, uint16_t *bound);
/* Closes all transports, so that the stack can listen anew. */
void cre_sip_flush_transports(struct cre_sip *stack);
/* Sets up TLS; to be called before cre_sip_listen for TLS. `certificate_file` is a PEM file with certificate and key
 * (NULL: no certificate is presented), `authority_file` a PEM file of trusted authorities (NULL: the system's). A server
 * that we connect to must present a certificate that is signed by one of these and is for a name given to
 * cre_sip_trust_name. */
int cre_sip_set_tls(struct cre_sip *stack, const char *certificate_file, const char *authority_file);
/* Adds a host name or numeric address that is accepted in a server's certificate. */
int cre_sip_trust_name(struct cre_sip *stack, const char *name);
/* Removes all names that were added by cre_sip_trust_name. */
void cre_sip_forget_names(struct cre_sip *stack);

/* Returns whether an incoming TCP or TLS connection is accepted. */
typedef bool cre_gate_h(void *context, int descriptor, const struct cre_address *peer);
/* Sets the handler that is asked about each incoming connection of this thread's loop. Without one all are accepted. */
void cre_gate_set(cre_gate_h *handler, void *context);
/* Removes that handler, unless another one was set since (with another `context`). */
void cre_gate_clear(void *context);
/* Returns whether a socket is connected to the given peer. */
bool cre_is_connected(int descriptor, const struct cre_address *to);

/* Closes the stack: transactions end with ECONNABORTED, and server requests can no longer be answered. */
void cre_sip_close(struct cre_sip *stack);

/* Writes the local numeric addresses that a wildcard address stands for, that of the default route first. Returns their
 * number. */
size_t cre_local_addresses(bool v6, struct cre_address *addresses, size_t room);

/* Returns the message of a peer's request. */
const struct cre_message *cre_server_request_message(const struct cre_server_request *request);
/* Sets the handler that is called once if a CANCEL arrives before the final response; libre has then answered the
 * CANCEL. */
void cre_server_request_on_cancel(struct cre_server_request *request, void (*handler)(void *context), void *context);
/* Sends a response. `rest` is what follows the headers To, From, Via, Call-ID, CSeq and Server: further header lines,
 * the empty line and the body. `*encoded` is set to the whole message, valid until the next call for this request.
 * Returns ECONNABORTED when the stack is closed, EALREADY when the request has no transaction any more. */
int cre_server_request_reply(
	struct cre_server_request *request, uint16_t status, const char *reason, bool record_route, struct cre_span rest,
	struct cre_span *encoded);
/* Sends bytes to where responses to this request go, outside of its transaction. */
int cre_server_request_resend(struct cre_server_request *request, struct cre_span packet);
void cre_server_request_free(struct cre_server_request *request);

/* A request to a peer. The handler is called with each response, or with an errno value and NULL. A final response or an
 * error is the last call. */
struct cre_client_request;
typedef void cre_response_h(void *context, int error, const struct cre_message *message);

/* Cancels an INVITE: at once if a provisional response has arrived, otherwise when the first one does. */
void cre_client_request_cancel(struct cre_client_request *request);
/* Frees the request; allowed only after the handler's last call. */
void cre_client_request_free(struct cre_client_request *request);

struct cre_dialog;
/* Makes a dialog that is not yet established. `routes` are URIs. */
int cre_dialog_make(
	struct cre_dialog **dialog, const char *target, const char *to, const char *from_name, const char *from,
	const char *const *routes, uint32_t route_count);
/* Makes a dialog from a received INVITE; its local tag is the one in our responses to it. */
int cre_dialog_accept(struct cre_dialog **dialog, const struct cre_server_request *request);
/* Makes the dialog that a response with a Contact establishes. `origin`, which is not established, is left unchanged. */
int cre_dialog_fork(struct cre_dialog **dialog, struct cre_dialog *origin, const struct cre_message *message);
/* Sets the dialog's remote target to the Contact of a request or response. */
int cre_dialog_update(struct cre_dialog *dialog, const struct cre_message *message);
bool cre_dialog_matches(const struct cre_dialog *dialog, const struct cre_message *message);
/* Checks a request's CSeq number. Returns false when it is lower than the last one, else records it. */
bool cre_dialog_accepts_sequence(struct cre_dialog *dialog, const struct cre_message *message);
const char *cre_dialog_call_id(const struct cre_dialog *dialog);
/* Returns the CSeq number of the next request. */
uint32_t cre_dialog_next_sequence(const struct cre_dialog *dialog);
/* Sends a request in the dialog, in a transaction. `rest` is what follows the headers CSeq and User-Agent. */
int cre_dialog_request(
	struct cre_client_request **request, struct cre_sip *stack, struct cre_dialog *dialog, const char *method,
	struct cre_span rest, cre_response_h *handler, void *context);
/* Sends the ACK for a 2xx. */
int cre_dialog_acknowledge(
	struct cre_sip *stack, struct cre_dialog *dialog, uint32_t sequence, struct cre_span rest);
void cre_dialog_free(struct cre_dialog *dialog);

#endif
