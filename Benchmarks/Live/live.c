// Counts the blocks that a process has allocated and not freed, and the bytes that it asked for them. LD_PRELOAD puts this before the C
// library, whose functions it calls, so that programs are measured as they are shipped.
//
// The two numbers are in the file that BENCH_LIVE_FILE names, 64 bits each: who measures reads it while the process runs. Sizes are kept
// in a table of their own and not with the blocks: Swift's arrays use all of a block that malloc_usable_size() says they have.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *pointer);

#define PLACES (1u << 22)
#define MOST (PLACES / 4 * 3)

struct counts {
    uint64_t blocks, bytes;
};
static struct counts before_file, *counts = &before_file;

// Open addressing. Pages that are never used take no memory.
static struct place {
    uintptr_t block;
    size_t size;
} places[PLACES];
static atomic_flag is_locked = ATOMIC_FLAG_INIT;

// All threads of the measured process have one core.
static void lock(void) {
    while (atomic_flag_test_and_set_explicit(&is_locked, memory_order_acquire)) sched_yield();
}

static void unlock(void) { atomic_flag_clear_explicit(&is_locked, memory_order_release); }

static void fail(const char *what) {
    (void)!write(STDERR_FILENO, what, __builtin_strlen(what));
    abort();
}

static uint32_t home(uintptr_t block) { return (uint32_t)((block >> 4) * 0x9e3779b97f4a7c15u >> 42); }

static void add(void *pointer, size_t size) {
    if (!pointer) return;
    lock();
    if (counts->blocks >= MOST) fail("live: more blocks than the table has places\n");
    uint32_t at = home((uintptr_t)pointer);
    while (places[at].block) at = (at + 1) % PLACES;
    places[at] = (struct place){(uintptr_t)pointer, size};
    counts->blocks++;
    counts->bytes += size;
    unlock();
}

// Removes a block; what was found behind it moves up, so that no search ends too early. Returns its size.
static size_t drop(void *pointer) {
    size_t size = 0;
    if (!pointer) return 0;
    lock();
    uint32_t at = home((uintptr_t)pointer);
    while (places[at].block && places[at].block != (uintptr_t)pointer) at = (at + 1) % PLACES;
    if (places[at].block) {
        size = places[at].size;
        counts->blocks--;
        counts->bytes -= size;
        for (uint32_t next = at;;) {
            next = (next + 1) % PLACES;
            if (!places[next].block) break;
            if ((next - home(places[next].block)) % PLACES < (next - at) % PLACES) continue;
            places[at] = places[next];
            at = next;
        }
        places[at].block = 0;
    }
    unlock();
    return size;
}

void *malloc(size_t size) {
    void *pointer = __libc_malloc(size);
    add(pointer, size);
    return pointer;
}

void *calloc(size_t count, size_t size) {
    void *pointer = __libc_calloc(count, size);
    add(pointer, count * size);
    return pointer;
}

void *realloc(void *pointer, size_t size) {
    // Before: afterwards another thread may have the block's address.
    size_t old = drop(pointer);
    void *moved = __libc_realloc(pointer, size);
    if (moved) add(moved, size);
    else if (size > 0) add(pointer, old);
    return moved;
}

void *reallocarray(void *pointer, size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(pointer, total);
}

void *memalign(size_t alignment, size_t size) {
    void *pointer = __libc_memalign(alignment, size);
    add(pointer, size);
    return pointer;
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    void *pointer = memalign(alignment, size);
    if (!pointer) return ENOMEM;
    *result = pointer;
    return 0;
}

void free(void *pointer) {
    drop(pointer);
    __libc_free(pointer);
}

__attribute__((constructor)) static void publish(void) {
    const char *path = getenv("BENCH_LIVE_FILE");
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0 || ftruncate(file, sizeof *counts) != 0) fail("live: BENCH_LIVE_FILE names no file that can be written\n");
    struct counts *shared = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) fail("live: the file can't be mapped\n");
    close(file);
    // Programs that this one starts are not counted.
    unsetenv("LD_PRELOAD");
    unsetenv("BENCH_LIVE_FILE");
    lock();
    *shared = *counts;
    counts = shared;
    unlock();
}
