// The load generator: one scenario against one kind of server, driven by commands on standard input.
//
//   pids N,N,...       processes whose CPU time is reported
//   run ...            runs the scenario's measured part, prints one line of JSON
#include <arpa/inet.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "driver.h"

struct options options = {
    .driver = &driver_heliograph,
    .members = 1000,
    .publishers = 1,
    .pairs = 100,
    .concurrency = 100,
    .channels = 1,
    .body = 200,
    .quiet_joins = true,
    .app = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2",
    .prefix = "bench",
    .domain = "localhost",
    .publisher_endpoint = -1,
    .sender_driver = &driver_heliograph,
    .batch = 1,
    .key = "",
};
const struct scenario *scenario = &scenario_fanout;

static const struct driver *const drivers[] = {&driver_heliograph, &driver_limit, &driver_redis, &driver_mqtt,
    &driver_nats, &driver_nchan, &driver_xmpp, &driver_api};
static const struct scenario *const scenarios[] = {&scenario_fanout, &scenario_pairs, &scenario_idle, &scenario_storm,
    &scenario_talk, &scenario_sends};

static const struct option names[] = {
    {"driver", required_argument, NULL, 'd'},
    {"scenario", required_argument, NULL, 's'},
    {"endpoint", required_argument, NULL, 'e'},
    {"members", required_argument, NULL, 'm'},
    {"publishers", required_argument, NULL, 'p'},
    {"pairs", required_argument, NULL, 'P'},
    {"concurrency", required_argument, NULL, 'c'},
    {"channels", required_argument, NULL, 'C'},
    {"others", required_argument, NULL, 'O'},
    {"body", required_argument, NULL, 'b'},
    {"app", required_argument, NULL, 'a'},
    {"prefix", required_argument, NULL, 'x'},
    {"publisher-endpoint", required_argument, NULL, 'E'},
    {"sender-driver", required_argument, NULL, 'D'},
    {"batch", required_argument, NULL, 'B'},
    {"key", required_argument, NULL, 'k'},
    {"offline", no_argument, NULL, 'f'},
    {"outside", no_argument, NULL, 'o'},
    {"stamp-sending", no_argument, NULL, 'S'},
    {"push", no_argument, NULL, 'u'},
    {"poll", no_argument, NULL, 'l'},
    {"join-events", no_argument, NULL, 'j'},
    {0},
};

static void fail(const char *what) {
    fprintf(stderr, "load: %s\n", what);
    exit(2);
}

static void add_endpoint(const char *port) {
    if (endpoint_count == sizeof endpoints / sizeof *endpoints) fail("too many endpoints");
    struct sockaddr_in *address = &endpoints[endpoint_count++];
    address->sin_family = AF_INET;
    address->sin_port = htons((uint16_t)atoi(port));
    inet_pton(AF_INET, "127.0.0.1", &address->sin_addr);
}

static const struct driver *driver_named(const char *name) {
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        if (strcmp(drivers[i]->name, name) == 0) return drivers[i];
    fail("no such driver");
    return NULL;
}

static void choose_scenario(const char *name) {
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(scenarios[i]->name, name) == 0) {
            scenario = scenarios[i];
            return;
        }
    fail("no such scenario");
}

int main(int count, char **arguments) {
    int option;
    while ((option = getopt_long(count, arguments, "", names, NULL)) != -1) {
        uint32_t number = optarg ? (uint32_t)strtoul(optarg, NULL, 10) : 0;
        switch (option) {
        case 'd': options.driver = driver_named(optarg); break;
        case 's': choose_scenario(optarg); break;
        case 'e': add_endpoint(optarg); break;
        case 'm': options.members = number; break;
        case 'p': options.publishers = number; break;
        case 'P': options.pairs = number; break;
        case 'c': options.concurrency = number; break;
        case 'C': options.channels = number; break;
        case 'O': options.others = number; break;
        case 'b': options.body = number; break;
        case 'a': options.app = optarg; break;
        case 'x': options.prefix = optarg; break;
        case 'E': options.publisher_endpoint = (int)number; break;
        case 'D': options.sender_driver = driver_named(optarg); break;
        case 'B': options.batch = number; break;
        case 'k': options.key = optarg; break;
        case 'f': options.offline = true; break;
        case 'o': options.outside = true; break;
        case 'S': options.stamps_sending = true; break;
        case 'u': options.pushes = true; break;
        case 'l': options.polls_after_login = true; break;
        case 'j': options.quiet_joins = false; break;
        default: return 2;
        }
    }
    if (endpoint_count == 0) fail("--endpoint PORT is needed");
    if (options.body < 40 || options.body > 8192) fail("--body is 40...8192");
    if (!options.publishers || !options.channels || !options.concurrency || !options.batch) fail("a number is 0");
    signal(SIGPIPE, SIG_IGN);
    // Timers fire on time rather than up to 50 us late.
    prctl(PR_SET_TIMERSLACK, 1UL);
    loop_start();
    return scenario->run();
}
