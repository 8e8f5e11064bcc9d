#include "c_ring.h"

#include <errno.h>

#ifdef __linux__

#include <liburing.h>
#include <stdlib.h>
#include <sys/socket.h>

/* How often in a row the kernel may have no memory, before the ring counts as failed. */
enum { ATTEMPTS = 1000 };

struct cr_ring {
	struct io_uring uring;
};

struct cr_ring *cr_ring_make(int *error)
{
	struct cr_ring *ring = malloc(sizeof *ring);
	int result;

	if (!ring) {
		*error = ENOMEM;
		return NULL;
	}
	/* Completions are taken by the thread that submits, at that moment: no interrupt, no other thread. */
	result = io_uring_queue_init(CR_BATCH, &ring->uring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
	if (result < 0) {
		*error = -result;
		free(ring);
		return NULL;
	}
	return ring;
}

void cr_ring_free(struct cr_ring *ring)
{
	if (!ring) return;
	io_uring_queue_exit(&ring->uring);
	free(ring);
}

/* Takes what is complete; returns how much that is. */
static unsigned reap(struct io_uring *uring, int *taken)
{
	struct io_uring_cqe *completion;
	unsigned head, count = 0;

	io_uring_for_each_cqe(uring, head, completion) {
		taken[completion->user_data] = completion->res > 0 ? completion->res : 0;
		count++;
	}
	io_uring_cq_advance(uring, count);
	return count;
}

/* Submits what was queued, and takes all completions. Returns 0, or the number of an error after which the ring is useless. */
static int complete(struct io_uring *uring, unsigned queued, int *taken)
{
	unsigned done = 0, attempts = 0;

	while (done < queued) {
		int result = io_uring_submit_and_wait(uring, queued - done);

		/* A signal has come; or there is no memory for the moment, which what completes sets free. */
		if (result < 0 && result != -EINTR && (++attempts > ATTEMPTS || (result != -EAGAIN && result != -EBUSY))) return -result;
		done += reap(uring, taken);
	}
	return 0;
}

/* Of the batch that ends before `next`, what the kernel has not begun when the ring fails: the last entries. */
static void take_back(struct io_uring *uring, const int *sockets, size_t next, int *taken)
{
	for (unsigned left = io_uring_sq_ready(uring); left > 0 && next > 0;) {
		if (sockets[--next] < 0) continue;
		taken[next] = 0;
		left--;
	}
}

int cr_ring_descriptor(const struct cr_ring *ring) { return ring->uring.ring_fd; }

/* Queues the send to a socket. */
static void queue(struct io_uring *uring, int socket, const struct cr_frames *frames, size_t index)
{
	size_t begin = frames->ends && index > 0 ? frames->ends[index - 1] : 0;
	size_t end = frames->ends ? frames->ends[index] : frames->size;
	struct io_uring_sqe *entry = io_uring_get_sqe(uring);

	/* The queue has room for a whole batch, and is empty between batches. */
	if (!entry) abort();
	io_uring_prep_send(entry, socket, (const char *)frames->bytes + begin, end - begin, MSG_DONTWAIT | MSG_NOSIGNAL);
	io_uring_sqe_set_data64(entry, index);
}

bool cr_ring_send(
	struct cr_ring *ring, const int *sockets, size_t count, const struct cr_frames *frames, int *taken, int *error)
{
	size_t next = 0;

	for (size_t index = 0; index < count; index++) taken[index] = 0;
	while (next < count) {
		unsigned queued = 0;
		int result;

		for (; next < count && queued < CR_BATCH; next++) {
			if (sockets[next] < 0) continue;
			queue(&ring->uring, sockets[next], frames, next);
			taken[next] = CR_UNKNOWN;
			queued++;
		}
		result = complete(&ring->uring, queued, taken);
		if (result != 0) {
			take_back(&ring->uring, sockets, next, taken);
			*error = result;
			return false;
		}
	}
	return true;
}

#else

struct cr_ring *cr_ring_make(int *error)
{
	*error = ENOSYS;
	return NULL;
}

void cr_ring_free(struct cr_ring *ring) { (void)ring; }

int cr_ring_descriptor(const struct cr_ring *ring)
{
	(void)ring;
	return -1;
}

bool cr_ring_send(
	struct cr_ring *ring, const int *sockets, size_t count, const struct cr_frames *frames, int *taken, int *error)
{
	(void)ring, (void)sockets, (void)count, (void)frames, (void)taken;
	*error = ENOSYS;
	return false;
}

#endif
