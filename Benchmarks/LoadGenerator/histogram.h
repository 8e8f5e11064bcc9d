// Latencies in nanoseconds, counted in buckets; the width of each is 1/32 of the largest power of two below it.
#pragma once
#include <stdint.h>
#include <string.h>

#define HISTOGRAM_FINE 5
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_FINE) << HISTOGRAM_FINE)

struct histogram {
    uint64_t total, max;
    uint64_t counts[HISTOGRAM_BUCKETS];
};

static inline unsigned histogram_bucket(uint64_t value) {
    if (value < (1u << HISTOGRAM_FINE)) return (unsigned)value;
    unsigned shift = 63u - (unsigned)__builtin_clzll(value) - HISTOGRAM_FINE;
    return ((shift + 1) << HISTOGRAM_FINE) + (unsigned)((value >> shift) & ((1u << HISTOGRAM_FINE) - 1));
}

static inline void histogram_add(struct histogram *h, int64_t value) {
    uint64_t v = value < 0 ? 0 : (uint64_t)value;
    h->total++;
    if (v > h->max) h->max = v;
    h->counts[histogram_bucket(v)]++;
}

static inline void histogram_clear(struct histogram *h) { memset(h, 0, sizeof *h); }

// The quantile of a share (0...1), in nanoseconds: the upper edge of its bucket.
uint64_t histogram_quantile(const struct histogram *h, double share);
