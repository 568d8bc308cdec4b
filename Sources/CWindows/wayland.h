// A connection to a Wayland compositor, of which no function waits.
#pragma once
#include <stdbool.h>
#include <wayland-client.h>

// Connects to the socket of a compositor; null if that fails, with the reason in errno.
struct wl_display *wayland_connect(const char *path);

// Reads if the socket is readable, handles what has come, and sends what waits; false if the connection is over.
bool wayland_turn(struct wl_display *display, bool is_readable, bool *wants_to_write);
