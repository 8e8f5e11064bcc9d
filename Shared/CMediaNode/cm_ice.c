#include <string.h>
#include <sys/socket.h>

#include "cm_participant.h"

static bool is_same(const struct cm_address *one, const struct cm_address *other)
{
	return one->is_ipv6 == other->is_ipv6 && one->port == other->port
		&& memcmp(one->bytes, other->bytes, one->is_ipv6 ? 16 : 4) == 0;
}

/* Paths */

static void forget_path(struct cm_participant *participant, int index)
{
	struct cm_path *path = participant->paths + index;
	struct cm_table_key key = cm_table_address(&path->address);

	if (cm_table_find(&participant->node->by_address, &key) == participant)
		cm_table_remove(&participant->node->by_address, &key);
	path->is_used = false;
	if (participant->current == index)
		participant->current = CM_NO_PATH;
}

/* An address is its participant's while that one checks it: who can write it as sender would silence the other one. */
static bool may_take(struct cm_participant *participant, const struct cm_address *address, struct cm_participant *holder)
{
	int index;

	if (!holder || holder == participant)
		return true;
	for (index = 0; index < CM_PATHS; index++) {
		const struct cm_path *path = holder->paths + index;

		if (path->is_used && is_same(&path->address, address)) {
			if (participant->node->now - path->checked < CM_CONSENT)
				return false;
			forget_path(holder, index);
			cm_participant_judge(holder);
			return true;
		}
	}
	return true;
}

/* The place of the address; of a new one, that of the path which was not checked for longest and is not sent to. */
static int place(const struct cm_participant *participant, const struct cm_address *address)
{
	int oldest = CM_NO_PATH, index;

	for (index = 0; index < CM_PATHS; index++) {
		const struct cm_path *path = participant->paths + index;

		if (path->is_used && is_same(&path->address, address))
			return index;
	}
	for (index = 0; index < CM_PATHS; index++) {
		const struct cm_path *path = participant->paths + index;

		if (!path->is_used)
			return index;
		if (index != participant->current
		    && (oldest == CM_NO_PATH || path->checked < participant->paths[oldest].checked))
			oldest = index;
	}
	return oldest;
}

/* Returns the place of the address that was checked, or CM_NO_PATH when another participant has it. */
static int keep_path(struct cm_participant *participant, const struct cm_datagram *datagram)
{
	struct cm_node *node = participant->node;
	struct cm_table_key key = cm_table_address(&datagram->from);
	struct cm_path *path;
	int index;

	if (!may_take(participant, &datagram->from, cm_table_find(&node->by_address, &key)))
		return CM_NO_PATH;
	index = place(participant, &datagram->from);
	path = participant->paths + index;
	if (!path->is_used || !is_same(&path->address, &datagram->from)) {
		if (path->is_used)
			forget_path(participant, index);
		*path = (struct cm_path){.is_used = true, .address = datagram->from, .to = *datagram->to};
		/* There is room: the limit is CM_PATHS for each participant. */
		cm_table_put(&node->by_address, &key, participant);
	}
	path->checked = node->now;
	path->is_old = false;
	return index;
}

static void forget_old_paths(struct cm_participant *participant)
{
	int index;

	for (index = 0; index < CM_PATHS; index++)
		if (participant->paths[index].is_used && participant->paths[index].is_old)
			forget_path(participant, index);
}

void cm_ice_restart(struct cm_participant *participant)
{
	int index;

	for (index = 0; index < CM_PATHS; index++)
		participant->paths[index].is_old = true;
	participant->is_nominated = false;
	participant->is_restarting = true;
	participant->is_connected = false;
	participant->begun = participant->heard = participant->node->now;
}

bool cm_ice_is_known(const struct cm_participant *participant, const struct cm_address *address)
{
	int index;

	if (!participant->has_new_keys)
		return true;
	for (index = 0; index < CM_PATHS; index++) {
		const struct cm_path *path = participant->paths + index;

		if (path->is_used && is_same(&path->address, address))
			return !path->is_old;
	}
	return false;
}

/* The peer knows the answer to its restart. */
static void end_restart(struct cm_participant *participant, int index)
{
	unsigned slot;

	participant->is_restarting = false;
	participant->current = index;
	if (!participant->has_new_keys)
		return;
	participant->has_new_keys = false;
	forget_old_paths(participant);
	cm_srtp_free(participant->out);
	participant->out = participant->next_out;
	participant->next_out = NULL;
	for (slot = 0; slot < participant->settings.slot_count; slot++) {
		cm_slot_renew(&participant->slots[slot].slot);
		cm_quality_renew(participant->slots + slot);
	}
}

