#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cm_bytes.h"
#include "cm_caller.h"
#include "cm_peer.h"

enum {
	HEARD = 256,
	FRAME = 80,
	FRAME_TICKS = 960,
};

struct cm_caller {
	struct cm_caller_settings settings;
	bool has_sources;
	unsigned slots;
	/* After a restart that it does not know of. */
	struct cm_caller_settings next;
	struct cm_peer *next_peer;
	bool has_next_keys;
	unsigned restarts;
	int socket;
	struct cm_peer *peer;
	struct cm_srtp *in, *out;
	uint32_t ssrc, timestamp;
	uint16_t sequence, transport_sequence;
	uint8_t payload_type;
	uint64_t transaction;
	_Alignas(8) uint8_t last[CM_PACKET_SIZE];
	size_t last_size;
	struct cm_heard heard[HEARD];
	unsigned first, count;
	struct cm_caller_counts counts;
};

static bool open_socket(struct cm_caller *caller)
{
	struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_port = htons(caller->settings.port)};
	struct sockaddr_in6 ipv6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(caller->settings.port), .sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	bool is_ipv6 = caller->settings.is_ipv6;
	int buffer = 4 * 1024 * 1024;

	ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	caller->socket = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (caller->socket < 0)
		return false;
	(void)setsockopt(caller->socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
	return connect(
		caller->socket, is_ipv6 ? (struct sockaddr *)&ipv6 : (struct sockaddr *)&ipv4,
		is_ipv6 ? sizeof ipv6 : sizeof ipv4) == 0;
}

static struct cm_peer *make_peer(void)
{
	struct cm_peer_settings settings = {
		.profiles = "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80", .mtu = 1200, .has_certificate = true,
	};

	return cm_peer_make(&settings);
}

static void make_keys(struct cm_caller *caller)
{
	const struct cm_media_keys *keys = &caller->settings.keys;

	cm_srtp_make(&caller->out, keys->suite, keys->client, true);
	cm_srtp_make(&caller->in, keys->suite, keys->server, false);
}

struct cm_caller *cm_caller_open(const struct cm_caller_settings *settings)
{
	struct cm_caller *caller = calloc(1, sizeof *caller);

	if (!caller)
		return NULL;
	caller->settings = *settings;
	caller->ssrc = settings->ssrc;
	caller->payload_type = settings->opus;
	/* Near a wrap, so that every test has one. */
	caller->sequence = 65530;
	caller->socket = -1;
	if (settings->is_web)
		caller->peer = make_peer();
	else
		make_keys(caller);
	if (!open_socket(caller) || (settings->is_web && !caller->peer)) {
		cm_caller_close(caller);
		return NULL;
	}
	return caller;
}

static struct cm_participant_settings settings_of(const struct cm_caller_member *member, struct cm_caller_settings *caller)
{
	struct cm_participant_settings settings = {
		.id = member->id,
		.channel = member->channel,
		.uid = (uint32_t)(1000 + member->id),
		.kind = member->is_web ? CM_WEB : CM_ENGINE,
		.allowed = CM_MAY_SEND_AUDIO | CM_MAY_HEAR,
		.keys = caller->keys,
		.sources = {{.kind = CM_SOURCE_AUDIO, .ssrc = caller->ssrc}},
		.source_count = member->has_sources,
		.opus = caller->opus,
		.level_id = caller->level_id,
		.transport_id = caller->transport_id,
		.slot_count = member->slots,
		.report_ssrc = (uint32_t)(200000 + member->id),
		.name = "caller",
		.name_size = 6,
	};

	settings.ufrag_size = (uint8_t)strlen(caller->ufrag);
	settings.password_size = (uint8_t)strlen(caller->password);
	memcpy(settings.ufrag, caller->ufrag, settings.ufrag_size);
	memcpy(settings.password, caller->password, settings.password_size);
	for (unsigned index = 0; index < member->slots && index < CM_AUDIO_SLOTS_MAX; index++)
		settings.slots[index].ssrc = (uint32_t)(100000 + 100 * member->id + index);
	return settings;
}

