/* The last packets of a source, for retransmissions and for those who begin to receive. Times are in microseconds. */
#ifndef CM_RING_H
#define CM_RING_H

#include "cm_rtp.h"

enum {
	/* The packets of a video source. A power of two. */
	CM_RING_PACKETS = 512,
	/* Older ones are not found. */
	CM_RING_AGE = 1000000,
	/* The packets before a switch that are sent with it, and how old they may be. */
	CM_RECENT_PACKETS = 3,
	CM_RECENT_AGE = 200000,
};

struct cm_kept {
	bool is_used;
	uint16_t sequence;
	uint16_t size;
	uint64_t time;
	uint8_t data[CM_PACKET_SIZE];
};

/* The packet's bytes; for callers in Swift, where an array in a struct has no address. */
const uint8_t *cm_kept_data(const struct cm_kept *kept);

/* By sequence number. All zero: empty. */
struct cm_ring {
	struct cm_kept packets[CM_RING_PACKETS];
};

/* Keeps a packet; false when it is larger than CM_PACKET_SIZE. */
bool cm_ring_put(struct cm_ring *ring, uint16_t sequence, const uint8_t *data, size_t size, uint64_t now);
/* NULL when the packet is not kept, or older than CM_RING_AGE. */
const struct cm_kept *cm_ring_find(const struct cm_ring *ring, uint16_t sequence, uint64_t now);

/* The last packets of an audio source, in the order of their arrival. All zero: empty. */
struct cm_recent {
	unsigned next;
	struct cm_kept packets[CM_RECENT_PACKETS];
};

bool cm_recent_put(struct cm_recent *recent, uint16_t sequence, const uint8_t *data, size_t size, uint64_t now);
/* The packets that are not older than CM_RECENT_AGE, in the order of their sequence numbers. Returns how many there are. */
size_t cm_recent_list(const struct cm_recent *recent, uint64_t now, const struct cm_kept *list[CM_RECENT_PACKETS]);

#endif
