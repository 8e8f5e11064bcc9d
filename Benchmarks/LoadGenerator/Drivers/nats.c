// The NATS text protocol.
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "stamp.h"

static void connected(struct connection *c) { (void)c; }

static void publish_to(struct connection *c, const char *to, const uint8_t *body, size_t size) {
    buffer_format(&c->out, "PUB %s %zu\r\n", to, size);
    buffer_append(&c->out, body, size);
    buffer_append(&c->out, "\r\n", 2);
    connection_dirty(c);
}

static void publish(struct connection *c, const uint8_t *body, size_t size) { publish_to(c, c->channel, body, size); }

static void send_to_peer(struct connection *c, const uint8_t *body, size_t size) {
    publish_to(c, c->peer->account, body, size);
}

static void told(struct connection *c, const uint8_t *line) {
    if (memcmp(line, "INFO", 4) == 0 && c->phase == PHASE_GREETING) {
        buffer_text(&c->out, "CONNECT {\"verbose\":false}\r\n");
        if (c->joins || c->peer) buffer_format(&c->out, "SUB %s 1\r\n", c->peer ? c->account : c->channel);
        buffer_text(&c->out, "PING\r\n");
        connection_dirty(c);
    } else if (memcmp(line, "PING", 4) == 0) {
        buffer_text(&c->out, "PONG\r\n");
        connection_dirty(c);
    } else if (memcmp(line, "PONG", 4) == 0) {
        connection_ready(c);
    } else if (*line == '-') {
        connection_failed(c, "%.60s", (const char *)line);
    }
}

static size_t input(struct connection *c, uint8_t *bytes, size_t size) {
    uint8_t *at = bytes, *end = bytes + size;
    while (c->phase != PHASE_CLOSED && end - at >= 5) {
        uint8_t *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline) break;
        if (memcmp(at, "MSG ", 4) != 0) {
            told(c, at);
            at = newline + 1;
            continue;
        }
        size_t length = 0, scale = 1;
        for (uint8_t *digit = newline - 2; *digit != ' '; digit--, scale *= 10) length += (size_t)(*digit - '0') * scale;
        if ((size_t)(end - newline) < length + 3) break;
        if (stamp_is(newline + 1 + length)) scenario->delivered(c, newline + 1 + length);
        at = newline + 1 + length + 2;
    }
    return (size_t)(at - bytes);
}

const struct driver driver_nats = {
    .name = "nats", .connected = connected, .input = input, .publish = publish, .send_to_peer = send_to_peer};
