#define _GNU_SOURCE
/* Forwards the audio of channels in which everybody talks, by a media node and by a bare forwarder, which only receives and sends, and
 * prints what both cost: `media [SECONDS [ROUNDS]]`, a table with the bars, then a line of JSON. The two take turns, so that what else
 * the machine does shows in both; all figures are medians of the rounds. The forwarders run on core 0, the participants on core 1. */
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cm_caller.h"

enum {
	/* 80 speakers with 9 listeners and 50 frames a second each: 36,000 packets a second. */
	CHANNELS = 8,
	MEMBERS = 10,
	PEOPLE = CHANNELS * MEMBERS,
	RATE = 50,
	FRAME = 20000000,
	BATCH = 64,
	/* What an encrypted packet of theirs has: header, extensions, frame, tag. */
	SIZE = 120,
	BUFFER = 4 << 20,
	ROUNDS_MAX = 50,
	/* Of a round; not measured. */
	WARMING = RATE / 2,
};

/* What a participant takes at most, and a packet. */
static const double MOST_US = 7, MOST_RATIO = 2, MOST_DELAY = 2000, MOST_KIB = 64;

/* What a forwarder has done until now. */
struct mark {
	uint64_t cpu, sent, delays[CM_DELAY_BUCKETS];
};

struct forwarder {
	struct cm_node *node;
	int socket;
	struct sockaddr_in people[PEOPLE];
	/* Written by the forwarder's thread when it is asked to. */
	struct mark mark;
	_Atomic bool is_asked, is_over;
	sem_t marked;
};

/* How a participant says a frame, and reads what has come. */
struct load {
	struct forwarder *forwarder;
	void *(*run)(void *forwarder);
	struct cm_caller *callers[PEOPLE];
	int sockets[PEOPLE];
	uint64_t said;
};

/* Of one round. */
struct result {
	double us, packets, lost, p50, p99;
};

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void pin(int core)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(core, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void ignore(void *context, const struct cm_node_event *event)
{
	(void)context;
	(void)event;
}

static void answer(struct forwarder *forwarder)
{
	if (!forwarder->is_asked)
		return;
	forwarder->mark.cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	forwarder->is_asked = false;
	sem_post(&forwarder->marked);
}

/* On the node's thread. */
static void woken(void *context)
{
	struct forwarder *forwarder = context;
	struct cm_node_counts counts;

	cm_node_counts(forwarder->node, &counts);
	forwarder->mark.sent = counts.audio_sent;
	memcpy(forwarder->mark.delays, counts.delays, sizeof counts.delays);
	answer(forwarder);
	if (forwarder->is_over)
		cm_node_stop(forwarder->node);
}

static void *run_node(void *context)
{
	struct forwarder *forwarder = context;

	pin(0);
	/* What a profile calls it. */
	prctl(PR_SET_NAME, "node");
	cm_node_run(forwarder->node);
	return NULL;
}

/* The first byte of a packet is its sender's number. */
static void forward(struct forwarder *forwarder, const uint8_t *data, size_t size)
{
	int first = data[0] / MEMBERS * MEMBERS;

	for (int to = first; to < first + MEMBERS; to++)
		if (to != data[0]
		    && sendto(forwarder->socket, data, size, MSG_DONTWAIT, (struct sockaddr *)&forwarder->people[to],
				sizeof forwarder->people[to]) > 0)
			forwarder->mark.sent++;
}

static void *run_bare(void *context)
{
	struct forwarder *forwarder = context;
	static uint8_t data[BATCH][CM_PACKET_SIZE];
	struct iovec vectors[BATCH];
	struct mmsghdr messages[BATCH] = {0};
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0), count;

	pin(0);
	prctl(PR_SET_NAME, "bare");
	epoll_ctl(epoll, EPOLL_CTL_ADD, forwarder->socket, &event);
	for (int index = 0; index < BATCH; index++) {
		vectors[index] = (struct iovec){data[index], CM_PACKET_SIZE};
		messages[index].msg_hdr = (struct msghdr){.msg_iov = &vectors[index], .msg_iovlen = 1};
	}
	while (!forwarder->is_over) {
		epoll_wait(epoll, &event, 1, 5);
		while ((count = recvmmsg(forwarder->socket, messages, BATCH, MSG_DONTWAIT, NULL)) > 0)
			for (int index = 0; index < count; index++)
				forward(forwarder, data[index], messages[index].msg_len);
		answer(forwarder);
	}
	close(epoll);
	return NULL;
}

static void wake(struct forwarder *forwarder)
{
	if (forwarder->node)
		cm_node_wake(forwarder->node);
}

static struct mark ask(struct forwarder *forwarder)
{
	forwarder->is_asked = true;
	wake(forwarder);
	sem_wait(&forwarder->marked);
	return forwarder->mark;
}

