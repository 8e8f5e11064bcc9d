// Scenarios F1, F2 and latency: publishers send at a steady rate to one channel, and all members count what they receive.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cpu.h"
#include "driver.h"
#include "histogram.h"
#include "people.h"
#include "stamp.h"

// The time without a delivery after which missing messages count as lost.
#define QUIET (2 * SECOND)
#define DRAIN (20 * SECOND)

static struct histogram latencies;
static uint64_t delivered_count, disorder, refused, acknowledged;
static int64_t last_delivery;
static uint32_t *numbers;
static uint8_t body[BODY_SIZE_MAX];

static void delivered(struct connection *c, const uint8_t *end) {
    struct stamp s = stamp_read(end);
    if (s.sender >= options.publishers) {
        disorder++;
        return;
    }
    disorder += s.number != c->seen[s.sender] + 1;
    c->seen[s.sender] = s.number;
    delivered_count++;
    last_delivery = arrived;
    histogram_add(&latencies, arrived - s.due);
}

static void answered(struct connection *c, bool good) {
    (void)c;
    acknowledged++;
    refused += !good;
}

static struct connection *publisher(uint32_t i) {
    return options.outside ? &people.all[options.members + i] : &people.all[i];
}

// Sends the messages that are due; returns when the next one is.
static int64_t send_due(int64_t start, double rate, uint64_t *sent, uint64_t total) {
    int64_t now = now_ns();
    while (*sent < total) {
        int64_t due = start + (int64_t)((double)*sent * 1e9 / rate);
        if (due > now) return due;
        uint32_t sender = (uint32_t)(*sent % options.publishers);
        struct connection *c = publisher(sender);
        if (c->phase == PHASE_READY) {
            stamp_write(body + options.body, (struct stamp){sender, ++numbers[sender], options.stamps_sending ? now : due});
            c->driver->publish(c, body, options.body);
        }
        ++*sent;
    }
    return now + SECOND;
}

static void run(double rate, double seconds) {
    uint64_t sent = 0, total = (uint64_t)(rate * seconds), expected = total * options.members;
    if (total == 0) total = 1;
    histogram_clear(&latencies);
    delivered_count = disorder = refused = acknowledged = 0;
    uint32_t failed_before = people.failed;
    cpu_mark();
    int64_t start = now_ns(), lag = 0;
    last_delivery = start;
    while (sent < total && people.failed == failed_before) {
        int64_t next = send_due(start, rate, &sent, total);
        loop_turn(next);
        int64_t late = now_ns() - next;
        if (late > lag) lag = late;
    }
    int64_t sending_ended = now_ns();
    uint64_t at_end = delivered_count;
    while (delivered_count < expected && now_ns() - last_delivery < QUIET && now_ns() - sending_ended < DRAIN)
        loop_turn(now_ns() + SECOND / 20);
    double wall = (double)(last_delivery - start) / 1e9;
    printf("{\"event\":\"run\",\"rate\":%.1f,\"seconds\":%.3f,\"sending\":%.3f,\"sent\":%llu,\"expected\":%llu,"
           "\"delivered\":%llu,\"delivered_while_sending\":%llu,\"disorder\":%llu,\"refused\":%llu,\"disconnected\":%u,"
           "\"lag_ms\":%.2f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f,",
        rate, wall, (double)(sending_ended - start) / 1e9, (unsigned long long)sent, (unsigned long long)expected,
        (unsigned long long)delivered_count, (unsigned long long)at_end, (unsigned long long)disorder,
        (unsigned long long)refused, people.failed - failed_before, (double)lag / 1e6,
        (double)histogram_quantile(&latencies, 0.5) / 1e3, (double)histogram_quantile(&latencies, 0.99) / 1e3,
        (double)latencies.max / 1e3);
    cpu_print();
    say("}");
    // A lost message is counted once.
    for (uint32_t i = 0; i < options.members; i++)
        memcpy(people.all[i].seen, numbers, options.publishers * sizeof *numbers);
}

static int fanout(void) {
    uint32_t outside = options.outside ? options.publishers : 0;
    people_make(options.members + outside);
    numbers = calloc(options.publishers, sizeof *numbers);
    memset(body, 'x', sizeof body);
    for (uint32_t i = 0; i < people.count; i++) {
        struct connection *c = &people.all[i];
        c->channel = (char *)options.prefix;
        c->joins = i < options.members;
        // Only the first member sets up the channel.
        c->number = i;
        c->seen = calloc(options.publishers, sizeof *c->seen);
        if (i >= options.members && options.publisher_endpoint >= 0) c->endpoint = (uint32_t)options.publisher_endpoint;
    }
    if (!people_open(0, 1) || !people_open(1, people.count)) return 1;
    say("{\"event\":\"ready\",\"connections\":%u}", people.ready);
    char line[4096];
    double rate, seconds;
    while (loop_command(line, sizeof line)) {
        if (sscanf(line, "run %lf %lf", &rate, &seconds) == 2) run(rate, seconds);
        else if (strncmp(line, "pids ", 5) == 0) cpu_processes(line + 5);
    }
    return 0;
}

const struct scenario scenario_fanout = {
    .name = "fanout", .ready = people_ready, .delivered = delivered, .answered = answered, .lost = people_lost, .run = fanout};