/* Checks */

/* The latest nominated address is where we send; before the first nomination, the latest one. */
static void checked(struct cm_participant *participant, int index, bool is_nominating)
{
	bool is_restarting = participant->is_restarting;
	int before = participant->current;

	if (is_restarting)
		end_restart(participant, index);
	if (is_nominating && !participant->is_nominated)
		forget_old_paths(participant);
	if (is_nominating || !participant->is_nominated || before == CM_NO_PATH)
		participant->current = index;
	participant->is_nominated |= is_nominating;
	if (!is_restarting && before != CM_NO_PATH && before != participant->current)
		cm_node_raise(participant, CM_EVENT_ADDRESS_CHANGED);
	if (participant->current == index && !participant->has_consent) {
		participant->has_consent = true;
		if (participant->is_connected)
			cm_node_raise(participant, CM_EVENT_CONSENT_BACK);
	}
	cm_participant_judge(participant);
}

static struct cm_participant *participant_of(
	struct cm_node *node, const struct cm_stun *stun, const struct cm_datagram *datagram)
{
	struct cm_table_key key;

	if (stun->ufrag_size > CM_TABLE_NAME_MAX)
		return NULL;
	key = cm_table_name(datagram->data + stun->ufrag_offset, stun->ufrag_size);
	return cm_table_find(&node->by_ufrag, &key);
}

static void answer(
	struct cm_participant *participant, const struct cm_stun *stun, const struct cm_stun_secret *secret,
	const struct cm_datagram *datagram)
{
	struct cm_node *node = participant->node;
	uint8_t out[CM_PACKET_SIZE];
	size_t size = cm_stun_write_answer(stun, &datagram->from, secret, out, sizeof out);

	if (size && cm_node_send(node, datagram->to, out, size))
		node->counts.checks++;
}

void cm_ice_receive(struct cm_node *node, const struct cm_datagram *datagram)
{
	struct cm_stun stun;
	struct cm_participant *participant;
	struct cm_stun_secret secret;
	int index;

	if (!cm_stun_read(&stun, datagram->data, datagram->size) || stun.kind != CM_STUN_REQUEST) {
		cm_node_drop(node, CM_DROP_STUN_INVALID);
		return;
	}
	participant = participant_of(node, &stun, datagram);
	if (!participant) {
		cm_node_drop(node, CM_DROP_STUN_UNKNOWN_UFRAG);
		return;
	}
	secret = (struct cm_stun_secret){participant->settings.password, participant->settings.password_size, cm_hmac_sha1};
	if (!cm_stun_is_authentic(&stun, datagram->data, &secret)) {
		cm_node_drop(node, CM_DROP_STUN_FORGED);
		return;
	}
	participant->heard = node->now;
	if (cm_stun_refusal(&stun)) {
		node->counts.checks_refused++;
		answer(participant, &stun, &secret, datagram);
		return;
	}
	index = keep_path(participant, datagram);
	if (index == CM_NO_PATH) {
		cm_node_drop(node, CM_DROP_STUN_TAKEN);
		return;
	}
	answer(participant, &stun, &secret, datagram);
	checked(participant, index, stun.is_nominating);
}

/* DTLS */

static void send_dtls(void *context, const uint8_t *data, size_t size)
{
	struct cm_participant *participant = context;

	if (!participant->is_dtls_silent)
		cm_node_send(participant->node, &participant->dtls_to, data, size);
}

static void set_handshaking(struct cm_participant *participant, bool is_handshaking)
{
	struct cm_participant **first = &participant->node->handshaking;

	if (participant->is_handshaking == is_handshaking)
		return;
	participant->is_handshaking = is_handshaking;
	if (is_handshaking) {
		participant->handshaking_before = NULL;
		participant->handshaking_after = *first;
		if (*first)
			(*first)->handshaking_before = participant;
		*first = participant;
		return;
	}
	if (participant->handshaking_before)
		participant->handshaking_before->handshaking_after = participant->handshaking_after;
	else
		*first = participant->handshaking_after;
	if (participant->handshaking_after)
		participant->handshaking_after->handshaking_before = participant->handshaking_before;
}

