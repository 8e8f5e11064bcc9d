#include <errno.h>
#include <pthread.h>
#include <srtp2/srtp.h>
#include <stdlib.h>
#include <string.h>

#include "cm_bytes.h"
#include "cm_seal.h"

enum {
	RTP_HEADER_SIZE = 12,
	RTCP_HEADER_SIZE = 8,
	/* Greater packets come from no network; the library counts in int. */
	SIZE_MAX_PACKET = 65535,
};

struct cm_srtp {
	/* Of what is sent; else NULL, and what follows is used. */
	struct cm_sealer *sealer;
	srtp_t session;
	struct cm_srtp_counts counts;
	/* The SSRCs that the library has state for. */
	uint32_t sources[CM_SRTP_RECEIVED_SOURCES];
	unsigned source_count;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static srtp_err_status_t initialized = srtp_err_status_init_fail;

static void initialize(void)
{
	initialized = srtp_init();
}

static srtp_policy_t policy_of(enum cm_suite suite, uint8_t *key_and_salt)
{
	srtp_policy_t policy;

	memset(&policy, 0, sizeof policy);
	switch (suite) {
	case CM_SUITE_GCM_128:
		srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp);
		srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp);
		break;
	case CM_SUITE_CM_128_SHA1_80:
		srtp_crypto_policy_set_rtp_default(&policy.rtp);
		srtp_crypto_policy_set_rtcp_default(&policy.rtcp);
		break;
	}
	policy.ssrc.type = ssrc_any_inbound;
	policy.key = key_and_salt;
	policy.window_size = CM_SRTP_WINDOW;
	return policy;
}

/* Returns 0 or an errno. */
static int make_session(srtp_t *session, enum cm_suite suite, const uint8_t *key_and_salt)
{
	uint8_t key[CM_KEY_AND_SALT_MAX];
	srtp_policy_t policy;
	srtp_err_status_t status;

	pthread_once(&once, initialize);
	if (initialized != srtp_err_status_ok)
		return EINVAL;
	memcpy(key, key_and_salt, cm_suite_size(suite));
	policy = policy_of(suite, key);
	status = srtp_create(session, &policy);
	cm_forget(key, sizeof key);
	if (status == srtp_err_status_ok)
		return 0;
	return status == srtp_err_status_alloc_fail ? ENOMEM : EINVAL;
}

int cm_srtp_make(struct cm_srtp **srtp, enum cm_suite suite, const uint8_t *key_and_salt, bool is_sending)
{
	struct cm_srtp *made = calloc(1, sizeof *made);
	int error = 0;

	*srtp = NULL;
	if (!made)
		return ENOMEM;
	if (is_sending) {
		made->sealer = cm_sealer_make(suite, key_and_salt);
		error = made->sealer ? 0 : ENOMEM;
	}
	else
		error = make_session(&made->session, suite, key_and_salt);
	if (error)
		free(made);
	else
		*srtp = made;
	return error;
}

void cm_srtp_free(struct cm_srtp *srtp)
{
	if (!srtp)
		return;
	if (srtp->session)
		srtp_dealloc(srtp->session);
	cm_sealer_free(srtp->sealer);
	free(srtp);
}

static bool has_source(const struct cm_srtp *srtp, uint32_t ssrc)
{
	for (unsigned i = 0; i < srtp->source_count; i++) {
		if (srtp->sources[i] == ssrc)
			return true;
	}
	return false;
}

typedef srtp_err_status_t transform_h(srtp_t, void *, int *);

static enum cm_srtp_verdict unprotect_with(
	struct cm_srtp *srtp, transform_h *function, uint8_t *packet, size_t *size, size_t ssrc_offset)
{
	int count = (int)*size;
	uint32_t ssrc;
	bool is_known;

	if (*size < ssrc_offset + 4 || *size > SIZE_MAX_PACKET)
		return CM_FORGED;
	ssrc = cm_get32(packet + ssrc_offset);
	is_known = has_source(srtp, ssrc);
	if (!is_known && srtp->source_count == CM_SRTP_RECEIVED_SOURCES)
		return CM_TOO_MANY_SOURCES;
	switch ((int)function(srtp->session, packet, &count)) {
	case srtp_err_status_ok:
		break;
	case srtp_err_status_replay_fail:
		return CM_REPLAYED;
	case srtp_err_status_replay_old:
	case srtp_err_status_pkt_idx_old:
		return CM_BEHIND_WINDOW;
	default:
		return CM_FORGED;
	}
	if (!is_known)
		srtp->sources[srtp->source_count++] = ssrc;
	*size = (size_t)count;
	return CM_AUTHENTIC;
}

static enum cm_srtp_verdict counted(struct cm_srtp *srtp, enum cm_srtp_verdict verdict)
{
	switch (verdict) {
	case CM_AUTHENTIC:
		srtp->counts.authentic++;
		break;
	case CM_FORGED:
		srtp->counts.forged++;
		break;
	case CM_REPLAYED:
		srtp->counts.replayed++;
		break;
	case CM_BEHIND_WINDOW:
		srtp->counts.too_old++;
		break;
	case CM_TOO_MANY_SOURCES:
		srtp->counts.too_many_sources++;
		break;
	}
	return verdict;
}

enum cm_srtp_verdict cm_srtp_unprotect(struct cm_srtp *srtp, uint8_t *packet, size_t *size)
{
	return counted(srtp, unprotect_with(srtp, srtp_unprotect, packet, size, 8));
}

enum cm_srtp_verdict cm_srtp_unprotect_rtcp(struct cm_srtp *srtp, uint8_t *packet, size_t *size)
{
	return counted(srtp, unprotect_with(srtp, srtp_unprotect_rtcp, packet, size, 4));
}

bool cm_srtp_protect(struct cm_srtp *srtp, uint8_t *packet, size_t *size, size_t capacity)
{
	if (*size < RTP_HEADER_SIZE || capacity > SIZE_MAX_PACKET || *size + CM_SRTP_OVERHEAD > capacity)
		return false;
	return cm_seal_packet(srtp->sealer, packet, size);
}

bool cm_srtp_protect_rtcp(struct cm_srtp *srtp, uint8_t *packet, size_t *size, size_t capacity)
{
	if (*size < RTCP_HEADER_SIZE || capacity > SIZE_MAX_PACKET || *size + CM_SRTP_OVERHEAD > capacity)
		return false;
	return cm_seal_report(srtp->sealer, packet, size);
}

struct cm_srtp_counts cm_srtp_counts(const struct cm_srtp *srtp)
{
	return srtp->counts;
}
