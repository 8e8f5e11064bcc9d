#include <string.h>

#include "cm_bytes.h"
#include "cm_ring.h"

static bool keep(struct cm_kept *kept, uint16_t sequence, const uint8_t *data, size_t size, uint64_t now)
{
	if (size > sizeof kept->data)
		return false;
	kept->is_used = true;
	kept->sequence = sequence;
	kept->size = (uint16_t)size;
	kept->time = now;
	memcpy(kept->data, data, size);
	return true;
}

const uint8_t *cm_kept_data(const struct cm_kept *kept)
{
	return kept->data;
}

bool cm_ring_put(struct cm_ring *ring, uint16_t sequence, const uint8_t *data, size_t size, uint64_t now)
{
	int step;

	if (!ring || !keep(&ring->packets[sequence % CM_RING_PACKETS], sequence, data, size, now))
		return false;
	step = cm_ahead16(sequence, ring->last);
	/* A source whose numbers fall by more than the ring has begun anew. */
	if (!ring->has_begun || step > 0 || step <= -CM_RING_PACKETS)
		ring->last = sequence;
	ring->has_begun = true;
	return true;
}

const struct cm_kept *cm_ring_find(const struct cm_ring *ring, uint16_t sequence, uint64_t now)
{
	const struct cm_kept *kept;

	if (!ring)
		return NULL;
	kept = &ring->packets[sequence % CM_RING_PACKETS];
	if (!kept->is_used || kept->sequence != sequence || (now > kept->time && now - kept->time > CM_RING_AGE))
		return NULL;
	return kept;
}

const struct cm_kept *cm_ring_next(const struct cm_ring *ring, uint16_t sequence, uint64_t now)
{
	int ahead, step;

	if (!ring || !ring->has_begun)
		return NULL;
	ahead = cm_ahead16(ring->last, sequence);
	for (step = 1; step <= ahead && step < CM_RING_PACKETS; step++) {
		const struct cm_kept *kept = cm_ring_find(ring, (uint16_t)(sequence + step), now);

		if (kept)
			return kept;
	}
	return NULL;
}

bool cm_recent_put(struct cm_recent *recent, uint16_t sequence, const uint8_t *data, size_t size, uint64_t now)
{
	if (!keep(&recent->packets[recent->next], sequence, data, size, now))
		return false;
	recent->next = (recent->next + 1) % CM_RECENT_PACKETS;
	return true;
}

void cm_recent_clear(struct cm_recent *recent)
{
	/* The bytes too: they are what somebody has said. */
	memset(recent, 0, sizeof *recent);
}

size_t cm_recent_list(const struct cm_recent *recent, uint64_t now, const struct cm_kept *list[CM_RECENT_PACKETS])
{
	size_t count = 0, place;
	unsigned at;

	for (at = 0; at < CM_RECENT_PACKETS; at++) {
		const struct cm_kept *kept = &recent->packets[(recent->next + at) % CM_RECENT_PACKETS];

		if (!kept->is_used || (now > kept->time && now - kept->time > CM_RECENT_AGE))
			continue;
		for (place = count; place > 0 && cm_ahead16(list[place - 1]->sequence, kept->sequence) > 0; place--)
			list[place] = list[place - 1];
		list[place] = kept;
		count++;
	}
	return count;
}
