"""Moves the pointer of KWin, which has no mouse without a screen, by the protocol org_kde_kwin_fake_input.

KWin offers it to every client if it was started with KWIN_WAYLAND_NO_PERMISSION_CHECKS=1. The client speaks Wayland's wire
format, because no package has a tool for it.
"""

import os
import socket
import struct

PROTOCOL = "org_kde_kwin_fake_input"
DISPLAY = 1


def text(word):
    data = word.encode() + b"\0"
    return struct.pack("=I", len(data)) + data + bytes(-len(data) % 4)


class Connection:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.stream = self.socket.makefile("rb")
        self.last = DISPLAY

    def new(self):
        """The number of a new object; a compositor takes each number in its turn only."""
        self.last += 1
        return self.last

    def ask(self, object, opcode, arguments=b""):
        self.socket.sendall(struct.pack("=IHH", object, opcode, 8 + len(arguments)) + arguments)

    def events(self):
        """The events up to the answer to a question that is asked now, each of an object with an opcode and arguments."""
        answer = self.new()
        self.ask(DISPLAY, 0, struct.pack("=I", answer))
        while True:
            object, opcode, size = struct.unpack("=IHH", self.stream.read(8))
            arguments = self.stream.read(size - 8)
            assert object != DISPLAY or opcode != 0, arguments
            if object == answer:
                return
            yield object, opcode, arguments


compositor = Connection(os.path.join(os.environ["XDG_RUNTIME_DIR"], os.environ["WAYLAND_DISPLAY"]))
registry = compositor.new()
compositor.ask(DISPLAY, 1, struct.pack("=I", registry))
offered = [arguments for object, opcode, arguments in compositor.events() if (object, opcode) == (registry, 0)]
[number] = [struct.unpack_from("=I", arguments)[0] for arguments in offered if PROTOCOL.encode() in arguments]
pointer = compositor.new()
compositor.ask(registry, 0, struct.pack("=I", number) + text(PROTOCOL) + struct.pack("=II", 1, pointer))
compositor.ask(pointer, 0, text("a test") + text("moves the pointer"))
compositor.ask(pointer, 1, struct.pack("=ii", 10 << 8, 10 << 8))
for _ in compositor.events():
    pass
