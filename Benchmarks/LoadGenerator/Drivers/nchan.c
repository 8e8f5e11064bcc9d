// nchan over WebSocket: one path to subscribe, one to publish, and one for members of a pair, which do both.
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "stamp.h"
#include "websocket.h"

static void connected(struct connection *c) {
    char path[256];
    if (c->peer) snprintf(path, sizeof path, "/pair/%s/%s", c->account, c->peer->account);
    else snprintf(path, sizeof path, "/%s/%s", c->joins ? "sub" : "pub", c->channel);
    websocket_greet(c, path);
}

static size_t input(struct connection *c, uint8_t *bytes, size_t size) {
    size_t used = 0;
    if (c->phase == PHASE_GREETING) {
        used = websocket_greeted(c, bytes, size);
        if (used == 0) return 0;
        connection_ready(c);
    }
    while (c->phase != PHASE_CLOSED) {
        struct frame f = websocket_frame(bytes + used, size - used);
        if (f.total == 0) break;
        used += f.total;
        if (f.opcode == 8) connection_failed(c, "close frame");
        else if (f.size >= STAMP_SIZE && stamp_is(f.payload + f.size)) scenario->delivered(c, f.payload + f.size);
    }
    return used;
}

static void publish(struct connection *c, const uint8_t *body, size_t size) {
    websocket_begin(&c->out, size);
    buffer_append(&c->out, body, size);
    connection_dirty(c);
}

const struct driver driver_nchan = {
    .name = "nchan", .connected = connected, .input = input, .publish = publish, .send_to_peer = publish};
