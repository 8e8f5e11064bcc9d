#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint8_t *buffer_reserve(struct buffer *b, size_t size) {
    if (b->end + size > b->capacity) {
        if (b->start > 0) {
            memmove(b->bytes, b->bytes + b->start, buffer_size(b));
            b->end -= b->start;
            b->start = 0;
        }
        if (b->end + size > b->capacity) {
            size_t capacity = b->capacity ? b->capacity : 256;
            while (capacity < b->end + size) capacity *= 2;
            b->bytes = realloc(b->bytes, capacity);
            if (!b->bytes) abort();
            b->capacity = capacity;
        }
    }
    return b->bytes + b->end;
}

void buffer_append(struct buffer *b, const void *bytes, size_t size) {
    memcpy(buffer_reserve(b, size), bytes, size);
    b->end += size;
}

void buffer_text(struct buffer *b, const char *text) { buffer_append(b, text, strlen(text)); }

void buffer_format(struct buffer *b, const char *format, ...) {
    char text[16384];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof text) abort();
    buffer_append(b, text, (size_t)size);
}

void buffer_consume(struct buffer *b, size_t size) {
    b->start += size;
    if (b->start < b->end) return;
    b->start = b->end = 0;
    if (b->capacity > 4096) buffer_free(b);
}

void buffer_free(struct buffer *b) {
    free(b->bytes);
    *b = (struct buffer){0};
}
