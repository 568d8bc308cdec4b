"""The messages of a service to its manager, read as the manager reads them (sd_notify(3))."""

import os
import select
import socket
import struct
import threading

from waiting import Bound, wait_for

CREDENTIALS = struct.Struct("iii")


class Notice(dict):
    """A message: its assignments, and the process that sent the message."""

    def __init__(self, text, pid):
        super().__init__(line.split("=", 1) for line in text.splitlines())
        self.pid = pid


class NotifySocket:
    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(str(path))
        self.seen = []
        self.unread = []
        # Counts the unread messages, and is readable while there are any.
        self.count = os.eventfd(0, os.EFD_SEMAPHORE | os.EFD_CLOEXEC)
        self.thread = threading.Thread(target=self.receive, daemon=True)
        self.thread.start()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()
        os.unlink(self.path)

    def receive(self):
        """Receives messages at once, as a manager does: the eleventh unread one would block its sender. Ignores stored
        descriptors."""
        while message := self.socket.recvmsg(65536, socket.CMSG_SPACE(CREDENTIALS.size))[:2]:
            data, ancillary = message
            if not data:
                return
            pid = next(CREDENTIALS.unpack(value)[0] for _, kind, value in ancillary if kind == socket.SCM_CREDENTIALS)
            if not data.startswith(b"FDSTORE"):
                self.unread.append(Notice(data.decode(), pid))
                os.eventfd_write(self.count, 1)

    def is_waiting(self, seconds):
        """Whether a message is there or arrives within this number of seconds."""
        poll = select.poll()
        poll.register(self.count, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def next(self, bound=None, or_end_of=None):
        """Waits for the next message; returns None if the process with the pidfd `or_end_of` ended without one."""
        descriptors = [self.count] + ([or_end_of] if or_end_of is not None else [])
        ready = wait_for(descriptors, "a notice of the daemon", (bound or Bound()).left)
        if self.count not in ready:
            return None
        os.eventfd_read(self.count)
        notice = self.unread.pop(0)
        self.seen.append(notice)
        return notice

    def wait(self, name, within=15, or_end_of=None):
        """Waits for the next message that assigns `name`; returns None if the process ended before."""
        bound = Bound(within)
        while (notice := self.next(bound, or_end_of)) is not None:
            if name in notice:
                return notice
        return None
