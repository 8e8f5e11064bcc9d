#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cm_participant.h"

enum {
	/* The datagrams of one call to the kernel, and the calls for one socket in a turn: then others have theirs. */
	BATCH = 64,
	BATCHES = 4,
	/* The packets that one call sends. */
	OUTBOX = 32,
	/* One byte more than a packet may have tells that it is too large. */
	DATAGRAM_SIZE = CM_PACKET_SIZE + 4,
	/* What the kernel keeps while the loop is busy; it takes less when its own bound is lower. */
	SOCKET_BUFFER = 4 * 1024 * 1024,
	/* A kernel's time that is further in the past is wrong. */
	LATEST_ARRIVAL = 10000000,
};

/* What recvmmsg fills. */
struct cm_batch {
	struct mmsghdr messages[BATCH];
	struct iovec vectors[BATCH];
	union cm_socket_address from[BATCH];
	union {
		struct cmsghdr header;
		uint8_t bytes[CMSG_SPACE(sizeof(struct timespec))];
	} control[BATCH];
	_Alignas(8) uint8_t data[BATCH][DATAGRAM_SIZE];
};

/* One packet's audio for its receivers: sent by one call. */
struct cm_outbox {
	struct mmsghdr messages[OUTBOX];
	struct iovec vectors[OUTBOX];
	struct cm_participant *receivers[OUTBOX];
	unsigned count;
	_Alignas(8) uint8_t data[OUTBOX][CM_OUT_SIZE];
};

static const uint64_t DELAY_LIMITS[CM_DELAY_BUCKETS] = {
	50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 0,
};

struct cm_node_limits cm_node_default_limits(void)
{
	return (struct cm_node_limits){
		.participants = 4000,
		.members = 500,
		.audio_packets = 200,
		.all_packets = 3200,
		.bytes = 1000000,
		.reports = 200,
	};
}

static uint64_t microseconds(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static uint64_t system_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return microseconds(time);
}

uint64_t cm_node_clock(const struct cm_node *node)
{
	return node->settings.clock ? node->settings.clock(node->context) : system_clock(CLOCK_MONOTONIC);
}

uint64_t cm_node_delay_limit(unsigned bucket)
{
	return bucket < CM_DELAY_BUCKETS ? DELAY_LIMITS[bucket] : 0;
}

uint16_t cm_node_port(const struct cm_node *node)
{
	return node->port;
}

void cm_node_counts(const struct cm_node *node, struct cm_node_counts *counts)
{
	*counts = node->counts;
	counts->participants = node->count;
	counts->channels = (unsigned)node->channels.count;
}

void cm_node_drop(struct cm_node *node, enum cm_drop reason)
{
	node->counts.dropped[reason]++;
}

bool cm_node_send(struct cm_node *node, const union cm_socket_address *to, const uint8_t *data, size_t size)
{
	bool is_ipv6 = to->any.sa_family == AF_INET6;
	ssize_t sent = sendto(
		is_ipv6 ? node->ipv6 : node->ipv4, data, size, MSG_DONTWAIT, &to->any, is_ipv6 ? sizeof to->ipv6 : sizeof to->ipv4);

	if (sent < 0) {
		cm_node_drop(node, CM_DROP_SEND);
		return false;
	}
	node->counts.packets_sent++;
	node->counts.bytes_sent += size;
	return true;
}

static bool is_ipv6(const struct cm_participant *receiver)
{
	return receiver->paths[receiver->current].to.any.sa_family == AF_INET6;
}

uint8_t *cm_node_packet(struct cm_participant *receiver)
{
	struct cm_outbox *outbox = receiver->node->outboxes[is_ipv6(receiver)];

	if (outbox->count == OUTBOX)
		cm_node_flush(receiver->node);
	return outbox->data[outbox->count];
}

void cm_node_put(struct cm_participant *receiver, size_t size)
{
	struct cm_outbox *outbox = receiver->node->outboxes[is_ipv6(receiver)];
	union cm_socket_address *to = &receiver->paths[receiver->current].to;
	unsigned index = outbox->count++;

	outbox->receivers[index] = receiver;
	outbox->vectors[index] = (struct iovec){.iov_base = outbox->data[index], .iov_len = size};
	outbox->messages[index].msg_hdr = (struct msghdr){
		.msg_name = to,
		.msg_namelen = is_ipv6(receiver) ? sizeof to->ipv6 : sizeof to->ipv4,
		.msg_iov = outbox->vectors + index,
		.msg_iovlen = 1,
	};
}

