// The reconnect storm: many clients resume at once while others exchange messages.
//
// The members log in at endpoint 0 and join channels. `others` log in at the last endpoint, and one of them sends them
// messages at a steady rate. `storm` cuts the members' connections, or waits until the server does, and resumes all of
// them at the last endpoint.
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

static struct histogram latencies, resumes;
static uint64_t delivered_count, disorder, refused, sent;
static uint32_t resumed, lost, errors, awaited;
static bool is_storming, is_checking;
static int64_t storm_start;
static uint8_t body[BODY_SIZE_MAX];

static void delivered(struct connection *c, const uint8_t *end) {
    struct stamp s = stamp_read(end);
    delivered_count++;
    if (is_checking) return;
    disorder += s.number != c->seen[0] + 1;
    c->seen[0] = s.number;
    histogram_add(&latencies, arrived - s.due);
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
    if (!is_storming || c->index >= options.members) return people_lost(c);
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

static struct connection *speaker(void) { return &people.all[options.members]; }

static void speak(int64_t start, double rate) {
    while (now_ns() >= start + (int64_t)((double)sent * 1e9 / rate)) {
        int64_t due = start + (int64_t)((double)sent * 1e9 / rate);
        stamp_write(body + options.body, (struct stamp){0, (uint32_t)++sent, due});
        speaker()->driver->publish(speaker(), body, options.body);
    }
}

// Sends one message to each channel; all its members must receive it.
static void check(void) {
    uint64_t expected = options.members;
    is_checking = true;
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

// `before` seconds of calm, the storm, `after` seconds of calm. If `cuts`, the connections are cut here; else by the server.
static void storm(double rate, double before, double after, bool cuts) {
    uint32_t failed_before = people.failed, next = 0;
    struct histogram *calm = calloc(1, sizeof *calm);
    cpu_mark();
    int64_t start = now_ns(), calm_end = start + (int64_t)(before * 1e9);
    while (now_ns() < calm_end) {
        speak(start, rate);
        loop_turn(now_ns() + SECOND / 1000);
    }
    memcpy(calm, &latencies, sizeof *calm);
    histogram_clear(&latencies);
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
    int64_t begin = now_ns(), end = 0;
    while (end == 0 || now_ns() < end) {
        speak(start, rate);
        while (next < options.members && awaited - resumed - errors < options.concurrency) {
            struct connection *c = &people.all[next];
            if (!c->resumes || c->phase != PHASE_CLOSED) break;
            c->endpoint = endpoint_count - 1;
            connection_open(c);
            awaited++;
            next++;
        }
        loop_turn(now_ns() + SECOND / 1000);
        bool is_over = (resumed + errors >= options.members) || now_ns() - begin > GIVE_UP;
        if (is_over && end == 0) end = now_ns() + (int64_t)(after * 1e9);
    }
    uint64_t spoken = sent, heard_goal = spoken * options.others;
    int64_t quiet = now_ns();
    while (delivered_count < heard_goal && now_ns() - quiet < 2 * SECOND) loop_turn(now_ns() + SECOND / 20);
    printf("{\"event\":\"run\",\"lost\":%u,\"resumed\":%u,\"errors\":%u,\"others_disconnected\":%u,\"resume_p50_ms\":%.1f,"
           "\"resume_p99_ms\":%.1f,\"resume_last_ms\":%.1f,\"spoken\":%llu,\"heard\":%llu,\"expected\":%llu,"
           "\"disorder\":%llu,\"refused\":%llu,\"calm_p50_us\":%.1f,\"calm_p99_us\":%.1f,\"p50_us\":%.1f,\"p99_us\":%.1f,"
           "\"max_us\":%.1f,",
        lost, resumed, errors, people.failed - failed_before, (double)histogram_quantile(&resumes, 0.5) / 1e6,
        (double)histogram_quantile(&resumes, 0.99) / 1e6, (double)resumes.max / 1e6, (unsigned long long)spoken,
        (unsigned long long)delivered_count, (unsigned long long)heard_goal, (unsigned long long)disorder,
        (unsigned long long)refused, (double)histogram_quantile(calm, 0.5) / 1e3, (double)histogram_quantile(calm, 0.99) / 1e3,
        (double)histogram_quantile(&latencies, 0.5) / 1e3, (double)histogram_quantile(&latencies, 0.99) / 1e3,
        (double)latencies.max / 1e3);
    cpu_print();
    say("}");
}

static int run(void) {
    people_make(options.members + options.others);
    memset(body, 'x', sizeof body);
    for (uint32_t i = 0; i < people.count; i++) {
        struct connection *c = &people.all[i];
        bool is_other = i >= options.members;
        c->joins = true;
        c->number = (is_other ? i == options.members : i < options.channels) ? 0 : 1;
        c->endpoint = is_other ? endpoint_count - 1 : 0;
        c->seen = calloc(1, sizeof *c->seen);
        if (asprintf(&c->channel, is_other ? "%s-others" : "%s-c%u", options.prefix, i % options.channels) < 0) abort();
    }
    if (!people_open(0, people.count)) return 1;
    say("{\"event\":\"ready\",\"connections\":%u}", people.ready);
    char line[4096], how[16];
    double rate, before, after;
    while (loop_command(line, sizeof line)) {
        if (sscanf(line, "storm %15s %lf %lf %lf", how, &rate, &before, &after) == 4)
            storm(rate, before, after, strcmp(how, "cut") == 0);
        else if (strncmp(line, "check", 5) == 0) check();
        else if (strncmp(line, "pids ", 5) == 0) cpu_processes(line + 5);
    }
    return 0;
}

const struct scenario scenario_storm = {
    .name = "storm", .ready = ready, .delivered = delivered, .answered = answered, .lost = lost_one, .run = run};
