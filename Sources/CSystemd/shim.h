#pragma once
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-device.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

// Swift does not import the flags of eventfd(2), which are macros of an anonymous enum.
static inline int systemd_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
