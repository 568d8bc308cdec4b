"""TCP sockets whose last close waits for a peer that does not read, in the thread that closes."""

import contextlib
import socket
import struct
import threading

FOR_AN_HOUR, NOT_AT_ALL = struct.pack("ii", 1, 3600), struct.pack("ii", 0, 0)


@contextlib.contextmanager
def lingering():
    """Gives a function that makes such a socket, has somebody pass it on, and keeps no copy of it."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

        def send(passes):
            victim = socket.create_connection(listener.getsockname())
            peer = stack.enter_context(listener.accept()[0])
            victim.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while victim.send(b"x" * 65536):
                    pass
            victim.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, FOR_AN_HOUR)
            try:
                passes(victim.fileno())
            except OSError:
                # The kernel refuses it, or nobody is there. This copy is the last one.
                victim.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NOT_AT_ALL)
                raise
            finally:
                # The receiver may have closed its copy by now: then this close waits, until the listener's end is closed.
                closing = threading.Thread(target=victim.close)
                closing.start()
                stack.callback(closing.join)
                stack.callback(peer.close)

        yield send