static void close_dtls(struct cm_participant *participant, bool is_silent)
{
	set_handshaking(participant, false);
	participant->is_dtls_silent = is_silent;
	cm_dtls_close(participant->dtls);
	participant->dtls = NULL;
}

void cm_ice_forget_dtls(struct cm_participant *participant)
{
	/* Without a goodbye, which might come to what the page has made anew. */
	if (participant->dtls)
		close_dtls(participant, true);
	participant->handshakes_failed = 0;
	participant->dtls_state = CM_DTLS_HANDSHAKING;
}

static bool take_keys(struct cm_participant *participant)
{
	struct cm_media_keys keys;
	bool is_made = cm_dtls_keys(participant->dtls, &keys)
		&& cm_srtp_make(&participant->in, keys.suite, keys.client, false) == 0
		&& cm_srtp_make(&participant->out, keys.suite, keys.server, true) == 0;

	cm_forget(&keys, sizeof keys);
	return is_made;
}

/* What follows from the state after the connection has done something. */
static void go_on(struct cm_participant *participant, enum cm_dtls_state state)
{
	struct cm_node *node = participant->node;

	if (state == CM_DTLS_HANDSHAKING || participant->in)
		return;
	if (state == CM_DTLS_DONE && take_keys(participant)) {
		set_handshaking(participant, false);
		node->counts.handshakes_done++;
		node->counts.handshakes_time += node->now - participant->begun;
		cm_participant_judge(participant);
		return;
	}
	cm_srtp_free(participant->in);
	participant->in = NULL;
	participant->dtls_state = state == CM_DTLS_DONE ? CM_DTLS_FAILED : state;
	participant->handshakes_failed++;
	node->counts.handshakes_failed++;
	close_dtls(participant, true);
	cm_node_raise(participant, CM_EVENT_DTLS_FAILED);
}

void cm_ice_receive_dtls(struct cm_participant *participant, const struct cm_datagram *datagram)
{
	struct cm_node *node = participant->node;

	/* A connection that is no longer needed has left its keys, which remain. */
	if (participant->settings.kind != CM_WEB || (!participant->dtls && participant->in)
	    || participant->handshakes_failed >= CM_DTLS_ATTEMPTS) {
		cm_node_drop(node, CM_DROP_DTLS);
		return;
	}
	/* Before nomination too, the answer goes where the flight came from. */
	participant->dtls_to = *datagram->to;
	if (!participant->dtls) {
		participant->is_dtls_silent = false;
		participant->dtls =
			cm_dtls_open(node->settings.dtls, participant->settings.fingerprint, send_dtls, participant);
		if (!participant->dtls) {
			cm_node_drop(node, CM_DROP_DTLS);
			return;
		}
		set_handshaking(participant, true);
	}
	go_on(participant, cm_dtls_receive(participant->dtls, datagram->data, datagram->size));
}

void cm_ice_tick(struct cm_node *node)
{
	struct cm_participant *participant = node->handshaking, *after;

	for (; participant; participant = after) {
		after = participant->handshaking_after;
		go_on(participant, cm_dtls_tick(participant->dtls));
	}
}

/* Time */

static void lose_consent(struct cm_participant *participant)
{
	participant->has_consent = false;
	cm_participant_judge(participant);
	if (participant->is_connected)
		cm_node_raise(participant, CM_EVENT_CONSENT_LOST);
}

void cm_ice_poll(struct cm_participant *participant)
{
	uint64_t now = participant->node->now;

	if (participant->is_dropped)
		return;
	if (now - participant->heard >= CM_SILENCE) {
		cm_participant_end(participant);
		cm_node_raise(participant, CM_EVENT_DROPPED);
		return;
	}
	if (participant->has_consent
	    && (participant->current == CM_NO_PATH || now - participant->paths[participant->current].checked >= CM_CONSENT))
		lose_consent(participant);
	/* The page must not hear a goodbye, which would end its media too. */
	if (participant->dtls && participant->has_received && now - participant->first_received >= CM_DTLS_KEEP)
		close_dtls(participant, true);
}

void cm_ice_end(struct cm_participant *participant)
{
	int index;

	/* Goodbye, while there is a connection that can say it. */
	if (participant->dtls)
		close_dtls(participant, false);
	for (index = 0; index < CM_PATHS; index++)
		if (participant->paths[index].is_used)
			forget_path(participant, index);
}
