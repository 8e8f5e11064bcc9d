#include "websocket.h"

#include <arpa/inet.h>
#include <string.h>

void websocket_greet(struct connection *c, const char *path) {
    buffer_format(&c->out,
        "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: aGVsaW9ncmFwaC1iZW5jaA==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        path, ntohs(endpoints[c->endpoint % endpoint_count].sin_port));
    connection_dirty(c);
}

size_t websocket_greeted(struct connection *c, uint8_t *bytes, size_t size) {
    uint8_t *end = memmem(bytes, size, "\r\n\r\n", 4);
    if (!end) return 0;
    if (size < 12 || memcmp(bytes + 9, "101", 3) != 0) {
        connection_failed(c, "no upgrade: %.*s", (int)(size < 60 ? size : 60), (char *)bytes);
        return 0;
    }
    return (size_t)(end - bytes) + 4;
}

void websocket_begin(struct buffer *out, size_t size) {
    uint8_t head[14] = {0x81};
    size_t used = 2;
    if (size < 126) {
        head[1] = (uint8_t)(0x80 | size);
    } else if (size < 65536) {
        head[1] = 0x80 | 126;
        head[2] = (uint8_t)(size >> 8);
        head[3] = (uint8_t)size;
        used = 4;
    } else {
        head[1] = 0x80 | 127;
        for (int i = 0; i < 8; i++) head[2 + i] = (uint8_t)((uint64_t)size >> (56 - 8 * i));
        used = 10;
    }
    buffer_append(out, head, used + 4);
}
