// Scenario P1: in each pair a message goes back and forth; the member that receives it sends the next.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cpu.h"
#include "driver.h"
#include "histogram.h"
#include "people.h"
#include "stamp.h"

#define QUIET (2 * SECOND)

static struct histogram latencies;
static uint64_t exchanged, disorder, refused;
static bool is_running;
static uint32_t in_flight;
static uint8_t body[BODY_SIZE_MAX];

static void send_next(struct connection *c, uint32_t number) {
    stamp_write(body + options.body, (struct stamp){c->index, number, now_ns()});
    c->driver->send_to_peer(c, body, options.body);
}

static void delivered(struct connection *c, const uint8_t *end) {
    struct stamp s = stamp_read(end);
    disorder += s.sender != c->peer->index || s.number != c->seen[0] + 1;
    c->seen[0] = s.number;
    exchanged++;
    histogram_add(&latencies, arrived - s.due);
    if (is_running) send_next(c, s.number + !(c->index & 1));
    else in_flight--;
}

static void answered(struct connection *c, bool good) {
    (void)c;
    refused += !good;
}

static void run(double seconds) {
    uint32_t failed_before = people.failed;
    exchanged = disorder = refused = 0;
    histogram_clear(&latencies);
    cpu_mark();
    int64_t start = now_ns(), end = start + (int64_t)(seconds * 1e9);
    is_running = true;
    in_flight = options.pairs;
    // The even-numbered member begins; message numbers count the rounds.
    for (uint32_t i = 0; i < options.pairs; i++) {
        struct connection *first = &people.all[2 * i];
        first->seen[0] = first->peer->seen[0];
        send_next(first, first->seen[0] + 1);
    }
    while (now_ns() < end && people.failed == failed_before) loop_turn(end);
    is_running = false;
    int64_t stopped = now_ns();
    while (in_flight > 0 && now_ns() - stopped < QUIET) loop_turn(now_ns() + SECOND / 20);
    printf("{\"event\":\"run\",\"seconds\":%.3f,\"delivered\":%llu,\"lost\":%u,\"disorder\":%llu,\"refused\":%llu,"
           "\"disconnected\":%u,\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f,",
        (double)(stopped - start) / 1e9, (unsigned long long)exchanged, in_flight, (unsigned long long)disorder,
        (unsigned long long)refused, people.failed - failed_before, (double)histogram_quantile(&latencies, 0.5) / 1e3,
        (double)histogram_quantile(&latencies, 0.99) / 1e3, (double)latencies.max / 1e3);
    cpu_print();
    say("}");
}

static int pairs(void) {
    people_make(2 * options.pairs);
    memset(body, 'x', sizeof body);
    for (uint32_t i = 0; i < people.count; i++) {
        struct connection *c = &people.all[i];
        c->peer = &people.all[i ^ 1];
        c->seen = calloc(1, sizeof *c->seen);
    }
    if (!people_open(0, people.count)) return 1;
    say("{\"event\":\"ready\",\"connections\":%u}", people.ready);
    char line[4096];
    double seconds;
    while (loop_command(line, sizeof line)) {
        if (sscanf(line, "run %lf", &seconds) == 1) run(seconds);
        else if (strncmp(line, "pids ", 5) == 0) cpu_processes(line + 5);
    }
    return 0;
}

const struct scenario scenario_pairs = {
    .name = "pairs", .ready = people_ready, .delivered = delivered, .answered = answered, .lost = people_lost, .run = pairs};
