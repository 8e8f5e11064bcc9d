#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "cm_dtls.h"

struct cm_dtls_context {
	SSL_CTX *ssl;
	BIO_METHOD *datagrams;
	uint8_t fingerprint[CM_FINGERPRINT_SIZE];
};

struct cm_dtls {
	SSL *ssl;
	enum cm_dtls_state state;
	uint8_t fingerprint[CM_FINGERPRINT_SIZE];
	cm_dtls_send_h *send;
	void *send_context;
	/* The datagram that is being received; NULL: none is left. */
	const uint8_t *datagram;
	size_t datagram_size;
	const char *reason;
	/* After the handshake the library has given up; see read_more. */
	bool is_deaf;
};

/* One write is one datagram, one read as well. */

static int datagrams_write(BIO *bio, const char *data, int size)
{
	struct cm_dtls *dtls = BIO_get_data(bio);

	if (size > 0)
		dtls->send(dtls->send_context, (const uint8_t *)data, (size_t)size);
	return size;
}

static int datagrams_read(BIO *bio, char *to, int capacity)
{
	struct cm_dtls *dtls = BIO_get_data(bio);
	size_t size = dtls->datagram_size;

	BIO_clear_retry_flags(bio);
	/* Nothing is not the end of anything, which is what 0 would say. */
	if (!dtls->datagram || size == 0 || capacity <= 0) {
		BIO_set_retry_read(bio);
		return -1;
	}
	/* As recv does, it cuts what is too long. */
	if (size > (size_t)capacity)
		size = (size_t)capacity;
	memcpy(to, dtls->datagram, size);
	dtls->datagram = NULL;
	return (int)size;
}

static long datagrams_control(BIO *bio, int command, long number, void *pointer)
{
	(void)bio;
	(void)number;
	(void)pointer;
	/* Everything is sent at once; of all other questions the answer is no. */
	return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *make_datagrams(void)
{
	BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams of a media node");

	if (!method)
		return NULL;
	if (BIO_meth_set_write(method, datagrams_write) != 1 || BIO_meth_set_read(method, datagrams_read) != 1
		|| BIO_meth_set_ctrl(method, datagrams_control) != 1) {
		BIO_meth_free(method);
		return NULL;
	}
	return method;
}

static bool is_fingerprint(X509 *certificate, const uint8_t fingerprint[CM_FINGERPRINT_SIZE])
{
	uint8_t found[EVP_MAX_MD_SIZE];
	unsigned size = 0;

	return certificate && X509_digest(certificate, EVP_sha256(), found, &size) == 1 && size == CM_FINGERPRINT_SIZE
		&& CRYPTO_memcmp(found, fingerprint, CM_FINGERPRINT_SIZE) == 0;
}

/* In place of chains and names: the certificate is the one whose fingerprint the offer has. */
static int verify_peer(X509_STORE_CTX *store, void *unused)
{
	SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct cm_dtls *dtls = SSL_get_app_data(ssl);

	(void)unused;
	if (is_fingerprint(X509_STORE_CTX_get0_cert(store), dtls->fingerprint))
		return 1;
	dtls->state = CM_DTLS_WRONG_FINGERPRINT;
	X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
	return 0;
}

static bool sign(X509 *certificate, EVP_PKEY *key)
{
	/* Positive, and not zero. */
	uint64_t serial;
	const unsigned char name[] = "heliograph";
	X509_NAME *subject = X509_get_subject_name(certificate);
	const long day = 24 * 60 * 60;

	if (RAND_bytes((unsigned char *)&serial, sizeof serial) != 1)
		return false;
	/* A peer whose clock is a day behind takes it as well. */
	return X509_set_version(certificate, X509_VERSION_3) == 1
		&& ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1
		&& X509_gmtime_adj(X509_getm_notBefore(certificate), -day)
		&& X509_gmtime_adj(X509_getm_notAfter(certificate), 365 * day) && X509_set_pubkey(certificate, key) == 1
		&& X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, name, -1, -1, 0) == 1
		&& X509_set_issuer_name(certificate, subject) == 1 && X509_sign(certificate, key, EVP_sha256()) > 0;
}

