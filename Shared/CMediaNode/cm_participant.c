#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cm_participant.h"

static const uint8_t NO_PAYLOAD_TYPE = 255;

struct cm_participant *cm_node_find(const struct cm_node *node, uint64_t id)
{
	struct cm_table_key key = cm_table_number(id);

	return cm_table_find(&node->by_id, &key);
}

bool cm_participant_is_source(const struct cm_participant *participant, uint32_t ssrc)
{
	const struct cm_participant_settings *settings = &participant->settings;
	unsigned index;

	for (index = 0; index < settings->source_count; index++)
		if (settings->sources[index].ssrc == ssrc)
			return true;
	return settings->source_count == 0;
}

static bool is_valid(const struct cm_node *node, const struct cm_participant_settings *settings)
{
	unsigned slot;

	if (settings->ufrag_size == 0 || settings->ufrag_size > CM_TABLE_NAME_MAX || settings->password_size == 0
	    || settings->password_size > CM_PASSWORD_MAX || settings->slot_count == 0
	    || settings->slot_count > CM_AUDIO_SLOTS_MAX || settings->source_count > CM_SRTP_RECEIVED_SOURCES
	    || settings->name_size > CM_NAME_MAX || settings->opus > 127 || settings->ids.mid > 14 || settings->ids.send_time > 14)
		return false;
	for (slot = 0; slot < settings->slot_count; slot++)
		if (settings->slots[slot].mid_size > CM_MID_MAX)
			return false;
	return settings->kind == CM_ENGINE || node->settings.dtls;
}

/* Channels */

static struct cm_channel *channel_of(struct cm_node *node, uint64_t id)
{
	struct cm_table_key key = cm_table_number(id);
	struct cm_channel *channel = cm_table_find(&node->channels, &key);

	if (channel)
		return channel;
	channel = calloc(1, sizeof *channel);
	if (!channel)
		return NULL;
	channel->id = id;
	if (!cm_table_put(&node->channels, &key, channel)) {
		free(channel);
		return NULL;
	}
	return channel;
}

static void free_if_empty(struct cm_node *node, struct cm_channel *channel)
{
	struct cm_table_key key = cm_table_number(channel->id);

	if (channel->count)
		return;
	cm_table_remove(&node->channels, &key);
	free(channel->members);
	free(channel);
}

static int enter(struct cm_participant *participant, struct cm_channel *channel)
{
	if (channel->count >= participant->node->settings.limits.members)
		return ENOSPC;
	if (channel->count == channel->capacity) {
		unsigned capacity = channel->capacity ? 2 * channel->capacity : 4;
		struct cm_participant **members = realloc(channel->members, capacity * sizeof(struct cm_participant *));

		if (!members)
			return ENOMEM;
		channel->members = members;
		channel->capacity = capacity;
	}
	participant->member = channel->count;
	channel->members[channel->count++] = participant;
	participant->channel = channel;
	return 0;
}

static void leave(struct cm_participant *participant)
{
	struct cm_channel *channel = participant->channel;
	struct cm_participant *last;

	if (!channel)
		return;
	last = channel->members[--channel->count];
	channel->members[participant->member] = last;
	last->member = participant->member;
	participant->channel = NULL;
	free_if_empty(participant->node, channel);
}

/* Conditions */

void cm_participant_judge(struct cm_participant *participant)
{
	bool was_publisher = participant->is_publisher, could_hear = participant->can_hear;

	participant->can_hear = participant->current != CM_NO_PATH && participant->has_consent && participant->out
		&& (participant->allowed & CM_MAY_HEAR) && !participant->is_dropped;
	if (could_hear && !participant->can_hear)
		cm_forward_deafen(participant);
	participant->is_publisher = participant->audio.has_ssrc && (participant->allowed & CM_MAY_SEND_AUDIO)
		&& !participant->is_dropped;
	if (participant->is_publisher != was_publisher && participant->channel) {
		if (was_publisher)
			participant->channel->publishers--;
		else
			participant->channel->publishers++;
	}
	if (!participant->is_connected && !participant->is_dropped && !participant->is_restarting
	    && participant->current != CM_NO_PATH && participant->in) {
		participant->is_connected = true;
		cm_node_raise(participant, CM_EVENT_CONNECTED);
	}
}

/* Adding */

void cm_participant_format(struct cm_participant *participant)
{
	const struct cm_participant_settings *settings = &participant->settings;
	unsigned index;

	for (index = 0; index < settings->slot_count; index++) {
		struct cm_format *format = &participant->slots[index].format;

		memset(format->payload_types, NO_PAYLOAD_TYPE, sizeof format->payload_types);
		memset(format->rtx_payload_types, NO_PAYLOAD_TYPE, sizeof format->rtx_payload_types);
		format->payload_types[0] = settings->opus;
		format->ids = settings->ids;
		memcpy(format->mid, settings->slots[index].mid, sizeof format->mid);
		format->mid_size = settings->slots[index].mid_size;
	}
}

