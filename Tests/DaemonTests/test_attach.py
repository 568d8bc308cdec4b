"""Attach: an app performs its own refreshes."""

import contextlib
import os
import pwd
import signal
import subprocess
import sys

import pytest

from attaching import Attached, AttachedProcess
from client import answers, as_user, fails, message
from daemon import MAIL, REFRESHD, REPOSITORY, TODO, finished

NOBODY = pwd.getpwnam("nobody").pw_uid
STRANGER = 54321
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")


def causes(refresh):
    return refresh["outcome"], refresh["cause"]["kind"], refresh.get("stop_reason")


# From perform to Complete.

# The app's report, then the outcome and the text in the history.
SAID = [
    ({"outcome": "new_data", "message": "two letters"}, {"outcome": "new_data", "message": "two letters"}),
    ({"outcome": "no_data"}, {"outcome": "no_data"}),
    ({"outcome": "failed", "message": "disk full"}, {"outcome": "failed", "cause": "disk full"}),
]


@pytest.mark.parametrize("said, ended", SAID)
def test_an_app_performs_its_refresh(daemon, said, ended):
    """The app receives what a command finds in its environment, and the outcome is the app's."""
    daemon.app("exit 75", deadline="30s")
    daemon.start()
    app = Attached(daemon)
    assert app.first == {"kind": "attached", "phase": "background"}
    stream = daemon.run(trigger="push")
    performed = app.next("perform")
    token = performed.pop("token")
    assert len(token) == 32
    daemon.call("App.Complete", token=token, **said)
    refresh = finished(stream)
    assert performed == {
        "kind": "perform",
        "refresh": "1-1",
        "trigger": "push",
        "deadline_us": pytest.approx(refresh["started_us"] + 30_000_000, abs=5_000_000),
    }
    assert app.next("ended") == {"kind": "ended", "refresh": "1-1", **ended}
    assert (refresh["outcome"], refresh.get("stop_reason")) == (said["outcome"], None)
    assert [(task["name"], task["message"]) for task in refresh["tasks"]] == [("app", said.get("message", ""))]
    assert daemon.history()[0]["id"] == "1-1"


def test_a_failure_is_tried_again_when_the_app_says(daemon):
    daemon.app("exit 0")
    daemon.start()
    app = Attached(daemon)
    stream = daemon.run()
    app.complete(app.next("perform"), "failed", retry_after_us=600_000_000)
    refresh = finished(stream)
    assert refresh["outcome"] == "failed"
    due = daemon.show()
    ended = refresh["started_us"] + refresh["duration_us"]
    assert (due["due_us"] - ended, due["due_trigger"]) == (600_000_000, "retry")


def test_the_command_runs_before_and_after(daemon):
    """Both serve the same app. While a process is attached, the command does not run."""
    events = daemon.pipe("events")
    daemon.app(f"echo $REFRESH_ID > {events}; exit 100")
    daemon.start()
    assert daemon.refresh()["outcome"] == "no_data"
    app = Attached(daemon)
    stream = daemon.run()
    app.perform()
    assert finished(stream)["outcome"] == "new_data"
    app.leave()
    daemon.wait_for_output("no longer attached")
    assert daemon.refresh()["outcome"] == "no_data"
    assert events.lines_so_far() == ["1-1", "1-3"]


def test_after_a_restart_the_command_waits_for_a_process_that_was_attached(daemon):
    ran = daemon.pipe("ran")
    daemon.app(f"echo ran > {ran}")
    daemon.start()
    app = Attached(daemon)
    for _ in range(10):
        daemon.restart()
        stream = daemon.run()
        app = Attached(daemon)
        app.perform("no_data")
        assert finished(stream)["outcome"] == "no_data"
    assert ran.lines_so_far() == []
    daemon.restart()
    stream = daemon.run()
    (hold,) = daemon.call("Manager.Why", app=TODO)["why"]["holds"]
    assert hold["name"] == "app" and "attached before" in hold["remedy"]
    assert finished(stream)["outcome"] == "new_data"
    # The process has left for good.
    daemon.restart()
    assert daemon.refresh()["duration_us"] < 2_000_000 and ran.lines(2) == ["ran", "ran"]


def test_a_refresh_that_runs_goes_on_when_the_app_attaches(daemon):
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app(f"echo up > {events}; read _ < {go}; exit 100")
    daemon.start()
    stream = daemon.run()
    events.line()
    app = Attached(daemon)
    go.let_go()
    assert finished(stream)["outcome"] == "no_data"
    ended = {"kind": "task_ended", "refresh": "1-1", "task": "task0", "outcome": "no_data"}
    assert app.next("task_ended") == ended
    assert app.next("ended") == {"kind": "ended", "refresh": "1-1", "outcome": "no_data"}


