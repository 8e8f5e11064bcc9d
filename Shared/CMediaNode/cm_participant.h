/* What the files of the node share: the node, its participants and channels. */
#ifndef CM_PARTICIPANT_H
#define CM_PARTICIPANT_H

#include <netinet/in.h>

#include "cm_arrivals.h"
#include "cm_loss.h"
#include "cm_node.h"
#include "cm_ring.h"
#include "cm_rtcp.h"

enum {
	CM_OPUS_RATE = 48000,
	/* Ticks in CM_REPORT_INTERVAL: so many groups of participants take turns. */
	CM_GROUPS = CM_REPORT_INTERVAL / CM_TICK,
	CM_NO_PATH = -1,
	CM_OUT_SIZE = CM_PACKET_SIZE + CM_SRTP_OVERHEAD,
};

union cm_socket_address {
	struct sockaddr any;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
};

/* An address that a check has shown to be the participant's. */
struct cm_path {
	bool is_used;
	struct cm_address address;
	union cm_socket_address to;
	/* The last check. */
	uint64_t checked;
	/* From before a restart. */
	bool is_old;
};

/* The audio that a participant sends. */
struct cm_audio {
	bool has_ssrc;
	uint32_t ssrc;
	/* There are new keys, and no packet yet: it may have another SSRC, when none is announced, and any number. */
	bool is_renewed;
	struct cm_reception reception;
	struct cm_speaker speaker;
	struct cm_recent recent;
	/* Packets came since the last receiver report. */
	bool has_news;
	bool has_report;
	struct cm_sender_report report;
	uint64_t reported;
	/* Those of the reception that are in the node's counts. */
	uint64_t expected_counted, lost_counted;
};

/* What the receiver of a slot has told of it. */
struct cm_told {
	/* The last number that it knows, and the packets that it was sent until then. */
	uint16_t sequence;
	uint64_t packets;
	/* The packets that did not come, by its count, in which are those that were not sent. */
	int32_t lost;
	/* Of those that were sent: above the node's count, or below it when they came late. */
	int64_t missed;
	/* Its count may have begun anew. */
	bool is_renewed;
};

struct cm_audio_slot {
	struct cm_slot slot;
	struct cm_format format;
	/* The last sender report: when, of which source, and the middle of its NTP time. */
	bool has_report;
	uint64_t reported;
	uint32_t reported_ssrc, reported_middle;
	struct cm_told told;
};

/* What came within the present second. */
struct cm_rate {
	uint64_t since;
	unsigned audio_packets, packets, bytes, reports;
	/* Something was dropped in this second; the seconds before this one, without a break, in which something was. */
	bool is_over;
	unsigned seconds_over;
};

struct cm_channel {
	uint64_t id;
	struct cm_participant **members;
	unsigned count, capacity;
	/* Members whose audio would be forwarded. */
	unsigned publishers;
};

struct cm_participant {
	struct cm_participant_settings settings;
	struct cm_node *node;
	struct cm_channel *channel;
	/* The place in the node's and in the channel's list. */
	unsigned index, member;
	unsigned allowed;
	/* When it was added, or restarted last. */
	uint64_t begun;

	struct cm_path paths[CM_PATHS];
	/* Where it is sent to; CM_NO_PATH: nowhere. */
	int current;
	bool is_nominated, has_consent, is_connected, is_dropped, is_limited;
	/* No check has come with the credentials of the last restart; of these restarts, one had new keys. */
	bool is_restarting, has_new_keys;
	/* Whether audio may be sent to it: all conditions in one. */
	bool can_hear;
	/* Its audio counts among the channel's publishers. */
	bool is_publisher;
	/* The last authentic packet. */
	uint64_t heard;

	struct cm_dtls *dtls;
	unsigned handshakes_failed;
	enum cm_dtls_state dtls_state;
	union cm_socket_address dtls_to;
	bool is_dtls_silent;
	struct cm_participant *handshaking_before, *handshaking_after;
	bool is_handshaking;

	struct cm_srtp *in, *out;
	/* Takes the place of `out` when is_restarting ends, if has_new_keys. NULL: after DTLS. */
	struct cm_srtp *next_out;
	bool has_received;
	uint64_t first_received;

	struct cm_audio audio;
	struct cm_arrivals arrivals;
	struct cm_rate rate;
	struct cm_participant_counts counts;

	/* Events that are not told yet, by kind. */
	unsigned pending;
	struct cm_participant *pending_before, *pending_after;
	bool is_pending;