static void count_sent(struct cm_participant *receiver, size_t size)
{
	struct cm_node_counts *counts = &receiver->node->counts;

	counts->packets_sent++;
	counts->bytes_sent += size;
	counts->audio_sent++;
	receiver->counts.packets_sent++;
	receiver->counts.bytes_sent += size;
}

/* The kernel stops at a packet that it refuses, which is left out then. */
static void flush(struct cm_node *node, struct cm_outbox *outbox, int descriptor)
{
	unsigned index = 0;

	while (index < outbox->count) {
		int sent = sendmmsg(descriptor, outbox->messages + index, outbox->count - index, MSG_DONTWAIT);

		if (sent <= 0) {
			cm_node_drop(node, CM_DROP_SEND);
			index++;
		}
		for (; sent > 0; sent--, index++)
			count_sent(outbox->receivers[index], outbox->vectors[index].iov_len);
	}
	outbox->count = 0;
}

void cm_node_flush(struct cm_node *node)
{
	flush(node, node->outboxes[0], node->ipv4);
	flush(node, node->outboxes[1], node->ipv6);
}

/* Events */

void cm_node_raise(struct cm_participant *participant, enum cm_node_event_kind kind)
{
	struct cm_list *list = &participant->node->pending;

	participant->node->counts.events[kind]++;
	participant->pending |= 1U << kind;
	if (participant->is_pending)
		return;
	participant->is_pending = true;
	participant->pending_before = list->last;
	participant->pending_after = NULL;
	if (list->last)
		list->last->pending_after = participant;
	else
		list->first = participant;
	list->last = participant;
}

void cm_participant_unpend(struct cm_participant *participant)
{
	struct cm_list *list = &participant->node->pending;

	if (!participant->is_pending)
		return;
	if (participant->pending_before)
		participant->pending_before->pending_after = participant->pending_after;
	else
		list->first = participant->pending_after;
	if (participant->pending_after)
		participant->pending_after->pending_before = participant->pending_before;
	else
		list->last = participant->pending_before;
	participant->is_pending = false;
	participant->pending = 0;
}

/* The handler may remove anybody: after each event, what is left is looked for again. */
static void tell(struct cm_node *node)
{
	struct cm_participant *participant;

	while ((participant = node->pending.first)) {
		struct cm_node_event event = {
			.id = participant->settings.id,
			.elapsed = node->now - participant->begun,
			.dtls = participant->dtls_state,
		};

		while (!(participant->pending >> event.kind & 1))
			event.kind++;
		if (participant->current != CM_NO_PATH)
			event.address = participant->paths[participant->current].address;
		participant->pending &= ~(1U << event.kind);
		if (!participant->pending)
			cm_participant_unpend(participant);
		node->handler(node->context, &event);
	}
}

/* Datagrams */

static struct cm_address address_of(const union cm_socket_address *from)
{
	struct cm_address address = {.is_ipv6 = from->any.sa_family == AF_INET6};

	if (address.is_ipv6) {
		memcpy(address.bytes, &from->ipv6.sin6_addr, 16);
		address.port = ntohs(from->ipv6.sin6_port);
	}
	else {
		memcpy(address.bytes, &from->ipv4.sin_addr, 4);
		address.port = ntohs(from->ipv4.sin_port);
	}
	return address;
}

static void handle(struct cm_node *node, const struct cm_datagram *datagram)
{
	enum cm_kind kind = cm_kind_of(datagram->data, datagram->size);
	struct cm_table_key key;
	struct cm_participant *participant;

	if (kind == CM_KIND_UNKNOWN) {
		cm_node_drop(node, CM_DROP_UNKNOWN);
		return;
	}
	if (kind == CM_KIND_STUN) {
		cm_ice_receive(node, datagram);
		return;
	}
	key = cm_table_address(&datagram->from);
	participant = cm_table_find(&node->by_address, &key);
	if (!participant || !cm_ice_is_known(participant, &datagram->from))
		cm_node_drop(node, CM_DROP_STRANGER);
	else if (kind == CM_KIND_DTLS)
		cm_ice_receive_dtls(participant, datagram);
	else if (kind == CM_KIND_RTP)
		cm_forward_packet(participant, datagram);
	else
		cm_forward_report(participant, datagram);
}

/* The kernel's time of arrival, by the node's clock: without it, waiting in the socket's buffer would be no delay. `ahead` says how
 * much the system's clock is ahead of the node's. */
static uint64_t arrival(const struct cm_node *node, struct msghdr *message, uint64_t ahead)
{
	struct cmsghdr *control;
	struct timespec time;
	uint64_t came;

	/* A scripted clock has nothing to do with the kernel's. */
	control = node->settings.clock ? NULL : CMSG_FIRSTHDR(message);
	for (; control; control = CMSG_NXTHDR(message, control)) {
		if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&time, CMSG_DATA(control), sizeof time);
		came = microseconds(time) - ahead;
		if (came <= node->now && node->now - came < LATEST_ARRIVAL)
			return came;
	}
	return node->now;
}