struct cm_caller *cm_caller_join(struct cm_node *node, const struct cm_caller_member *member, int *error)
{
	struct cm_caller_settings own = {
		.port = cm_node_port(node), .is_ipv6 = member->is_ipv6, .is_web = member->is_web, .keys = {.suite = member->suite},
		.ssrc = (uint32_t)(10000 + member->id), .opus = 111, .level_id = 1, .transport_id = 3,
	};
	struct cm_participant_settings settings;
	struct cm_caller *caller;

	snprintf(own.ufrag, sizeof own.ufrag, "u%07u", (unsigned)member->id);
	snprintf(own.password, sizeof own.password, "p%023u", (unsigned)member->id);
	for (unsigned index = 0; index < CM_KEY_AND_SALT_MAX; index++) {
		own.keys.client[index] = (uint8_t)(member->id * 31 + index);
		own.keys.server[index] = (uint8_t)(member->id * 17 + index + 128);
	}
	*error = ENOMEM;
	caller = cm_caller_open(&own);
	if (!caller)
		return NULL;
	caller->has_sources = member->has_sources;
	caller->slots = member->slots;
	settings = settings_of(member, &own);
	if (member->is_web)
		cm_caller_fingerprint(caller, settings.fingerprint);
	if (member->has_wrong_certificate)
		settings.fingerprint[0] ^= 1;
	*error = cm_node_add(node, &settings);
	if (!*error)
		return caller;
	cm_caller_close(caller);
	return NULL;
}

void cm_caller_close(struct cm_caller *caller)
{
	if (caller->peer)
		cm_peer_free(caller->peer);
	if (caller->next_peer)
		cm_peer_free(caller->next_peer);
	cm_srtp_free(caller->in);
	cm_srtp_free(caller->out);
	if (caller->socket >= 0)
		close(caller->socket);
	free(caller);
}

void cm_caller_fingerprint(const struct cm_caller *caller, uint8_t to[32])
{
	cm_peer_fingerprint(caller->peer, to);
}

bool cm_caller_move(struct cm_caller *caller)
{
	int before = caller->socket;
	bool is_open = open_socket(caller);

	close(before);
	return is_open;
}

void cm_caller_send(struct cm_caller *caller, const uint8_t *data, size_t size)
{
	ssize_t sent = send(caller->socket, data, size, 0);

	(void)sent;
}

/* What the participant gets, of which the caller knows later. */
static struct cm_restart_settings restart_settings(const struct cm_caller *caller, const struct cm_caller_restart *restart)
{
	const struct cm_caller_settings *next = &caller->next;
	struct cm_restart_settings settings = {
		.keys = next->keys,
		.sources = {{.kind = CM_SOURCE_AUDIO, .ssrc = next->ssrc}},
		.source_count = caller->has_sources,
		.opus = next->opus,
		.level_id = next->level_id,
		.transport_id = next->transport_id,
		.ids = {.mid = restart->mid_id},
	};

	settings.ufrag_size = (uint8_t)strlen(next->ufrag);
	settings.password_size = (uint8_t)strlen(next->password);
	memcpy(settings.ufrag, next->ufrag, settings.ufrag_size);
	memcpy(settings.password, next->password, settings.password_size);
	for (unsigned index = 0; restart->mid_id && index < caller->slots; index++)
		settings.mids[index] = (struct cm_mid){.text = {(char)('a' + index)}, .size = 1};
	if (caller->peer)
		cm_peer_fingerprint(caller->next_peer ? caller->next_peer : caller->peer, settings.fingerprint);
	return settings;
}

int cm_caller_restart(
	struct cm_caller *caller, struct cm_node *node, uint64_t id, const struct cm_caller_restart *restart)
{
	struct cm_restart_settings settings;
	unsigned index;

	caller->restarts++;
	caller->next = caller->settings;
	snprintf(caller->next.ufrag, sizeof caller->next.ufrag, "r%u-%u", caller->restarts, (unsigned)id);
	snprintf(caller->next.password, sizeof caller->next.password, "r%u-%020u", caller->restarts, (unsigned)id);
	if (restart->ssrc)
		caller->next.ssrc = restart->ssrc;
	if (restart->opus)
		caller->next.opus = restart->opus;
	caller->has_next_keys |= !caller->peer || restart->has_new_certificate;
	for (index = 0; !caller->peer && index < CM_KEY_AND_SALT_MAX; index++) {
		caller->next.keys.client[index] ^= (uint8_t)(index + 7);
		caller->next.keys.server[index] ^= (uint8_t)(index + 7);
	}
	if (restart->has_new_certificate) {
		if (caller->next_peer)
			cm_peer_free(caller->next_peer);
		caller->next_peer = make_peer();
	}
	settings = restart_settings(caller, restart);
	return cm_node_restart(node, id, &settings);
}

