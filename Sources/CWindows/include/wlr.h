// Windows by the protocol zwlr_foreign_toplevel_manager_v1, version 3. No function waits.
#pragma once
#include "windows.h"

struct wlr;

// Connects to the socket of a compositor; null if that fails, with the reason in errno.
struct wlr *wlr_open(const char *path);

void wlr_close(struct wlr *wlr);

// Reads if the socket is readable, handles the messages, and sends the queue.
enum windows_state wlr_turn(struct wlr *wlr, bool is_readable);

// The socket, to watch for reading.
int wlr_descriptor(const struct wlr *wlr);

// Whether bytes wait for room in the socket.
bool wlr_wants_to_write(const struct wlr *wlr);

// Whether a window changed since the last call.
bool wlr_take_change(struct wlr *wlr);

// Writes at most `room` windows to `windows`; returns their number.
size_t wlr_windows(const struct wlr *wlr, struct windows_window *windows, size_t room);
