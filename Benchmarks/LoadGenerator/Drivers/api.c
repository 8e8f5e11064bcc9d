// Heliograph's server API: messages to users by HTTP, one or several in a request.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

// The items of a request that is being composed.
static struct buffer items;
static uint32_t item_count;

static void connected(struct connection *c) { connection_ready(c); }

static void request(struct connection *c, const char *path, size_t size) {
    buffer_format(&c->out,
        "POST /v1/apps/%s/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
        options.app, path, options.key, size);
}

// With more than one message in a request, the request is sent with the last of them.
static void send_to_peer(struct connection *c, const uint8_t *body, size_t size) {
    if (options.batch == 1) {
        char path[256];
        buffer_format(&items, "{\"from\":\"%s\",\"ttl\":3600,\"message\":\"%.*s\"}", c->account, (int)size, (const char *)body);
        snprintf(path, sizeof path, "users/%s/messages", c->peer->account);
        request(c, path, buffer_size(&items));
    } else {
        buffer_format(&items, "%s{\"user\":\"%s\",\"from\":\"%s\",\"ttl\":3600,\"message\":\"%.*s\"}",
            item_count ? "," : "{\"items\":[", c->peer->account, c->account, (int)size, (const char *)body);
        if (++item_count < options.batch) return;
        buffer_text(&items, "]}");
        request(c, "messages", buffer_size(&items));
    }
    buffer_append(&c->out, buffer_head(&items), buffer_size(&items));
    buffer_consume(&items, buffer_size(&items));
    item_count = 0;
    connection_dirty(c);
}

// The value of Content-Length; -1 without one.
static long content_length(const uint8_t *head, const uint8_t *end) {
    static const char name[] = "\r\ncontent-length:";
    for (const uint8_t *at = head; at + sizeof name < end; at++)
        if (strncasecmp((const char *)at, name, sizeof name - 1) == 0) return strtol((const char *)at + sizeof name - 1, NULL, 10);
    return -1;
}

static size_t input(struct connection *c, uint8_t *bytes, size_t size) {
    static const char none_failed[] = "\"failed\":0";
    size_t used = 0;
    while (c->phase != PHASE_CLOSED) {
        uint8_t *head = bytes + used, *end = memmem(head, size - used, "\r\n\r\n", 4);
        if (!end) break;
        long length = content_length(head, end + 2);
        if (length < 0) {
            connection_failed(c, "an answer without a length: %.*s", 60, (char *)head);
            break;
        }
        uint8_t *body = end + 4;
        if (bytes + size < body + length) break;
        used = (size_t)(body - bytes) + (size_t)length;
        bool good = memcmp(head + 9, "200", 3) == 0
            && (options.batch == 1 || memmem(body, (size_t)length, none_failed, sizeof none_failed - 1));
        scenario->answered(c, good);
    }
    return used;
}

const struct driver driver_api = {.name = "api", .connected = connected, .input = input, .send_to_peer = send_to_peer};
