// XMPP: anonymous login, a room of XEP-0045 as the channel, chat messages between pairs.
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "stamp.h"

enum { STEP_STREAM, STEP_AUTHENTICATE, STEP_STREAM_AGAIN, STEP_BIND, STEP_ROOM };

static void open_stream(struct connection *c) {
    buffer_format(&c->out,
        "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' "
        "to='%s' version='1.0'>",
        options.domain);
    connection_dirty(c);
}

static void connected(struct connection *c) {
    c->step = STEP_STREAM;
    open_stream(c);
}

static bool has(const uint8_t *bytes, size_t size, const char *text) { return memmem(bytes, size, text, strlen(text)); }

static void bound(struct connection *c, const uint8_t *bytes, size_t size) {
    const uint8_t *jid = memmem(bytes, size, "<jid>", 5);
    const uint8_t *end = jid ? memmem(jid, size - (size_t)(jid - bytes), "</jid>", 6) : NULL;
    if (!end) return connection_failed(c, "no JID: %.*s", (int)size, (const char *)bytes);
    free(c->line);
    c->line = strndup((const char *)jid + 5, (size_t)(end - jid) - 5);
    // Messages between two users do not require presence.
    if (c->peer) return connection_ready(c);
    buffer_format(&c->out,
        "<presence to='%s@conference.%s/%s'><x xmlns='http://jabber.org/protocol/muc'><history maxstanzas='0'/></x>"
        "</presence>",
        c->channel, options.domain, c->account);
    c->step = STEP_ROOM;
    connection_dirty(c);
}

// Performs a step of the greeting, if its answer is complete.
static size_t greeting(struct connection *c, uint8_t *bytes, size_t size) {
    switch (c->step) {
    case STEP_STREAM:
        if (!has(bytes, size, "</stream:features>")) return 0;
        buffer_text(&c->out, "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='ANONYMOUS'/>");
        c->step = STEP_AUTHENTICATE;
        connection_dirty(c);
        return size;
    case STEP_AUTHENTICATE:
        if (has(bytes, size, "<failure")) return connection_failed(c, "%.*s", (int)size, (char *)bytes), size;
        if (!has(bytes, size, "<success")) return 0;
        c->step = STEP_STREAM_AGAIN;
        open_stream(c);
        return size;
    case STEP_STREAM_AGAIN:
        if (!has(bytes, size, "</stream:features>")) return 0;
        buffer_text(&c->out,
            "<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>b</resource></bind></iq>");
        c->step = STEP_BIND;
        connection_dirty(c);
        return size;
    case STEP_BIND:
        if (!has(bytes, size, "</iq>")) return 0;
        bound(c, bytes, size);
        return size;
    default:
        if (has(bytes, size, "type='error'")) return connection_failed(c, "%.*s", (int)size, (char *)bytes), size;
        if (!has(bytes, size, "code='110'")) return 0;
        connection_ready(c);
        return size;
    }
}

static size_t input(struct connection *c, uint8_t *bytes, size_t size) {
    static const char end_tag[] = "</message>", body_end[] = STAMP_MARK "</body>";
    if (c->phase == PHASE_GREETING) return greeting(c, bytes, size);
    uint8_t *at = bytes, *end = bytes + size, *close;
    while (c->phase != PHASE_CLOSED && (close = memmem(at, (size_t)(end - at), end_tag, sizeof end_tag - 1))) {
        uint8_t *mark = memmem(at, (size_t)(close - at), body_end, sizeof body_end - 1);
        if (has(at, (size_t)(close - at), "type='error'")) scenario->answered(c, false);
        else if (mark) scenario->delivered(c, mark + sizeof STAMP_MARK - 1);
        at = close + sizeof end_tag - 1;
    }
    // Other stanzas are ignored, but their ends must not be mistaken for the start of a message.
    if (!memmem(at, (size_t)(end - at), "<message", 8)) {
        uint8_t *last = memrchr(at, '>', (size_t)(end - at));
        if (last) at = last + 1;
    }
    return (size_t)(at - bytes);
}

static void publish(struct connection *c, const uint8_t *body, size_t size) {
    buffer_format(&c->out, "<message to='%s@conference.%s' type='groupchat'><body>%.*s</body></message>", c->channel,
        options.domain, (int)size, (const char *)body);
    connection_dirty(c);
}

static void send_to_peer(struct connection *c, const uint8_t *body, size_t size) {
    buffer_format(&c->out, "<message to='%s' type='chat'><body>%.*s</body></message>", c->peer->line, (int)size,
        (const char *)body);
    connection_dirty(c);
}

const struct driver driver_xmpp = {
    .name = "xmpp", .connected = connected, .input = input, .publish = publish, .send_to_peer = send_to_peer};
