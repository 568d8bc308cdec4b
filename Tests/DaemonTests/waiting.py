"""Waiting for events, with a timeout that fails the test."""

import select
import time

# The timeout of an event that is due at once, in seconds: long enough for a busy machine.
BOUND = 15


def wait_for(descriptors, what, within=BOUND):
    """Waits until one of the descriptors is readable, and returns the readable ones."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    ready = poll.poll(within * 1000)
    assert ready, f"{what} did not come within {within} s"
    return [descriptor for descriptor, _ in ready]


class Bound:
    """The rest of a timeout that several waits share."""

    def __init__(self, within=BOUND):
        self.end = time.monotonic() + within

    @property
    def left(self):
        return max(0, self.end - time.monotonic())
