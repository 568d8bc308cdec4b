// A disk that does not answer: while the file $HUNG_FILE exists, writes and syncs of files below $HUNG_DIRECTORY wait;
// for LD_PRELOAD. A real process in the kernel would wait in the same calls.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(int file) {
  char link[64], path[4096];
  const char *directory = getenv("HUNG_DIRECTORY"), *mark = getenv("HUNG_FILE");
  if (!directory || !mark) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  if (strncmp(path, directory, strlen(directory))) return;
  struct timespec moment = {0, 10 * 1000 * 1000};
  while (access(mark, F_OK) == 0) nanosleep(&moment, NULL);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  wait_for_disk(file);
  return syscall(SYS_pwrite64, file, bytes, count, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  return pwrite64(file, bytes, count, offset);
}

int fsync(int file) {
  wait_for_disk(file);
  return syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  wait_for_disk(file);
  return syscall(SYS_fdatasync, file);
}
