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

/* By sequence number. All zero: empty.
 *
 * It has some 780 KB, so a source should have one only while it sends video: made (by calloc) with its first video packet, freed when
 * its video is off. NULL is an empty ring that keeps nothing, for all functions here. */
struct cm_ring {
	/* The highest number that is kept. */
	bool has_begun;
	uint16_t last;
	struct cm_kept packets[CM_RING_PACKETS];
};

/* Keeps a packet; false when it is larger than CM_PACKET_SIZE, or the ring is NULL. */
bool cm_ring_put(struct cm_ring *ring, uint16_t sequence, const uint8_t *data, size_t size, uint64_t now);
/* NULL when the packet is not kept, or older than CM_RING_AGE. */
const struct cm_kept *cm_ring_find(const struct cm_ring *ring, uint16_t sequence, uint64_t now);

/* The first packet behind `sequence` that is kept; NULL when there is none. Called with the number of what it returned, until NULL, it
 * lists all that follow, in order.
 *
 * For switches: a slot begins with the first packet of a key frame, and packets of it that have overtaken that one are kept here. They
 * are to be written to the slot right after it, else they are lost to the receiver. */
const struct cm_kept *cm_ring_next(const struct cm_ring *ring, uint16_t sequence, uint64_t now);

/* The last packets of an audio source, in the order of their arrival. All zero: empty. Only packets that would be forwarded to a
 * receiver with a free slot belong here: not those of a participant who is muted, or may not send any more. */
struct cm_recent {
	unsigned next;
	struct cm_kept packets[CM_RECENT_PACKETS];
};

/* False when the packet is larger than CM_PACKET_SIZE. */
bool cm_recent_put(struct cm_recent *recent, uint16_t sequence, const uint8_t *data, size_t size, uint64_t now);
/* The packets that are not older than CM_RECENT_AGE, in the order of their sequence numbers. Returns how many there are. */
size_t cm_recent_list(const struct cm_recent *recent, uint64_t now, const struct cm_kept *list[CM_RECENT_PACKETS]);
/* Forgets all. To be called when the participant is muted or unmuted, when its right to send expires, and when slots were switched to
 * it, after the packet that did so has gone to all receivers: so nothing that was said while muted is heard, and nothing twice. */
void cm_recent_clear(struct cm_recent *recent);

#endif
