// File functions that the Glibc module of Swift does not have.
#pragma once
#include <fcntl.h>
#include <fts.h>
#include <linux/memfd.h>
#include <linux/stat.h>
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

// Makes a memory file; sys/mman.h declares memfd_create(2) only with _GNU_SOURCE.
static inline int linux_memory_file(const char *name) { return (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC); }
static inline int linux_pipe(int *ends) { return (int)syscall(SYS_pipe2, ends, O_CLOEXEC); }
static inline void linux_malloc_trim(void) { malloc_trim(0); }
// Gives all threads one arena of glibc's heap, and each large block a mapping of its own. glibc would raise the bound of
// "large" to the largest block ever freed, and keep such blocks in the heap from then on. A long reply passes through
// blocks of every size up to its own.
static inline void linux_malloc_compact(void) {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 32 << 10);
}
static inline int linux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// Returns the birth time of an open file in ns since 1970; 0 if the file system does not keep it. The header declares
// statx(2) only with _GNU_SOURCE.
static inline long long linux_birth(int fd) {
  struct statx status;
  const int empty_path = 0x1000;
  if (syscall(SYS_statx, fd, "", empty_path, STATX_BTIME, &status) < 0 || !(status.stx_mask & STATX_BTIME)) return 0;
  return status.stx_btime.tv_sec * 1000000000ll + status.stx_btime.tv_nsec;
}

// Makes an instance of inotify(7); Swift does not import its flags, which are macros of an anonymous enum.
static inline int linux_inotify(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }
// Returns the type of an open file's file system, as statfs(2) has it; 0 if it is unknown.
static inline unsigned linux_file_system(int fd) {
  struct statfs status;
  return fstatfs(fd, &status) == 0 ? (unsigned)status.f_type : 0;
}
