"""Stands between refresh-session and the daemon, as `recorder.py SOCKET DAEMON FILE`, and keeps all that refresh-session says.

It is a process of the user's own, because the daemon takes a caller for the one who connects.
"""

import socket
import sys
import threading


def carry(source, target, file=None):
    """Passes bytes on until the end, written to the file first."""
    while data := source.recv(1 << 16):
        if file:
            file.write(data)
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)


path, daemon, kept = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
with open(kept, "ab", buffering=0) as file:
    while True:
        session, _ = listener.accept()
        refreshd = socket.socket(socket.AF_UNIX)
        refreshd.connect(daemon)
        threading.Thread(target=carry, args=[session, refreshd, file], daemon=True).start()
        threading.Thread(target=carry, args=[refreshd, session], daemon=True).start()
