"""Expire: a person ends a running refresh as its deadline would."""

import os
import pwd
import subprocess
import time

from attaching import Attached
from client import as_user, fails
from daemon import TODO, finished
from test_json import REFRESHCTL

NOBODY = pwd.getpwnam("nobody").pw_uid


def ctl(daemon, *arguments):
    done = subprocess.run(
        [REFRESHCTL, *arguments, "--socket", daemon.socket], capture_output=True, text=True, timeout=30
    )
    return done.returncode, done.stdout, done.stderr


def test_it_is_warned_and_stopped_and_counts_as_a_deadline(daemon):
    events = daemon.pipe("events")
    daemon.app(
        {"name": "pull", "shell": f"trap 'echo asked > {events}; exit 1' TERM; echo up > {events}; sleep 600 & wait"},
        deadline="10min",
    )
    daemon.start()
    lease = daemon.lease("launched")
    stream = daemon.run()
    assert events.line() == "up"
    reply = daemon.call("Manager.Expire", refresh="1-1")
    assert reply["app"] == TODO and 3 < reply["deadline_us"] / 1e6 - time.time() < 6
    notice = next(lease)["notice"]
    assert (notice["kind"], notice["deadline_us"]) == ("expiring", reply["deadline_us"])
    assert events.line() == "asked"
    refresh = finished(stream)
    assert (refresh["outcome"], refresh["stop_reason"], refresh["cause"]["kind"]) == ("failed", "deadline", "stopped")
    assert refresh["tasks"][0]["message"] == "expired on request"
    assert refresh["cause"]["text"] == refresh["tasks"][0]["cause"]["text"] == "expired on request"
    assert daemon.history() == [refresh]
    daemon.wait_for_output(f"user {os.getuid()} lets refresh 1-1 expire")


def test_run_and_the_event_of_an_attached_app_agree(daemon):
    daemon.app("exit 0", deadline="10min", grace="1min")
    daemon.start()
    app = Attached(daemon)
    run = subprocess.Popen([REFRESHCTL, "run", TODO, "--socket", daemon.socket], stderr=subprocess.PIPE, text=True)
    performed = app.next("perform")
    for _ in range(2):
        daemon.call("Manager.Expire", refresh="1-1")
    app.next("expiring")
    assert app.next("cancelled")["reason"] == "deadline"
    with fails("org.refreshd.App.AlreadyCompleted", outcome="failed"):
        app.complete(performed, "new_data")
    assert app.next("ended")["cause"] == "expired on request"
    said = run.communicate(timeout=30)[1]
    assert said.splitlines()[-1].endswith(": expired on request") and run.returncode == 1


def test_a_second_word_ends_it_at_once(daemon):
    events = daemon.pipe("events")
    daemon.app(f"echo up > {events}; sleep 600", deadline="10min")
    daemon.start()
    stream = daemon.run()
    assert events.line() == "up"
    status, text, _ = ctl(daemon, "expire", "todo")
    assert status == 0 and text.startswith(f"Refresh 1-1 of {TODO} is asked to end in ")
    assert daemon.call("Manager.Expire", refresh="1-1")["deadline_us"] / 1e6 <= time.time()
    assert finished(stream)["duration_us"] < 5_000_000


def test_only_a_running_refresh_of_ones_own_expires(daemon):
    events = daemon.pipe("events")
    daemon.app(f"echo up > {events}; sleep 600", deadline="10min")
    daemon.start()
    with fails("org.refreshd.Manager.NoSuchRefresh", refresh="1-1"):
        daemon.call("Manager.Expire", refresh="1-1")
    assert ctl(daemon, "expire", TODO)[0] == 66
    status, _, said = ctl(daemon, "expire", "1-1")
    assert status == 66 and said == "refreshctl: cannot find a running refresh 1-1; `refreshctl list` shows what runs\n"
    daemon.run()
    assert events.line() == "up"
    with as_user(NOBODY), fails("org.refreshd.Manager.NoSuchRefresh", refresh="1-1"):
        daemon.call("Manager.Expire", refresh="1-1")
    assert daemon.show()["running"]["id"] == "1-1"
