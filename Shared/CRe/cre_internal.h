/* Declarations shared by this target's source files. */
#ifndef CRE_INTERNAL_H
#define CRE_INTERNAL_H

#include <errno.h>
#include <string.h>

#include <re/re.h>

#include "cre_sip.h"

enum {
	/* Maximum number of UDP sockets of one stack, which has one per local address. */
	CRE_MAX_SOCKETS = 16,
};

struct cre_sip {
	struct sip *sip;
	struct sip_lsnr *requests;
	struct sip_lsnr *responses;
	struct dnsc *dns;
	struct tls *tls;
	struct list pending;
	struct list names;
	/* Filters that see each socket's datagrams before libre does; parallel to `sockets`. */
	struct udp_helper *sieves[CRE_MAX_SOCKETS];
	void *sockets[CRE_MAX_SOCKETS];
	struct cre_sip_handlers handlers;
};

struct cre_server_request {
	struct le le;
	struct cre_sip *stack;
	struct sip_msg *message;
	struct sip_strans *transaction;
	struct mbuf *reply;
	void (*cancelled)(void *context);
	void *context;
};

/* Conversions between the message type of the public headers, which is opaque, and libre's, which it stands for. */
static inline const struct cre_message *cre_from_libre(const struct sip_msg *message)
{
	return (const struct cre_message *)message;
}

static inline const struct sip_msg *cre_to_libre(const struct cre_message *message)
{
	return (const struct sip_msg *)message;
}

static inline struct cre_span cre_span_of(const struct pl *text)
{
	return (struct cre_span){text->p, text->p ? text->l : 0};
}

void cre_address_of(struct cre_address *address, const struct sa *from);

#endif
