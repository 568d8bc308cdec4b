"""Processes of apps that attach to the daemon, in the test's own process or in another."""

import json
import subprocess
import sys

from daemon import TODO

# A process that attaches, prints each event, and completes its refresh when it reads a line.
APP = """
import json, sys, varlink
client = varlink.Client(address="unix:" + sys.argv[1])
with client.open("org.refreshd.App") as events:
    for answer in events.Attach(app=sys.argv[2], _more=True):
        event = answer["event"]
        print(json.dumps(event), flush=True)
        if event["kind"] == "perform":
            sys.stdin.readline()
            try:
                with client.open("org.refreshd.App") as call:
                    call.Complete(token=event["token"], outcome="no_data")
            except varlink.VarlinkError as error:
                print(json.dumps({"kind": error.error()}), flush=True)
"""


class Attached:
    """An attached connection of the test; its first event has arrived."""

    def __init__(self, daemon, app=TODO):
        self.daemon = daemon
        self.stream = daemon.client.stream("App.Attach", app=app)
        self.first = self.stream.first["event"]

    def next(self, kind):
        """The next event; asserts its kind."""
        event = next(self.stream)["event"]
        assert event["kind"] == kind, event
        return event

    def complete(self, performed, outcome, **more):
        self.daemon.call("App.Complete", token=performed["token"], outcome=outcome, **more)

    def perform(self, outcome="new_data"):
        """Accepts the next refresh and completes it."""
        performed = self.next("perform")
        self.complete(performed, outcome)
        return performed

    def leave(self):
        self.stream.close()


class AttachedProcess:
    """An attached process of its own; its first event has arrived."""

    def __init__(self, daemon, app=TODO):
        self.process = subprocess.Popen(
            [sys.executable, "-c", APP, str(daemon.socket), app],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self.process.pid
        self.next("attached")

    def next(self, kind):
        """The next event; asserts its kind."""
        event = json.loads(self.process.stdout.readline())
        assert event["kind"] == kind, event
        return event

    def complete(self):
        """Makes the process complete its refresh."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.communicate()
