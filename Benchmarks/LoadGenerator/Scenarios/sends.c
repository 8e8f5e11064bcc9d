// Scenario A1: senders each send to one receiver after the other, the next message (or request with several) when the one before was
// answered. Receivers are clients that get the messages pushed, or nobody: then the messages wait.
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

// Of the messages, from the sender to the receiver; and of the answers to the senders.
static struct histogram latencies, answer_latencies;
static uint64_t accepted, arrivals, disorder, refused;
static uint32_t waiting;
static bool is_running;
static uint8_t body[BODY_SIZE_MAX];

// The number of a sender's last message to each receiver, its next receiver, and when it sent what is not answered.
static struct sender {
    uint32_t *numbers;
    uint32_t next;
    int64_t sent;
} *senders;

static struct sender *sender_of(const struct connection *c) { return &senders[c->index - options.members]; }

static void send_next(struct connection *c) {
    struct sender *own = sender_of(c);
    own->sent = now_ns();
    waiting++;
    for (uint32_t i = 0; i < options.batch; i++) {
        uint32_t to = own->next++ % options.members;
        c->peer = &people.all[to];
        stamp_write(body + options.body, (struct stamp){c->index, ++own->numbers[to], own->sent});
        c->driver->send_to_peer(c, body, options.body);
    }
}

static void delivered(struct connection *c, const uint8_t *end) {
    struct stamp s = stamp_read(end);
    uint32_t *seen = &c->seen[s.sender - options.members];
    disorder += s.number != *seen + 1;
    *seen = s.number;
    arrivals++;
    histogram_add(&latencies, arrived - s.due);
}

static void answered(struct connection *c, bool good) {
    waiting--;
    histogram_add(&answer_latencies, arrived - sender_of(c)->sent);
    if (good) accepted += options.batch;
    else refused++;
    if (is_running) send_next(c);
}

static void run(double seconds) {
    uint32_t failed_before = people.failed;
    accepted = arrivals = disorder = refused = 0;
    histogram_clear(&latencies);
    histogram_clear(&answer_latencies);
    cpu_mark();
    int64_t start = now_ns(), end = start + (int64_t)(seconds * 1e9);
    is_running = true;
    for (uint32_t i = 0; i < options.publishers; i++) send_next(&people.all[options.members + i]);
    while (now_ns() < end && people.failed == failed_before) loop_turn(end);
    is_running = false;
    int64_t stopped = now_ns();
    while ((waiting > 0 || (!options.offline && arrivals < accepted)) && now_ns() - stopped < QUIET)
        loop_turn(now_ns() + SECOND / 20);
    printf("{\"event\":\"run\",\"seconds\":%.3f,\"accepted\":%llu,\"delivered\":%llu,\"disorder\":%llu,\"refused\":%llu,"
           "\"unanswered\":%u,\"disconnected\":%u,\"p50_us\":%.1f,\"p99_us\":%.1f,"
           "\"answer_p50_us\":%.1f,\"answer_p99_us\":%.1f,",
        (double)(stopped - start) / 1e9, (unsigned long long)accepted, (unsigned long long)arrivals,
        (unsigned long long)disorder, (unsigned long long)refused, waiting, people.failed - failed_before,
        (double)histogram_quantile(&latencies, 0.5) / 1e3, (double)histogram_quantile(&latencies, 0.99) / 1e3,
        (double)histogram_quantile(&answer_latencies, 0.5) / 1e3, (double)histogram_quantile(&answer_latencies, 0.99) / 1e3);
    cpu_print();
    say("}");
}

static int sends(void) {
    people_make(options.members + options.publishers);
    senders = calloc(options.publishers, sizeof *senders);
    if (!senders) abort();
    memset(body, 'x', sizeof body);
    for (uint32_t i = 0; i < people.count; i++) {
        struct connection *c = &people.all[i];
        if (i < options.members) {
            c->endpoint = 0;
            c->seen = calloc(options.publishers, sizeof *c->seen);
            if (!c->seen) abort();
            continue;
        }
        c->driver = options.sender_driver;
        c->endpoint = options.publisher_endpoint < 0 ? 0 : (uint32_t)options.publisher_endpoint;
        struct sender *own = sender_of(c);
        own->numbers = calloc(options.members, sizeof *own->numbers);
        if (!own->numbers) abort();
        // Spread over the receivers.
        own->next = (uint32_t)((uint64_t)(i - options.members) * options.members / options.publishers);
    }
    if (!people_open(options.offline ? options.members : 0, people.count)) return 1;
    say("{\"event\":\"ready\",\"connections\":%u}", people.ready);
    char line[4096];
    double seconds;
    while (loop_command(line, sizeof line)) {
        if (sscanf(line, "run %lf", &seconds) == 1) run(seconds);
        else if (strncmp(line, "pids ", 5) == 0) cpu_processes(line + 5);
    }
    return 0;
}

const struct scenario scenario_sends = {
    .name = "sends", .ready = people_ready, .delivered = delivered, .answered = answered, .lost = people_lost, .run = sends};
