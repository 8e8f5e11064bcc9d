// A growable byte queue: bytes are added at the end and removed from the front.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct buffer {
    uint8_t *bytes;
    size_t start, end, capacity;
};

static inline size_t buffer_size(const struct buffer *b) { return b->end - b->start; }
static inline uint8_t *buffer_head(const struct buffer *b) { return b->bytes + b->start; }

// Makes room for `size` more bytes; the caller writes them and advances `end`.
uint8_t *buffer_reserve(struct buffer *b, size_t size);
void buffer_append(struct buffer *b, const void *bytes, size_t size);
void buffer_text(struct buffer *b, const char *text);
void buffer_format(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Removes bytes from the front; an empty buffer frees its memory if it is large.
void buffer_consume(struct buffer *b, size_t size);
void buffer_free(struct buffer *b);
