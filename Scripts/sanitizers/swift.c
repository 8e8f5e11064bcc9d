// Lets the thread sanitizer see where Swift's libraries, which are not built with it, order what threads do: without that it
// takes right code for races. These functions stand in front of the libraries' own, do what they do, and tell the sanitizer.
// `Scripts/sanitize thread` links them in. So nothing of our code need be suppressed.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define METHOD __attribute__((swiftcall))

// Synchronization.Mutex. Its fast path is compiled into our own code, where the sanitizer sees the atomic operations. When two
// threads want it at once, the kernel hands it over (FUTEX_UNLOCK_PI) within _MutexHandle's ._lockSlow(UInt32),
// ._tryLockSlow() -> Bool and ._unlockSlow(). The handle, `self`, comes in the register of the context.

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SELF __attribute__((swift_context)) void *handle

METHOD void heliograph_lock(uint32_t thread, SELF) __asm__(LOCK);
METHOD bool heliograph_try_lock(SELF) __asm__(TRY_LOCK);
METHOD void heliograph_unlock(SELF) __asm__(UNLOCK);

static METHOD void (*lock)(uint32_t thread, SELF);
static METHOD bool (*try_lock)(SELF);
static METHOD void (*unlock)(SELF);

METHOD void heliograph_lock(uint32_t thread, SELF)
{
	lock(thread, handle);
	__tsan_acquire(handle);
}

METHOD bool heliograph_try_lock(SELF)
{
	if (!try_lock(handle)) return false;
	__tsan_acquire(handle);
	return true;
}

METHOD void heliograph_unlock(SELF)
{
	__tsan_release(handle);
	unlock(handle);
}

// Continuations. Who resumes one tells the sanitizer (`resumeTaskAfterContinuation` of Swift's Task.cpp), with the task's
// address. A task that has to wait for it is told when it runs again; one that finds itself resumed before it comes to wait is
// not (`swift_continuation_awaitImpl`). The next that either does is to free what the call that it waited in was given.

METHOD void *swift_task_getCurrent(void);
METHOD void swift_task_dealloc(void *allocated);

static METHOD void (*deallocate)(void *allocated);

METHOD void swift_task_dealloc(void *allocated)
{
	__tsan_acquire(swift_task_getCurrent());
	deallocate(allocated);
}

__attribute__((constructor)) static void find(void)
{
	lock = dlsym(RTLD_NEXT, LOCK);
	try_lock = dlsym(RTLD_NEXT, TRY_LOCK);
	unlock = dlsym(RTLD_NEXT, UNLOCK);
	deallocate = dlsym(RTLD_NEXT, "swift_task_dealloc");
}
