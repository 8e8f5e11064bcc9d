/* What the files of this target share. */
#ifndef CRE_INTERNAL_H
#define CRE_INTERNAL_H

#include <errno.h>
#include <string.h>

#include <re/re.h>

#include "cre_sip.h"

enum {
	/* The sockets of UDP that one stack can have: one for each local address. */
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
	/* What looks at each socket's datagrams before libre does. */
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

/* Opaque to others; to us a message is libre's own. */
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
