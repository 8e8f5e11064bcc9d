// Scenario C1 and the cost of joins: many connections that are idle, ping, join and leave, or log out and in again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cpu.h"
#include "driver.h"
#include "people.h"

#define STALLED (60 * SECOND)

static uint64_t answers, refused;
static uint32_t opened;
static bool is_cycling;

static void delivered(struct connection *c, const uint8_t *end) {
    (void)c;
    (void)end;
}

static void answered(struct connection *c, bool good) {
    refused += !good;
    if (is_cycling && !c->has_joined) {
        // This was the answer to the join; the answer to the leave is counted.
        c->has_joined = true;
        c->driver->leave(c);
        return;
    }
    answers++;
}

static void told(const char *what, int64_t start, uint32_t failed_before) {
    printf("{\"event\":\"%s\",\"seconds\":%.3f,\"connections\":%u,\"answers\":%llu,\"refused\":%llu,\"disconnected\":%u,", what,
        (double)(now_ns() - start) / 1e9, people.ready, (unsigned long long)answers, (unsigned long long)refused,
        people.failed - failed_before);
    cpu_print();
    say("}");
}

// Opens the connections up to number `to`.
static void open_to(uint32_t to) {
    uint32_t failed_before = people.failed;
    if (to > people.count) to = people.count;
    cpu_mark();
    int64_t start = now_ns();
    people_open(opened, to);
    opened = to;
    told("opened", start, failed_before);
}

// Keeps the connections idle for `seconds`; if `period` > 0, each pings every `period` seconds.
static void stand(double seconds, double period) {
    uint32_t failed_before = people.failed;
    uint64_t sent = 0;
    answers = refused = 0;
    cpu_mark();
    int64_t start = now_ns(), end = start + (int64_t)(seconds * 1e9);
    while (now_ns() < end) {
        int64_t next = end;
        if (period > 0 && people.ready > 0) {
            double rate = people.ready / period;
            while ((next = start + (int64_t)((double)sent * 1e9 / rate)) <= now_ns()) {
                struct connection *c = &people.all[sent++ % people.ready];
                if (c->phase == PHASE_READY) c->driver->ping(c);
            }
        }
        loop_turn(next < end ? next : end);
    }
    told("stood", start, failed_before);
}

// Lets connections join the channel of connection 0 and leave it, `together` at a time.
static void cycle(uint32_t from, uint32_t to, uint32_t together) {
    uint32_t failed_before = people.failed, next = from;
    answers = refused = 0;
    if (to > people.count) to = people.count;
    is_cycling = true;
    cpu_mark();
    int64_t start = now_ns();
    while (answers < to - from && people.failed == failed_before && now_ns() - start < STALLED) {
        while (next < to && next - from - answers < together) {
            struct connection *c = &people.all[next++];
            c->channel = people.all[0].channel;
            c->has_joined = false;
            c->driver->join(c);
        }
        loop_turn(now_ns() + SECOND);
    }
    is_cycling = false;
    told("cycled", start, failed_before);
}

// Logs out all open connections, `together` at a time; they can be opened again.
static void log_out(uint32_t together) {
    uint32_t failed_before = people.failed, next = 0;
    answers = refused = 0;
    cpu_mark();
    int64_t start = now_ns();
    while (answers < opened && people.failed == failed_before && now_ns() - start < STALLED) {
        while (next < opened && next - answers < together) {
            struct connection *c = &people.all[next++];
            c->driver->log_out(c);
        }
        loop_turn(now_ns() + SECOND);
    }
    people.ready -= (uint32_t)answers;
    opened = 0;
    told("closed", start, failed_before);
}

static int idle(void) {
    people_make(options.members + options.others);
    for (uint32_t i = 0; i < people.count; i++) {
        struct connection *c = &people.all[i];
        c->joins = i < options.members;
        // The first member of each channel sets it up.
        c->number = i < options.channels ? 0 : 1;
        if (c->joins && asprintf(&c->channel, "%s-c%u", options.prefix, i % options.channels) < 0) abort();
    }
    say("{\"event\":\"ready\",\"connections\":0}");
    char line[4096];
    double seconds, period;
    unsigned from, to, together;
    while (loop_command(line, sizeof line)) {
        if (sscanf(line, "open %u", &to) == 1) open_to(to);
        else if (sscanf(line, "stand %lf %lf", &seconds, &period) == 2) stand(seconds, period);
        else if (sscanf(line, "cycle %u %u %u", &from, &to, &together) == 3) cycle(from, to, together);
        else if (sscanf(line, "logout %u", &together) == 1) log_out(together);
        else if (strncmp(line, "pids ", 5) == 0) cpu_processes(line + 5);
    }
    return 0;
}

const struct scenario scenario_idle = {
    .name = "idle", .ready = people_ready, .delivered = delivered, .answered = answered, .lost = people_lost, .run = idle};
