#include "car_ring.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64 };

struct car_ring {
	size_t capacity;
	int16_t *samples;
	/* Positions only grow; each is written by one thread, and lies on a cache line of its own. */
	_Alignas(CACHE_LINE) atomic_size_t written;
	_Alignas(CACHE_LINE) atomic_size_t read;
	/* Written by the writing thread. */
	atomic_size_t offered;
	/* Written by the reading thread. */
	atomic_size_t largest, asked, missed;
};

struct car_ring *car_ring_make(size_t capacity)
{
	if (capacity == 0 || (capacity & (capacity - 1)) != 0)
		return NULL;
	struct car_ring *ring = aligned_alloc(CACHE_LINE, sizeof(*ring));
	if (!ring)
		return NULL;
	ring->capacity = capacity;
	ring->samples = calloc(capacity, sizeof(*ring->samples));
	if (!ring->samples) {
		free(ring);
		return NULL;
	}
	atomic_init(&ring->written, 0);
	atomic_init(&ring->read, 0);
	atomic_init(&ring->offered, 0);
	atomic_init(&ring->largest, 0);
	atomic_init(&ring->asked, 0);
	atomic_init(&ring->missed, 0);
	return ring;
}

void car_ring_free(struct car_ring *ring)
{
	if (!ring)
		return;
	free(ring->samples);
	free(ring);
}

static size_t min(size_t one, size_t other)
{
	return one < other ? one : other;
}

/* Adds to a number that one thread alone writes. */
static void add(atomic_size_t *number, size_t more)
{
	atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + more, memory_order_relaxed);
}

size_t car_ring_write(struct car_ring *ring, const int16_t *samples, size_t count)
{
	add(&ring->offered, count);
	size_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
	size_t read = atomic_load_explicit(&ring->read, memory_order_acquire);
	count = min(count, ring->capacity - (written - read));
	size_t at = written & (ring->capacity - 1);
	size_t first = min(count, ring->capacity - at);
	memcpy(ring->samples + at, samples, first * sizeof(*samples));
	memcpy(ring->samples, samples + first, (count - first) * sizeof(*samples));
	atomic_store_explicit(&ring->written, written + count, memory_order_release);
	return count;
}

size_t car_ring_read(struct car_ring *ring, int16_t *samples, size_t count)
{
	size_t read = atomic_load_explicit(&ring->read, memory_order_relaxed);
	size_t written = atomic_load_explicit(&ring->written, memory_order_acquire);
	if (count > atomic_load_explicit(&ring->largest, memory_order_relaxed))
		atomic_store_explicit(&ring->largest, count, memory_order_relaxed);
	add(&ring->asked, count);
	if (count > written - read) {
		add(&ring->missed, count - (written - read));
		count = written - read;
	}
	size_t at = read & (ring->capacity - 1);
	size_t first = min(count, ring->capacity - at);
	memcpy(samples, ring->samples + at, first * sizeof(*samples));
	memcpy(samples + first, ring->samples, (count - first) * sizeof(*samples));
	atomic_store_explicit(&ring->read, read + count, memory_order_release);
	return count;
}

struct car_ring_demand car_ring_demand(const struct car_ring *ring)
{
	return (struct car_ring_demand){
		.largest = atomic_load_explicit(&ring->largest, memory_order_relaxed),
		.asked = atomic_load_explicit(&ring->asked, memory_order_relaxed),
		.missed = atomic_load_explicit(&ring->missed, memory_order_relaxed),
	};
}

size_t car_ring_offered(const struct car_ring *ring)
{
	return atomic_load_explicit(&ring->offered, memory_order_relaxed);
}

size_t car_ring_count(const struct car_ring *ring)
{
	size_t read = atomic_load_explicit(&ring->read, memory_order_acquire);
	size_t written = atomic_load_explicit(&ring->written, memory_order_acquire);
	return written - read;
}
