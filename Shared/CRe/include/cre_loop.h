/* libre's event loop, timers and wake-up descriptors, in plain C types. Unless stated otherwise, everything here must be
 * called on the loop's thread. */
#ifndef CRE_LOOP_H
#define CRE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Gives the calling thread an event loop of its own, with epoll and descriptors up to `max_descriptors`. Returns 0 or an
 * errno value. */
int cre_loop_prepare(int max_descriptors);
/* Runs the loop. Returns only when a system call fails, with the errno value. */
int cre_loop_run(void);
/* The monotonic clock of the timers, in milliseconds. May be called on any thread. */
uint64_t cre_loop_now(void);

typedef void cre_event_h(void *context);

/* Opens a descriptor that wakes the loop, which then calls `handler`; it stays open as long as the loop runs. Returns -1
 * on failure. */
int cre_waker_open(cre_event_h *handler, void *context);
/* Wakes the loop. May be called on any thread, including the loop's. */
void cre_waker_wake(int descriptor);

struct cre_timer;
/* Makes a timer that is not running. Returns NULL when out of memory. */
struct cre_timer *cre_timer_make(cre_event_h *handler, void *context);
/* Starts or restarts the timer; it fires once. */
void cre_timer_start(struct cre_timer *timer, uint64_t milliseconds);
void cre_timer_stop(struct cre_timer *timer);
bool cre_timer_is_running(const struct cre_timer *timer);
void cre_timer_free(struct cre_timer *timer);

#endif
