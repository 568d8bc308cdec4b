// A kernel before Linux 6.5: it neither refuses descriptors (SO_PASSRIGHTS, 6.16) nor opens the peer of a socket
// (SO_PEERPIDFD, 6.5); for LD_PRELOAD.

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PEERPIDFD = 77, PASSRIGHTS = 83 };

static int refused(void) {
  errno = ENOPROTOOPT;
  return -1;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size) {
  if (level == SOL_SOCKET && name == PASSRIGHTS) return refused();
  return (int)syscall(SYS_setsockopt, fd, level, name, value, size);
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *size) {
  if (level == SOL_SOCKET && (name == PASSRIGHTS || name == PEERPIDFD)) return refused();
  return (int)syscall(SYS_getsockopt, fd, level, name, value, size);
}
