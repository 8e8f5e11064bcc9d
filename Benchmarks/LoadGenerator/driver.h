// How a kind of server is spoken to, and what a scenario hears of it.
#pragma once
#include "loop.h"

struct driver {
    const char *name;
    // The socket is connected: greet.
    void (*connected)(struct connection *c);
    // Bytes came; returns how many were used.
    size_t (*input)(struct connection *c, uint8_t *bytes, size_t size);
    // Adds a message to `c->channel` (or its peer's account, in pairs) to what is written.
    void (*publish)(struct connection *c, const uint8_t *body, size_t size);
    void (*send_to_peer)(struct connection *c, const uint8_t *body, size_t size);
    // Heliograph only: an application ping; joins and leaves.
    void (*ping)(struct connection *c);
    void (*join)(struct connection *c);
    void (*leave)(struct connection *c);
};

// The scenario's side.
struct scenario {
    const char *name;
    void (*ready)(struct connection *c);
    // A stamped body that ends at `end`.
    void (*delivered)(struct connection *c, const uint8_t *end);
    // A call was answered: a message sent, a join or leave done.
    void (*answered)(struct connection *c, bool good);
    void (*lost)(struct connection *c);
    int (*run)(void);
};

extern const struct driver driver_heliograph, driver_limit, driver_redis, driver_mqtt, driver_nats, driver_nchan,
    driver_xmpp;
extern const struct scenario scenario_fanout, scenario_pairs, scenario_idle, scenario_storm;
extern const struct scenario *scenario;

struct options {
    const struct driver *driver;
    uint32_t members, publishers, pairs, concurrency, channels, body;
    // Publishers who are no members; the stamp is the moment of sending, not the one when the message was due.
    bool outside, stamps_sending;
    // Heliograph: take pushes, poll the mailbox after the login, no join and leave events.
    bool pushes, polls_after_login, quiet_joins;
    const char *app, *prefix, *domain;
    // Connections of a publisher go here when it is not a member; -1: like the others, in turn.
    int publisher_endpoint;
    uint32_t others;
};
extern struct options options;
