// A kernel without Landlock, if $LANDLOCK is `none`; and a worker that tries to leave its files. For LD_PRELOAD.
//
// Once the process could be bound, and whenever it has walked to a folder and opens it, it also tries to read $OUTSIDE and
// to make a file beside it, and writes the two values of errno into $VERDICT.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int attempt(const char *path, int flags) {
  int file = open(path, flags | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  close(file);
  return 0;
}

static void try_to_leave(void) {
  const char *outside = getenv("OUTSIDE"), *verdict = getenv("VERDICT");
  if (!outside || !verdict) return;
  char beside[4096];
  snprintf(beside, sizeof beside, "%s.new", outside);
  int read = attempt(outside, O_RDONLY), made = attempt(beside, O_WRONLY | O_CREAT);
  int file = open(verdict, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  dprintf(file, "%d %d\n", read, made);
  close(file);
}

long syscall(long number, ...) {
  va_list list;
  long words[6];
  va_start(list, number);
  for (int index = 0; index < 6; index++) words[index] = va_arg(list, long);
  va_end(list);
  const char *landlock = getenv("LANDLOCK");
  if (number == 444 && landlock && !strcmp(landlock, "none")) {
    try_to_leave();
    errno = ENOSYS;
    return -1;
  }
  long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  long answer = real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
  if (number == 446) try_to_leave();
  return answer;
}

int openat(int folder, const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  if (!strcmp(path, ".")) try_to_leave();
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}
