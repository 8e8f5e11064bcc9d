#include "people.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "driver.h"

#define STALLED (60 * SECOND)

struct people people;

void people_make(uint32_t count) {
    people.all = calloc(count, sizeof *people.all);
    if (!people.all) abort();
    people.count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct connection *c = &people.all[i];
        c->driver = options.driver;
        c->index = i;
        c->fd = -1;
        c->endpoint = i;
        c->pushes = options.pushes;
        if (asprintf(&c->account, "%s-%u", options.prefix, i) < 0) abort();
    }
}

bool people_open(uint32_t from, uint32_t to) {
    uint32_t next = from, goal = people.ready + to - from;
    int64_t progress = now_ns();
    uint32_t before = people.ready;
    while (people.ready < goal && people.failed == 0) {
        while (next < to && (next - from) - (people.ready - (goal - (to - from))) < options.concurrency)
            connection_open(&people.all[next++]);
        loop_turn(now_ns() + SECOND);
        if (people.ready != before) {
            before = people.ready;
            progress = now_ns();
        } else if (now_ns() - progress > STALLED) {
            fprintf(stderr, "stalled at %u of %u connections\n", people.ready, goal);
            return false;
        }
    }
    return people.failed == 0;
}

void people_ready(struct connection *c) {
    (void)c;
    people.ready++;
}

void people_lost(struct connection *c) {
    (void)c;
    people.failed++;
}

void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}
