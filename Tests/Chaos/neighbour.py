"""A user who does nothing wrong, as a process of its own: `neighbour.py SOCKET APP FOLDER`, until its input ends.

It asks for its app's explanation, and disables and enables it, again and again. It prints what a call took, in seconds,
and the calls that failed, as JSON. The app itself is due every half second and leaves a file for each start.
"""

import json
import select
import socket
import sys
import time

PAUSE = 0.02
"""Between two calls, in seconds: a person and a status bar, not a flood."""

CALLS = [
    ("org.refreshd.Manager.Why", lambda app: {"app": app}),
    ("org.refreshd.Manager.Set", lambda app: {"apps": [app]}),
    ("org.refreshd.Manager.Disable", lambda app: {"apps": [app]}),
    ("org.refreshd.Manager.Enable", lambda app: {"apps": [app]}),
]
LIMIT = 30
"""The longest wait for one reply, in seconds."""


def call(path, method, parameters):
    """Makes one call on a connection of its own, as refreshctl does, and returns the error's name, if any."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(LIMIT)
        connection.connect(path)
        connection.sendall(json.dumps({"method": method, "parameters": parameters}).encode() + b"\0")
        reply = b""
        while not reply.endswith(b"\0"):
            piece = connection.recv(65536)
            if not piece:
                return "the connection was closed"
            reply += piece
        return json.loads(reply[:-1]).get("error")


def main():
    path, app, switched = sys.argv[1:4]
    seconds, failures, number = [], [], 0
    while not select.select([sys.stdin], [], [], PAUSE)[0]:
        method, parameters = CALLS[number % len(CALLS)]
        # The app that is due stays enabled; a second one of the same user is switched.
        subject = switched if number % len(CALLS) >= 2 else app
        number += 1
        began = time.monotonic()
        try:
            failure = call(path, method, parameters(subject))
        except OSError as error:
            failure = repr(error)
        seconds.append(time.monotonic() - began)
        if failure:
            failures.append(f"{method}: {failure}")
    json.dump({"seconds": seconds, "failures": failures}, sys.stdout)


main()
