// Windows by the properties that a window manager keeps on the root window (Extended Window Manager Hints).
#pragma once
#include "windows.h"

struct x11;

// Connects to a display such as ":0"; null if that fails. This waits for the server; nothing below does.
struct x11 *x11_open(const char *display);

void x11_close(struct x11 *x11);

// The socket, to watch for reading.
int x11_descriptor(const struct x11 *x11);

// Handles the messages, and sends the resulting requests.
enum windows_state x11_turn(struct x11 *x11);

// Whether a window changed since the last call.
bool x11_take_change(struct x11 *x11);

// Writes at most `room` windows to `windows`; returns their number.
size_t x11_windows(const struct x11 *x11, struct windows_window *windows, size_t room);