static void poll_one(struct load *load, int who)
{
	uint8_t data[CM_PACKET_SIZE];

	if (load->forwarder->node)
		cm_caller_poll(load->callers[who], 200);
	else
		while (recv(load->sockets[who], data, sizeof data, MSG_DONTWAIT) > 0)
			;
}

static void say(struct load *load, int frame, int who)
{
	struct cm_caller_check check = {.is_nominating = true};
	uint8_t data[SIZE] = {(uint8_t)who};

	if (!load->forwarder->node) {
		load->said += send(load->sockets[who], data, sizeof data, 0) > 0;
		return;
	}
	if (frame % 100 == RATE)
		cm_caller_check(load->callers[who], &check);
	load->said += cm_caller_say(load->callers[who], 30, 1);
}

/* Everybody talks, one after the other within 20 ms, for that many frames. */
static void talk(struct load *load, int frames)
{
	uint64_t start = nanoseconds(CLOCK_MONOTONIC), due;

	load->said = 0;
	for (int frame = 0; frame < frames; frame++)
		for (int who = 0; who < PEOPLE; who++) {
			due = start + (uint64_t)frame * FRAME + (uint64_t)who * FRAME / PEOPLE;
			while (nanoseconds(CLOCK_MONOTONIC) < due)
				poll_one(load, (frame * 7 + who) % PEOPLE);
			say(load, frame, who);
			poll_one(load, who);
		}
	/* What is on its way arrives. */
	usleep(50000);
}

static bool open_node(struct load *load)
{
	struct cm_node_settings settings = {.has_ipv4 = true, .ipv4 = {127, 0, 0, 1}, .limits = cm_node_default_limits(), .woken = woken};
	struct cm_caller_check check = {.is_nominating = true};
	int error;

	if (cm_node_open(&load->forwarder->node, &settings, ignore, load->forwarder))
		return false;
	for (int who = 0; who < PEOPLE; who++) {
		struct cm_caller_member member = {
			.id = (uint64_t)who + 1, .channel = (uint64_t)(who / MEMBERS) + 1, .slots = MEMBERS - 1, .has_sources = true,
			.suite = CM_SUITE_GCM_128,
		};

		load->callers[who] = cm_caller_join(load->forwarder->node, &member, &error);
		if (!load->callers[who])
			return false;
		cm_caller_check(load->callers[who], &check);
		cm_node_turn(load->forwarder->node, 0);
	}
	return true;
}

