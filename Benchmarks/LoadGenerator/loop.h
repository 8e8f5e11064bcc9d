// One epoll loop, and the connections on it.
//
// A read goes into one buffer that all connections share; what a driver leaves of it is kept with the connection. Writes
// are gathered and go out once per turn of the loop.
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

struct driver;

enum phase { PHASE_CLOSED, PHASE_CONNECTING, PHASE_GREETING, PHASE_READY };

struct connection {
    const struct driver *driver;
    int fd;
    uint8_t phase;
    // The driver's own step within PHASE_GREETING.
    uint8_t step;
    bool wants_write, is_dirty;
    // What the driver does when the connection stands: subscribe, resume an old session; whether it takes pushes.
    bool joins, resumes, pushes;
    uint32_t index, endpoint, calls;
    // The last number seen of each sender.
    uint32_t *seen;
    struct connection *peer, *next_dirty;
    struct buffer in, out;
    // Who it is, and the channel it is in or sends to.
    char *account, *channel;
    // Heliograph: the session's line, the mailbox version processed and acknowledged, whether a poll is outstanding.
    char *line;
    int64_t version, acknowledged;
    bool polls;
    // In cycles of joining and leaving: the join was answered.
    bool has_joined;
    uint32_t number;
};

extern struct sockaddr_in endpoints[64];
extern uint32_t endpoint_count;
// Taken after each read: when what is being handed over arrived.
extern int64_t arrived;
// Whether a connection that ends is no surprise.
extern bool losses_expected;

void loop_start(void);
void connection_open(struct connection *c);
// Closes without a word; the scenario is not told.
void connection_close(struct connection *c);
// What stands in `out` is written at the end of this turn.
void connection_dirty(struct connection *c);
// The greeting is over: tells the scenario.
void connection_ready(struct connection *c);
void connection_failed(struct connection *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Turns the loop once: waits until `until` at most (monotonic ns), handles what is there, writes.
void loop_turn(int64_t until);
// Reads a line of standard input into `line`, turning the loop until there is one; false at its end.
bool loop_command(char *line, int size);
