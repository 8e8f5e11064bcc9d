/* libre's event loop, timers and descriptors, in plain C types. Everything here runs on the loop's thread, unless it says otherwise. */
#ifndef CRE_LOOP_H
#define CRE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the calling thread a loop of its own: epoll, with room for descriptors up to `max_descriptors`. */
int cre_loop_prepare(int max_descriptors);
/* Runs the loop; returns only when the system fails it, with the errno value. */
int cre_loop_run(void);
/* Milliseconds of the monotonic clock that timers run by. Any thread. */
uint64_t cre_loop_now(void);

typedef void cre_event_h(void *context);

/* A descriptor, for as long as the loop runs, that wakes it; it then calls `handler`. -1 when the system has no more. */
int cre_waker_open(cre_event_h *handler, void *context);
/* Wakes the loop. Any thread; also from within the loop. */
void cre_waker_wake(int descriptor);

struct cre_timer;
/* A timer that is not running; NULL without memory. */
struct cre_timer *cre_timer_make(cre_event_h *handler, void *context);
/* Starts it, or starts it over. */
void cre_timer_start(struct cre_timer *timer, uint64_t milliseconds);
void cre_timer_stop(struct cre_timer *timer);
bool cre_timer_is_running(const struct cre_timer *timer);
void cre_timer_free(struct cre_timer *timer);

#endif
