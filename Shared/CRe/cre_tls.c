#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "cre_internal.h"

/* A name that is accepted in a server's certificate. */
struct trusted_name {
	struct le le;
	char *name;
};

static void name_freed(void *arg)
{
	struct trusted_name *name = arg;

	list_unlink(&name->le);
	mem_deref(name->name);
}

static bool is_for(X509 *certificate, const char *name)
{
	/* X509_check_host does not match addresses; X509_check_ip_asc rejects a name that is not an address. */
	return X509_check_host(certificate, name, 0, 0, NULL) == 1 || X509_check_ip_asc(certificate, name, 0) == 1;
}

/* libre's SIP transport neither verifies a server's certificate nor tells which name was called. So the certificate must
 * be for one of the names of all our trunks. */
static int verify(X509_STORE_CTX *context, void *arg)
{
	const struct cre_sip *stack = arg;
	const SSL *connection = X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx());
	const struct le *element;

	/* Clients that connect to us are identified by their address or by digest authentication, not by a certificate. */
	if (connection && SSL_is_server(connection))
		return 1;
	if (X509_verify_cert(context) != 1)
		return 0;
	for (element = stack->names.head; element; element = element->next) {
		const struct trusted_name *name = element->data;

		if (is_for(X509_STORE_CTX_get0_cert(context), name->name))
			return 1;
	}
	X509_STORE_CTX_set_error(context, X509_V_ERR_HOSTNAME_MISMATCH);
	return 0;
}

int cre_sip_set_tls(struct cre_sip *stack, const char *certificate_file, const char *authority_file)
{
	struct tls *tls = NULL;
	SSL_CTX *context;
	int error = tls_alloc(&tls, TLS_METHOD_SSLV23, certificate_file, NULL);

	if (error)
		return error;
	context = tls_openssl_context(tls);
	if (authority_file)
		error = tls_add_ca(tls, authority_file);
	else if (SSL_CTX_set_default_verify_paths(context) != 1)
		error = ENOENT;
	if (!error && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1)
		error = EPROTO;
	if (error) {
		mem_deref(tls);
		return error;
	}
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_cert_verify_callback(context, verify, stack);
	mem_deref(stack->tls);
	stack->tls = tls;
	return 0;
}

void cre_sip_forget_names(struct cre_sip *stack)
{
	list_flush(&stack->names);
}

int cre_sip_trust_name(struct cre_sip *stack, const char *text)
{
	const struct le *element;
	struct trusted_name *name;
	int error;

	for (element = stack->names.head; element; element = element->next) {
		const struct trusted_name *known = element->data;

		if (!str_casecmp(known->name, text))
			return 0;
	}
	name = mem_zalloc(sizeof(*name), name_freed);
	if (!name)
		return ENOMEM;
	error = str_dup(&name->name, text);
	if (error) {
		mem_deref(name);
		return error;
	}
	list_append(&stack->names, &name->le, name);
	return 0;
}
