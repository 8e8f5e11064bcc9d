#include "cre_loop.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <re/re.h>

struct cre_waker {
	int descriptor;
	cre_event_h *handler;
	void *context;
};

struct cre_timer {
	struct tmr timer;
	cre_event_h *handler;
	void *context;
};

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static int library_error;

/* libre's state of random numbers and OpenSSL is per process. It is never freed, because loops are created and ended. */
static void prepare_library(void)
{
	library_error = libre_init();
}

int cre_loop_prepare(int max_descriptors)
{
	int error;

	pthread_once(&library_once, prepare_library);
	if (library_error)
		return library_error;
	error = re_thread_init();
	if (error)
		return error;
	error = fd_setsize(max_descriptors);
	if (!error)
		error = poll_method_set(METHOD_EPOLL);
	if (error)
		re_thread_close();
	return error;
}

int cre_loop_run(void)
{
	return re_main(NULL);
}

uint64_t cre_loop_now(void)
{
	return tmr_jiffies();
}

static void waker_ready(int flags, void *arg)
{
	struct cre_waker *waker = arg;
	uint64_t count;
	ssize_t size = read(waker->descriptor, &count, sizeof(count));

	(void)flags;
	(void)size;
	waker->handler(waker->context);
}

int cre_waker_open(cre_event_h *handler, void *context)
{
	struct cre_waker *waker = calloc(1, sizeof(*waker));

	if (!waker)
		return -1;
	waker->handler = handler;
	waker->context = context;
	waker->descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (waker->descriptor < 0) {
		free(waker);
		return -1;
	}
	if (fd_listen(waker->descriptor, FD_READ, waker_ready, waker)) {
		close(waker->descriptor);
		free(waker);
		return -1;
	}
	return waker->descriptor;
}

void cre_waker_wake(int descriptor)
{
	uint64_t one = 1;
	ssize_t size = write(descriptor, &one, sizeof(one));

	/* A write fails only when the counter is full, and then the loop is being woken anyway. */
	(void)size;
}

struct cre_timer *cre_timer_make(cre_event_h *handler, void *context)
{
	struct cre_timer *timer = calloc(1, sizeof(*timer));

	if (!timer)
		return NULL;
	tmr_init(&timer->timer);
	timer->handler = handler;
	timer->context = context;
	return timer;
}

static void timer_fired(void *arg)
{
	struct cre_timer *timer = arg;

	timer->handler(timer->context);
}

void cre_timer_start(struct cre_timer *timer, uint64_t milliseconds)
{
	tmr_start(&timer->timer, milliseconds, timer_fired, timer);
}

void cre_timer_stop(struct cre_timer *timer)
{
	tmr_cancel(&timer->timer);
}

bool cre_timer_is_running(const struct cre_timer *timer)
{
	return tmr_isrunning(&timer->timer);
}

void cre_timer_free(struct cre_timer *timer)
{
	if (!timer)
		return;
	tmr_cancel(&timer->timer);
	free(timer);
}
