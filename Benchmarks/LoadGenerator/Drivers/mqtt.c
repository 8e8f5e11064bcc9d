// MQTT 3.1.1, quality of service 0.
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "stamp.h"

enum { CONNACK = 2, PUBLISH = 3, SUBACK = 9 };

static void head(struct connection *c, uint8_t type, size_t size) {
    uint8_t bytes[5] = {type};
    size_t used = 1;
    do {
        bytes[used++] = (uint8_t)((size & 127) | (size > 127 ? 128 : 0));
        size >>= 7;
    } while (size > 0);
    buffer_append(&c->out, bytes, used);
}

static void text(struct connection *c, const char *string) {
    size_t size = strlen(string);
    uint8_t length[2] = {(uint8_t)(size >> 8), (uint8_t)size};
    buffer_append(&c->out, length, 2);
    buffer_append(&c->out, string, size);
}

static void connected(struct connection *c) {
    head(c, 0x10, 10 + 2 + strlen(c->account));
    // Protocol level 4, a clean session, no keep-alive.
    buffer_append(&c->out, "\0\4MQTT\4\2\0\0", 10);
    text(c, c->account);
    connection_dirty(c);
}

static void subscribe(struct connection *c, const char *topic) {
    head(c, 0x82, 2 + 2 + strlen(topic) + 1);
    buffer_append(&c->out, "\0\1", 2);
    text(c, topic);
    buffer_append(&c->out, "\0", 1);
    connection_dirty(c);
}

static void publish_to(struct connection *c, const char *to, const uint8_t *body, size_t size) {
    head(c, 0x30, 2 + strlen(to) + size);
    text(c, to);
    buffer_append(&c->out, body, size);
    connection_dirty(c);
}

static void publish(struct connection *c, const uint8_t *body, size_t size) { publish_to(c, c->channel, body, size); }

static void send_to_peer(struct connection *c, const uint8_t *body, size_t size) {
    publish_to(c, c->peer->account, body, size);
}

static size_t input(struct connection *c, uint8_t *bytes, size_t size) {
    size_t used = 0;
    while (c->phase != PHASE_CLOSED && size - used >= 2) {
        size_t length = 0, at = used + 1;
        int shift = 0;
        while (at < size && bytes[at] & 128) length |= (size_t)(bytes[at++] & 127) << shift, shift += 7;
        if (at >= size) break;
        length |= (size_t)bytes[at++] << shift;
        if (size - at < length) break;
        switch (bytes[used] >> 4) {
        case PUBLISH:
            if (stamp_is(bytes + at + length)) scenario->delivered(c, bytes + at + length);
            break;
        case CONNACK:
            if (bytes[at + 1] != 0) connection_failed(c, "CONNACK %d", bytes[at + 1]);
            else if (c->joins || c->peer) subscribe(c, c->peer ? c->account : c->channel);
            else connection_ready(c);
            break;
        case SUBACK: connection_ready(c); break;
        }
        used = at + length;
    }
    return used;
}

const struct driver driver_mqtt = {
    .name = "mqtt", .connected = connected, .input = input, .publish = publish, .send_to_peer = send_to_peer};
