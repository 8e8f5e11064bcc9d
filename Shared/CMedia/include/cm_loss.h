/* What is asked of a sender: packets that are missing, and key frames. Times are in microseconds. */
#ifndef CM_LOSS_H
#define CM_LOSS_H

#include "cm_rtp.h"

enum {
	/* The packets that may be missing at a time; beyond, a key frame is asked for instead. */
	CM_MISSING = 100,
	CM_NACK_TRIES = 10,
	/* A packet that was only overtaken comes within this time. */
	CM_NACK_AFTER = 20000,
	/* A missing packet is asked for once in a round trip, and never more often than this. */
	CM_NACK_MIN_PACE = 20000,
	/* The least time from one request for a key frame to the next. */
	CM_PLI_INTERVAL = 500000,
	/* When a request that no key frame has answered is repeated. */
	CM_PLI_REPEAT = 1000000,
};

struct cm_missing {
	uint16_t sequence;
	uint8_t tries;
	uint64_t since, asked;
};

/* The reception of one source: what is missing, and the numbers of receiver reports (RFC 3550, appendix A). All zero: nothing yet. */
struct cm_reception {
	bool has_begun;
	/* A packet came from far off: the number that would follow it. */
	bool has_expected;
	uint16_t expected;
	uint16_t highest;
	uint32_t cycles, base;
	uint64_t received, received_before, expected_before;
	/* In units of the clock, times 16. */
	uint32_t jitter;
	int64_t transit;
	bool has_transit;
	unsigned missing_count;
	/* In the order of their numbers. */
	struct cm_missing missing[CM_MISSING];
};

/* Counts a packet. Returns false when so much is missing that retransmissions do not help: everything missing was forgotten, and a
 * key frame is needed. A packet 3000 numbers or more off is not counted, and changes nothing, unless the next one of that kind follows
 * it: then the source has begun anew. */
bool cm_reception_put(struct cm_reception *reception, const struct cm_rtp *rtp, uint32_t clock_rate, uint64_t now);

/* The packets to ask for now, in order. Returns how many. Sets `has_lost` when one was given up after CM_NACK_TRIES. */
unsigned cm_reception_nack(
	struct cm_reception *reception, uint64_t round_trip, uint64_t now, uint16_t sequences[CM_MISSING], bool *has_lost);

/* Counts of a retransmitted packet are not part of the stream's own: takes it from what is missing. True if it was. */
bool cm_reception_recovered(struct cm_reception *reception, uint16_t sequence);

struct cm_report_block;
/* The block of a receiver report: what was lost since the last call, and in all. Leaves `last_report` and `delay` as they are. */
void cm_reception_report(struct cm_reception *reception, struct cm_report_block *block);

/* Asks one source for key frames, for whatever reason and for any number of receivers. All zero: nobody wants one. */
struct cm_key_request {
	bool is_wanted, has_asked;
	/* A key frame was forwarded after the last request. */
	bool is_answered;
	uint64_t asked;
	uint64_t wishes, sent, suppressed;
};

/* Wishes a key frame. True: ask for it now. False: less than CM_PLI_INTERVAL has passed since the last request; cm_key_poll asks when
 * the wish is still there. */
bool cm_key_wish(struct cm_key_request *request, uint64_t now);
/* To be called now and then, at least every 10 ms for a picture without delay. True: ask now, because no key frame came within
 * CM_PLI_REPEAT of the last request; or because one came, somebody has wished another one since, and CM_PLI_INTERVAL is over. */
bool cm_key_poll(struct cm_key_request *request, uint64_t now);
/* A key frame was forwarded, to all who wished one until now. */
void cm_key_arrived(struct cm_key_request *request);

#endif
