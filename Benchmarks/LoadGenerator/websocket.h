// The client's side of RFC 6455, as far as the benchmarks need it.
#pragma once
#include "loop.h"

// Requests an upgrade at this path.
void websocket_greet(struct connection *c, const char *path);
// Parses the response; returns the bytes consumed, 0 when it is incomplete. Fails the connection if it is no upgrade.
size_t websocket_greeted(struct connection *c, uint8_t *bytes, size_t size);

struct frame {
    uint8_t opcode;
    uint8_t *payload;
    size_t size;
    // The size of the whole frame in bytes; 0 when it is incomplete.
    size_t total;
};
static inline struct frame websocket_frame(uint8_t *bytes, size_t size) {
    struct frame f = {0};
    if (size < 2) return f;
    size_t head = 2, length = bytes[1] & 127;
    if (length == 126) {
        if (size < 4) return f;
        head = 4;
        length = (size_t)bytes[2] << 8 | bytes[3];
    } else if (length == 127) {
        if (size < 10) return f;
        head = 10;
        length = 0;
        for (int i = 2; i < 10; i++) length = length << 8 | bytes[i];
    }
    if (size < head + length) return f;
    f.opcode = bytes[0] & 15;
    f.payload = bytes + head;
    f.size = length;
    f.total = head + length;
    return f;
}

// Starts a masked text frame of `size` bytes, which the caller appends. The masking key is zero, which is valid and costs nothing.
void websocket_begin(struct buffer *out, size_t size);
