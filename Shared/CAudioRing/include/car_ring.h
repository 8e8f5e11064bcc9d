/* Samples on their way between a device's thread and the media client's loop: one thread writes, one other reads, and neither waits. */
#ifndef CAR_RING_H
#define CAR_RING_H

#include <stddef.h>
#include <stdint.h>

struct car_ring;

/* A ring for that many samples, a power of two; NULL without memory, and for another number. */
struct car_ring *car_ring_make(size_t capacity);
void car_ring_free(struct car_ring *ring);

/* Writes samples. Returns how many found room; the rest is not written. Called by the writing thread alone. */
size_t car_ring_write(struct car_ring *ring, const int16_t *samples, size_t count);

/* Reads up to so many samples. Returns how many were there. Called by the reading thread alone. */
size_t car_ring_read(struct car_ring *ring, int16_t *samples, size_t count);

/* What reading was like so far: the most samples that were asked for at once, all, and how many of all were not there. For either thread. */
struct car_ring_demand {
	size_t largest, asked, missed;
};
struct car_ring_demand car_ring_demand(const struct car_ring *ring);

/* All samples that were to be written so far, also those without room. For either thread. */
size_t car_ring_offered(const struct car_ring *ring);

/* The samples that wait: exact for the reading thread unless more come meanwhile, for the writing thread unless some are read. */
size_t car_ring_count(const struct car_ring *ring);

#endif
