#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "cm_peer.h"

enum {
	DATAGRAMS = 64,
};

struct cm_peer {
	SSL_CTX *context;
	BIO_METHOD *method;
	SSL *ssl;
	uint8_t fingerprint[32];
	uint8_t sent[DATAGRAMS][CM_PEER_DATAGRAM_SIZE];
	size_t sizes[DATAGRAMS];
	unsigned first, count;
	const uint8_t *datagram;
	size_t datagram_size;
};

static int peer_write(BIO *bio, const char *data, int size)
{
	struct cm_peer *peer = BIO_get_data(bio);
	unsigned index = (peer->first + peer->count) % DATAGRAMS;

	/* What does not fit is lost, as on a network. */
	if (peer->count < DATAGRAMS && size > 0 && size <= CM_PEER_DATAGRAM_SIZE) {
		memcpy(peer->sent[index], data, (size_t)size);
		peer->sizes[index] = (size_t)size;
		peer->count++;
	}
	return size;
}

static int peer_read(BIO *bio, char *to, int capacity)
{
	struct cm_peer *peer = BIO_get_data(bio);
	size_t size = peer->datagram_size;

	BIO_clear_retry_flags(bio);
	if (!peer->datagram || (size_t)capacity < size) {
		BIO_set_retry_read(bio);
		return -1;
	}
	memcpy(to, peer->datagram, size);
	peer->datagram = NULL;
	return (int)size;
}

static long peer_control(BIO *bio, int command, long number, void *pointer)
{
	(void)bio;
	(void)number;
	(void)pointer;
	return command == BIO_CTRL_FLUSH;
}

static int accept_any(X509_STORE_CTX *store, void *unused)
{
	(void)store;
	(void)unused;
	return 1;
}

static bool use_certificate(struct cm_peer *peer, bool has_rsa)
{
	EVP_PKEY *key = has_rsa ? EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048)
							: EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	X509 *certificate = X509_new();
	unsigned size = 0;
	bool is_used = key && certificate && X509_set_version(certificate, X509_VERSION_3)
		&& ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
		&& X509_gmtime_adj(X509_getm_notBefore(certificate), 0)
		&& X509_gmtime_adj(X509_getm_notAfter(certificate), 86400) && X509_set_pubkey(certificate, key)
		&& X509_sign(certificate, key, EVP_sha256()) > 0
		&& X509_digest(certificate, EVP_sha256(), peer->fingerprint, &size)
		&& SSL_CTX_use_certificate(peer->context, certificate) == 1
		&& SSL_CTX_use_PrivateKey(peer->context, key) == 1;

	X509_free(certificate);
	EVP_PKEY_free(key);
	return is_used;
}

/* Names of 200 bytes for a protocol above, which the server ignores. */
static bool pad(SSL_CTX *context, size_t size)
{
	unsigned char *names = malloc(size + 1);
	bool is_padded;

	if (!names)
		return false;
	memset(names, 'p', size);
	for (size_t at = 0; at < size; at += 201)
		names[at] = (unsigned char)(size - at > 201 ? 200 : size - at - 1);
	/* Returns 0 for success. */
	is_padded = SSL_CTX_set_alpn_protos(context, names, (unsigned)size) == 0;
	free(names);
	return is_padded;
}

