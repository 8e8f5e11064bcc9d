/* A participant of a media node over loopback UDP, for tests and measurements: checks of ICE, DTLS or an engine's keys, audio with its
 * reports. SRTP is by the node's library, whose own tests compare it with another one. */
#ifndef CM_CALLER_H
#define CM_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cm_node.h"
#include "cm_rtcp.h"

struct cm_caller_settings {
	uint16_t port;
	bool is_ipv6;
	/* A page, which shakes hands; else `keys` are those of an engine. */
	bool is_web;
	struct cm_media_keys keys;
	char ufrag[CM_TABLE_NAME_MAX + 1], password[CM_PASSWORD_MAX + 1];
	uint32_t ssrc;
	uint8_t opus, level_id, transport_id;
};

/* A packet that came, decrypted. */
struct cm_heard {
	struct cm_rtp rtp;
	/* The one CSRC, the payload's first byte, and the first one of extension 5, 0 without one. */
	uint32_t uid;
	uint8_t first, mid;
};

struct cm_caller_counts {
	/* Answers to checks: successes, and the code of the last error. */
	unsigned answers, error;
	/* DTLS has failed, or the node said goodbye. */
	bool is_closed;
	unsigned datagrams, packets, forged, reports, receiver_reports, transport_reports, sender_reports, names;
	struct cm_address mapped;
	/* The last ones. */
	struct cm_report_block block;
	struct cm_sender_report sender_report;
	uint32_t sender_report_ssrc;
};

struct cm_caller;

/* Who joins: its uid is 1000 + id, its SSRC 10000 + id, that of its slot n 100000 + 100 * id + n. */
struct cm_caller_member {
	uint64_t id, channel;
	bool is_web, is_ipv6;
	unsigned slots;
	/* The only source is announced; a page has another certificate than its offer says. */
	bool has_sources, has_wrong_certificate;
	enum cm_suite suite;
};

/* Adds a participant to the node, and opens its other end. NULL: `error` is what cm_node_add returned, or ENOMEM. */
struct cm_caller *cm_caller_join(struct cm_node *node, const struct cm_caller_member *member, int *error);

/* NULL without a socket. */
struct cm_caller *cm_caller_open(const struct cm_caller_settings *settings);
void cm_caller_close(struct cm_caller *caller);

/* The SHA-256 of a page's certificate. */
void cm_caller_fingerprint(const struct cm_caller *caller, uint8_t to[32]);
/* Goes on from another port, as after a change of networks. */
bool cm_caller_move(struct cm_caller *caller);
/* Sends any datagram. */
void cm_caller_send(struct cm_caller *caller, const uint8_t *data, size_t size);

/* A check of ICE: `is_controlled` claims the wrong role, `is_forged` has a wrong password. */
struct cm_caller_check {
	bool is_nominating, is_controlled, is_forged;
};
void cm_caller_check(struct cm_caller *caller, const struct cm_caller_check *check);
/* Writes such a check, for others to send; returns its size. */
size_t cm_caller_write_check(struct cm_caller *caller, const struct cm_caller_check *check, uint8_t to[CM_PACKET_SIZE]);

struct cm_caller_restart {
	/* Of a page. */
	bool has_new_certificate;
	/* 0: as before. */
	uint32_t ssrc;
	/* 0: as before. */
	uint8_t opus;
	/* Slots have mids in this extension, when it is not 0. */
	uint8_t mid_id;
};
/* Restarts the participant of that id, with other credentials and, of an engine, other keys. The caller knows of it after
 * cm_caller_renew, until which it goes on as before. Returns what cm_node_restart did. */
int cm_caller_restart(
	struct cm_caller *caller, struct cm_node *node, uint64_t id, const struct cm_caller_restart *restart);
/* Its next frames go on in the lower half of the numbers when there are new keys. */
void cm_caller_renew(struct cm_caller *caller);

/* Begins a page's handshake, or sends its flight again when nothing has come. */
void cm_caller_shake(struct cm_caller *caller);
bool cm_caller_has_keys(const struct cm_caller *caller);

/* Sends a frame of 20 ms, at `level` in -dBov, whose payload is 80 bytes of `first`. False before there are keys. */
bool cm_caller_say(struct cm_caller *caller, uint8_t level, uint8_t first);
/* Lets the next frame have another number, payload type, or SSRC. */
void cm_caller_skip(struct cm_caller *caller, uint16_t packets);
void cm_caller_set(struct cm_caller *caller, uint32_t ssrc, uint8_t payload_type);
/* The last frame as it was sent; its size. */
size_t cm_caller_last(const struct cm_caller *caller, uint8_t to[CM_PACKET_SIZE]);
/* Encrypts any packet with the right keys, and sends it. False when it cannot be encrypted: it is no packet, or was sent before. */
bool cm_caller_seal(struct cm_caller *caller, const uint8_t *plain, size_t size, bool is_report);
/* Sends a sender report with that NTP time, of the last frame. */
bool cm_caller_report(struct cm_caller *caller, uint64_t ntp);
/* Sends a receiver report about a slot. */
bool cm_caller_tell(struct cm_caller *caller, const struct cm_report_block *block);

/* Reads what has come, up to `most` datagrams, and goes on with a handshake. Returns how many there were. */
unsigned cm_caller_poll(struct cm_caller *caller, unsigned most);
/* The next packet that was heard; only the last 256 are kept. */
bool cm_caller_take(struct cm_caller *caller, struct cm_heard *heard);
struct cm_caller_counts cm_caller_counts(const struct cm_caller *caller);

/* The bytes of this process that malloc has given out, in all arenas; 0: not known. */
size_t cm_memory_used(void);

#endif
