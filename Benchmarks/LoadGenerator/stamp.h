// The body of a benchmark message: padding, then the sender, the message's number, the time when it was due, and a mark.
//
// Numbers are written as letters '@'...'O', four bits each: safe in JSON, XML and on the command line, and decoded without a loop.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STAMP_MARK "~HB~"
#define STAMP_SIZE 36
#define BODY_SIZE_MAX 8192

struct stamp {
    uint32_t sender, number;
    int64_t due;
};

static inline uint64_t nibbles(const uint8_t *text) {
    uint64_t x;
    memcpy(&x, text, 8);
    x = __builtin_bswap64(x) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    x = (x | (x >> 4)) & UINT64_C(0x00FF00FF00FF00FF);
    x = (x | (x >> 8)) & UINT64_C(0x0000FFFF0000FFFF);
    return (x | (x >> 16)) & UINT64_C(0x00000000FFFFFFFF);
}

static inline void put_nibbles(uint8_t *text, uint32_t value) {
    for (int i = 7; i >= 0; i--, value >>= 4) text[i] = (uint8_t)(0x40 | (value & 15));
}

// Writes the last STAMP_SIZE bytes of a body that ends at `end`.
static inline void stamp_write(uint8_t *end, struct stamp s) {
    put_nibbles(end - 36, s.sender);
    put_nibbles(end - 28, s.number);
    put_nibbles(end - 20, (uint32_t)((uint64_t)s.due >> 32));
    put_nibbles(end - 12, (uint32_t)s.due);
    memcpy(end - 4, STAMP_MARK, 4);
}

// Whether a stamped body ends at `end`.
static inline int stamp_is(const uint8_t *end) { return memcmp(end - 4, STAMP_MARK, 4) == 0; }

static inline struct stamp stamp_read(const uint8_t *end) {
    return (struct stamp){
        .sender = (uint32_t)nibbles(end - 36),
        .number = (uint32_t)nibbles(end - 28),
        .due = (int64_t)(nibbles(end - 20) << 32 | nibbles(end - 12)),
    };
}
