// Dropping the privileges of a process that works for a user, and making its files durable.
#pragma once
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

// Drops all capabilities for good: execve(2) restores none (prctl(2), capabilities(7)). Only a process with CAP_SETPCAP
// can drop the bounding set; if that fails, no_new_privs has the same effect. Returns -1 with errno on failure.
static inline int linux_give_up_privileges(void) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -1;
  for (int capability = 0; capability < 64; capability++) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const struct __user_cap_data_struct none[2] = {{0}};
  return (int)syscall(SYS_capset, &header, none);
}

// Keeps the process's memory out of core dumps and ptrace(2).
static inline int linux_keep_memory_private(void) {
  const struct rlimit none = {0, 0};
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return -1;
  return (int)syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL);
}

// Opens a descriptor that is readable after the signal; the signal has no other effect from now on.
static inline int linux_signal_descriptor(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  if (sigprocmask(SIG_BLOCK, &set, NULL) < 0) return -1;
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Opens one component of a path without following a symbolic link. Swift does not import the variadic openat(2), and
// O_PATH needs _GNU_SOURCE.
static inline int linux_open_folder(int at, const char *name) {
  return openat(at, name, __O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}
static inline int linux_open_at(int at, const char *name, int flags, mode_t mode) {
  return openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode);
}

static inline int linux_sync_file_system(int fd) { return (int)syscall(SYS_syncfs, fd); }
static inline int linux_lock_now(int fd) { return flock(fd, LOCK_EX | LOCK_NB); }