void cm_caller_renew(struct cm_caller *caller)
{
	caller->settings = caller->next;
	caller->ssrc = caller->settings.ssrc;
	caller->payload_type = caller->settings.opus;
	if (!caller->has_next_keys)
		return;
	caller->has_next_keys = false;
	caller->sequence &= 0x7FFF;
	cm_srtp_free(caller->in);
	cm_srtp_free(caller->out);
	caller->in = caller->out = NULL;
	if (!caller->peer)
		make_keys(caller);
	else if (caller->next_peer) {
		cm_peer_free(caller->peer);
		caller->peer = caller->next_peer;
		caller->next_peer = NULL;
	}
}

static void put32(uint8_t *to, uint32_t number)
{
	number = htonl(number);
	memcpy(to, &number, 4);
}

static void put16(uint8_t *to, uint16_t number)
{
	number = htons(number);
	memcpy(to, &number, 2);
}

/* CRC-32 of RFC 8489's FINGERPRINT. */
static uint32_t crc(const uint8_t *data, size_t size)
{
	uint32_t value = UINT32_MAX;

	for (size_t at = 0; at < size; at++) {
		value ^= data[at];
		for (int bit = 0; bit < 8; bit++)
			value = value >> 1 ^ (value & 1 ? 0xEDB88320 : 0);
	}
	return ~value;
}

/* Changes the role of a request, and computes what ends it again: 24 bytes of MESSAGE-INTEGRITY, 8 of FINGERPRINT. */
static size_t claim_controlled(const struct cm_stun_secret *secret, uint8_t *request, size_t size)
{
	size_t username = (size_t)request[22] << 8 | request[23];
	uint8_t *integrity = request + size - 8 - 24;

	put16(request + 24 + (username + 3) / 4 * 4, 0x8029);
	put16(request + 2, (uint16_t)(size - 20 - 8));
	cm_hmac_sha1(secret->password, secret->size, request, (size_t)(integrity - request), integrity + 4);
	put16(request + 2, (uint16_t)(size - 20));
	put32(request + size - 4, crc(request, size - 8) ^ 0x5354554E);
	return size;
}

size_t cm_caller_write_check(struct cm_caller *caller, const struct cm_caller_check *wanted, uint8_t to[CM_PACKET_SIZE])
{
	char username[64];
	struct cm_stun_secret secret = {(const uint8_t *)caller->settings.password, strlen(caller->settings.password), cm_hmac_sha1};
	struct cm_stun_check check = {
		.username = username, .priority = 1, .tie_breaker = 7, .is_nominating = wanted->is_nominating,
	};
	size_t size;

	caller->transaction++;
	memcpy(check.transaction, &caller->transaction, sizeof caller->transaction);
	memcpy(check.transaction + 8, &caller->ssrc, 4);
	strcpy(username, caller->settings.ufrag);
	strcat(username, ":test");
	check.username_size = strlen(username);
	if (wanted->is_forged)
		secret.size--;
	size = cm_stun_write_request(&check, &secret, to, CM_PACKET_SIZE);
	/* The role is the type of an attribute, which both integrity and fingerprint are computed over again. */
	return wanted->is_controlled ? claim_controlled(&secret, to, size) : size;
}

void cm_caller_check(struct cm_caller *caller, const struct cm_caller_check *check)
{
	uint8_t out[CM_PACKET_SIZE];

	cm_caller_send(caller, out, cm_caller_write_check(caller, check, out));
}

static void flush(struct cm_caller *caller)
{
	uint8_t datagram[CM_PEER_DATAGRAM_SIZE];
	size_t size;

	while ((size = cm_peer_take(caller->peer, datagram)))
		cm_caller_send(caller, datagram, size);
}

