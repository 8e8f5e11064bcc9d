#include "histogram.h"

static uint64_t upper_edge(unsigned bucket) {
    if (bucket < (1u << HISTOGRAM_FINE)) return bucket;
    unsigned shift = (bucket >> HISTOGRAM_FINE) - 1;
    uint64_t mantissa = (1u << HISTOGRAM_FINE) + (bucket & ((1u << HISTOGRAM_FINE) - 1));
    return ((mantissa + 1) << shift) - 1;
}

uint64_t histogram_quantile(const struct histogram *h, double share) {
    uint64_t wanted = (uint64_t)((double)h->total * share), seen = 0;
    for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
        seen += h->counts[bucket];
        if (seen > wanted || (seen == h->total && seen > 0)) {
            uint64_t edge = upper_edge(bucket);
            return edge < h->max ? edge : h->max;
        }
    }
    return h->max;
}
