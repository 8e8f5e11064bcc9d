/* A media node's loop: one UDP socket for each family, the participants behind it, and what is forwarded between them. Thread-confined:
 * all but cm_node_wake is called on one thread. Times are in microseconds.
 *
 * Nothing here allocates memory, locks or logs for a packet. What strangers send gets no answer. Sources: RFC 7983, 8445, 7675. */
#ifndef CM_NODE_H
#define CM_NODE_H

#include "cm_dtls.h"
#include "cm_slot.h"
#include "cm_speech.h"
#include "cm_srtp.h"
#include "cm_stun.h"
#include "cm_table.h"

enum {
	CM_TICK = 10000,
	/* Receiver reports and transport-wide feedback. */
	CM_REPORT_INTERVAL = 100000,
	/* Sender reports of a slot. */
	CM_SENDER_REPORT_INTERVAL = 1000000,
	/* Without an authentic check from the address that it is sent to, a participant gets nothing more after this time. */
	CM_CONSENT = 10000000,
	/* Without any authentic packet, a participant is dropped. */
	CM_SILENCE = 15000000,
	/* A connection of DTLS is kept for so long after the first SRTP packet, because the peer may repeat its last flight. */
	CM_DTLS_KEEP = 10000000,
	/* The handshakes of a participant that may fail. */
	CM_DTLS_ATTEMPTS = 5,
	/* The authentic addresses of a participant; of more, the one that was not checked for longest is forgotten. */
	CM_PATHS = 4,
	/* A participant that was above its rate in each of so many seconds is reported. */
	CM_LIMIT_SECONDS = 10,
	CM_PASSWORD_MAX = 32,
	CM_NAME_MAX = 32,
	/* Mids of two-byte extensions are not sent. */
	CM_MID_MAX = 16,
	CM_DELAY_BUCKETS = 12,
};

/* In a second, by one participant. */
struct cm_node_limits {
	/* Participants of the node, and of a channel. */
	unsigned participants, members;
	unsigned audio_packets, all_packets, bytes, reports;
};

/* 4000, 500; 200, 3200, 1000000, 200. */
struct cm_node_limits cm_node_default_limits(void);

enum cm_node_event_kind {
	/* An address is authentic and there are keys: the participant can send and hear. Again after each cm_node_restart. */
	CM_EVENT_CONNECTED,
	CM_EVENT_CONSENT_LOST,
	CM_EVENT_CONSENT_BACK,
	/* The participant is sent to at another address. */
	CM_EVENT_ADDRESS_CHANGED,
	/* `dtls` says how; it may begin again, CM_DTLS_ATTEMPTS times in all. */
	CM_EVENT_DTLS_FAILED,
	/* Too much in each of CM_LIMIT_SECONDS. Told once. */
	CM_EVENT_LIMIT,
	/* After CM_SILENCE. Told once, the last event of a participant, of which only cm_node_remove is left to be called. */
	CM_EVENT_DROPPED,
	CM_EVENT_COUNT,
};

struct cm_node_event {
	enum cm_node_event_kind kind;
	uint64_t id;
	/* Since cm_node_add, or the last cm_node_restart. */
	uint64_t elapsed;
	enum cm_dtls_state dtls;
	struct cm_address address;
};

/* Called at the end of a turn of the loop, where all functions but cm_node_turn, cm_node_run and cm_node_close may be called. */
typedef void cm_node_event_h(void *context, const struct cm_node_event *event);

struct cm_node_settings {
	/* Where the sockets are bound; both have `port`. 0: any, the same one for both. */
	bool has_ipv4, has_ipv6;
	uint8_t ipv4[4], ipv6[16];
	uint16_t port;
	struct cm_node_limits limits;
	/* Of all connections; outlives the node. NULL: there are no participants that need DTLS. */
	struct cm_dtls_context *dtls;
	/* After cm_node_wake, once for any number of calls. NULL: nothing. */
	void (*woken)(void *context);
	/* A steady clock for tests; NULL: CLOCK_MONOTONIC. */
	uint64_t (*clock)(void *context);
};

enum cm_participant_kind {
	CM_ENGINE,
	CM_WEB,
};

/* What a participant may do. */
enum {
	CM_MAY_SEND_AUDIO = 1,
	CM_MAY_SEND_VIDEO = 2,
	CM_MAY_HEAR = 4,
};

enum cm_source_kind {
	CM_SOURCE_AUDIO,
	CM_SOURCE_VIDEO,
	CM_SOURCE_RTX,
};

struct cm_source_settings {
	enum cm_source_kind kind;
	uint32_t ssrc;
};

struct cm_slot_settings {
	uint32_t ssrc;
	/* Not sent when `mid_size` is 0. */
	char mid[CM_MID_MAX];
	uint8_t mid_size;
};