static int open_socket(struct sockaddr_in *own)
{
	int made = socket(AF_INET, SOCK_DGRAM, 0), buffer = BUFFER;
	socklen_t size = sizeof *own;

	*own = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	setsockopt(made, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
	setsockopt(made, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
	if (bind(made, (struct sockaddr *)own, sizeof *own) || getsockname(made, (struct sockaddr *)own, &size))
		return -1;
	return made;
}

static bool open_bare(struct load *load)
{
	struct sockaddr_in to;

	load->forwarder->socket = open_socket(&to);
	for (int who = 0; who < PEOPLE; who++) {
		load->sockets[who] = open_socket(&load->forwarder->people[who]);
		if (load->sockets[who] < 0 || connect(load->sockets[who], (struct sockaddr *)&to, sizeof to))
			return false;
	}
	return load->forwarder->socket >= 0;
}

/* The limit of the bucket in which that share of the delays ends; -1 in the last one, which has none. */
static long delay(const uint64_t delays[CM_DELAY_BUCKETS], double share)
{
	uint64_t sum = 0, before = 0;

	for (unsigned at = 0; at < CM_DELAY_BUCKETS; at++)
		sum += delays[at];
	for (unsigned at = 0; at < CM_DELAY_BUCKETS - 1; at++)
		if ((double)(before += delays[at]) >= share * (double)sum)
			return (long)cm_node_delay_limit(at);
	return -1;
}

/* A round of one of the two. The thread's time begins anew with it. */
static struct result measure(struct load *load, int seconds)
{
	struct forwarder *forwarder = load->forwarder;
	struct cm_caller_check check = {.is_nominating = true};
	struct mark before, after;
	uint64_t sent;
	pthread_t thread;

	forwarder->is_over = false;
	/* In the bare forwarder's turns nobody has checked. */
	for (int who = 0; forwarder->node && who < PEOPLE; who++)
		cm_caller_check(load->callers[who], &check);
	pthread_create(&thread, NULL, load->run, forwarder);
	talk(load, WARMING);
	before = ask(forwarder);
	talk(load, seconds * RATE);
	after = ask(forwarder);
	forwarder->is_over = true;
	wake(forwarder);
	pthread_join(thread, NULL);
	sent = after.sent - before.sent;
	for (unsigned at = 0; at < CM_DELAY_BUCKETS; at++)
		after.delays[at] -= before.delays[at];
	return (struct result){
		.us = (double)(after.cpu - before.cpu) / 1000 / (double)sent,
		.packets = (double)sent / seconds,
		.lost = (double)(load->said * (MEMBERS - 1)) - (double)sent,
		.p50 = (double)delay(after.delays, 0.5),
		.p99 = (double)delay(after.delays, 0.99),
	};
}

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

/* Of the field at `offset` in each result. */
static double median(const struct result *results, int count, size_t offset)
{
	double values[ROUNDS_MAX];

	for (int at = 0; at < count; at++)
		memcpy(values + at, (const char *)(results + at) + offset, sizeof *values);
	qsort(values, (size_t)count, sizeof *values, compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static struct result medians(const struct result *results, int count)
{
	return (struct result){
		.us = median(results, count, offsetof(struct result, us)),
		.packets = median(results, count, offsetof(struct result, packets)),
		.lost = median(results, count, offsetof(struct result, lost)),
		.p50 = median(results, count, offsetof(struct result, p50)),
		.p99 = median(results, count, offsetof(struct result, p99)),
	};
}

/* What all participants of the node take, with all their slots in use; they are gone then. */
static double kibibytes(struct cm_node *node)
{
	size_t before = cm_memory_used();

	for (uint64_t id = 1; id <= PEOPLE; id++)
		cm_node_remove(node, id);
	return (double)(before - cm_memory_used()) / PEOPLE / 1024;
}

static const char *verdict(double value, double most)
{
	return value >= 0 && value <= most ? "kept" : "MISSED";
}

static void print(const struct result *node, const struct result *bare, double ratio, double memory)
{
	printf("%-34s %10s %10s %10s\n", "", "node", "bare", "at most");
	printf("%-34s %10.2f %10.2f %10.2f  %s\n", "CPU of an outgoing packet, us", node->us, bare->us, MOST_US,
		verdict(node->us, MOST_US));
	printf("%-34s %10.2f %10s %10.2f  %s\n", "ratio of the two", ratio, "", MOST_RATIO, verdict(ratio, MOST_RATIO));
	printf("%-34s %10.0f %10s %10.0f  %s\n", "99 % of delays within, us", node->p99, "", MOST_DELAY,
		verdict(node->p99, MOST_DELAY));
	printf("%-34s %10.1f %10s %10.0f  %s\n", "memory of a participant, KiB", memory, "", MOST_KIB, verdict(memory, MOST_KIB));
	printf("%-34s %10.0f\n", "half of the delays within, us", node->p50);
	printf("%-34s %10.0f %10.0f\n", "outgoing packets in a second", node->packets, bare->packets);
	printf("%-34s %10.0f %10.0f\n\n", "lost, of a round", node->lost, bare->lost);
	printf("{\"node\": {\"packets_per_second\": %.0f, \"us_per_packet\": %.2f, \"lost\": %.0f, \"p50_us\": %.0f, \"p99_us\": %.0f, "
		   "\"participant_kib\": %.1f}, ",
		node->packets, node->us, node->lost, node->p50, node->p99, memory);
	printf("\"bare\": {\"packets_per_second\": %.0f, \"us_per_packet\": %.2f, \"lost\": %.0f}, \"ratio\": %.2f}\n", bare->packets,
		bare->us, bare->lost, ratio);
}

int main(int count, char **arguments)
{
	static struct forwarder node, bare;
	static struct load to_node = {.forwarder = &node, .run = run_node}, to_bare = {.forwarder = &bare, .run = run_bare};
	static struct result nodes[ROUNDS_MAX], bares[ROUNDS_MAX], ratios[ROUNDS_MAX];
	int seconds = count > 1 ? atoi(arguments[1]) : 3, rounds = count > 2 ? atoi(arguments[2]) : 5;
	struct result ours, limit;

	if (seconds < 1 || rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: media [SECONDS [ROUNDS]], of %d rounds at most\n", ROUNDS_MAX);
		return 2;
	}
	pin(1);
	sem_init(&node.marked, 0, 0);
	sem_init(&bare.marked, 0, 0);
	if (!open_node(&to_node) || !open_bare(&to_bare)) {
		fprintf(stderr, "media: no sockets, or no memory\n");
		return 1;
	}
	for (int at = 0; at < rounds; at++) {
		nodes[at] = measure(&to_node, seconds);
		bares[at] = measure(&to_bare, seconds);
		ratios[at].us = nodes[at].us / bares[at].us;
	}
	ours = medians(nodes, rounds);
	limit = medians(bares, rounds);
	print(&ours, &limit, median(ratios, rounds, offsetof(struct result, us)), kibibytes(node.node));
	return 0;
}
