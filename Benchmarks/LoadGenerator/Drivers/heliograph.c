// The gateway's client protocol. The lowest bits of a call's id encode its kind.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "driver.h"
#include "stamp.h"
#include "websocket.h"

enum { CALL_JOIN, CALL_SEND, CALL_POLL, CALL_SETUP, CALL_LOGOUT, CALL_KINDS };
enum { STEP_UPGRADE, STEP_LOGIN, STEP_SETUP, STEP_JOIN };
// The number of bytes between the end of an event's stamped text and the end of the frame: \"}"]]
#define EVENT_TAIL 6
#define ACKNOWLEDGE_ENTRIES 30

static uint8_t composed[32768];

__attribute__((format(printf, 2, 3))) static void send_frame(struct connection *c, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf((char *)composed, sizeof composed, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof composed) abort();
    websocket_begin(&c->out, (size_t)size);
    buffer_append(&c->out, composed, (size_t)size);
    connection_dirty(c);
}

static uint32_t call_number(struct connection *c, int kind) { return c->calls++ * CALL_KINDS + (uint32_t)kind; }

static void poll_mailbox(struct connection *c) {
    c->polls = true;
    c->acknowledged = c->version;
    send_frame(c, "[\"call2\",[\"user_getmsg\",%u,{\"line\":\"%s\",\"ver_clear\":%lld,\"max\":30}]]",
        call_number(c, CALL_POLL), c->line, (long long)c->version);
}

static void join(struct connection *c) {
    send_frame(c, "[\"call2\",[\"channel_join\",%u,{\"line\":\"%s\",\"name\":\"%s\"}]]", call_number(c, CALL_JOIN), c->line,
        c->channel);
}

static void leave(struct connection *c) {
    send_frame(c, "[\"call2\",[\"channel_leave\",%u,{\"line\":\"%s\",\"name\":\"%s\"}]]", call_number(c, CALL_JOIN), c->line,
        c->channel);
}

static void log_out(struct connection *c) {
    send_frame(c, "[\"call2\",[\"user_logout\",%u,{\"line\":\"%s\"}]]", call_number(c, CALL_LOGOUT), c->line);
}

static void set_attribute(struct connection *c, const char *name, int value) {
    send_frame(c,
        "[\"call2\",[\"channel_set_attr\",%u,{\"line\":\"%s\",\"channel\":\"%s\",\"name\":\"%s\",\"value\":\"%d\"}]]",
        call_number(c, CALL_SETUP), c->line, c->channel, name, value);
}

// The first member of a channel raises the channel's limits before the others join.
static void logged_in(struct connection *c) {
    if (options.polls_after_login && !c->pushes) poll_mailbox(c);
    if (!c->channel) return connection_ready(c);
    if (c->number == 0 && c->joins) {
        c->step = STEP_SETUP;
        set_attribute(c, "_sendmsg_limit", 1000000);
        set_attribute(c, "_userNotification", options.quiet_joins ? 0 : 1);
        c->number = 2;
    } else if (c->joins) {
        c->step = STEP_JOIN;
        join(c);
    } else {
        connection_ready(c);
    }
}

static void connected(struct connection *c) {
    c->step = STEP_UPGRADE;
    c->polls = false;
    websocket_greet(c, "/");
}

static void greet(struct connection *c) {
    c->step = STEP_LOGIN;
    if (c->resumes)
        send_frame(c, "[\"line_login\",{\"line\":\"%s\"}]", c->line);
    else
        send_frame(c,
            "[\"login\",{\"vid\":\"%s\",\"account\":\"%s\",\"uid\":0,\"token\":\"_no_need_token\",\"device\":\"websdk\","
            "\"ip\":\"\"%s}]",
            options.app, c->account, c->pushes ? ",\"push\":1" : "");
}

// login_ret and line_login_ret: ["login_ret",["","{\"result\":\"ok\",\"line\":\"...\",...}"]]
static void login_answered(struct connection *c, const struct frame *f) {
    static const char good[] = "\\\"result\\\":\\\"ok\\\"", key[] = "\\\"line\\\":\\\"";
    uint8_t *line = memmem(f->payload, f->size, key, sizeof key - 1);
    if (!line || !memmem(f->payload, f->size, good, sizeof good - 1))
        return connection_failed(c, "login: %.*s", (int)f->size, (char *)f->payload);
    if (c->resumes) return connection_ready(c);
    line += sizeof key - 1;
    uint8_t *end = memchr(line, '\\', (size_t)(f->payload + f->size - line));
    if (!end) return connection_failed(c, "login without a line");
    free(c->line);
    c->line = strndup((char *)line, (size_t)(end - line));
    logged_in(c);
}

static int64_t number_at(const uint8_t *text) {
    int64_t value = 0;
    while (*text >= '0' && *text <= '9') value = value * 10 + *text++ - '0';
    return value;
}

