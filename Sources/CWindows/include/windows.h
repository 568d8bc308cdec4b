// The windows of a desktop, as a Wayland compositor or an X server reports them. Titles are never read.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  windows_most = 4096,       // the most windows that are kept; later ones are left out
  windows_name_bytes = 256,  // the most bytes of a name; a longer name counts as none, because its beginning could be another's
};

// A window. The names are empty if the window has none, and valid until the next turn of the connection.
struct windows_window {
  const char *application;  // app_id, or _GTK_APPLICATION_ID
  const char *class_name;   // of WM_CLASS
  const char *instance;     // of WM_CLASS
  bool is_focused;
  bool is_minimised;
  uint32_t pid;  // the process that opened it; 0 if unknown
};

enum windows_state {
  windows_asking,       // the reply to the first request is not complete
  windows_watching,     // all windows are known
  windows_unsupported,  // the server does not report windows
  windows_lost,         // the connection has ended
} __attribute__((enum_extensibility(closed)));
