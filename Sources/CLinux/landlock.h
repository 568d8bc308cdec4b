// Bounds on the files of a process that it sets itself: landlock(7), which has no wrapper in the C library.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// Opens what a path leads to, only to name it.
static inline int linux_open_path(const char *path) { return open(path, __O_PATH | O_CLOEXEC); }

// The numbers and rights of landlock(7), because Debian 12's header does not have the later ones.
static const uint64_t linux_landlock_execute = 1;
static const uint64_t linux_landlock_read = 1 << 2 | 1 << 3;           // read a file, list a folder
static const uint64_t linux_landlock_of_file = 1 << 1 | 1 << 2 | 1 << 14;  // write, read, truncate

// The rights to files that the kernel can take from a process; 0 without Landlock (before Linux 5.13, or switched off).
static inline uint64_t linux_landlock_rights(void) {
  long version = syscall(444, NULL, 0, 1);
  if (version < 1) return 0;
  // Version 2 adds moves between folders, 3 truncation, and 5 ioctl(2) on devices.
  return (1u << (version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13)) - 1;
}

static inline int linux_landlock_ruleset(uint64_t rights) { return (int)syscall(444, &rights, sizeof rights, 0); }

static inline int linux_landlock_allow(int ruleset, int file, uint64_t rights) {
  struct __attribute__((packed)) {
    uint64_t rights;
    int32_t file;
  } rule = {rights, file};
  return (int)syscall(445, ruleset, 1, &rule, 0);
}

// Binds this thread and those that it starts from now on, for good.
static inline int linux_landlock_enforce(int ruleset) { return (int)syscall(446, ruleset, 0); }