/* Makes the first `count` messages ready to be filled, after they were used. */
static void prepare(struct cm_batch *batch, int count)
{
	int index;

	for (index = 0; index < count; index++) {
		batch->vectors[index] = (struct iovec){.iov_base = batch->data[index], .iov_len = DATAGRAM_SIZE};
		batch->messages[index].msg_hdr = (struct msghdr){
			.msg_name = &batch->from[index],
			.msg_namelen = sizeof batch->from[index],
			.msg_iov = &batch->vectors[index],
			.msg_iovlen = 1,
			.msg_control = &batch->control[index],
			.msg_controllen = sizeof batch->control[index],
		};
	}
}

/* False when nothing is left. */
static bool receive(struct cm_node *node, int descriptor)
{
	struct cm_batch *batch = node->batch;
	uint64_t ahead;
	int count, index;

	count = recvmmsg(descriptor, batch->messages, BATCH, MSG_DONTWAIT, NULL);
	if (count <= 0)
		return false;
	node->now = cm_node_clock(node);
	ahead = system_clock(CLOCK_REALTIME) - node->now;
	for (index = 0; index < count; index++) {
		struct cm_datagram datagram = {
			.data = batch->data[index],
			.size = batch->messages[index].msg_len,
			.from = address_of(&batch->from[index]),
			.to = &batch->from[index],
			.arrived = arrival(node, &batch->messages[index].msg_hdr, ahead),
		};

		node->counts.packets_received++;
		node->counts.bytes_received += datagram.size;
		if (datagram.size > CM_PACKET_SIZE)
			cm_node_drop(node, CM_DROP_SIZE);
		else
			handle(node, &datagram);
	}
	prepare(batch, count);
	return count == BATCH;
}

/* The loop */

static void tick(struct cm_node *node)
{
	unsigned index;

	cm_ice_tick(node);
	for (index = node->group; index < node->count; index += CM_GROUPS) {
		cm_ice_poll(node->participants[index]);
		cm_forward_poll(node->participants[index]);
	}
	node->group = (node->group + 1) % CM_GROUPS;
}

static void run_ticks(struct cm_node *node)
{
	unsigned turns = 0;
	uint64_t lag;

	node->now = cm_node_clock(node);
	if (node->now < node->next_tick)
		return;
	lag = node->now - node->next_tick;
	node->counts.ticks++;
	node->counts.lag_sum += lag;
	if (lag > node->counts.lag_max)
		node->counts.lag_max = lag;
	/* All groups have their turn after a pause, once. */
	for (; turns < CM_GROUPS && node->next_tick <= node->now; turns++, node->next_tick += CM_TICK)
		tick(node);
	if (node->next_tick <= node->now)
		node->next_tick = node->now + CM_TICK;
}

static void woken(struct cm_node *node)
{
	uint64_t count;

	if (read(node->waker, &count, sizeof count) == sizeof count && node->settings.woken)
		node->settings.woken(node->context);
}

int cm_node_turn(struct cm_node *node, int milliseconds)
{
	struct epoll_event events[4];
	unsigned batches;
	int count = epoll_wait(node->epoll, events, 4, milliseconds), index;

	if (count < 0 && errno != EINTR)
		return errno;
	node->now = cm_node_clock(node);
	for (index = 0; index < count; index++) {
		if (events[index].data.fd == node->waker) {
			woken(node);
			continue;
		}
		for (batches = 0; batches < BATCHES; batches++)
			if (!receive(node, events[index].data.fd))
				break;
	}
	run_ticks(node);
	tell(node);
	return 0;
}

int cm_node_run(struct cm_node *node)
{
	int error = 0;

	node->is_stopping = false;
	while (!node->is_stopping && !error) {
		uint64_t now = cm_node_clock(node);

		error = cm_node_turn(node, now >= node->next_tick ? 0 : (int)((node->next_tick - now + 999) / 1000));
	}
	return error;
}

void cm_node_stop(struct cm_node *node)
{
	node->is_stopping = true;
}

void cm_node_wake(const struct cm_node *node)
{
	uint64_t one = 1;
	ssize_t size = write(node->waker, &one, sizeof one);

	/* A write fails only when the counter is full, and then the loop is being woken anyway. */
	(void)size;
}

/* Opening */

static int listen_on(struct cm_node *node, int descriptor)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.fd = descriptor}};

	return epoll_ctl(node->epoll, EPOLL_CTL_ADD, descriptor, &event) ? errno : 0;
}

