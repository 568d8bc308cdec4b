// A kernel without Landlock, if $LANDLOCK is `none`; and a worker that tries to leave its files. For LD_PRELOAD.
//
// Whenever the process opens something by openat2(2), it also tries to read $OUTSIDE, and writes the errno into $VERDICT.

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

static void try_to_leave(void) {
  const char *outside = getenv("OUTSIDE"), *verdict = getenv("VERDICT");
  if (!outside || !verdict) return;
  int file = open(outside, O_RDONLY | O_CLOEXEC);
  int problem = file < 0 ? errno : 0;
  if (file >= 0) close(file);
  file = open(verdict, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  dprintf(file, "%d\n", problem);
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
    errno = ENOSYS;
    return -1;
  }
  if (number == SYS_openat2) try_to_leave();
  long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
