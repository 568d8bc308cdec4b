#include "wayland.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// libwayland would print a compositor's mistakes on standard error, with the names of its objects.
static void say_nothing(const char *format, va_list arguments) { (void)format, (void)arguments; }

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(address.sun_path, path);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  // A compositor that accepts no connections makes this fail with EAGAIN, so the caller never waits.
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

struct wl_display *wayland_connect(const char *path) {
  int descriptor = connect_to(path);
  if (descriptor < 0) return NULL;
  wl_log_set_handler_client(say_nothing);
  // The display closes the descriptor, also when it cannot be made.
  struct wl_display *display = wl_display_connect_to_fd(descriptor);
  if (!display) errno = ENOMEM;
  return display;
}

static bool read_and_dispatch(struct wl_display *display, bool is_readable) {
  while (wl_display_prepare_read(display) != 0) {
    if (wl_display_dispatch_pending(display) < 0) return false;
  }
  if (!is_readable) {
    wl_display_cancel_read(display);
    return true;
  }
  // EAGAIN is no error here: the next turn reads on.
  if (wl_display_read_events(display) < 0 && errno != EAGAIN) return false;
  return wl_display_dispatch_pending(display) >= 0;
}

bool wayland_turn(struct wl_display *display, bool is_readable, bool *wants_to_write) {
  if (!read_and_dispatch(display, is_readable)) return false;
  *wants_to_write = false;
  if (wl_display_flush(display) >= 0) return true;
  *wants_to_write = true;
  return errno == EAGAIN;
}
