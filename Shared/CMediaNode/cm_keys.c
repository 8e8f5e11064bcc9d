#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <string.h>

#include "cm_keys.h"

size_t cm_suite_size(enum cm_suite suite)
{
	return suite == CM_SUITE_GCM_128 ? 16 + 12 : 16 + 14;
}

void cm_forget(void *secret, size_t size)
{
	OPENSSL_cleanse(secret, size);
}

bool cm_key_pair_make(struct cm_key_pair *pair)
{
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
	size_t private_size = sizeof pair->private_key, public_size = sizeof pair->public_key;
	bool is_made = key && EVP_PKEY_get_raw_private_key(key, pair->private_key, &private_size) == 1
		&& EVP_PKEY_get_raw_public_key(key, pair->public_key, &public_size) == 1;

	/* The library overwrites what it frees. */
	EVP_PKEY_free(key);
	return is_made;
}

bool cm_x25519(
	uint8_t shared[CM_X25519_SIZE], const uint8_t private_key[CM_X25519_SIZE], const uint8_t peer_key[CM_X25519_SIZE])
{
	EVP_PKEY *mine = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, private_key, CM_X25519_SIZE);
	EVP_PKEY *theirs = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, peer_key, CM_X25519_SIZE);
	EVP_PKEY_CTX *context = mine ? EVP_PKEY_CTX_new(mine, NULL) : NULL;
	size_t size = CM_X25519_SIZE;
	/* RFC 7748, section 6.1: the library refuses a secret that is all zero. */
	bool is_shared = theirs && context && EVP_PKEY_derive_init(context) == 1
		&& EVP_PKEY_derive_set_peer(context, theirs) == 1 && EVP_PKEY_derive(context, shared, &size) == 1
		&& size == CM_X25519_SIZE;

	EVP_PKEY_CTX_free(context);
	EVP_PKEY_free(theirs);
	EVP_PKEY_free(mine);
	if (!is_shared)
		cm_forget(shared, CM_X25519_SIZE);
	return is_shared;
}

/* The library takes no empty value as NULL. */
static OSSL_PARAM octets(const char *name, struct cm_bytes bytes)
{
	static uint8_t nothing;

	return OSSL_PARAM_construct_octet_string(name, bytes.size ? (void *)(uintptr_t)bytes.data : &nothing, bytes.size);
}

bool cm_hkdf_sha256(uint8_t *to, size_t size, struct cm_bytes secret, struct cm_bytes salt, struct cm_bytes info)
{
	char digest[] = "SHA256";
	OSSL_PARAM parameters[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
		octets(OSSL_KDF_PARAM_KEY, secret),
		octets(OSSL_KDF_PARAM_SALT, salt),
		octets(OSSL_KDF_PARAM_INFO, info),
		OSSL_PARAM_construct_end(),
	};
	EVP_KDF *hkdf = size && size <= CM_HKDF_MAX ? EVP_KDF_fetch(NULL, "HKDF", NULL) : NULL;
	EVP_KDF_CTX *context = hkdf ? EVP_KDF_CTX_new(hkdf) : NULL;
	bool is_derived = context && EVP_KDF_derive(context, to, size, parameters) == 1;

	EVP_KDF_CTX_free(context);
	EVP_KDF_free(hkdf);
	return is_derived;
}

static struct cm_bytes text(const char *from)
{
	return (struct cm_bytes){(const uint8_t *)from, strlen(from)};
}

bool cm_keys_derive(
	struct cm_media_keys *keys, enum cm_suite suite, const struct cm_key_pair *pair,
	const uint8_t peer_key[CM_X25519_SIZE], struct cm_bytes participant)
{
	uint8_t shared[CM_X25519_SIZE];
	struct cm_bytes secret = {shared, sizeof shared};
	size_t size = cm_suite_size(suite);
	bool is_derived;

	*keys = (struct cm_media_keys){.suite = suite};
	is_derived = cm_x25519(shared, pair->private_key, peer_key)
		&& cm_hkdf_sha256(keys->client, size, secret, participant, text("heliograph media client"))
		&& cm_hkdf_sha256(keys->server, size, secret, participant, text("heliograph media server"));
	cm_forget(shared, sizeof shared);
	if (!is_derived)
		cm_forget(keys, sizeof *keys);
	return is_derived;
}

bool cm_hmac_sha1(const uint8_t *key, size_t key_size, const uint8_t *data, size_t size, uint8_t to[20])
{
	unsigned written = 20;

	return HMAC(EVP_sha1(), key, (int)key_size, data, size, to, &written) != NULL;
}
