// A disk that does not answer: while the file $HUNG_FILE exists, writes and syncs of files below $HUNG_DIRECTORY wait;
// for LD_PRELOAD. A real process in the kernel would wait in the same calls. If the file has a number, the disk is slow
// instead: each sync takes so many milliseconds.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(int file, int is_sync) {
  char link[64], path[4096];
  const char *directory = getenv("HUNG_DIRECTORY"), *mark = getenv("HUNG_FILE");
  if (!directory || !mark) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  if (strncmp(path, directory, strlen(directory))) return;
  struct timespec moment = {0, 10 * 1000 * 1000};
  for (FILE *stream; (stream = fopen(mark, "re")); nanosleep(&moment, NULL)) {
    long milliseconds = 0;
    int is_slow = fscanf(stream, "%ld", &milliseconds) == 1;
    fclose(stream);
    if (!is_slow) continue;
    struct timespec sync = {milliseconds / 1000, milliseconds % 1000 * 1000 * 1000};
    if (is_sync) nanosleep(&sync, NULL);
    return;
  }
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  wait_for_disk(file, 0);
  return syscall(SYS_pwrite64, file, bytes, count, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  return pwrite64(file, bytes, count, offset);
}

int fsync(int file) {
  wait_for_disk(file, 1);
  return syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  wait_for_disk(file, 1);
  return syscall(SYS_fdatasync, file);
}
