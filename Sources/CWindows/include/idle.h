// Whether the user of a seat is idle, by the protocol ext_idle_notifier_v1, version 1. No function waits.
#pragma once
#include "windows.h"

struct idle;

// Connects to the socket of a compositor, which reports that many milliseconds without input; null on failure.
// A program that inhibits idleness, such as a film, counts as input.
struct idle *idle_open(const char *path, uint32_t after);

void idle_close(struct idle *idle);

// Reads if the socket is readable, handles the messages, and sends the queue. The state is `watching` once the compositor
// reports idleness, and `unsupported` if it does not.
enum windows_state idle_turn(struct idle *idle, bool is_readable);

// The socket, to watch for reading.
int idle_descriptor(const struct idle *idle);

// Whether bytes wait for room in the socket.
bool idle_wants_to_write(const struct idle *idle);

// Whether there was no input for that time.
bool idle_is_idle(const struct idle *idle);