# The deadline.


def test_an_app_is_told_five_seconds_before_the_deadline(daemon):
    daemon.app("exit 0", deadline="6s")
    daemon.start()
    app = Attached(daemon)
    stream = daemon.run()
    performed = app.next("perform")
    assert app.next("expiring") == {
        "kind": "expiring",
        "refresh": performed["refresh"],
        "deadline_us": performed["deadline_us"],
    }
    app.complete(performed, "new_data")
    refresh = finished(stream)
    assert refresh["outcome"] == "new_data"
    assert 1_000_000 <= refresh["duration_us"] < 4_000_000


def test_a_refresh_is_cancelled_at_its_deadline(daemon):
    """An app that stops in time completes; this ends the refresh but does not change its outcome."""
    daemon.app("exit 0", deadline="1s", grace="1min")
    daemon.start()
    app = Attached(daemon)
    stream = daemon.run()
    performed = app.next("perform")
    assert app.next("cancelled") == {"kind": "cancelled", "refresh": "1-1", "reason": "deadline"}
    with fails("org.refreshd.App.AlreadyCompleted", outcome="failed"):
        app.complete(performed, "new_data")
    refresh = finished(stream)
    assert causes(refresh) == ("failed", "stopped", "deadline")
    assert 1_000_000 <= refresh["duration_us"] < 5_000_000
    assert app.next("ended")["cause"] == "still running at its deadline"
    daemon.run()
    app.perform()


def test_an_app_that_is_late_is_given_no_more_refreshes(daemon):
    """The command runs the next refresh, until the app replies: too late for that refresh, in time for later ones."""
    daemon.app("exit 100", deadline="1s", grace="100ms")
    daemon.start()
    app = Attached(daemon)
    assert causes(daemon.refresh()) == ("failed", "stopped", "deadline")
    performed = app.next("perform")
    assert [app.next(kind)["refresh"] for kind in ["cancelled", "ended"]] == ["1-1", "1-1"]
    assert daemon.refresh()["outcome"] == "no_data"
    assert app.next("started") == {"kind": "started", "refresh": "1-2", "trigger": "manual"}
    assert [app.next(kind)["refresh"] for kind in ["task_ended", "ended"]] == ["1-2", "1-2"]
    with fails("org.refreshd.NoSuchToken"):
        app.complete(performed, "new_data")
    assert [refresh["outcome"] for refresh in daemon.history()] == ["no_data", "failed"]
    stream = daemon.run()
    app.perform()
    assert finished(stream)["outcome"] == "new_data"


