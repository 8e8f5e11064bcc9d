#include <errno.h>
#include <pthread.h>
#include <srtp2/srtp.h>
#include <stdlib.h>
#include <string.h>

#include "cm_bytes.h"
#include "cm_srtp.h"

enum {
	RTP_HEADER_SIZE = 12,
	RTCP_HEADER_SIZE = 8,
	/* Greater packets come from no network; the library counts in int. */
	SIZE_MAX_PACKET = 65535,
};

struct cm_srtp {
	srtp_t session;
	struct cm_srtp_counts counts;
	/* The SSRCs that the library has state for. */
	uint32_t sources[CM_SRTP_SENT_SOURCES];
	unsigned source_count, source_limit;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static srtp_err_status_t initialized = srtp_err_status_init_fail;

static void initialize(void)
{
	initialized = srtp_init();
}

static srtp_policy_t policy_of(enum cm_suite suite, uint8_t *key_and_salt, bool is_sending)
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
	policy.ssrc.type = is_sending ? ssrc_any_outbound : ssrc_any_inbound;
	policy.key = key_and_salt;
	policy.window_size = CM_SRTP_WINDOW;
	/* A number that is sent twice with other content would reveal both (RFC 3711, section 9.1). */
	policy.allow_repeat_tx = 0;
	return policy;
}

int cm_srtp_make(struct cm_srtp **srtp, enum cm_suite suite, const uint8_t *key_and_salt, bool is_sending)
{
	uint8_t key[CM_KEY_AND_SALT_MAX];
	struct cm_srtp *made = NULL;
	srtp_policy_t policy;
	srtp_err_status_t status;

	*srtp = NULL;
	pthread_once(&once, initialize);
	if (initialized != srtp_err_status_ok)
		return EINVAL;
	made = calloc(1, sizeof *made);
	if (!made)
		return ENOMEM;
	made->source_limit = is_sending ? CM_SRTP_SENT_SOURCES : CM_SRTP_RECEIVED_SOURCES;
	memcpy(key, key_and_salt, cm_suite_size(suite));
	policy = policy_of(suite, key, is_sending);
	status = srtp_create(&made->session, &policy);
	cm_forget(key, sizeof key);
	if (status != srtp_err_status_ok) {
		free(made);
		return status == srtp_err_status_alloc_fail ? ENOMEM : EINVAL;
	}
	*srtp = made;
	return 0;
}

void cm_srtp_free(struct cm_srtp *srtp)
{
	if (!srtp)
		return;
	srtp_dealloc(srtp->session);
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
	if (!is_known && srtp->source_count == srtp->source_limit)
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

static bool protect_with(
	struct cm_srtp *srtp, transform_h *function, uint8_t *packet, size_t *size, size_t ssrc_offset)
{
	int count = (int)*size;
	uint32_t ssrc = cm_get32(packet + ssrc_offset);
	bool is_known = has_source(srtp, ssrc);

	if (!is_known && srtp->source_count == srtp->source_limit)
		return false;
	if (function(srtp->session, packet, &count) != srtp_err_status_ok)
		return false;
	if (!is_known)
		srtp->sources[srtp->source_count++] = ssrc;
	*size = (size_t)count;
	return true;
}

bool cm_srtp_protect(struct cm_srtp *srtp, uint8_t *packet, size_t *size, size_t capacity)
{
	if (*size < RTP_HEADER_SIZE || capacity > SIZE_MAX_PACKET || *size + CM_SRTP_OVERHEAD > capacity)
		return false;
	return protect_with(srtp, srtp_protect, packet, size, 8);
}

bool cm_srtp_protect_rtcp(struct cm_srtp *srtp, uint8_t *packet, size_t *size, size_t capacity)
{
	if (*size < RTCP_HEADER_SIZE || capacity > SIZE_MAX_PACKET || *size + CM_SRTP_OVERHEAD > capacity)
		return false;
	return protect_with(srtp, srtp_protect_rtcp, packet, size, 4);
}

struct cm_srtp_counts cm_srtp_counts(const struct cm_srtp *srtp)
{
	return srtp->counts;
}