/* Binds a socket for one family. */
static int bind_to(struct cm_node *node, int *descriptor, const union cm_socket_address *address)
{
	bool is_ipv6 = address->any.sa_family == AF_INET6;
	union cm_socket_address bound;
	socklen_t size = sizeof bound;
	int one = 1, buffer = SOCKET_BUFFER;

	*descriptor = socket(address->any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (*descriptor < 0)
		return errno;
	if (is_ipv6 && setsockopt(*descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one))
		return errno;
	/* Less room, and no times, are no reasons to fail. */
	(void)setsockopt(*descriptor, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
	(void)setsockopt(*descriptor, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
	(void)setsockopt(*descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
	if (bind(*descriptor, &address->any, is_ipv6 ? sizeof address->ipv6 : sizeof address->ipv4)
	    || getsockname(*descriptor, &bound.any, &size))
		return errno;
	node->port = ntohs(is_ipv6 ? bound.ipv6.sin6_port : bound.ipv4.sin_port);
	return listen_on(node, *descriptor);
}

static int open_sockets(struct cm_node *node)
{
	const struct cm_node_settings *settings = &node->settings;
	int error = 0;

	node->epoll = epoll_create1(EPOLL_CLOEXEC);
	node->waker = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (node->epoll < 0 || node->waker < 0)
		return errno;
	node->port = settings->port;
	if (settings->has_ipv4) {
		union cm_socket_address address = {.ipv4 = {.sin_family = AF_INET, .sin_port = htons(node->port)}};

		memcpy(&address.ipv4.sin_addr, settings->ipv4, 4);
		error = bind_to(node, &node->ipv4, &address);
	}
	if (settings->has_ipv6 && !error) {
		union cm_socket_address address = {.ipv6 = {.sin6_family = AF_INET6, .sin6_port = htons(node->port)}};

		memcpy(&address.ipv6.sin6_addr, settings->ipv6, 16);
		error = bind_to(node, &node->ipv6, &address);
	}
	return error ? error : listen_on(node, node->waker);
}

static bool make_tables(struct cm_node *node)
{
	size_t limit = node->settings.limits.participants;
	uint64_t secret[2];

	if (getrandom(secret, sizeof secret, 0) != sizeof secret)
		return false;
	node->participants = calloc(limit, sizeof *node->participants);
	node->batch = calloc(1, sizeof *node->batch);
	node->outboxes[0] = calloc(1, sizeof *node->outboxes[0]);
	node->outboxes[1] = calloc(1, sizeof *node->outboxes[1]);
	if (node->batch)
		prepare(node->batch, BATCH);
	return node->participants && node->batch && node->outboxes[0] && node->outboxes[1]
		&& cm_table_make(&node->by_id, limit, secret)
		&& cm_table_make(&node->by_ufrag, limit, secret) && cm_table_make(&node->channels, limit, secret)
		&& cm_table_make(&node->by_address, limit * CM_PATHS, secret);
}

int cm_node_open(struct cm_node **node, const struct cm_node_settings *settings, cm_node_event_h *handler, void *context)
{
	struct cm_node *made;
	int error;

	*node = NULL;
	if ((!settings->has_ipv4 && !settings->has_ipv6) || settings->limits.participants == 0 || settings->limits.members == 0)
		return EINVAL;
	made = calloc(1, sizeof *made);
	if (!made)
		return ENOMEM;
	*made = (struct cm_node){
		.settings = *settings, .handler = handler, .context = context, .epoll = -1, .waker = -1, .ipv4 = -1, .ipv6 = -1,
	};
	error = make_tables(made) ? open_sockets(made) : ENOMEM;
	if (error) {
		cm_node_close(made);
		return error;
	}
	made->now = cm_node_clock(made);
	made->next_tick = made->now + CM_TICK;
	*node = made;
	return 0;
}

static void close_descriptor(int descriptor)
{
	if (descriptor >= 0)
		close(descriptor);
}

void cm_node_close(struct cm_node *node)
{
	if (!node)
		return;
	while (node->count)
		cm_node_remove(node, node->participants[node->count - 1]->settings.id);
	cm_table_free(&node->by_address);
	cm_table_free(&node->by_ufrag);
	cm_table_free(&node->by_id);
	cm_table_free(&node->channels);
	close_descriptor(node->epoll);
	close_descriptor(node->waker);
	close_descriptor(node->ipv4);
	close_descriptor(node->ipv6);
	free(node->participants);
	free(node->batch);
	free(node->outboxes[0]);
	free(node->outboxes[1]);
	free(node);
}