def test_why_and_list_name_a_process_that_is_late(daemon):
    daemon.app(deadline="1s", grace="100ms", background_interval="1ms")
    daemon.start()
    app = Attached(daemon)
    for kind in ["perform", "cancelled", "ended"]:
        app.next(kind)
    late = daemon.call("Manager.Why", app=TODO)["why"]["late"]
    assert (late["pid"], late["refresh"]) == (os.getpid(), "1-1")
    words_of_why = f"process {os.getpid()} is attached and has not completed refresh 1-1, given up"
    for words in (["why", TODO], ["list"]):
        command = [REFRESHD.with_name("refreshctl"), *words, "--socket", daemon.socket]
        shown = " ".join(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
        assert (words_of_why if words[0] == "why" else "late") in shown, shown


def test_an_app_that_leaves_gets_no_further_refresh(daemon):
    """It completes and says that it ends: the next refresh is the command's, although the connection is open."""
    daemon.app("exit 100")
    daemon.start()
    app = Attached(daemon)
    stream = daemon.run()
    app.complete(app.next("perform"), "new_data", leave=True)
    assert finished(stream)["outcome"] == "new_data"
    app.next("ended")
    assert daemon.refresh()["outcome"] == "no_data"
    assert app.next("started")["refresh"] == "1-2"


def test_a_completion_after_the_stop_is_not_counted(daemon):
    daemon.app(deadline="1s", grace="1min")
    daemon.start()
    app = Attached(daemon)
    stream = daemon.run()
    performed = app.next("perform")
    app.next("cancelled")
    with fails("org.refreshd.App.AlreadyCompleted", outcome="failed"):
        app.complete(performed, "new_data")
    assert not finished(stream).get("extra_completions")


def test_an_app_that_was_late_may_attach_anew(daemon):
    daemon.app(deadline="1s", grace="100ms")
    daemon.start()
    late = Attached(daemon)
    assert causes(daemon.refresh()) == ("failed", "stopped", "deadline")
    assert daemon.run().first["event"]["holds"][0]["name"] == "app"
    assert Attached(daemon).perform()["refresh"] == "1-2"
    for kind in ["perform", "cancelled", "ended", "started", "ended"]:
        late.next(kind)


# Clients that end or hang.


def test_a_client_that_is_killed_has_failed_at_once(daemon):
    """The command runs the next refresh."""
    daemon.app("exit 100", deadline="10min")
    daemon.start()
    with AttachedProcess(daemon) as app:
        stream = daemon.run()
        app.next("perform")
        app.process.kill()
        refresh = finished(stream)
    assert causes(refresh) == ("failed", "lost_client", None)
    assert "ended during the refresh" in refresh["cause"]["text"]
    assert daemon.refresh()["outcome"] == "no_data"


def test_a_client_that_stands_still_costs_only_itself(daemon):
    """A client that is stopped by SIGSTOP is late. Others are served meanwhile; so is the client once it goes on."""
    daemon.app("exit 100", deadline="1s", grace="100ms")
    daemon.app("exit 0", id=MAIL)
    daemon.start()
    with AttachedProcess(daemon) as app:
        os.kill(app.pid, signal.SIGSTOP)
        stream = daemon.run()
        assert daemon.refresh(MAIL)["outcome"] == "new_data"
        assert causes(finished(stream)) == ("failed", "stopped", "deadline")
        assert daemon.refresh()["tasks"][0]["name"] == "task0"
        os.kill(app.pid, signal.SIGCONT)
        app.next("perform")
        app.complete()
        app.next("org.refreshd.NoSuchToken")
        for kind in ["cancelled", "ended", "started", "task_ended", "ended"]:
            app.next(kind)
        stream = daemon.run()
        assert app.next("perform")["refresh"] == "1-4"
        app.complete()
        assert finished(stream)["tasks"][0]["name"] == "app"


def test_a_client_that_never_reads_is_disconnected(daemon):
    """The queue of a client is bounded. Beyond that the client is disconnected, and the command serves again."""
    daemon.app("exit 100")
    daemon.start()
    app, other = daemon.client.connect(), daemon.client.connect()
    app.sendall(message("org.refreshd.App.Attach", {"app": TODO}, more=True))
    daemon.wait_for_output("has attached")
    signals = [message("org.refreshd.App.Signal", {"app": TODO, "signal": name}) for name in ("foreground", "background")]
    for _ in range(100):
        other.sendall(b"".join(signals * 200))
        assert len(answers(other, 400)) == 400
        if "attached_pid" not in daemon.show():
            break
    assert "attached_pid" not in daemon.show()
    assert daemon.refresh()["outcome"] == "no_data"


def test_nothing_is_owed_to_a_client_that_left_before(daemon):
    """A client attaches and leaves with no refresh running; the command serves as before."""
    daemon.app("exit 100")
    daemon.start()
    for _ in range(3):
        Attached(daemon).leave()
    daemon.wait_for_output("no longer attached", times=3)
    assert daemon.refresh()["outcome"] == "no_data"


def test_a_client_that_attaches_often_and_hangs_up_leaves_nothing(daemon):
    """A client sends the call many times and does not wait for a reply; each call ends with the connection."""
    daemon.app("exit 100")
    daemon.start()
    with contextlib.closing(daemon.client.connect()) as connection:
        connection.sendall(message("org.refreshd.App.Attach", {"app": TODO}, more=True) * 5)
    daemon.wait_for_output("has attached", times=5)
    daemon.wait_for_output("no longer attached", times=5)
    assert daemon.refresh()["outcome"] == "no_data"


def test_a_client_that_signals_often_and_hangs_up_leaves_nothing(daemon):
    """The same of the signals that a client holds for as long as it is connected."""
    daemon.app("exit 100")
    daemon.start()
    signal = message("org.refreshd.App.Signal", {"app": TODO, "signal": "foreground", "lease": True}, more=True)
    attach = message("org.refreshd.App.Attach", {"app": TODO}, more=True)
    with contextlib.closing(daemon.client.connect()) as connection:
        connection.sendall(signal * 5 + attach)
    daemon.wait_for_output("no longer attached")
    assert daemon.show()["phase"] == "background"


# Tokens.


def test_a_refresh_is_completed_once(daemon):
    """The token ends with the first completion; a second one does not change the outcome."""
    daemon.app("exit 0")
    daemon.start()
    app = Attached(daemon)
    stream = daemon.run()
    performed = app.perform("no_data")
    with fails("org.refreshd.NoSuchToken"):
        app.complete(performed, "new_data")
    assert finished(stream)["outcome"] == "no_data"


@as_root
def test_a_token_is_for_the_user_of_the_app_alone(daemon):
    """Another user with the token cannot complete a refresh that an app performs. The app's user can, on any
    connection."""
    daemon.app("exit 0", id=MAIL, owner="nobody", directory="/")
    daemon.start()
    with as_user(NOBODY):
        app = Attached(daemon, MAIL)
    stream = daemon.run(MAIL)
    performed = app.next("perform")
    for user in [STRANGER, 0]:
        with as_user(user), fails("org.refreshd.NoSuchToken"):
            app.complete(performed, "failed")
    with as_user(NOBODY):
        app.complete(performed, "new_data")
    assert finished(stream)["outcome"] == "new_data"


def test_a_token_of_one_app_completes_no_other(daemon):
    daemon.app(id=TODO)
    daemon.app(id=MAIL)
    daemon.start()
    todo, mail = Attached(daemon, TODO), Attached(daemon, MAIL)
    runs = daemon.run(TODO), daemon.run(MAIL)
    first, second = todo.next("perform"), mail.next("perform")
    mail.complete(second, "new_data")
    assert finished(runs[1])["outcome"] == "new_data"
    assert daemon.show(TODO)["verdict"] == "refreshing"
    todo.complete(first, "no_data")
    assert finished(runs[0])["outcome"] == "no_data"


# Apps without a command.


def test_an_app_without_a_command_waits_until_it_attaches(daemon):
    """The app is due and held, and starts as soon as a process attaches."""
    daemon.app(background_interval="1ms")
    daemon.start()
    why = daemon.call("Manager.Why", app=TODO)["why"]
    assert (why["verdict"], [hold["name"] for hold in why["holds"]]) == ("held", ["app"])
    assert "attaches" in why["holds"][0]["remedy"]
    assert daemon.show()["tasks"] == []
    assert daemon.call("Manager.List")["apps"][0]["holds"][0]["name"] == "app"
    assert 'app="org.example.todo"' in daemon.call("Manager.Metrics")["text"]
    app = Attached(daemon)
    assert app.perform()["trigger"] in ("interval", "catch_up")
    app.leave()
    daemon.wait_for_output("no longer attached")
    assert [hold["name"] for hold in daemon.show()["holds"]] in (["app"], [])


def test_a_file_without_a_command_is_no_mistake(daemon):
    daemon.app()
    daemon.start()
    assert daemon.call("Manager.Check")["problems"] == []


# Several clients.


def test_who_attached_first_performs_until_it_leaves(daemon):
    daemon.app("exit 100")
    daemon.start()
    first, second = Attached(daemon), Attached(daemon)
    stream = daemon.run()
    first.next("perform")
    assert second.next("started") == {"kind": "started", "refresh": "1-1", "trigger": "manual"}
    first.leave()
    assert causes(finished(stream)) == ("failed", "lost_client", None)
    assert second.next("ended") == {
        "kind": "ended",
        "refresh": "1-1",
        "outcome": "failed",
        "cause": daemon.history()[0]["cause"]["text"],
    }
    stream = daemon.run()
    assert second.perform()["refresh"] == "1-2"
    assert finished(stream)["outcome"] == "new_data"


def test_an_app_hears_of_its_phase_and_of_no_other_apps(daemon):
    """A lease of the foreground is independent: it changes the phase, which refreshes old data."""
    daemon.app("exit 0", foreground_interval="1h")
    daemon.app("exit 0", id=MAIL)
    daemon.start()
    app = Attached(daemon)
    daemon.refresh(MAIL)
    daemon.tell("foreground", MAIL)
    lease = daemon.lease("foreground")
    assert app.next("phase_changed") == {"kind": "phase_changed", "phase": "foreground"}
    assert app.perform()["trigger"] == "foreground"
    assert app.next("ended")["outcome"] == "new_data"
    lease.close()
    assert app.next("phase_changed")["phase"] == "background"


# Reloading and stopping.


def test_an_app_stays_attached_when_its_file_changes(daemon):
    """Also if the file is removed and comes back; a removal stops the refresh that the app performs."""
    daemon.app("exit 100", grace="1min")
    daemon.start()
    app = Attached(daemon)
    daemon.app(grace="1min")
    daemon.call("Manager.Reload")
    stream = daemon.run()
    performed = app.next("perform")
    daemon.file().unlink()
    daemon.call("Manager.Reload")
    assert app.next("cancelled")["reason"] == "unconfigured"
    with fails("org.refreshd.App.AlreadyCompleted", outcome="failed"):
        app.complete(performed, "new_data")
    assert causes(finished(stream)) == ("failed", "stopped", "unconfigured")
    daemon.app()
    daemon.call("Manager.Reload")
    daemon.run()
    app.perform()


@as_root
def test_an_app_that_has_another_owner_now_is_told_nothing_more(daemon):
    daemon.app("exit 100", id=MAIL, owner="nobody", directory="/")
    daemon.start()
    with as_user(NOBODY):
        app = Attached(daemon, MAIL)
    daemon.app("exit 100", id=MAIL, directory="/")
    daemon.call("Manager.Reload")
    assert daemon.refresh(MAIL)["outcome"] == "no_data"
    daemon.app("exit 100", id=MAIL, owner="nobody", directory="/")
    daemon.call("Manager.Reload")
    daemon.run(MAIL)
    assert app.next("perform")["refresh"] == "1-2"


def test_a_stopping_daemon_cancels_what_an_app_performs(daemon):
    """The daemon waits for the app, and runs the refresh again after the next start."""
    daemon.app("exit 100", grace="1min")
    daemon.start()
    app = Attached(daemon)
    daemon.run()
    performed = app.next("perform")
    daemon.signal(signal.SIGTERM)
    assert app.next("cancelled")["reason"] == "shutdown"
    with fails("org.refreshd.App.AlreadyCompleted", outcome="failed"):
        app.complete(performed, "new_data")
    assert daemon.wait() == 0
    daemon.start()
    daemon.wait_for_output("finished: no data")
    daemon.settle()
    assert [refresh["trigger"] for refresh in daemon.history()] == ["retry", "manual"]


@pytest.mark.parametrize("grace, signals", [("100ms", 1), ("1min", 2)])
def test_a_stopping_daemon_waits_no_longer_than_the_grace(daemon, grace, signals):
    """A second SIGTERM ends the wait at once."""
    daemon.app("exit 100", grace=grace)
    daemon.start()
    app = Attached(daemon)
    daemon.run()
    app.next("perform")
    daemon.signal(signal.SIGTERM)
    app.next("cancelled")
    for _ in range(signals - 1):
        daemon.signal(signal.SIGTERM)
    assert daemon.wait() == 0
    assert app.next("ended")["outcome"] == "failed"


def test_what_an_app_performed_for_a_daemon_that_was_killed_is_run_again(daemon):
    daemon.app("exit 100")
    daemon.start()
    app = Attached(daemon)
    daemon.run()
    app.next("perform")
    daemon.kill()
    daemon.start()
    daemon.wait_for_output("finished: no data")
    daemon.settle()
    assert [(refresh["trigger"], refresh["outcome"]) for refresh in daemon.history()] == [
        ("retry", "no_data"),
        ("manual", "failed"),
    ]


# The example.


def test_the_example_of_the_page_refreshes_an_app(daemon):
    """The example of docs/protocol.md, unchanged, against the real daemon."""
    program = REPOSITORY / "examples" / "attach.py"
    assert f"```python\n{program.read_text()}```" in (REPOSITORY / "docs/protocol.md").read_text()
    daemon.app()
    daemon.start()
    with subprocess.Popen(
        [sys.executable, program, daemon.socket, TODO], stdout=subprocess.PIPE, text=True
    ) as process:
        assert daemon.refresh(trigger="push")["outcome"] == "new_data"
        assert process.stdout.readline() == "refreshing: push\n"
        assert daemon.show()["attached_pid"] == process.pid
        process.kill()
    daemon.wait_for_output("no longer attached")
    assert "attached_pid" not in daemon.show()


# Permissions.


def test_only_an_app_that_is_configured_may_be_attached_to(daemon):
    daemon.start()
    for app in [TODO, "todo"]:
        with fails("org.refreshd.NoSuchApp", app=app):
            Attached(daemon, app)


def test_attaching_needs_more(daemon):
    daemon.app("exit 100")
    daemon.start()
    with fails("org.varlink.service.ExpectedMore"):
        daemon.call("App.Attach", app=TODO)
    assert daemon.refresh()["outcome"] == "no_data"


@as_root
def test_another_users_app_is_not_ones_own_to_perform(daemon):
    daemon.app("exit 100")
    daemon.app("exit 100", id=MAIL, owner="nobody", directory="/")
    daemon.start()
    daemon.tell("background")
    with as_user(NOBODY):
        with fails("org.refreshd.NotAllowed", app=TODO):
            Attached(daemon, TODO)
        Attached(daemon, MAIL)
