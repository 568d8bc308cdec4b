// Linux calls that Swift's importer does not see (variadic, macros, GNU extensions).
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/socket.h>

static inline int linux_accept4(int fd) { return accept4(fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC); }
