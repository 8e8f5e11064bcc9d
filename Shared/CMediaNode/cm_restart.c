#include <errno.h>
#include <string.h>

#include "cm_participant.h"

static bool is_valid(const struct cm_participant *participant, const struct cm_restart_settings *settings)
{
	unsigned slot;

	if (settings->ufrag_size == 0 || settings->ufrag_size > CM_TABLE_NAME_MAX || settings->password_size == 0
	    || settings->password_size > CM_PASSWORD_MAX || settings->source_count > CM_SRTP_RECEIVED_SOURCES
	    || settings->opus > 127 || settings->ids.mid > 14 || settings->ids.send_time > 14)
		return false;
	for (slot = 0; slot < participant->settings.slot_count; slot++)
		if (settings->mids[slot].size > CM_MID_MAX)
			return false;
	return true;
}

static bool needs_keys(const struct cm_participant *participant, const struct cm_restart_settings *settings)
{
	return participant->settings.kind == CM_ENGINE
		|| memcmp(participant->settings.fingerprint, settings->fingerprint, CM_FINGERPRINT_SIZE) != 0;
}

/* Nothing has changed when it fails. */
static int renew_keys(struct cm_participant *participant, const struct cm_media_keys *keys)
{
	struct cm_srtp *in = NULL, *out = NULL;
	int error = 0;

	if (participant->settings.kind == CM_ENGINE) {
		error = cm_srtp_make(&in, keys->suite, keys->client, false);
		if (!error)
			error = cm_srtp_make(&out, keys->suite, keys->server, true);
	}
	if (error) {
		cm_srtp_free(in);
		return error;
	}
	cm_srtp_free(participant->in);
	cm_srtp_free(participant->next_out);
	participant->in = in;
	participant->next_out = out;
	participant->has_new_keys = true;
	cm_ice_forget_dtls(participant);
	/* What was told in the numbers of the old session. */
	participant->has_received = false;
	participant->arrivals = (struct cm_arrivals){0};
	participant->audio.has_report = false;
	participant->audio.is_renewed = participant->audio.has_ssrc;
	return 0;
}

/* What a new offer says. */
static void take(struct cm_participant *participant, const struct cm_restart_settings *settings)
{
	struct cm_participant_settings *own = &participant->settings;
	unsigned slot;

	memcpy(own->ufrag, settings->ufrag, sizeof own->ufrag);
	memcpy(own->password, settings->password, sizeof own->password);
	own->ufrag_size = settings->ufrag_size;
	own->password_size = settings->password_size;
	memcpy(own->fingerprint, settings->fingerprint, sizeof own->fingerprint);
	memcpy(own->sources, settings->sources, sizeof own->sources);
	own->source_count = settings->source_count;
	own->opus = settings->opus;
	own->level_id = settings->level_id;
	own->transport_id = settings->transport_id;
	own->ids = settings->ids;
	for (slot = 0; slot < own->slot_count; slot++) {
		memcpy(own->slots[slot].mid, settings->mids[slot].text, sizeof own->slots[slot].mid);
		own->slots[slot].mid_size = settings->mids[slot].size;
	}
	cm_participant_format(participant);
}

/* What has not been told yet is of the old path, but for the limit. */
static void forget_events(struct cm_participant *participant)
{
	participant->pending &= 1U << CM_EVENT_LIMIT;
	if (!participant->pending)
		cm_participant_unpend(participant);
}

int cm_node_restart(struct cm_node *node, uint64_t id, const struct cm_restart_settings *settings)
{
	struct cm_participant *participant = cm_node_find(node, id);
	struct cm_table_key ufrag, before;
	int error;

	if (!participant || participant->is_dropped)
		return ENOENT;
	if (!is_valid(participant, settings))
		return EINVAL;
	ufrag = cm_table_name(settings->ufrag, settings->ufrag_size);
	if (cm_table_find(&node->by_ufrag, &ufrag))
		return EEXIST;
	error = needs_keys(participant, settings) ? renew_keys(participant, &settings->keys) : 0;
	if (error)
		return error;
	before = cm_table_name(participant->settings.ufrag, participant->settings.ufrag_size);
	cm_table_remove(&node->by_ufrag, &before);
	/* There is room: its own place. */
	cm_table_put(&node->by_ufrag, &ufrag, participant);
	take(participant, settings);
	if (participant->audio.has_ssrc && !cm_participant_is_source(participant, participant->audio.ssrc))
		cm_forward_forget(participant);
	forget_events(participant);
	node->now = cm_node_clock(node);
	cm_ice_restart(participant);
	return 0;
}
