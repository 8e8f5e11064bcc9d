// An epoll loop and its connections.
//
// All connections read into one shared buffer; bytes that a driver does not consume are kept with the connection. Writes
// are collected and sent once per turn of the loop.
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
    // Whether the driver subscribes, resumes an earlier session, and accepts pushed entries.
    bool joins, resumes, pushes;
    uint32_t index, endpoint, calls;
    // The last message number received from each sender.
    uint32_t *seen;
    struct connection *peer, *next_dirty;
    struct buffer in, out;
    // The account, and the channel that it is in or sends to.
    char *account, *channel;
    // Heliograph only: the session's line, the mailbox versions processed and acknowledged, whether a poll is unanswered.
    char *line;
    int64_t version, acknowledged;
    bool polls;
    // In cycles of joins and leaves: whether the join was answered.
    bool has_joined;
    uint32_t number;
};

extern struct sockaddr_in endpoints[64];
extern uint32_t endpoint_count;
// The time after the last read: the arrival time of the bytes that are being handled.
extern int64_t arrived;
// Whether connections may end without that being an error.
extern bool losses_expected;

void loop_start(void);
void connection_open(struct connection *c);
// Closes the connection; the scenario is not informed.
void connection_close(struct connection *c);
// Has the connection's `out` written at the end of this turn of the loop.
void connection_dirty(struct connection *c);
// Reports to the scenario that the greeting is done.
void connection_ready(struct connection *c);
void connection_failed(struct connection *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Runs one turn of the loop: waits at most until `until` (monotonic ns), handles events, writes.
void loop_turn(int64_t until);
// Whether a line of standard input has come.
bool loop_has_command(void);
// Reads a line of standard input into `line`, running the loop meanwhile; false at the end of the input.
bool loop_command(char *line, int size);
