// Scenario P1: in each pair a message goes back and forth; the member that receives it sends the next, at once or, with a rate, when
// its turn comes.
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

// Of the messages, from the sender to the receiver; and of the answers to their senders.
static struct histogram latencies, answer_latencies;
static uint64_t exchanged, disorder, refused;
static bool is_running, is_paced;
static uint32_t in_flight;
static uint8_t body[BODY_SIZE_MAX];

// Who has received a message and waits for its turn to send the next: a ring with a place for each pair.
static struct turn {
    struct connection *sender;
    uint32_t number;
} *waiting;
static uint64_t queued, taken;

// When each connection sent the messages whose answers are missing; answers come in their order.
#define UNANSWERED 256
static struct sendings {
    int64_t at[UNANSWERED];
    uint32_t sent, answered;
} *sendings;

static void send_next(struct connection *c, uint32_t number) {
    int64_t now = now_ns();
    struct sendings *own = &sendings[c->index];
    own->at[own->sent++ % UNANSWERED] = now;
    stamp_write(body + options.body, (struct stamp){c->index, number, now});
    c->driver->send_to_peer(c, body, options.body);
}

static void delivered(struct connection *c, const uint8_t *end) {
    struct stamp s = stamp_read(end);
    disorder += s.sender != c->peer->index || s.number != c->seen[0] + 1;
    c->seen[0] = s.number;
    exchanged++;
    histogram_add(&latencies, arrived - s.due);
    uint32_t next = s.number + !(c->index & 1);
    if (is_running && !is_paced) return send_next(c, next);
    in_flight--;
    if (is_running) waiting[queued++ % options.pairs] = (struct turn){c, next};
}

static void answered(struct connection *c, bool good) {
    struct sendings *own = &sendings[c->index];
    histogram_add(&answer_latencies, arrived - own->at[own->answered++ % UNANSWERED]);
    refused += !good;
}

// Sends what is due at `rate` messages a second since `start`; returns when the next message is due, at most `end`.
static int64_t send_due(double rate, int64_t start, int64_t end) {
    while (taken < queued) {
        int64_t due = start + (int64_t)((double)taken * 1e9 / rate);
        if (due > now_ns()) return due < end ? due : end;
        struct turn turn = waiting[taken++ % options.pairs];
        in_flight++;
        send_next(turn.sender, turn.number);
    }
    return end;
}

// Lets messages go back and forth for `seconds`; if `rate` > 0, all pairs together send at most so many a second.
static void run(double seconds, double rate) {
    uint32_t failed_before = people.failed;
    exchanged = disorder = refused = 0;
    histogram_clear(&latencies);
    histogram_clear(&answer_latencies);
    cpu_mark();
    int64_t start = now_ns(), end = start + (int64_t)(seconds * 1e9);
    is_running = true;
    is_paced = rate > 0;
    in_flight = is_paced ? 0 : options.pairs;
    queued = taken = 0;
    // The even-numbered member begins; message numbers count the rounds.
    for (uint32_t i = 0; i < options.pairs; i++) {
        struct connection *first = &people.all[2 * i];
        first->seen[0] = first->peer->seen[0];
        if (is_paced) waiting[queued++ % options.pairs] = (struct turn){first, first->seen[0] + 1};
        else send_next(first, first->seen[0] + 1);
    }
    while (now_ns() < end && people.failed == failed_before) loop_turn(is_paced ? send_due(rate, start, end) : end);
    is_running = false;
    int64_t stopped = now_ns();
    while (in_flight > 0 && now_ns() - stopped < QUIET) loop_turn(now_ns() + SECOND / 20);
    printf("{\"event\":\"run\",\"seconds\":%.3f,\"delivered\":%llu,\"lost\":%u,\"disorder\":%llu,\"refused\":%llu,"
           "\"disconnected\":%u,\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f,"
           "\"answer_p50_us\":%.1f,\"answer_p99_us\":%.1f,",
        (double)(stopped - start) / 1e9, (unsigned long long)exchanged, in_flight, (unsigned long long)disorder,
        (unsigned long long)refused, people.failed - failed_before, (double)histogram_quantile(&latencies, 0.5) / 1e3,
        (double)histogram_quantile(&latencies, 0.99) / 1e3, (double)latencies.max / 1e3,
        (double)histogram_quantile(&answer_latencies, 0.5) / 1e3, (double)histogram_quantile(&answer_latencies, 0.99) / 1e3);
    cpu_print();
    say("}");
}

static int pairs(void) {
    people_make(2 * options.pairs);
    waiting = calloc(options.pairs, sizeof *waiting);
    sendings = calloc(people.count, sizeof *sendings);
    if (!waiting || !sendings) abort();
    memset(body, 'x', sizeof body);
    for (uint32_t i = 0; i < people.count; i++) {
        struct connection *c = &people.all[i];
        c->peer = &people.all[i ^ 1];
        c->seen = calloc(1, sizeof *c->seen);
    }
    if (!people_open(0, people.count)) return 1;
    say("{\"event\":\"ready\",\"connections\":%u}", people.ready);
    char line[4096];
    double seconds, rate;
    while (loop_command(line, sizeof line)) {
        rate = 0;
        if (sscanf(line, "run %lf %lf", &seconds, &rate) >= 1) run(seconds, rate);
        else if (strncmp(line, "pids ", 5) == 0) cpu_processes(line + 5);
    }
    return 0;
}

const struct scenario scenario_pairs = {
    .name = "pairs", .ready = people_ready, .delivered = delivered, .answered = answered, .lost = people_lost, .run = pairs};