static void take_keys(struct cm_caller *caller)
{
	uint8_t exported[CM_PEER_KEYS_MAX], client[CM_KEY_AND_SALT_MAX], server[CM_KEY_AND_SALT_MAX];
	size_t size = cm_peer_keys(caller->peer, exported), salt = size / 2 - 16;
	enum cm_suite suite = size == 56 ? CM_SUITE_GCM_128 : CM_SUITE_CM_128_SHA1_80;

	if (!size)
		return;
	memcpy(client, exported, 16);
	memcpy(server, exported + 16, 16);
	memcpy(client + 16, exported + 32, salt);
	memcpy(server + 16, exported + 32 + salt, salt);
	cm_srtp_make(&caller->out, suite, client, true);
	cm_srtp_make(&caller->in, suite, server, false);
}

static void shake(struct cm_caller *caller, const uint8_t *data, size_t size)
{
	if (!cm_peer_receive(caller->peer, data, size))
		caller->counts.is_closed = true;
	flush(caller);
	if (!caller->in && cm_peer_is_done(caller->peer))
		take_keys(caller);
}

void cm_caller_shake(struct cm_caller *caller)
{
	cm_peer_tick(caller->peer);
	shake(caller, NULL, 0);
}

bool cm_caller_has_keys(const struct cm_caller *caller)
{
	return caller->in && caller->out;
}

bool cm_caller_say(struct cm_caller *caller, uint8_t level, uint8_t first)
{
	uint8_t *at = caller->last;

	if (!caller->out)
		return false;
	memset(at, 0, 24);
	at[0] = 0x90;
	at[1] = caller->payload_type;
	put16(at + 2, caller->sequence++);
	put32(at + 4, caller->timestamp += FRAME_TICKS);
	put32(at + 8, caller->ssrc);
	put16(at + 12, 0xBEDE);
	put16(at + 14, 2);
	if (caller->settings.level_id) {
		at[16] = (uint8_t)(caller->settings.level_id << 4);
		at[17] = (uint8_t)(0x80 | level);
	}
	if (caller->settings.transport_id) {
		at[18] = (uint8_t)(caller->settings.transport_id << 4 | 1);
		put16(at + 19, caller->transport_sequence++);
	}
	memset(at + 24, first, FRAME);
	caller->last_size = 24 + FRAME;
	if (!cm_srtp_protect(caller->out, at, &caller->last_size, sizeof caller->last))
		return false;
	cm_caller_send(caller, at, caller->last_size);
	return true;
}

void cm_caller_skip(struct cm_caller *caller, uint16_t packets)
{
	caller->sequence = (uint16_t)(caller->sequence + packets);
}

void cm_caller_set(struct cm_caller *caller, uint32_t ssrc, uint8_t payload_type)
{
	caller->ssrc = ssrc;
	caller->payload_type = payload_type;
}

size_t cm_caller_last(const struct cm_caller *caller, uint8_t to[CM_PACKET_SIZE])
{
	memcpy(to, caller->last, caller->last_size);
	return caller->last_size;
}

static bool send_report(struct cm_caller *caller, uint8_t *packet, size_t size, size_t capacity)
{
	if (!caller->out || !cm_srtp_protect_rtcp(caller->out, packet, &size, capacity))
		return false;
	cm_caller_send(caller, packet, size);
	return true;
}

bool cm_caller_seal(struct cm_caller *caller, const uint8_t *plain, size_t size, bool is_report)
{
	_Alignas(8) uint8_t packet[CM_PACKET_SIZE];

	if (!caller->out || size > sizeof packet - CM_SRTP_OVERHEAD)
		return false;
	memcpy(packet, plain, size);
	if (is_report)
		return send_report(caller, packet, size, sizeof packet);
	if (!cm_srtp_protect(caller->out, packet, &size, sizeof packet))
		return false;
	cm_caller_send(caller, packet, size);
	return true;
}

bool cm_caller_report(struct cm_caller *caller, uint64_t ntp)
{
	_Alignas(8) uint8_t packet[256];
	struct cm_rtcp_writer writer = {.to = packet, .capacity = 200};
	struct cm_sender_report report = {.ntp = ntp, .timestamp = caller->timestamp, .packets = 1, .bytes = FRAME};

	cm_rtcp_put_sender_report(&writer, caller->ssrc, &report, NULL, 0);
	return send_report(caller, packet, writer.size, sizeof packet);
}