static bool prepare_slots(struct cm_participant *participant)
{
	const struct cm_participant_settings *settings = &participant->settings;
	uint64_t random[CM_AUDIO_SLOTS_MAX];
	unsigned index;

	if (getrandom(random, sizeof random, 0) != sizeof random)
		return false;
	cm_selection_init(&participant->selection, settings->slot_count);
	for (index = 0; index < settings->slot_count; index++) {
		cm_slot_init(
			&participant->slots[index].slot, settings->slots[index].ssrc, 0, CM_OPUS_RATE, true, random[index]);
		cm_quality_begin(participant->slots + index);
	}
	cm_participant_format(participant);
	return true;
}

/* An engine has its keys from the beginning. */
static int make_keys(struct cm_participant *participant)
{
	struct cm_media_keys *keys = &participant->settings.keys;
	int error = 0;

	if (participant->settings.kind == CM_ENGINE) {
		error = cm_srtp_make(&participant->in, keys->suite, keys->client, false);
		if (!error)
			error = cm_srtp_make(&participant->out, keys->suite, keys->server, true);
	}
	cm_forget(keys, sizeof *keys);
	return error;
}

/* Makes a participant that is in no list yet. */
static int make(struct cm_node *node, const struct cm_participant_settings *settings, struct cm_participant **made)
{
	struct cm_participant *participant = calloc(1, sizeof *participant + settings->slot_count * sizeof *participant->slots);
	int error;

	if (!participant)
		return ENOMEM;
	participant->settings = *settings;
	participant->node = node;
	participant->allowed = settings->allowed;
	participant->begun = participant->heard = cm_node_clock(node);
	participant->current = CM_NO_PATH;
	error = make_keys(participant);
	if (!error && !prepare_slots(participant))
		error = ENOMEM;
	if (error) {
		cm_participant_free(participant);
		return error;
	}
	*made = participant;
	return 0;
}

static int add_to_channel(struct cm_participant *participant)
{
	struct cm_channel *channel = channel_of(participant->node, participant->settings.channel);
	int error;

	if (!channel)
		return ENOMEM;
	error = enter(participant, channel);
	if (error)
		free_if_empty(participant->node, channel);
	return error;
}

int cm_node_add(struct cm_node *node, const struct cm_participant_settings *settings)
{
	struct cm_table_key id = cm_table_number(settings->id), ufrag;
	struct cm_participant *participant;
	int error;

	if (!is_valid(node, settings))
		return EINVAL;
	ufrag = cm_table_name(settings->ufrag, settings->ufrag_size);
	if (cm_table_find(&node->by_id, &id) || cm_table_find(&node->by_ufrag, &ufrag))
		return EEXIST;
	if (node->count >= node->settings.limits.participants)
		return ENOSPC;
	error = make(node, settings, &participant);
	if (error)
		return error;
	error = add_to_channel(participant);
	if (error) {
		cm_participant_free(participant);
		return error;
	}
	/* There is room: the tables' limits are the node's. */
	cm_table_put(&node->by_id, &id, participant);
	cm_table_put(&node->by_ufrag, &ufrag, participant);
	participant->index = node->count;
	node->participants[node->count++] = participant;
	cm_participant_judge(participant);
	return 0;
}

/* Ending */

void cm_participant_end(struct cm_participant *participant)
{
	struct cm_node *node = participant->node;
	struct cm_table_key ufrag = cm_table_name(participant->settings.ufrag, participant->settings.ufrag_size);

	participant->is_dropped = true;
	cm_participant_judge(participant);
	cm_forward_silence(participant);
	cm_ice_end(participant);
	if (cm_table_find(&node->by_ufrag, &ufrag) == participant)
		cm_table_remove(&node->by_ufrag, &ufrag);
	leave(participant);
}

void cm_participant_free(struct cm_participant *participant)
{
	cm_srtp_free(participant->in);
	cm_srtp_free(participant->out);
	cm_srtp_free(participant->next_out);
	/* What somebody has said, and the password. */
	cm_forget(participant, sizeof *participant);
	free(participant);
}

void cm_node_remove(struct cm_node *node, uint64_t id)
{
	struct cm_table_key key = cm_table_number(id);
	struct cm_participant *participant = cm_table_remove(&node->by_id, &key), *last;

	if (!participant)
		return;
	cm_participant_end(participant);
	cm_participant_unpend(participant);
	last = node->participants[--node->count];
	node->participants[participant->index] = last;
	last->index = participant->index;
	cm_participant_free(participant);
}

void cm_node_allow(struct cm_node *node, uint64_t id, unsigned allowed)
{
	struct cm_participant *participant = cm_node_find(node, id);

	if (!participant || participant->is_dropped)
		return;
	if ((participant->allowed ^ allowed) & CM_MAY_SEND_AUDIO)
		cm_forward_silence(participant);
	participant->allowed = allowed;
	cm_participant_judge(participant);
}

bool cm_node_participant_counts(const struct cm_node *node, uint64_t id, struct cm_participant_counts *counts)
{
	const struct cm_participant *participant = cm_node_find(node, id);
	const struct cm_reception *reception;

	if (!participant)
		return false;
	reception = &participant->audio.reception;
	*counts = participant->counts;
	counts->is_connected = participant->is_connected;
	counts->has_consent = participant->has_consent;
	if (reception->has_begun) {
		/* Beside those of sources before this one. */
		counts->audio_expected += (uint64_t)reception->cycles + reception->highest - reception->base + 1;
		counts->audio_received += reception->received;
		counts->jitter = reception->jitter >> 4;
	}
	return true;
}
