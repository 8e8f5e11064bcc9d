// The reconnect storm: many clients resume at once. The scenario `talk` shows what others notice of it.
//
// The members log in at endpoint 0 and join channels. `storm` cuts their connections, or waits until the server does, and resumes all of them
// at the last endpoint.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cpu.h"
#include "driver.h"
#include "histogram.h"
#include "people.h"
#include "stamp.h"

#define GIVE_UP (60 * SECOND)

static struct histogram resumes;
static uint64_t delivered_count, refused;
static uint32_t resumed, lost, errors, awaited;
static bool is_storming;
static int64_t storm_start;
static uint8_t body[BODY_SIZE_MAX];

static void delivered(struct connection *c, const uint8_t *end) {
    (void)c;
    (void)end;
    delivered_count++;
}

static void answered(struct connection *c, bool good) {
    (void)c;
    refused += !good;
}

static void ready(struct connection *c) {
    if (!c->resumes) return people_ready(c);
    resumed++;
    histogram_add(&resumes, now_ns() - storm_start);
}

static void lost_one(struct connection *c) {
    if (!is_storming) return people_lost(c);
    // The first loss of a connection is the storm's; a second one is an error.
    if (c->resumes) {
        errors++;
        return;
    }
    if (storm_start == 0) storm_start = now_ns();
    lost++;
    c->resumes = true;
    // From here on the loss of a connection is an error.
    if (lost == options.members) losses_expected = false;
}

// Sends one message to each channel; all its members must receive it.
static void check(void) {
    uint64_t expected = options.members;
    delivered_count = 0;
    for (uint32_t i = 0; i < options.channels && i < options.members; i++) {
        stamp_write(body + options.body, (struct stamp){0, 1, now_ns()});
        people.all[i].driver->publish(&people.all[i], body, options.body);
    }
    int64_t start = now_ns();
    while (delivered_count < expected && now_ns() - start < 10 * SECOND) loop_turn(now_ns() + SECOND / 20);
    say("{\"event\":\"checked\",\"expected\":%llu,\"delivered\":%llu}", (unsigned long long)expected,
        (unsigned long long)delivered_count);
}

// If `cuts`, the connections are cut here; else by the server, whose end is awaited.
static void storm(bool cuts) {
    uint32_t next = 0;
    cpu_mark();
    is_storming = true;
    losses_expected = !cuts;
    say("{\"event\":\"storm\"}");
    if (cuts) {
        storm_start = now_ns();
        for (uint32_t i = 0; i < options.members; i++) {
            connection_close(&people.all[i]);
            people.all[i].resumes = true;
            lost++;
        }
    }
    int64_t begin = now_ns();
    while (resumed + errors < options.members && now_ns() - begin < GIVE_UP) {
        while (next < options.members && awaited - resumed - errors < options.concurrency) {
            struct connection *c = &people.all[next];
            if (!c->resumes || c->phase != PHASE_CLOSED) break;
            c->endpoint = endpoint_count - 1;
            connection_open(c);
            awaited++;
            next++;
        }
        loop_turn(now_ns() + SECOND / 1000);
    }
    printf("{\"event\":\"run\",\"lost\":%u,\"resumed\":%u,\"errors\":%u,\"refused\":%llu,\"resume_p50_ms\":%.1f,"
           "\"resume_p99_ms\":%.1f,\"resume_last_ms\":%.1f,",
        lost, resumed, errors, (unsigned long long)refused, (double)histogram_quantile(&resumes, 0.5) / 1e6,
        (double)histogram_quantile(&resumes, 0.99) / 1e6, (double)resumes.max / 1e6);
    cpu_print();
    say("}");
}

static int run(void) {
    people_make(options.members);
    memset(body, 'x', sizeof body);
    for (uint32_t i = 0; i < people.count; i++) {
        struct connection *c = &people.all[i];
        c->joins = true;
        c->number = i < options.channels ? 0 : 1;
        c->endpoint = 0;
        if (asprintf(&c->channel, "%s-c%u", options.prefix, i % options.channels) < 0) abort();
    }
    if (!people_open(0, people.count)) return 1;
    say("{\"event\":\"ready\",\"connections\":%u}", people.ready);
    char line[4096], how[16];
    while (loop_command(line, sizeof line)) {
        if (sscanf(line, "storm %15s", how) == 1) storm(strcmp(how, "cut") == 0);
        else if (strncmp(line, "check", 5) == 0) check();
        else if (strncmp(line, "pids ", 5) == 0) cpu_processes(line + 5);
    }
    return 0;
}

const struct scenario scenario_storm = {
    .name = "storm", .ready = ready, .delivered = delivered, .answered = answered, .lost = lost_one, .run = run};
