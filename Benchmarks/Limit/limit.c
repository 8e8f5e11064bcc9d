// The limit that other servers are compared with: a server that only calls send() once per subscriber for each frame.
//
// With --coalesce, all frames of one read are sent by one send() per subscriber: the limit with the fewest system calls.
// With --ring, a frame's sends go by io_uring, as a gateway's do: the limit with the fewest system calls for each frame.
// Exits with 3 where the kernel refuses a ring.
// A connection's first byte tells its kind: S a subscriber, P a publisher, D a member of a pair. D is followed by two
// numbers of six digits, the member's and its peer's; the member's frames are sent to the peer. The server answers with
// one byte. Then unmasked WebSocket frames follow.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "c_ring.h"

#define DESCRIPTORS 65536
#define READ_SIZE (64 * 1024)

static char kinds[DESCRIPTORS];
static int peers[DESCRIPTORS], by_number[1000000];
static int subscribers[DESCRIPTORS], subscriber_count;
// The publisher's incomplete frame.
static unsigned char bytes[READ_SIZE];
static size_t kept;
static int coalesces;
// NULL without --ring.
static struct cr_ring *ring;

static void drop(int fd) {
    for (int i = 0; i < subscriber_count; i++)
        if (subscribers[i] == fd) subscribers[i] = subscribers[--subscriber_count];
    kinds[fd] = 0;
    close(fd);
}

static void send_all(const unsigned char *frame, size_t size) {
    static int taken[DESCRIPTORS];
    struct cr_frames frames = {.bytes = frame, .size = size};
    int error;
    if (ring && !cr_ring_send(ring, subscribers, (size_t)subscriber_count, &frames, taken, &error)) {
        fprintf(stderr, "limit: the ring: %s\n", strerror(error));
        exit(1);
    }
    // From the last to the first, because the last one takes the place of one that is dropped.
    for (int i = subscriber_count - 1; i >= 0; i--) {
        size_t sent = ring ? (size_t)taken[i] : 0;
        // Blocks on a slow reader: nothing is lost, and the publisher is slowed down.
        if (sent < size && send(subscribers[i], frame + sent, size - sent, MSG_NOSIGNAL) < 0) drop(subscribers[i]);
    }
}

static void published(size_t size) {
    size_t used = 0;
    while (size - used >= 4) {
        size_t total = 4 + ((size_t)bytes[used + 2] << 8 | bytes[used + 3]);
        if (size - used < total) break;
        if (!coalesces) send_all(bytes + used, total);
        used += total;
    }
    if (coalesces && used > 0) send_all(bytes, used);
    kept = size - used;
    memmove(bytes, bytes + used, kept);
}

static void greeted(int fd) {
    char greeting[16] = {0};
    ssize_t size = recv(fd, greeting, 13, MSG_DONTWAIT);
    if (size <= 0) return drop(fd);
    kinds[fd] = greeting[0];
    if (greeting[0] == 'S') {
        subscribers[subscriber_count++] = fd;
    } else if (greeting[0] == 'D') {
        int peer = atoi(greeting + 7);
        greeting[7] = 0;
        by_number[atoi(greeting + 1)] = fd;
        peers[fd] = peer;
    }
    send(fd, "k", 1, MSG_NOSIGNAL);
}

static void readable(int fd) {
    if (!kinds[fd]) return greeted(fd);
    if (kinds[fd] == 'D') {
        static unsigned char frame[READ_SIZE];
        ssize_t size = recv(fd, frame, sizeof frame, MSG_DONTWAIT);
        if (size <= 0) return drop(fd);
        send(by_number[peers[fd]], frame, (size_t)size, MSG_NOSIGNAL);
        return;
    }
    ssize_t size = recv(fd, bytes + kept, READ_SIZE - kept, MSG_DONTWAIT);
    if (size <= 0) {
        if (size < 0 && errno == EAGAIN) return;
        return drop(fd);
    }
    published(kept + (size_t)size);
}

static void greet(int poller, int listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
}

int main(int count, char **arguments) {
    if (count < 2) return fprintf(stderr, "usage: limit PORT [--coalesce | --ring]\n"), 2;
    coalesces = count > 2 && strcmp(arguments[2], "--coalesce") == 0;
    if (count > 2 && strcmp(arguments[2], "--ring") == 0) {
        int error;
        ring = cr_ring_make(&error);
        if (!ring) return fprintf(stderr, "limit: io_uring: %s\n", strerror(error)), 3;
    }
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[1]))};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4096) != 0) {
        perror("limit");
        return 1;
    }
    int poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[512];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int ready = epoll_wait(poller, events, 512, -1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.fd == listener) greet(poller, listener);
            else readable(events[i].data.fd);
        }
    }
}
