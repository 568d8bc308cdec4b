#pragma once
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-device.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

// Swift does not import the flags of eventfd(2) and timerfd_create(2), which are macros of an anonymous enum.
static inline int systemd_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline int systemd_clock_timer(void) { return timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

// Arms a timer of systemd_clock_timer() for the end of time; it is cancelled, and stays armed, when the clock is set.
static inline int systemd_clock_wait(int timer) {
  struct itimerspec end = {.it_value.tv_sec = INT64_MAX / 1000000000};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &end, NULL);
}