struct cm_participant_settings {
	/* `id` is unique in the node; participants with the same channel hear each other. */
	uint64_t id, channel;
	uint32_t uid;
	enum cm_participant_kind kind;
	/* CM_MAY_SEND_AUDIO and so on. */
	unsigned allowed;
	/* Ours, of the checks that it sends: the ufrag is unique in the node. */
	uint8_t ufrag[CM_TABLE_NAME_MAX], password[CM_PASSWORD_MAX];
	uint8_t ufrag_size, password_size;
	/* Of an engine. */
	struct cm_media_keys keys;
	/* Of a page: the certificate of its offer. */
	uint8_t fingerprint[CM_FINGERPRINT_SIZE];
	/* What it sends. Without any, sources are told by payload type, and the first one of audio is taken. */
	struct cm_source_settings sources[CM_SRTP_RECEIVED_SOURCES];
	unsigned source_count;
	/* The payload type of Opus, for both directions. */
	uint8_t opus;
	/* Extensions of what it sends; 0: not negotiated. */
	uint8_t level_id, transport_id;
	/* Extensions of what it gets. */
	struct cm_extension_ids ids;
	/* What it gets: 1 to CM_AUDIO_SLOTS_MAX slots. */
	struct cm_slot_settings slots[CM_AUDIO_SLOTS_MAX];
	unsigned slot_count;
	/* The sender of receiver reports and feedback, and the canonical name of all slots. */
	uint32_t report_ssrc;
	char name[CM_NAME_MAX];
	uint8_t name_size;
};

/* What a participant whose path begins anew gets; the fields are those of struct cm_participant_settings. */
struct cm_restart_settings {
	/* New ones. */
	uint8_t ufrag[CM_TABLE_NAME_MAX], password[CM_PASSWORD_MAX];
	uint8_t ufrag_size, password_size;
	/* Of an engine: new ones. */
	struct cm_media_keys keys;
	/* Of a page: the same certificate keeps DTLS and SRTP (RFC 8842, section 5.5), another one begins both anew. */
	uint8_t fingerprint[CM_FINGERPRINT_SIZE];
	/* What it sends. When its audio is not among it, the next source of audio is taken. */
	struct cm_source_settings sources[CM_SRTP_RECEIVED_SOURCES];
	unsigned source_count;
	uint8_t opus;
	uint8_t level_id, transport_id;
	struct cm_extension_ids ids;
	/* The mids of its slots, as many as there are. */
	struct cm_mid {
		char text[CM_MID_MAX];
		uint8_t size;
	} mids[CM_AUDIO_SLOTS_MAX];
};

/* Why a datagram was not used, or not sent. */
enum cm_drop {
	/* Larger than a packet may be. */
	CM_DROP_SIZE,
	/* Neither STUN, DTLS, RTP nor RTCP. */
	CM_DROP_UNKNOWN,
	/* No request that ICE knows, or with a wrong FINGERPRINT. */
	CM_DROP_STUN_INVALID,
	CM_DROP_STUN_UNKNOWN_UFRAG,
	/* A wrong MESSAGE-INTEGRITY. */
	CM_DROP_STUN_FORGED,
	/* From an address that another participant has. */
	CM_DROP_STUN_TAKEN,
	/* DTLS, RTP or RTCP from an address that no check has shown, or none since new keys were given. */
	CM_DROP_STRANGER,
	/* DTLS of a participant that needs none, or has failed too often. */
	CM_DROP_DTLS,
	/* Before there are keys. */
	CM_DROP_NO_KEYS,
	CM_DROP_FORGED,
	CM_DROP_REPLAYED,
	CM_DROP_TOO_OLD,
	/* Beyond CM_SRTP_RECEIVED_SOURCES. */
	CM_DROP_TOO_MANY_SOURCES,
	/* Not announced, or not the audio source that was taken. */
	CM_DROP_SOURCE,
	/* Authentic, but no RTP or RTCP. */
	CM_DROP_INVALID,
	CM_DROP_RATE,
	CM_DROP_REPORT_RATE,
	CM_DROP_PAYLOAD_TYPE,
	CM_DROP_VIDEO,
	CM_DROP_MUTED,
	/* The slot refused it: late, twice, or out of step. */
	CM_DROP_SLOT,
	CM_DROP_PROTECT,
	/* The socket did not take it. */
	CM_DROP_SEND,
	CM_DROP_COUNT,
};

/* How audio fares on one way between node and participants. */
struct cm_way_counts {
	/* Packets, by their numbers. Those that are too late are lost until they come, and then make up for the next one that is. */
	uint64_t audio_expected, audio_lost;
	/* The jitter of RFC 3550, once for each receiver report: how many were within the limits of cm_node_delay_limit; their sum. */
	uint64_t jitters[CM_DELAY_BUCKETS], jitter_sum;
};