bool cm_caller_tell(struct cm_caller *caller, const struct cm_report_block *block)
{
	_Alignas(8) uint8_t packet[256];
	struct cm_rtcp_writer writer = {.to = packet, .capacity = 200};

	cm_rtcp_put_receiver_report(&writer, caller->ssrc, block, 1);
	return send_report(caller, packet, writer.size, sizeof packet);
}

static void hear(struct cm_caller *caller, uint8_t *data, size_t size)
{
	struct cm_heard *heard = caller->heard + (caller->first + caller->count) % HEARD;
	const uint8_t *mid;
	uint8_t mid_size;

	if (!caller->in || cm_srtp_unprotect(caller->in, data, &size) != CM_AUTHENTIC
	    || !cm_rtp_read(&heard->rtp, data, size)) {
		caller->counts.forged++;
		return;
	}
	caller->counts.packets++;
	heard->uid = heard->rtp.csrc_count == 1 ? cm_get32(data + 12) : 0;
	mid = cm_rtp_extension(&heard->rtp, data, 5, &mid_size);
	heard->mid = mid && mid_size ? *mid : 0;
	heard->first = heard->rtp.payload_size ? data[heard->rtp.payload_offset] : 0;
	if (caller->count < HEARD)
		caller->count++;
	else
		caller->first = (caller->first + 1) % HEARD;
}

static void read_reports(struct cm_caller *caller, uint8_t *data, size_t size)
{
	struct cm_rtcp rtcp;
	size_t position = 0;

	if (!caller->in || cm_srtp_unprotect_rtcp(caller->in, data, &size) != CM_AUTHENTIC) {
		caller->counts.forged++;
		return;
	}
	caller->counts.reports++;
	while (cm_rtcp_next(&rtcp, data, size, &position)) {
		if (rtcp.kind == CM_RTCP_RECEIVER_REPORT) {
			caller->counts.receiver_reports++;
			caller->counts.block = cm_rtcp_block(&rtcp, data, 0);
		}
		else if (rtcp.kind == CM_RTCP_TRANSPORT)
			caller->counts.transport_reports++;
		else if (rtcp.kind == CM_RTCP_SENDER_REPORT) {
			caller->counts.sender_reports++;
			caller->counts.sender_report = rtcp.report;
			caller->counts.sender_report_ssrc = rtcp.ssrc;
		}
		else if (rtcp.kind == CM_RTCP_OTHER)
			caller->counts.names++;
	}
}

static void read_answer(struct cm_caller *caller, const uint8_t *data, size_t size)
{
	struct cm_stun stun;
	struct cm_stun_secret secret = {(const uint8_t *)caller->settings.password, strlen(caller->settings.password), cm_hmac_sha1};

	if (!cm_stun_read(&stun, data, size) || !cm_stun_is_authentic(&stun, data, &secret))
		caller->counts.forged++;
	else if (stun.kind == CM_STUN_ERROR)
		caller->counts.error = stun.error;
	else {
		caller->counts.answers++;
		caller->counts.mapped = stun.address;
	}
}

unsigned cm_caller_poll(struct cm_caller *caller, unsigned most)
{
	_Alignas(8) uint8_t data[2048];
	unsigned count = 0;
	ssize_t size;

	while (count < most && (size = recv(caller->socket, data, sizeof data, MSG_DONTWAIT)) > 0) {
		count++;
		caller->counts.datagrams++;
		switch (cm_kind_of(data, (size_t)size)) {
		case CM_KIND_STUN:
			read_answer(caller, data, (size_t)size);
			break;
		case CM_KIND_DTLS:
			if (caller->peer)
				shake(caller, data, (size_t)size);
			break;
		case CM_KIND_RTP:
			hear(caller, data, (size_t)size);
			break;
		case CM_KIND_RTCP:
			read_reports(caller, data, (size_t)size);
			break;
		case CM_KIND_UNKNOWN:
			caller->counts.forged++;
			break;
		}
	}
	return count;
}

bool cm_caller_take(struct cm_caller *caller, struct cm_heard *heard)
{
	if (!caller->count)
		return false;
	*heard = caller->heard[caller->first];
	caller->first = (caller->first + 1) % HEARD;
	caller->count--;
	return true;
}

struct cm_caller_counts cm_caller_counts(const struct cm_caller *caller)
{
	return caller->counts;
}
