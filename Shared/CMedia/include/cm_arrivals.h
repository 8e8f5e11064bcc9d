/* Transport-wide feedback: when the packets of one sender arrived (draft-holmer-rmcat-transport-wide-cc-extensions-01).
 * Times are in microseconds. */
#ifndef CM_ARRIVALS_H
#define CM_ARRIVALS_H

#include "cm_rtcp.h"

enum {
	/* The packets of one report; when more came, the oldest are left out. A power of two. */
	CM_ARRIVALS = 1024,
};

/* The arrivals since the last report. All zero: none. */
struct cm_arrivals {
	/* Whether anything arrived ever. */
	bool has_begun, has_reported;
	uint8_t number;
	/* The first packet that the next report tells of, and the one behind the last that arrived. */
	int64_t first, end;
	/* Of each packet, plus 1; 0: not arrived. */
	uint64_t times[CM_ARRIVALS];
};

/* False for a packet that came twice, or too late to be told of. */
bool cm_arrivals_put(struct cm_arrivals *arrivals, uint16_t sequence, uint64_t now);

/* Writes one report, or as much of it as fits into `writer`, and forgets what was written. Returns the packets that it tells of; 0 when
 * nothing new arrived. */
unsigned cm_arrivals_write(
	struct cm_arrivals *arrivals, struct cm_rtcp_writer *writer, uint32_t ssrc, uint32_t media_ssrc);

#endif
