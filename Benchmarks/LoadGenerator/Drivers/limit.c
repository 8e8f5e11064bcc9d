// The protocol of limit.c: a letter tells the kind of connection, then unmasked WebSocket frames follow in both directions.
#include <string.h>

#include "driver.h"
#include "stamp.h"
#include "websocket.h"

static void connected(struct connection *c) {
    // A member; a publisher; one of a pair, with its number and its peer's.
    if (c->peer)
        buffer_format(&c->out, "D%06u%06u", c->index, c->peer->index);
    else
        buffer_text(&c->out, c->joins ? "S" : "P");
    connection_dirty(c);
}

static size_t input(struct connection *c, uint8_t *bytes, size_t size) {
    size_t used = 0;
    if (c->phase == PHASE_GREETING && size > 0) {
        used = 1;
        connection_ready(c);
    }
    while (c->phase != PHASE_CLOSED) {
        struct frame f = websocket_frame(bytes + used, size - used);
        if (f.total == 0) break;
        used += f.total;
        if (f.size >= STAMP_SIZE && stamp_is(f.payload + f.size)) scenario->delivered(c, f.payload + f.size);
    }
    return used;
}

static void publish(struct connection *c, const uint8_t *body, size_t size) {
    uint8_t head[4] = {0x81, 126, (uint8_t)(size >> 8), (uint8_t)size};
    buffer_append(&c->out, head, 4);
    buffer_append(&c->out, body, size);
    connection_dirty(c);
}

const struct driver driver_limit = {
    .name = "limit", .connected = connected, .input = input, .publish = publish, .send_to_peer = publish};
