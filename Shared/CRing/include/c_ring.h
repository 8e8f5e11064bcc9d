/* Sends to many sockets, in few system calls: Linux's io_uring. By liburing, which no other file but c_ring.c knows. */
#ifndef C_RING_H
#define C_RING_H

#include <stdbool.h>
#include <stddef.h>

/* As many sends are handed to the kernel at once. */
enum { CR_BATCH = 256 };

/* Of a socket whose send was begun, and of which the kernel has not said what it came to. */
enum { CR_UNKNOWN = -1 };

struct cr_ring;

/* Makes a ring for the calling thread, which alone may use it.
 *
 * Returns NULL where the kernel is older than 6.1, where it refuses io_uring (its setting kernel.io_uring_disabled, a seccomp profile),
 * without memory, and on other systems than Linux; *error is the number of the error then. */
struct cr_ring *cr_ring_make(int *error);

/* NULL is allowed. */
void cr_ring_free(struct cr_ring *ring);

/* The ring's file descriptor, for tests that make it fail. */
int cr_ring_descriptor(const struct cr_ring *ring);

/* What is sent. */
struct cr_frames {
	const void *bytes;
	size_t size;
	/* NULL when each socket gets all bytes. Else each gets a part of its own, the parts being one after the other: where that of each
	 * socket ends, negative ones included. */
	const size_t *ends;
};

/* Sends to each of the sockets that is not negative, as send() does with MSG_DONTWAIT and MSG_NOSIGNAL. When it returns, no send is under
 * way any more. A socket may be named once only: two parts could overtake each other.
 *
 * taken: becomes, for each of the count sockets, how many bytes the socket has accepted; 0 for a negative one and after an error,
 * which the next send() to that socket meets, too; CR_UNKNOWN where the ring has failed.
 *
 * Returns false when the ring has failed and must not be used any more; *error is the number of the error then. What it had not
 * begun was not sent: 0. */
bool cr_ring_send(
	struct cr_ring *ring, const int *sockets, size_t count, const struct cr_frames *frames, int *taken, int *error);

#endif
