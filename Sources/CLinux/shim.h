// Socket functions whose flags Swift does not import reliably, because they are enums. _GNU_SOURCE stays undefined: it
// would make the types of this module differ from those of Swift's Glibc.
#pragma once
#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static inline int linux_accept4(int fd) {
  return (int)syscall(SYS_accept4, fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static inline int linux_stream_socket(void) { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

/* A closed peer is an error (EPIPE), not a signal. */
static inline ssize_t linux_send(int fd, const void *bytes, size_t count, int waits) {
  return send(fd, bytes, count, MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT));
}

/* Has the kernel refuse descriptors that are sent to a socket: SO_PASSRIGHTS, Linux 6.16. Returns whether it did so before:
   otherwise some may wait in the socket. A connection that is accepted does as its listening socket did. */
static inline int linux_refuses_descriptors(int fd) {
  const int so_passrights = 83;
  int takes = 1;
  const int never = 0;
  socklen_t size = sizeof takes;
  if (getsockopt(fd, SOL_SOCKET, so_passrights, &takes, &size) < 0) return 0;
  setsockopt(fd, SOL_SOCKET, so_passrights, &never, sizeof never);
  return !takes;
}

/* Reads what came without descriptors; EBADMSG if some come next. A read would drop them, and the last close of a
   descriptor may hang. A look drops none. */
static inline ssize_t linux_receive(int fd, void *bytes, size_t count, int waits, int refuses_descriptors) {
  const int flags = waits ? 0 : MSG_DONTWAIT;
  if (!refuses_descriptors) {
    struct iovec room = {bytes, count};
    struct msghdr message = {.msg_iov = &room, .msg_iovlen = 1};
    ssize_t size = recvmsg(fd, &message, MSG_PEEK | flags);
    if (size <= 0) return size;
    if (message.msg_flags & MSG_CTRUNC) {
      errno = EBADMSG;
      return -1;
    }
    count = (size_t)size;
  }
  return recv(fd, bytes, count, flags);
}

/* Whether descriptors may wait in a socket whose peer has closed its end. A look ends at the first message with some, so
   what is shorter than the room is all there is. */
static inline int linux_holds_descriptors(int fd) {
  char bytes[4096];
  struct iovec room = {bytes, sizeof bytes};
  struct msghdr message = {.msg_iov = &room, .msg_iovlen = 1};
  ssize_t size = recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT);
  return size < 0 || (size_t)size == sizeof bytes || message.msg_flags & MSG_CTRUNC;
}

/* Whether nothing waits in a socket that was shut down, so that its close drops nothing. */
static inline int linux_is_drained(int fd) {
  char byte;
  return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
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

/* Reads the security label of the peer: SO_PEERSEC. `bytes` is the size of the buffer, and then that of the label. */
static inline int linux_peer_label(int fd, uint8_t *label, socklen_t *bytes) {
  return getsockopt(fd, SOL_SOCKET, SO_PEERSEC, label, bytes);
}

/* Opens the process that connected: SO_PEERPIDFD, Linux 6.5. */
static inline int linux_peer_pidfd(int fd) {
  int pidfd = -1;
  socklen_t size = sizeof pidfd;
  const int so_peerpidfd = 77;
  return getsockopt(fd, SOL_SOCKET, so_peerpidfd, &pidfd, &size) < 0 ? -1 : pidfd;
}

/* The id of a process's cgroup in the unified hierarchy, also after its end: PIDFD_GET_INFO, Linux 6.13, and 6.15 after a
   parent has waited for it. 0 if the kernel cannot say. */
static inline uint64_t linux_pidfd_cgroup(int pidfd) {
  struct { uint64_t mask, cgroup; uint32_t more[12]; } info = {.mask = 1 << 2 | 1 << 3};
  const unsigned long pidfd_get_info = 3UL << 30 | sizeof info << 16 | 0xFF << 8 | 11;
  if (syscall(SYS_ioctl, pidfd, pidfd_get_info, &info) < 0) return 0;
  return info.mask & 1 << 2 ? info.cgroup : 0;
}

/* Reads the supplementary groups of the peer: SO_PEERGROUPS, Linux 4.13. `bytes` is the size of the buffer, and then
   that of the list. */
static inline int linux_peer_groups(int fd, gid_t *groups, socklen_t *bytes) {
  return getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, bytes);
}

// The event of poll(2) that the peer has stopped writing: POLLRDHUP, which <poll.h> defines only with _GNU_SOURCE.
static const short linux_poll_closed = 0x2000;
