/* RTCP compounds: reading them packet by packet, and writing them. Sources: RFC 3550, 4585, 5104; draft-alvestrand-rmcat-remb;
 * draft-holmer-rmcat-transport-wide-cc-extensions-01. */
#ifndef CM_RTCP_H
#define CM_RTCP_H

#include "cm_rtp.h"

enum cm_rtcp_kind {
	/* Anything that is not named here. */
	CM_RTCP_OTHER,
	CM_RTCP_SENDER_REPORT,
	CM_RTCP_RECEIVER_REPORT,
	CM_RTCP_BYE,
	CM_RTCP_NACK,
	CM_RTCP_PLI,
	CM_RTCP_FIR,
	CM_RTCP_REMB,
	CM_RTCP_TRANSPORT,
};

struct cm_sender_report {
	uint64_t ntp;
	uint32_t timestamp;
	uint32_t packets, bytes;
};

struct cm_report_block {
	uint32_t ssrc;
	/* Of 256. */
	uint8_t fraction_lost;
	/* 24 bits with a sign. */
	int32_t lost;
	/* The greatest sequence number, with the count of its wraps above it. */
	uint32_t sequence;
	uint32_t jitter;
	/* The middle of the NTP time of the last sender report, and the time since, both in 1/65536 s. */
	uint32_t last_report, delay;
};

struct cm_rtcp {
	enum cm_rtcp_kind kind;
	/* The sender. */
	uint32_t ssrc;
	/* Of NACK, PLI and transport-wide feedback. */
	uint32_t media_ssrc;
	struct cm_sender_report report;
	/* Of REMB, in bits per second. */
	uint64_t bitrate;
	/* The items of cm_rtcp_block (reports), cm_rtcp_nack, cm_rtcp_ssrc (FIR, REMB, BYE). */
	uint16_t items;
	/* The bytes of these, or of transport-wide feedback, in the compound. */
	uint16_t offset, size;
};

/* Whether this is a compound, or a reduced-size one (RFC 5506), whose lengths fit: version 2, at most CM_PACKET_SIZE bytes. */
bool cm_rtcp_is_valid(const uint8_t *data, size_t size);

/* Reads the packet at `*position`, and moves the position behind it. False at the end, and at the first packet that contradicts its
 * length. */
bool cm_rtcp_next(struct cm_rtcp *rtcp, const uint8_t *data, size_t size, size_t *position);

/* The items of a packet; `index` is below `items`, else the answer is all zero. */
struct cm_report_block cm_rtcp_block(const struct cm_rtcp *rtcp, const uint8_t *data, unsigned index);
uint32_t cm_rtcp_ssrc(const struct cm_rtcp *rtcp, const uint8_t *data, unsigned index);
/* A lost packet, and a bit for each of the 16 after it. */
void cm_rtcp_nack(
	const struct cm_rtcp *rtcp, const uint8_t *data, unsigned index, uint16_t *sequence, uint16_t *following);

/* Writes packets behind each other. A packet that does not fit is left out, and `is_full` set. */
struct cm_rtcp_writer {
	uint8_t *to;
	size_t capacity, size;
	bool is_full;
};

void cm_rtcp_put_sender_report(
	struct cm_rtcp_writer *writer, uint32_t ssrc, const struct cm_sender_report *report,
	const struct cm_report_block *blocks, unsigned count);
/* Up to 31 blocks; more are left out. */
void cm_rtcp_put_receiver_report(
	struct cm_rtcp_writer *writer, uint32_t ssrc, const struct cm_report_block *blocks, unsigned count);
/* The canonical name of up to `count` sources; `name` has up to 64 bytes. */
void cm_rtcp_put_name(
	struct cm_rtcp_writer *writer, const uint32_t *ssrcs, unsigned count, const char *name, size_t name_size);
void cm_rtcp_put_bye(struct cm_rtcp_writer *writer, uint32_t ssrc);
/* `sequences` in the order of their numbers; up to 100. */
void cm_rtcp_put_nack(
	struct cm_rtcp_writer *writer, uint32_t ssrc, uint32_t media_ssrc, const uint16_t *sequences, unsigned count);
void cm_rtcp_put_pli(struct cm_rtcp_writer *writer, uint32_t ssrc, uint32_t media_ssrc);
void cm_rtcp_put_fir(struct cm_rtcp_writer *writer, uint32_t ssrc, uint32_t media_ssrc, uint8_t number);
/* Up to 31 sources. */
void cm_rtcp_put_remb(
	struct cm_rtcp_writer *writer, uint32_t ssrc, uint64_t bitrate, const uint32_t *ssrcs, unsigned count);

#endif
