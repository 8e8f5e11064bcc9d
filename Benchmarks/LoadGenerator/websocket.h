// The client's side of RFC 6455, as much as measuring needs.
#pragma once
#include "loop.h"

// Asks for the upgrade of a path.
void websocket_greet(struct connection *c, const char *path);
// Reads the answer; returns the bytes used, 0 when it is not whole, and fails the connection when it is no upgrade.
size_t websocket_greeted(struct connection *c, uint8_t *bytes, size_t size);

struct frame {
    uint8_t opcode;
    uint8_t *payload;
    size_t size;
    // Bytes of the frame altogether; 0: not whole yet.
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

// Begins a masked text frame of `size` bytes, which the caller appends. The mask is zero: valid, and free.
void websocket_begin(struct buffer *out, size_t size);
