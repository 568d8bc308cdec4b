// The windows of a desktop, as a Wayland compositor or an X server tells of them. Titles are never read.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  windows_most = 4096,       // the most windows that are kept; later ones are passed over
  windows_name_bytes = 256,  // the most bytes of a name; a longer one counts as none, because a part could be another's
};

// A window. The names are empty if the window has none, and valid until the next turn of the connection.
struct windows_window {
  const char *application;  // app_id, or _GTK_APPLICATION_ID
  const char *class_name;   // of WM_CLASS
  const char *instance;     // of WM_CLASS
  bool is_focused;
  bool is_minimised;
  uint32_t pid;  // the process that opened it; 0 if it is not told
};

enum windows_state {
  windows_asking,       // the answer to the first question is not complete
  windows_watching,     // all windows are known
  windows_unsupported,  // the other side does not tell of windows
  windows_lost,         // the connection is over
} __attribute__((enum_extensibility(closed)));