struct cm_node_counts {
	unsigned participants, channels;
	uint64_t packets_received, bytes_received, packets_sent, bytes_sent;
	/* Of the packets that were sent: audio, and reports. */
	uint64_t audio_sent, reports_sent;
	uint64_t dropped[CM_DROP_COUNT];
	/* Checks that were answered; of these, refused. */
	uint64_t checks, checks_refused;
	uint64_t handshakes_done, handshakes_failed, handshakes_time;
	uint64_t slot_switches;
	uint64_t events[CM_EVENT_COUNT];
	/* From the arrival of a packet in the kernel until it was sent to the last receiver: how many were within the limits of
	 * cm_node_delay_limit, the last one without a limit; their sum. */
	uint64_t delays[CM_DELAY_BUCKETS], delay_sum;
	/* To the node, as it receives; and from it, as receivers report: without what has not come to the node, which they miss too. */
	struct cm_way_counts uplink, downlink;
	/* How late ticks were. */
	uint64_t ticks, lag_sum, lag_max;
};

/* Of one participant, since it was added. */
struct cm_participant_counts {
	uint64_t packets_received, bytes_received, packets_sent, bytes_sent;
	/* Of all its audio, by RFC 3550: 48 kHz units of jitter. */
	uint64_t audio_expected, audio_received;
	uint32_t jitter;
	/* Between node and participant; 0: not known yet. */
	uint64_t round_trip;
	/* What it has lost of its slots, of 256, by its last report. */
	uint8_t fraction_lost;
	bool is_connected, has_consent;
};

struct cm_node;

/* Binds the sockets. Returns 0 or an errno. */
int cm_node_open(struct cm_node **node, const struct cm_node_settings *settings, cm_node_event_h *handler, void *context);
/* Says goodbye on connections of DTLS, and frees everything. NULL is allowed. */
void cm_node_close(struct cm_node *node);

uint16_t cm_node_port(const struct cm_node *node);

/* Runs until cm_node_stop. Returns 0 or an errno. */
int cm_node_run(struct cm_node *node);
/* One turn: waits up to `milliseconds` for something, and handles what there is. Returns 0 or an errno. */
int cm_node_turn(struct cm_node *node, int milliseconds);
/* After this turn cm_node_run returns. */
void cm_node_stop(struct cm_node *node);
/* On any thread: lets the loop call `woken`. */
void cm_node_wake(const struct cm_node *node);

/* Returns 0; EINVAL for settings outside their bounds, EEXIST for an id or ufrag that is there already, ENOSPC at a limit, ENOMEM. */
int cm_node_add(struct cm_node *node, const struct cm_participant_settings *settings);
/* Begins a participant's path anew: ICE of a page, ICE and keys of an engine. The participant stays, with its place in the channel, what
 * it may do, its counts, and its slots, whose SSRCs, numbers and timestamps go on.
 *
 * - The old credentials are not answered any more. The first authentic check with the new ones moves what is sent to its address, even
 *   without a nomination; CM_EVENT_CONNECTED is told again then, or when DTLS is done after it. There is no CM_EVENT_ADDRESS_CHANGED, and
 *   no CM_EVENT_CONSENT_BACK when consent was lost.
 * - Until then it is sent to where it was, with the old keys: who still waits for the answer hears on.
 * - With the same keys, what comes from old addresses counts until the first nomination. With new ones nothing from an old address is
 *   read until it is checked with the new credentials.
 * - A rollover counter belongs to keys: with new ones, both sides begin with 0 again. So each slot goes on below 2^15, by
 *   cm_slot_renew. The participant's own numbers must be below 2^15 then too, or all of its first packets before a wrap may be lost;
 *   a step to there costs no packet. Its timestamps may go on, or not.
 *
 * Returns 0; ENOENT for an unknown id, and after CM_EVENT_DROPPED; EINVAL, EEXIST for a ufrag that is in use (its own too), ENOMEM: then
 * nothing has changed. */
int cm_node_restart(struct cm_node *node, uint64_t id, const struct cm_restart_settings *settings);
/* An unknown id changes nothing. There are no more events of it. */
void cm_node_remove(struct cm_node *node, uint64_t id);
/* Takes effect at once: no packet that came before is forwarded later. */
void cm_node_allow(struct cm_node *node, uint64_t id, unsigned allowed);

void cm_node_counts(const struct cm_node *node, struct cm_node_counts *counts);
/* The greatest delay of a bucket; 0 of the last, which has no limit. */
uint64_t cm_node_delay_limit(unsigned bucket);
/* False for an unknown id. */
bool cm_node_participant_counts(const struct cm_node *node, uint64_t id, struct cm_participant_counts *counts);

#endif
