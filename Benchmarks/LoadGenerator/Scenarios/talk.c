// Talk, while other processes do something else: `members` log in at the last endpoint and join a channel, and one of them sends the others
// messages at a steady rate. A process of its own, so that no delay is measured that is the load generator's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "driver.h"
#include "histogram.h"
#include "people.h"
#include "stamp.h"

static struct histogram latencies;
static uint64_t heard, disorder, refused, spoken;
static uint8_t body[BODY_SIZE_MAX];

static void delivered(struct connection *c, const uint8_t *end) {
    struct stamp s = stamp_read(end);
    heard++;
    disorder += s.number != c->seen[0] + 1;
    c->seen[0] = s.number;
    histogram_add(&latencies, arrived - s.due);
}

static void answered(struct connection *c, bool good) {
    (void)c;
    refused += !good;
}

static void tell(void) {
    say("{\"event\":\"talked\",\"spoken\":%llu,\"heard\":%llu,\"expected\":%llu,\"disorder\":%llu,\"refused\":%llu,\"disconnected\":%u,"
        "\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f}",
        (unsigned long long)spoken, (unsigned long long)heard, (unsigned long long)(spoken * options.members),
        (unsigned long long)disorder, (unsigned long long)refused, people.failed,
        (double)histogram_quantile(&latencies, 0.5) / 1e3, (double)histogram_quantile(&latencies, 0.99) / 1e3,
        (double)latencies.max / 1e3);
    histogram_clear(&latencies);
}

// Speaks for so many seconds; with 0, until a command comes.
static void speak(double rate, double seconds) {
    struct connection *speaker = &people.all[0];
    int64_t start = now_ns(), due;
    uint64_t before = spoken;
    while (seconds > 0 ? now_ns() < start + (int64_t)(seconds * 1e9) : !loop_has_command()) {
        while (now_ns() >= (due = start + (int64_t)((double)(spoken - before) * 1e9 / rate))) {
            stamp_write(body + options.body, (struct stamp){0, (uint32_t)++spoken, due});
            speaker->driver->publish(speaker, body, options.body);
        }
        loop_turn(now_ns() + SECOND / 1000);
    }
    for (int64_t quiet = now_ns(); heard < spoken * options.members && now_ns() - quiet < 2 * SECOND;)
        loop_turn(now_ns() + SECOND / 1000);
}

static int run(void) {
    people_make(options.members);
    memset(body, 'x', sizeof body);
    for (uint32_t i = 0; i < people.count; i++) {
        struct connection *c = &people.all[i];
        c->joins = true;
        c->number = i == 0 ? 0 : 1;
        c->endpoint = endpoint_count - 1;
        c->seen = calloc(1, sizeof *c->seen);
        c->channel = (char *)options.prefix;
    }
    if (!people_open(0, people.count)) return 1;
    say("{\"event\":\"ready\",\"connections\":%u}", people.ready);
    char line[4096];
    double rate, seconds;
    while (loop_command(line, sizeof line)) {
        if (sscanf(line, "talk %lf %lf", &rate, &seconds) != 2) continue;
        speak(rate, seconds);
        tell();
    }
    return 0;
}

const struct scenario scenario_talk = {
    .name = "talk", .ready = people_ready, .delivered = delivered, .answered = answered, .lost = people_lost, .run = run};
