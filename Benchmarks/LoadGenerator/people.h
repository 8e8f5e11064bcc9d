// The connections of a scenario, opened a bounded number at a time.
#pragma once
#include "loop.h"

struct people {
    struct connection *all;
    uint32_t count, opened, ready, failed;
};
extern struct people people;

// Creates `count` connections, not opened yet.
void people_make(uint32_t count);
// Opens the connections from `from` to `to` and waits until all are ready; false when one failed or it took too long.
bool people_open(uint32_t from, uint32_t to);
// To be called by the scenario's `ready` callback.
void people_ready(struct connection *c);
void people_lost(struct connection *c);

// Prints a line of JSON and flushes the output.
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