static bool make_certificate(struct cm_dtls_context *context)
{
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	X509 *certificate = key ? X509_new() : NULL;
	unsigned size = 0;
	bool is_made = certificate && sign(certificate, key)
		&& X509_digest(certificate, EVP_sha256(), context->fingerprint, &size) == 1
		&& SSL_CTX_use_certificate(context->ssl, certificate) == 1 && SSL_CTX_use_PrivateKey(context->ssl, key) == 1;

	X509_free(certificate);
	EVP_PKEY_free(key);
	return is_made;
}

static bool configure(SSL_CTX *ssl)
{
	SSL_CTX_set_options(
		ssl, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
	SSL_CTX_set_max_cert_list(ssl, CM_DTLS_CERTIFICATES_MAX);
	SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	SSL_CTX_set_cert_verify_callback(ssl, verify_peer, NULL);
	/* Unlike its neighbours, SSL_CTX_set_tlsext_use_srtp returns 0 for success. */
	return SSL_CTX_set_min_proto_version(ssl, DTLS1_2_VERSION) == 1
		&& SSL_CTX_set_max_proto_version(ssl, DTLS1_2_VERSION) == 1
		&& SSL_CTX_set_cipher_list(ssl, "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:"
			"ECDHE-ECDSA-AES256-GCM-SHA384") == 1
		&& SSL_CTX_set_tlsext_use_srtp(ssl, "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80") == 0;
}

struct cm_dtls_context *cm_dtls_context_make(void)
{
	struct cm_dtls_context *context = calloc(1, sizeof *context);

	ERR_clear_error();
	if (!context)
		return NULL;
	context->datagrams = make_datagrams();
	context->ssl = SSL_CTX_new(DTLS_server_method());
	if (!context->datagrams || !context->ssl || !configure(context->ssl) || !make_certificate(context)) {
		cm_dtls_context_free(context);
		return NULL;
	}
	return context;
}

void cm_dtls_context_free(struct cm_dtls_context *context)
{
	if (!context)
		return;
	SSL_CTX_free(context->ssl);
	BIO_meth_free(context->datagrams);
	free(context);
}

void cm_dtls_context_fingerprint(const struct cm_dtls_context *context, uint8_t to[CM_FINGERPRINT_SIZE])
{
	memcpy(to, context->fingerprint, CM_FINGERPRINT_SIZE);
}

/* The time to the next repetition, in microseconds; it was 0 at first. */
static unsigned next_timeout(SSL *ssl, unsigned last)
{
	(void)ssl;
	if (last == 0)
		return CM_DTLS_RESEND_MS * 1000;
	return last > CM_DTLS_RESEND_MAX_MS * 500 ? CM_DTLS_RESEND_MAX_MS * 1000 : 2 * last;
}

struct cm_dtls *cm_dtls_open(
	struct cm_dtls_context *context, const uint8_t fingerprint[CM_FINGERPRINT_SIZE], cm_dtls_send_h *send,
	void *send_context)
{
	struct cm_dtls *dtls = calloc(1, sizeof *dtls);
	BIO *bio;

	ERR_clear_error();
	if (!dtls)
		return NULL;
	*dtls = (struct cm_dtls){.send = send, .send_context = send_context, .reason = ""};
	memcpy(dtls->fingerprint, fingerprint, CM_FINGERPRINT_SIZE);
	dtls->ssl = SSL_new(context->ssl);
	bio = dtls->ssl ? BIO_new(context->datagrams) : NULL;
	if (!bio || SSL_set_app_data(dtls->ssl, dtls) != 1) {
		BIO_free(bio);
		SSL_free(dtls->ssl);
		free(dtls);
		return NULL;
	}
	BIO_set_data(bio, dtls);
	BIO_set_init(bio, 1);
	SSL_set_bio(dtls->ssl, bio, bio);
	DTLS_set_link_mtu(dtls->ssl, CM_DTLS_MTU);
	DTLS_set_timer_cb(dtls->ssl, next_timeout);
	SSL_set_accept_state(dtls->ssl);
	return dtls;
}

void cm_dtls_close(struct cm_dtls *dtls)
{
	if (!dtls)
		return;
	ERR_clear_error();
	if (dtls->state == CM_DTLS_DONE && !dtls->is_deaf)
		SSL_shutdown(dtls->ssl);
	SSL_free(dtls->ssl);
	free(dtls);
}

static void fail(struct cm_dtls *dtls)
{
	const char *reason = ERR_reason_error_string(ERR_peek_error());

	dtls->reason = reason ? reason : "unknown";
	/* The verification has said more already. */
	if (dtls->state != CM_DTLS_WRONG_FINGERPRINT)
		dtls->state = CM_DTLS_FAILED;
}

static void handshake(struct cm_dtls *dtls)
{
	int result = SSL_do_handshake(dtls->ssl);

	if (result == 1)
		dtls->state = SSL_get_selected_srtp_profile(dtls->ssl) ? CM_DTLS_DONE : CM_DTLS_NO_SUITE;
	else if (SSL_get_error(dtls->ssl, result) != SSL_ERROR_WANT_READ)
		fail(dtls);
}

/* After the handshake come repetitions of the peer's last flight, which the library answers by its own, and alerts. Data has no
 * meaning. */
static void read_more(struct cm_dtls *dtls)
{
	uint8_t data[CM_DTLS_MTU];
	int result;

	do
		result = SSL_read(dtls->ssl, data, sizeof data);
	while (result > 0);
	if (SSL_get_error(dtls->ssl, result) == SSL_ERROR_WANT_READ)
		return;
	/* The library drops records that are not authentic, but gives up at one that is too short to be so. Then the peer has not said
	 * goodbye, and the keys remain what they are. */
	if (SSL_get_shutdown(dtls->ssl) & SSL_RECEIVED_SHUTDOWN)
		dtls->state = CM_DTLS_CLOSED;
	else
		dtls->is_deaf = true;
}

enum cm_dtls_state cm_dtls_receive(struct cm_dtls *dtls, const uint8_t *data, size_t size)
{
	if ((dtls->state != CM_DTLS_HANDSHAKING && dtls->state != CM_DTLS_DONE) || dtls->is_deaf)
		return dtls->state;
	ERR_clear_error();
	dtls->datagram = data;
	dtls->datagram_size = size;
	if (dtls->state == CM_DTLS_HANDSHAKING)
		handshake(dtls);
	/* The datagram of the last flight may hold more. */
	if (dtls->state == CM_DTLS_DONE)
		read_more(dtls);
	dtls->datagram = NULL;
	return dtls->state;
}

enum cm_dtls_state cm_dtls_tick(struct cm_dtls *dtls)
{
	if (dtls->state != CM_DTLS_HANDSHAKING)
		return dtls->state;
	ERR_clear_error();
	if (DTLSv1_handle_timeout(dtls->ssl) < 0)
		fail(dtls);
	return dtls->state;
}

bool cm_dtls_keys(const struct cm_dtls *dtls, struct cm_media_keys *keys)
{
	/* The order of RFC 5764, section 4.2: key of the client, key of the server, salt of the client, salt of the server. */
	uint8_t material[2 * CM_KEY_AND_SALT_MAX];
	const char label[] = "EXTRACTOR-dtls_srtp";
	SRTP_PROTECTION_PROFILE *profile;
	size_t size, salt;

	if (dtls->state != CM_DTLS_DONE)
		return false;
	profile = SSL_get_selected_srtp_profile(dtls->ssl);
	*keys = (struct cm_media_keys){
		.suite = profile->id == SRTP_AEAD_AES_128_GCM ? CM_SUITE_GCM_128 : CM_SUITE_CM_128_SHA1_80,
	};
	size = cm_suite_size(keys->suite);
	salt = size - 16;
	if (SSL_export_keying_material(dtls->ssl, material, 2 * size, label, sizeof label - 1, NULL, 0, 0) != 1)
		return false;
	memcpy(keys->client, material, 16);
	memcpy(keys->client + 16, material + 32, salt);
	memcpy(keys->server, material + 16, 16);
	memcpy(keys->server + 16, material + 32 + salt, salt);
	cm_forget(material, sizeof material);
	return true;
}

const char *cm_dtls_reason(const struct cm_dtls *dtls)
{
	return dtls->reason;
}
