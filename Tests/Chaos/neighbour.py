"""A user who does nothing wrong, as a process of its own: `neighbour.py SOCKET APP SWITCHED CALL,...`, until its input ends.

It makes these calls in turn, again and again: it asks for its apps, for the status and for an explanation, and disables
and enables a second app. It prints what the status, the forecast, the other calls that only ask and those that change
something took, in seconds, and the calls that failed, as JSON. The app itself is due every half second and leaves a file
for each start.
"""

import json
import select
import socket
import sys
import time

PAUSE = 0.02
"""Between two calls, in seconds: a person and a status bar, not a flood."""
LIMIT = 30
"""The longest wait for one reply, in seconds."""


def call(path, method, parameters):
    """Makes one call on a connection of its own, as refreshctl does, and returns the error's name, if any."""
    with socket.socket(socket.AF_UNIX) as connection:
        # Without a time limit, because a socket with one fails at once while the daemon's queue is full.
        connection.connect(path)
        connection.settimeout(LIMIT)
        connection.sendall(json.dumps({"method": method, "parameters": parameters}).encode() + b"\0")
        reply = b""
        while not reply.endswith(b"\0"):
            piece = connection.recv(65536)
            if not piece:
                return "the connection was closed"
            reply += piece
        return json.loads(reply[:-1]).get("error")


def main():
    path, app, switched, names = sys.argv[1:5]
    # A call with its parameters, and its list in the report. The app that is due stays enabled; the other is switched.
    calls = {
        "Status": ({}, "status"), "List": ({}, "asking"), "Show": ({"app": app}, "asking"), "Why": ({"app": app}, "asking"),
        "Forecast": ({"app": switched, "hours": 1}, "planning"),
        "Set": ({"apps": [app]}, "changing"), "Disable": ({"apps": [switched]}, "changing"),
        "Enable": ({"apps": [switched]}, "changing"),
    }  # fmt: skip
    names = names.split(",")
    report, number = {"status": [], "asking": [], "planning": [], "changing": [], "failures": []}, 0
    while not select.select([sys.stdin], [], [], PAUSE)[0]:
        name = names[number % len(names)]
        number += 1
        parameters, kind = calls[name]
        began = time.monotonic()
        try:
            failure = call(path, f"org.refreshd.Manager.{name}", parameters)
        except OSError as error:
            failure = repr(error)
        report[kind].append(time.monotonic() - began)
        if failure:
            report["failures"].append(f"{name}: {failure}")
    json.dump(report, sys.stdout)


main()