	struct cm_selection selection;
	struct cm_audio_slot slots[];
};

struct cm_list {
	struct cm_participant *first, *last;
};

struct cm_node {
	struct cm_node_settings settings;
	cm_node_event_h *handler;
	void *context;
	int epoll, waker, ipv4, ipv6;
	uint16_t port;
	bool is_stopping;
	/* Read at each batch of packets, and after each one that was forwarded. */
	uint64_t now;
	uint64_t next_tick;
	unsigned group;
	struct cm_table by_address, by_ufrag, by_id, channels;
	struct cm_participant **participants;
	unsigned count;
	struct cm_list pending;
	/* The first of those who shake hands. */
	struct cm_participant *handshaking;
	struct cm_node_counts counts;
	struct cm_batch *batch;
	/* One for each family. */
	struct cm_outbox *outboxes[2];
};

/* A datagram that came. */
struct cm_datagram {
	uint8_t *data;
	size_t size;
	struct cm_address from;
	const union cm_socket_address *to;
	/* When it came to the kernel, by the node's clock. */
	uint64_t arrived;
};

/* cm_node.c */
void cm_node_drop(struct cm_node *node, enum cm_drop reason);
bool cm_node_send(struct cm_node *node, const union cm_socket_address *to, const uint8_t *data, size_t size);
/* Where the next packet of audio for a receiver is written, CM_OUT_SIZE bytes; it waits there after cm_node_put. */
uint8_t *cm_node_packet(struct cm_participant *receiver);
void cm_node_put(struct cm_participant *receiver, size_t size);
/* Sends what waits: before anything else changes, because it names addresses of participants. */
void cm_node_flush(struct cm_node *node);
void cm_node_raise(struct cm_participant *participant, enum cm_node_event_kind kind);
uint64_t cm_node_clock(const struct cm_node *node);

/* cm_participant.c */
struct cm_participant *cm_node_find(const struct cm_node *node, uint64_t id);
/* Ends everything but the place in the node's lists. */
void cm_participant_end(struct cm_participant *participant);
void cm_participant_free(struct cm_participant *participant);
/* After any of its conditions has changed. */
void cm_participant_judge(struct cm_participant *participant);
void cm_participant_unpend(struct cm_participant *participant);
/* What offers have changed. */
void cm_participant_format(struct cm_participant *participant);
/* Whether the source was announced, if any was. */
bool cm_participant_is_source(const struct cm_participant *participant, uint32_t ssrc);

/* cm_ice.c */
void cm_ice_receive(struct cm_node *node, const struct cm_datagram *datagram);
void cm_ice_receive_dtls(struct cm_participant *participant, const struct cm_datagram *datagram);
/* Each CM_TICK, for all who shake hands. */
void cm_ice_tick(struct cm_node *node);
/* Each CM_REPORT_INTERVAL: consent, silence, connections that are no longer needed. */
void cm_ice_poll(struct cm_participant *participant);
void cm_ice_end(struct cm_participant *participant);
/* All addresses are old, until they are checked. */
void cm_ice_restart(struct cm_participant *participant);
/* The connection of DTLS, if any, is over, and so are its failures. */
void cm_ice_forget_dtls(struct cm_participant *participant);
/* Whether what comes from an address of the participant is to be read. */
bool cm_ice_is_known(const struct cm_participant *participant, const struct cm_address *address);

/* cm_forward.c */
void cm_forward_packet(struct cm_participant *participant, const struct cm_datagram *datagram);
void cm_forward_report(struct cm_participant *participant, const struct cm_datagram *datagram);
/* Each CM_REPORT_INTERVAL. */
void cm_forward_poll(struct cm_participant *participant);
/* Nobody hears it any more, from now on. */
void cm_forward_silence(struct cm_participant *participant);
/* It hears nobody any more: its slots are free, so that their numbers have no gap when it hears again. */
void cm_forward_deafen(struct cm_participant *participant);
/* Its audio is of another source from now on. */
void cm_forward_forget(struct cm_participant *participant);

/* cm_quality.c */
/* How its audio has come since the last call: with each receiver report that is sent to it. */
void cm_quality_uplink(struct cm_participant *participant);
/* After cm_slot_init, and after cm_slot_renew. */
void cm_quality_begin(struct cm_audio_slot *slot);
void cm_quality_renew(struct cm_audio_slot *slot);
/* What it says of a slot. */
void cm_quality_downlink(struct cm_participant *participant, struct cm_audio_slot *slot, const struct cm_report_block *block);

#endif
