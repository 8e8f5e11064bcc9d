// The monotonic clock in nanoseconds, used for the stamps in messages.
#pragma once
#include <stdint.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

static inline int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}
