// Socket functions whose flags Swift does not import reliably, because they are enums. _GNU_SOURCE stays undefined: it
// would make the types of this module differ from those of Swift's Glibc.
#pragma once
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int linux_accept4(int fd) {
  return (int)syscall(SYS_accept4, fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static inline int linux_stream_socket(void) { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

/* A closed peer is an error (EPIPE), not a signal. */
static inline ssize_t linux_send(int fd, const void *bytes, size_t count, int waits) {
  return send(fd, bytes, count, MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT));
}

static inline ssize_t linux_receive_now(int fd, void *bytes, size_t count) {
  return recv(fd, bytes, count, MSG_DONTWAIT);
}

/* Reads the credentials of the peer of a Unix socket: unix(7), SO_PEERCRED. */
static inline int linux_peer_credentials(int fd, pid_t *pid, uid_t *uid, gid_t *gid) {
  struct { pid_t pid; uid_t uid; gid_t gid; } credentials = {0};
  socklen_t size = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
    return -1;
  *pid = credentials.pid;
  *uid = credentials.uid;
  *gid = credentials.gid;
  return 0;
}

/* Opens the process that connected: SO_PEERPIDFD, Linux 6.5. */
static inline int linux_peer_pidfd(int fd) {
  int pidfd = -1;
  socklen_t size = sizeof pidfd;
  const int so_peerpidfd = 77;
  return getsockopt(fd, SOL_SOCKET, so_peerpidfd, &pidfd, &size) < 0 ? -1 : pidfd;
}

/* Reads the supplementary groups of the peer: SO_PEERGROUPS, Linux 4.13. `bytes` is the size of the buffer, and then
   that of the list. */
static inline int linux_peer_groups(int fd, gid_t *groups, socklen_t *bytes) {
  return getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, bytes);
}

// The event of poll(2) that the peer has stopped writing: POLLRDHUP, which <poll.h> defines only with _GNU_SOURCE.
static const short linux_poll_closed = 0x2000;
