// A driver speaks the protocol of one kind of server, and reports events to the scenario.
#pragma once
#include "loop.h"

struct driver {
    const char *name;
    // Called when the socket is connected: starts the greeting.
    void (*connected)(struct connection *c);
    // Called when bytes have arrived; returns the number of bytes consumed.
    size_t (*input)(struct connection *c, uint8_t *bytes, size_t size);
    // Queues a message to `c->channel` (in pairs, to the peer's account).
    void (*publish)(struct connection *c, const uint8_t *body, size_t size);
    void (*send_to_peer)(struct connection *c, const uint8_t *body, size_t size);
    // Heliograph only: sends an application ping; joins and leaves; logs out, which closes the connection when it is answered.
    void (*ping)(struct connection *c);
    void (*join)(struct connection *c);
    void (*leave)(struct connection *c);
    void (*log_out)(struct connection *c);
};

// The callbacks of a scenario.
struct scenario {
    const char *name;
    void (*ready)(struct connection *c);
    // A stamped body, which ends at `end`, was delivered.
    void (*delivered)(struct connection *c, const uint8_t *end);
    // A call was answered: a message, a join, a leave or a logout.
    void (*answered)(struct connection *c, bool good);
    void (*lost)(struct connection *c);
    int (*run)(void);
};

extern const struct driver driver_heliograph, driver_limit, driver_redis, driver_mqtt, driver_nats, driver_nchan,
    driver_xmpp, driver_api;
extern const struct scenario scenario_fanout, scenario_pairs, scenario_idle, scenario_storm, scenario_talk,
    scenario_sends;
extern const struct scenario *scenario;

struct options {
    const struct driver *driver;
    uint32_t members, publishers, pairs, concurrency, channels, body;
    // Whether publishers are not members; whether the stamp is the time of sending, not the time when the message was due.
    bool outside, stamps_sending;
    // Heliograph only: accept pushed entries, poll the mailbox after the login, have no join and leave events published.
    bool pushes, polls_after_login, quiet_joins;
    const char *app, *prefix, *domain;
    // The endpoint of publishers that are not members; -1: like the other connections, all endpoints in turn.
    int publisher_endpoint;
    uint32_t others;
    // Of the scenario `sends`: how senders send, how many messages in a request, with which key of the server API; and whether the
    // receivers are offline.
    const struct driver *sender_driver;
    uint32_t batch;
    const char *key;
    bool offline;
};
extern struct options options;
