// Redis pub/sub, RESP3, so that one connection can subscribe and publish.
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "stamp.h"

static const char *topic(struct connection *c) { return c->peer ? c->account : c->channel; }

static void connected(struct connection *c) {
    buffer_text(&c->out, "HELLO 3\r\n");
    if (c->joins || c->peer) buffer_format(&c->out, "SUBSCRIBE %s\r\n", topic(c));
    buffer_text(&c->out, "PING\r\n");
    connection_dirty(c);
}

static void publish_to(struct connection *c, const char *to, const uint8_t *body, size_t size) {
    buffer_format(&c->out, "*3\r\n$7\r\nPUBLISH\r\n$%zu\r\n%s\r\n$%zu\r\n", strlen(to), to, size);
    buffer_append(&c->out, body, size);
    buffer_append(&c->out, "\r\n", 2);
    connection_dirty(c);
}

static void publish(struct connection *c, const uint8_t *body, size_t size) { publish_to(c, c->channel, body, size); }

static void send_to_peer(struct connection *c, const uint8_t *body, size_t size) {
    publish_to(c, c->peer->account, body, size);
}

// Parses a bulk string at `at`; returns the position after it, NULL when it is incomplete.
static uint8_t *bulk(uint8_t *at, uint8_t *end, uint8_t **last) {
    size_t size = 0;
    if (end - at < 4) return NULL;
    for (at++; at < end && *at != '\r'; at++) size = size * 10 + *at - '0';
    if ((size_t)(end - at) < size + 4) return NULL;
    *last = at + 2 + size;
    return *last + 2;
}

static size_t input(struct connection *c, uint8_t *bytes, size_t size) {
    uint8_t *at = bytes, *end = bytes + size, *last;
    if (c->phase == PHASE_GREETING) {
        uint8_t *pong = memmem(bytes, size, "+PONG\r\n", 7);
        if (!pong) return 0;
        if (memmem(bytes, size, "-ERR", 4)) connection_failed(c, "%.*s", (int)size, (char *)bytes);
        else connection_ready(c);
        return size;
    }
    while (at < end && c->phase != PHASE_CLOSED) {
        if (*at != '>') {
            // The reply to a PUBLISH.
            uint8_t *newline = memchr(at, '\n', (size_t)(end - at));
            if (!newline) break;
            if (*at == '-') scenario->answered(c, false);
            at = newline + 1;
            continue;
        }
        uint8_t *next = at + 4;
        for (int i = 0; i < 3 && next; i++) next = bulk(next, end, &last);
        if (!next) break;
        if (stamp_is(last)) scenario->delivered(c, last);
        at = next;
    }
    return (size_t)(at - bytes);
}

const struct driver driver_redis = {
    .name = "redis", .connected = connected, .input = input, .publish = publish, .send_to_peer = send_to_peer};
