#include "loop.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "driver.h"

#define READ_SIZE (128 * 1024)
#define EVENTS 1024
#define FAILURES_TOLD 5

struct sockaddr_in endpoints[64];
uint32_t endpoint_count;
int64_t arrived;
bool losses_expected;

static int poller;
static struct connection *dirty;
static uint8_t read_buffer[READ_SIZE];
static struct buffer commands;
static bool commands_ended;
static int failures_told;

void loop_start(void) {
    poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &commands};
    // A regular file as standard input: epoll does not support it, and it is always readable.
    if (epoll_ctl(poller, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0) {
        perror("standard input must be a pipe");
        exit(2);
    }
}

static void watch(struct connection *c, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = c};
    if (epoll_ctl(poller, operation, c->fd, &event) != 0) {
        perror("epoll_ctl");
        exit(2);
    }
}

void connection_open(struct connection *c) {
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) {
        perror("socket");
        exit(2);
    }
    int one = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->phase = PHASE_CONNECTING;
    c->step = 0;
    c->wants_write = true;
    struct sockaddr_in *address = &endpoints[c->endpoint % endpoint_count];
    if (connect(c->fd, (struct sockaddr *)address, sizeof *address) != 0 && errno != EINPROGRESS) {
        perror("connect");
        exit(2);
    }
    watch(c, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
}

void connection_close(struct connection *c) {
    if (c->phase == PHASE_CLOSED) return;
    // Resets the connection at once, like a failing network, without keeping the port in TIME_WAIT.
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(c->fd);
    c->fd = -1;
    c->phase = PHASE_CLOSED;
    c->wants_write = false;
    buffer_free(&c->in);
    buffer_free(&c->out);
}

void connection_failed(struct connection *c, const char *format, ...) {
    if (!losses_expected && failures_told++ < FAILURES_TOLD) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "connection %u (%s): ", c->index, c->account ? c->account : "-");
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
    }
    if (c->phase == PHASE_CLOSED) return;
    connection_close(c);
    scenario->lost(c);
}

void connection_dirty(struct connection *c) {
    if (c->is_dirty) return;
    c->is_dirty = true;
    c->next_dirty = dirty;
    dirty = c;
}

void connection_ready(struct connection *c) {
    c->phase = PHASE_READY;
    scenario->ready(c);
}

static void flush(struct connection *c) {
    while (c->phase != PHASE_CLOSED && buffer_size(&c->out) > 0) {
        ssize_t written = send(c->fd, buffer_head(&c->out), buffer_size(&c->out), MSG_NOSIGNAL);
        if (written < 0) {
            if (errno != EAGAIN) return connection_failed(c, "write: %s", strerror(errno));
            if (!c->wants_write) watch(c, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            c->wants_write = true;
            return;
        }
        buffer_consume(&c->out, (size_t)written);
    }
    if (c->wants_write && c->phase > PHASE_CONNECTING) {
        c->wants_write = false;
        watch(c, EPOLL_CTL_MOD, EPOLLIN);
    }
}

static void writable(struct connection *c) {
    if (c->phase == PHASE_CONNECTING) {
        int error = 0;
        socklen_t size = sizeof error;
        getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error) return connection_failed(c, "connect: %s", strerror(error));
        c->phase = PHASE_GREETING;
        c->driver->connected(c);
    }
    flush(c);
}

static void readable(struct connection *c) {
    uint8_t *bytes = read_buffer;
    size_t kept = buffer_size(&c->in);
    if (kept > READ_SIZE / 2) {
        connection_failed(c, "a message over %d bytes", READ_SIZE / 2);
        return;
    }
    if (kept > 0) memcpy(bytes, buffer_head(&c->in), kept);
    ssize_t count = recv(c->fd, bytes + kept, READ_SIZE - kept, 0);
    if (count <= 0) {
        if (count < 0 && errno == EAGAIN) return;
        return connection_failed(c, "closed by the server: %s", count < 0 ? strerror(errno) : "end");
    }
    arrived = now_ns();
    size_t size = kept + (size_t)count;
    size_t used = c->driver->input(c, bytes, size);
    if (c->phase == PHASE_CLOSED) return;
    if (kept > 0) buffer_consume(&c->in, kept);
    if (used < size) buffer_append(&c->in, bytes + used, size - used);
}

static void read_commands(void) {
    uint8_t *room = buffer_reserve(&commands, 4096);
    ssize_t count = read(STDIN_FILENO, room, 4096);
    if (count > 0) {
        commands.end += (size_t)count;
    } else {
        commands_ended = true;
        epoll_ctl(poller, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
    }
}

void loop_turn(int64_t until) {
    static struct epoll_event events[EVENTS];
    while (dirty) {
        struct connection *c = dirty;
        dirty = c->next_dirty;
        c->is_dirty = false;
        if (c->phase != PHASE_CLOSED && c->phase != PHASE_CONNECTING && !c->wants_write) flush(c);
    }
    int64_t wait = until - now_ns();
    if (wait < 0) wait = 0;
    struct timespec timeout = {.tv_sec = wait / SECOND, .tv_nsec = wait % SECOND};
    int count = epoll_pwait2(poller, events, EVENTS, &timeout, NULL);
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &commands) {
            read_commands();
            continue;
        }
        struct connection *c = events[i].data.ptr;
        if (c->phase != PHASE_CLOSED && events[i].events & EPOLLOUT) writable(c);
        if (c->phase > PHASE_CONNECTING && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) readable(c);
        else if (c->phase == PHASE_CONNECTING && events[i].events & (EPOLLHUP | EPOLLERR)) writable(c);
    }
}

static uint8_t *command_end(void) {
    return buffer_size(&commands) ? memchr(buffer_head(&commands), '\n', buffer_size(&commands)) : NULL;
}

bool loop_has_command(void) { return commands_ended || command_end(); }

bool loop_command(char *line, int size) {
    for (;;) {
        uint8_t *end = command_end();
        if (end) {
            size_t length = (size_t)(end - buffer_head(&commands));
            if (length >= (size_t)size) length = (size_t)size - 1;
            memcpy(line, buffer_head(&commands), length);
            line[length] = 0;
            buffer_consume(&commands, (size_t)(end - buffer_head(&commands)) + 1);
            return true;
        }
        if (commands_ended) return false;
        loop_turn(now_ns() + SECOND);
    }
}