static bool configure(struct cm_peer *peer, const struct cm_peer_settings *settings)
{
	peer->context = SSL_CTX_new(DTLS_client_method());
	peer->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams of a test");
	if (!peer->context || !peer->method)
		return false;
	BIO_meth_set_write(peer->method, peer_write);
	BIO_meth_set_read(peer->method, peer_read);
	BIO_meth_set_ctrl(peer->method, peer_control);
	SSL_CTX_set_options(peer->context, SSL_OP_NO_QUERY_MTU);
	SSL_CTX_set_verify(peer->context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_cert_verify_callback(peer->context, accept_any, NULL);
	if (*settings->profiles && SSL_CTX_set_tlsext_use_srtp(peer->context, settings->profiles) != 0)
		return false;
	if (settings->padding && !pad(peer->context, settings->padding))
		return false;
	return !settings->has_certificate || use_certificate(peer, settings->has_rsa);
}

struct cm_peer *cm_peer_make(const struct cm_peer_settings *settings)
{
	struct cm_peer *peer = calloc(1, sizeof *peer);
	BIO *bio;

	if (!peer)
		return NULL;
	ERR_clear_error();
	if (!configure(peer, settings)) {
		cm_peer_free(peer);
		return NULL;
	}
	peer->ssl = SSL_new(peer->context);
	bio = BIO_new(peer->method);
	if (!peer->ssl || !bio)
		abort();
	BIO_set_data(bio, peer);
	BIO_set_init(bio, 1);
	SSL_set_bio(peer->ssl, bio, bio);
	DTLS_set_link_mtu(peer->ssl, settings->mtu);
	SSL_set_connect_state(peer->ssl);
	return peer;
}

void cm_peer_free(struct cm_peer *peer)
{
	SSL_free(peer->ssl);
	SSL_CTX_free(peer->context);
	BIO_meth_free(peer->method);
	free(peer);
}

void cm_peer_fingerprint(const struct cm_peer *peer, uint8_t to[32])
{
	memcpy(to, peer->fingerprint, 32);
}

bool cm_peer_receive(struct cm_peer *peer, const uint8_t *data, size_t size)
{
	uint8_t ignored[CM_PEER_DATAGRAM_SIZE];
	int result;

	ERR_clear_error();
	peer->datagram = size ? data : NULL;
	peer->datagram_size = size;
	result = SSL_is_init_finished(peer->ssl) ? SSL_read(peer->ssl, ignored, sizeof ignored)
											 : SSL_do_handshake(peer->ssl);
	peer->datagram = NULL;
	return result > 0 || SSL_get_error(peer->ssl, result) == SSL_ERROR_WANT_READ;
}

void cm_peer_tick(struct cm_peer *peer)
{
	ERR_clear_error();
	DTLSv1_handle_timeout(peer->ssl);
}

size_t cm_peer_take(struct cm_peer *peer, uint8_t to[CM_PEER_DATAGRAM_SIZE])
{
	size_t size;

	if (!peer->count)
		return 0;
	size = peer->sizes[peer->first];
	memcpy(to, peer->sent[peer->first], size);
	peer->first = (peer->first + 1) % DATAGRAMS;
	peer->count--;
	return size;
}

bool cm_peer_is_done(const struct cm_peer *peer)
{
	return SSL_is_init_finished(peer->ssl) == 1;
}

bool cm_peer_server_fingerprint(const struct cm_peer *peer, uint8_t to[32])
{
	X509 *certificate = SSL_get1_peer_certificate(peer->ssl);
	unsigned size = 0;
	bool is_known = certificate && X509_digest(certificate, EVP_sha256(), to, &size) == 1;

	X509_free(certificate);
	return is_known;
}

size_t cm_peer_keys(const struct cm_peer *peer, uint8_t to[CM_PEER_KEYS_MAX])
{
	SRTP_PROTECTION_PROFILE *profile = SSL_get_selected_srtp_profile(peer->ssl);
	size_t size = !profile ? 0 : profile->id == SRTP_AEAD_AES_128_GCM ? 56 : 60;

	if (!size || SSL_export_keying_material(peer->ssl, to, size, "EXTRACTOR-dtls_srtp", 19, NULL, 0, 0) != 1)
		return 0;
	return size;
}

void cm_peer_write(struct cm_peer *peer, const uint8_t *data, size_t size)
{
	ERR_clear_error();
	SSL_write(peer->ssl, data, (int)size);
}

void cm_peer_close(struct cm_peer *peer)
{
	ERR_clear_error();
	SSL_shutdown(peer->ssl);
}

bool cm_peer_counter(const uint8_t key[16], const uint8_t iv[16], uint8_t *data, size_t size)
{
	EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
	int written = 0;
	bool is_done = cipher && EVP_EncryptInit_ex(cipher, EVP_aes_128_ctr(), NULL, key, iv) == 1
		&& EVP_EncryptUpdate(cipher, data, &written, data, (int)size) == 1;

	EVP_CIPHER_CTX_free(cipher);
	return is_done;
}

bool cm_peer_derive(const uint8_t key[16], const uint8_t salt[14], uint8_t label, uint8_t *to, size_t size)
{
	uint8_t iv[16] = {0};

	memcpy(iv, salt, 14);
	iv[7] ^= label;
	memset(to, 0, size);
	return cm_peer_counter(key, iv, to, size);
}

bool cm_peer_seal(
	const uint8_t key[16], const uint8_t iv[12], struct cm_peer_text associated, struct cm_peer_text plain, uint8_t *to)
{
	EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
	int written = 0;
	bool is_done = cipher && EVP_EncryptInit_ex(cipher, EVP_aes_128_gcm(), NULL, key, iv) == 1
		&& EVP_EncryptUpdate(cipher, NULL, &written, associated.data, (int)associated.size) == 1
		&& EVP_EncryptUpdate(cipher, to, &written, plain.data, (int)plain.size) == 1
		&& EVP_EncryptFinal_ex(cipher, to + plain.size, &written) == 1
		&& EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, 16, to + plain.size) == 1;

	EVP_CIPHER_CTX_free(cipher);
	return is_done;
}