static void entry(struct connection *c, int64_t version, const uint8_t *end) {
    // An entry must not be delivered twice in a session.
    if (version <= c->version)
        return connection_failed(c, "entry %lld after %lld", (long long)version, (long long)c->version);
    c->version = version;
    scenario->delivered(c, end);
}

// Messages in the answer to a poll: [VERSION,\"msg-v2 ... BODY\"]
static void mailbox(struct connection *c, const struct frame *f) {
    static const char start[] = ",\\\"msg-v2 ", finish[] = STAMP_MARK "\\\"]";
    uint8_t *at = f->payload, *end = f->payload + f->size;
    while ((at = memmem(at, (size_t)(end - at), start, sizeof start - 1))) {
        uint8_t *digits = at;
        while (digits[-1] >= '0' && digits[-1] <= '9') digits--;
        uint8_t *mark = memmem(at, (size_t)(end - at), finish, sizeof finish - 1);
        if (!mark) return;
        entry(c, number_at(digits), mark + sizeof STAMP_MARK - 1);
        at = mark;
    }
}

static void call_answered(struct connection *c, const struct frame *f) {
    uint8_t *p = f->payload + 14;
    int kind = (int)(number_at(p) % CALL_KINDS);
    while (*p != ',' && p < f->payload + f->size) p++;
    bool good = memcmp(p, ",\"\",", 4) == 0;
    if (!good && (kind != CALL_SEND || c->phase != PHASE_READY))
        return connection_failed(c, "%.*s", (int)f->size, (char *)f->payload);
    switch (kind) {
    case CALL_POLL:
        c->polls = false;
        mailbox(c, f);
        break;
    case CALL_SETUP:
        if (--c->number == 0) {
            c->step = STEP_JOIN;
            join(c);
        }
        break;
    case CALL_JOIN:
        if (c->phase == PHASE_GREETING) connection_ready(c);
        else scenario->answered(c, good);
        break;
    case CALL_LOGOUT:
        // The gateway closes the connection too.
        connection_close(c);
        scenario->answered(c, good);
        break;
    default:
        scenario->answered(c, good);
    }
}

static void notified(struct connection *c, const struct frame *f) {
    const uint8_t *p = f->payload, *tail = p + f->size - EVENT_TAIL;
    switch (p[12]) {
    case 'c':
        if (stamp_is(tail)) scenario->delivered(c, tail);
        break;
    case 'm':
        if (!c->polls) poll_mailbox(c);
        break;
    case 'r': {
        entry(c, number_at(p + 23), tail);
        if (c->phase == PHASE_READY && c->version - c->acknowledged >= ACKNOWLEDGE_ENTRIES && !c->polls) poll_mailbox(c);
        break;
    }
    }
}

static void text_frame(struct connection *c, const struct frame *f) {
    if (f->size < 8) return;
    switch (f->payload[2]) {
    case 'n': return notified(c, f);
    case 'c':
        if (f->payload[3] == 'a') return call_answered(c, f);
        return connection_failed(c, "%.*s", (int)f->size, (char *)f->payload);
    case 'l': return login_answered(c, f);
    case 'p': return scenario->answered(c, true);
    }
}

static size_t input(struct connection *c, uint8_t *bytes, size_t size) {
    size_t used = 0;
    if (c->phase == PHASE_GREETING && c->step == STEP_UPGRADE) {
        used = websocket_greeted(c, bytes, size);
        if (used == 0) return 0;
        greet(c);
    }
    while (c->phase != PHASE_CLOSED) {
        struct frame f = websocket_frame(bytes + used, size - used);
        if (f.total == 0) break;
        used += f.total;
        if (f.opcode == 1) {
            text_frame(c, &f);
        } else if (f.opcode == 8) {
            connection_failed(c, "close frame %d", f.size >= 2 ? f.payload[0] << 8 | f.payload[1] : 0);
        }
    }
    return used;
}

static void publish(struct connection *c, const uint8_t *body, size_t size) {
    send_frame(c, "[\"call2\",[\"channel_sendmsg\",%u,{\"line\":\"%s\",\"name\":\"%s\",\"msg\":\"%.*s\"%s}]]",
        call_number(c, CALL_SEND), c->line, c->channel, (int)size, (const char *)body, c->joins ? "" : ",\"force\":true");
}

static void send_to_peer(struct connection *c, const uint8_t *body, size_t size) {
    send_frame(c,
        "[\"call2\",[\"user_sendmsg\",%u,{\"line\":\"%s\",\"peer\":\"%s\",\"flag\":\"v1:E:3600\",\"t\":\"instant\","
        "\"content\":\"%.*s\"}]]",
        call_number(c, CALL_SEND), c->line, c->peer->account, (int)size, (const char *)body);
}

static void ping(struct connection *c) { send_frame(c, "[\"ping\",%u]", c->calls++); }

const struct driver driver_heliograph = {
    .name = "heliograph",
    .connected = connected,
    .input = input,
    .publish = publish,
    .send_to_peer = send_to_peer,
    .ping = ping,
    .join = join,
    .leave = leave,
    .log_out = log_out,
};
