// The connections of a scenario, and how they are brought up a bounded number at a time.
#pragma once
#include "loop.h"

struct people {
    struct connection *all;
    uint32_t count, opened, ready, failed;
};
extern struct people people;

// Makes `count` connections; none is open yet.
void people_make(uint32_t count);
// Opens those from `from` to `to` and waits until all are ready; false when one failed or it took too long.
bool people_open(uint32_t from, uint32_t to);
// For the scenario's callbacks.
void people_ready(struct connection *c);
void people_lost(struct connection *c);

// Prints a line of JSON and hands it on at once.
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
