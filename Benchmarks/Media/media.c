#define _GNU_SOURCE
/* Forwards the audio of channels in which everybody talks, by a media node and by a bare forwarder, which only receives and sends, and
 * prints what both cost as JSON: `media SECONDS`. The forwarders run on core 0, the participants on core 1. */
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
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
};

struct forwarder {
	struct cm_node *node;
	int socket;
	struct sockaddr_in people[PEOPLE];
	_Atomic uint64_t cpu, sent;
	_Atomic bool is_over;
};

/* How a participant says a frame, and reads what has come. */
struct load {
	struct forwarder *forwarder;
	struct cm_caller *callers[PEOPLE];
	int sockets[PEOPLE];
	uint64_t said;
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

static void *run_node(void *context)
{
	struct forwarder *forwarder = context;
	struct cm_node_counts counts;

	pin(0);
	while (!forwarder->is_over) {
		cm_node_turn(forwarder->node, 5);
		cm_node_counts(forwarder->node, &counts);
		forwarder->sent = counts.audio_sent;
		forwarder->cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	}
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
			forwarder->sent++;
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
		forwarder->cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	}
	close(epoll);
	return NULL;
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
	/* Consent. */
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
	struct cm_node_settings settings = {.has_ipv4 = true, .ipv4 = {127, 0, 0, 1}, .limits = cm_node_default_limits()};
	struct cm_caller_check check = {.is_nominating = true};
	int error;

	if (cm_node_open(&load->forwarder->node, &settings, ignore, NULL))
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

/* Measures one of the two after a second of warming up; returns microseconds of CPU for each packet that was sent. */
static double measure(struct load *load, void *(*run)(void *), int seconds, const char *name)
{
	struct forwarder *forwarder = load->forwarder;
	struct cm_node_counts before = {0}, after = {0};
	uint64_t cpu, sent, asked;
	double each;
	pthread_t thread;

	pthread_create(&thread, NULL, run, forwarder);
	talk(load, RATE);
	cpu = forwarder->cpu;
	sent = forwarder->sent;
	if (forwarder->node)
		cm_node_counts(forwarder->node, &before);
	talk(load, seconds * RATE);
	forwarder->is_over = true;
	pthread_join(thread, NULL);
	sent = forwarder->sent - sent;
	asked = load->said * (MEMBERS - 1);
	each = (double)(forwarder->cpu - cpu) / 1000 / (double)sent;
	printf(
		"\"%s\": {\"packets_per_second\": %.0f, \"us_per_packet\": %.2f, \"lost\": %ld", name, (double)sent / seconds, each,
		(long)asked - (long)sent);
	if (forwarder->node) {
		cm_node_counts(forwarder->node, &after);
		for (unsigned at = 0; at < CM_DELAY_BUCKETS; at++)
			after.delays[at] -= before.delays[at];
		printf(", \"p50_us\": %ld, \"p99_us\": %ld", delay(after.delays, 0.5), delay(after.delays, 0.99));
	}
	printf("}, ");
	return each;
}

int main(int count, char **arguments)
{
	static struct forwarder node, bare;
	static struct load to_node = {.forwarder = &node}, to_bare = {.forwarder = &bare};
	int seconds = count > 1 ? atoi(arguments[1]) : 5;
	double ours, limit;

	pin(1);
	if (!open_node(&to_node) || !open_bare(&to_bare)) {
		fprintf(stderr, "media: no sockets, or no memory\n");
		return 1;
	}
	printf("{");
	ours = measure(&to_node, run_node, seconds, "node");
	limit = measure(&to_bare, run_bare, seconds, "bare");
	printf("\"ratio\": %.2f}\n", ours / limit);
	return 0;
}
