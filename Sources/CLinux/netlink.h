// Routes: asks the kernel where a packet would go (rtnetlink(7)).
#pragma once
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

// Opens a socket that is readable when a link or a route has changed. Changes of addresses are left out: a route
// changes with its address, and IPv6 renews addresses every few minutes.
static inline int linux_route_events(void) {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  const struct sockaddr_nl groups = {
      .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE};
  if (fd < 0 || bind(fd, (const struct sockaddr *)&groups, sizeof groups) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

// Returns the index of the interface that a packet to `address` would leave by, 0 if there is none, or -1 with errno.
// Nothing is sent, and the kernel answers before send(2) returns. `length` is the length of the address: 4 or 16.
static inline int linux_route_to(int family, const void *address, int length) {
  struct { struct nlmsghdr header; struct rtmsg route; struct rtattr attribute; unsigned char address[16]; } question = {
      .header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)) + RTA_LENGTH(length), .nlmsg_type = RTM_GETROUTE,
                 .nlmsg_flags = NLM_F_REQUEST},
      .route = {.rtm_family = family, .rtm_dst_len = length * 8},
      .attribute = {.rta_len = RTA_LENGTH(length), .rta_type = RTA_DST}};
  memcpy(question.address, address, length);
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (fd < 0) return -1;
  union { struct nlmsghdr header; char bytes[4096]; } answer;
  ssize_t size = send(fd, &question, question.header.nlmsg_len, 0);
  if (size >= 0) size = recv(fd, &answer, sizeof answer, 0);
  const int error = errno;
  close(fd);
  errno = error;
  if (size < 0) return -1;
  if (!NLMSG_OK(&answer.header, (unsigned)size) || answer.header.nlmsg_type != RTM_NEWROUTE) return 0;
  const struct rtmsg *route = NLMSG_DATA(&answer.header);
  if (route->rtm_type != RTN_UNICAST) return 0;
  int left = RTM_PAYLOAD(&answer.header);
  for (struct rtattr *a = RTM_RTA(route); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    if (a->rta_type == RTA_OIF) return *(const int *)RTA_DATA(a);
  }
  return 0;
}

// Reads the name of an interface, and whether it is up and has a carrier. `name` has IF_NAMESIZE bytes. Returns -1 if
// the interface is gone.
static inline int linux_interface(int index, char *name, int *runs) {
  struct ifreq request = {0};
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  request.ifr_ifindex = index;
  int result = ioctl(fd, SIOCGIFNAME, &request);
  if (result == 0) {
    memcpy(name, request.ifr_name, IF_NAMESIZE);
    result = ioctl(fd, SIOCGIFFLAGS, &request);
    *runs = (request.ifr_flags & IFF_UP) && (request.ifr_flags & IFF_RUNNING);
  }
  close(fd);
  return result;
}
