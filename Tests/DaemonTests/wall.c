// The wall clock of one process, set off the machine's by the seconds in the file $WALL_OFFSET; for LD_PRELOAD.
// A timer of the wall clock, which the kernel cancels when that clock is set, is a watch on the file.
//
// Not libfaketime: it changes timers of the boot clock as well (timerfd_settime), and hides the command line from
// Swift.

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static time_t offset(void) {
  char text[32] = "";
  int file = open(getenv("WALL_OFFSET"), O_RDONLY | O_CLOEXEC);
  if (file < 0 || read(file, text, sizeof text - 1) < 0) abort();
  close(file);
  return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  long result = syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += offset();
  return result;
}

static int timer = -1;

int timerfd_create(clockid_t clock, int flags) {
  if (clock != CLOCK_REALTIME) return syscall(SYS_timerfd_create, clock, flags);
  char *path = strdup(getenv("WALL_OFFSET"));
  timer = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (timer < 0 || inotify_add_watch(timer, dirname(path), IN_MOVED_TO) < 0) abort();
  free(path);
  return timer;
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *next, struct itimerspec *last) {
  return descriptor == timer ? 0 : syscall(SYS_timerfd_settime, descriptor, flags, next, last);
}

ssize_t read(int descriptor, void *buffer, size_t count) {
  if (descriptor < 0 || descriptor != timer) return syscall(SYS_read, descriptor, buffer, count);
  char events[4096];
  if (syscall(SYS_read, descriptor, events, sizeof events) > 0) errno = ECANCELED;
  return -1;
}
