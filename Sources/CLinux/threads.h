// System calls about the calling thread alone, which Swift does not import.
#pragma once
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline pid_t linux_thread_id(void) { return (pid_t)syscall(SYS_gettid); }

static inline int linux_thread_exists(pid_t thread) { return syscall(SYS_tgkill, getpid(), thread, 0) == 0; }

// Gives the calling thread a table of descriptors with all of them; returns -1 on failure.
static inline int linux_keep_all(void) { return (int)syscall(SYS_close_range, ~0U >> 1, ~0U >> 1, CLOSE_RANGE_UNSHARE); }

// Gives the calling thread a table of descriptors with one alone; returns -1 on failure, and then the table may be that
// of all threads still.
static inline int linux_keep_alone(int descriptor) {
  if (syscall(SYS_close_range, descriptor + 1, ~0U, CLOSE_RANGE_UNSHARE) < 0) return -1;
  return descriptor > 0 ? (int)syscall(SYS_close_range, 0, descriptor - 1, 0) : 0;
}
