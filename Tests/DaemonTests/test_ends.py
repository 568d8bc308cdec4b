"""How a refresh went, told by commands of the app's file, and to the owner's session if the app is failing."""

import pytest

from client import as_user
from daemon import MAIL, TODO
from days import Days
from test_expire import ctl
from test_clock import machine, needs_root  # noqa: F401 (fixtures)

FACTS = "$REFRESH_APP/$REFRESH_OUTCOME/$REFRESH_FAILURES/$REFRESH_TRIGGER/$REFRESH_ENDED_ID/${REFRESH_TOKEN:-none}"


def tells(pipe, word):
    """A command that reports its input to the test."""
    return ["/bin/sh", "-c", f'echo "{word}/{FACTS}/$REFRESH_MESSAGE" > {pipe}']


def all_tell(pipe):
    return {key: tells(pipe, key) for key in ("on_failure", "on_new_data", "on_success")}


def fail(daemon, app=TODO, code=1):
    """Runs a refresh, whose task ends with a code that the test writes."""
    (daemon.directory / "code").write_text(str(code))
    return daemon.refresh(app)


def ends(daemon):
    """A task that ends with the code of `fail`."""
    return f"echo so it is; exit $(cat {daemon.directory}/code)"


def test_each_end_is_told_by_its_commands(daemon):
    told = daemon.pipe("told")
    daemon.app(ends(daemon), **all_tell(told))
    daemon.start()
    new = fail(daemon, code=0)
    lines = sorted(told.lines(2))
    assert [line.split("/")[:4] for line in lines] == [
        ["on_new_data", TODO, "new-data", "0"], ["on_success", TODO, "new-data", "0"]]
    assert lines[0].split("/")[4:] == ["manual", new["id"], "none", "so it is"]
    fail(daemon, code=100)
    assert told.line().startswith(f"on_success/{TODO}/no-data/0/")
    fail(daemon, code=3)
    assert told.lines_so_far() == []
    fail(daemon, code=3)
    assert told.line().split("/")[:4] == ["on_failure", TODO, "failed", "2"]
    fail(daemon, code=3)
    fail(daemon, code=100)
    # A success says how many failures it ends.
    assert told.line().split("/")[:4] == ["on_success", TODO, "no-data", "3"]
    daemon.settle()
    assert told.lines_so_far() == []


def test_the_message_is_the_cause_and_what_the_task_said(daemon):
    told = daemon.pipe("told")
    daemon.app("printf 'no\\troute \\033[31m\\n'; exit 3", failures_before_notice=1, on_failure=tells(told, "x"))
    daemon.start()
    daemon.refresh()
    message = told.line().split("/")[-1]
    assert message.startswith("exit code 3 (no") and "route" in message
    assert not any(ord(letter) < 32 for letter in message)


def test_a_failing_app_is_told_once_also_across_a_restart(daemon):
    told = daemon.pipe("told")
    daemon.app(ends(daemon), on_failure=tells(told, "x"), failures_before_notice=2)
    daemon.start()
    fail(daemon)
    daemon.stop()
    daemon.start()
    fail(daemon)
    assert told.line().split("/")[3] == "2"
    daemon.wait_for_output("its last 2 refreshes failed: exit code 1 (so it is)")
    daemon.stop()
    daemon.start()
    fail(daemon)
    why = daemon.call("Manager.Why", app=TODO)["why"]
    assert why["failures_in_row"] == 3
    fail(daemon, code=0)
    assert "failures_in_row" not in daemon.call("Manager.Why", app=TODO)["why"]
    fail(daemon)
    assert told.lines_so_far() == []
    fail(daemon)
    assert told.line().split("/")[3] == "2"


def test_a_failing_task_is_not_hidden_by_another_s_success(daemon):
    told = daemon.pipe("told")
    daemon.app("echo x", "exit 3", failures_before_notice=2, on_failure=tells(told, "x"))
    daemon.start()
    for failures in (1, 2):
        code, _, said = ctl(daemon, "run", TODO)
        assert code == 1 and f"{TODO}: failed: task1 (exit code 3); task0: new data\n" in said
        assert daemon.call("Manager.Why", app=TODO)["why"]["failures_in_row"] == failures
    assert told.line().split("/")[:4] == ["x", TODO, "failed", "2"]
    daemon.wait_for_output("its last 2 refreshes failed: exit code 3")
    status = " ".join(ctl(daemon, "status")[1].split())
    assert f"1 app needs attention: {TODO} failed 2 times in a row; `refreshctl why APP` says more." in status
    assert "All is well" not in status


@pytest.mark.parametrize("how", ["disable", "logout"])
def test_a_refresh_that_is_stopped_tells_nothing(daemon, how):
    told, up = daemon.pipe("told"), daemon.pipe("up")
    daemon.app(f"echo up > {up}; exec sleep 1000", failures_before_notice=1, **all_tell(told))
    daemon.app("exit 0", id=MAIL, **all_tell(told))
    daemon.start()
    daemon.run()
    up.line()
    if how == "disable":
        daemon.call("Manager.Disable", apps=[TODO])
    else:
        daemon.tell("logout")
    daemon.wait_for_output("ended after")
    daemon.refresh(MAIL)
    assert {line.split("/")[1] for line in told.lines(2)} == {MAIL}


def test_a_refresh_at_its_deadline_has_failed(daemon):
    told = daemon.pipe("told")
    daemon.app("exec sleep 1000", deadline="1s", grace="0s", failures_before_notice=1, on_failure=tells(told, "x"))
    daemon.start()
    daemon.refresh()
    assert told.line().split("/")[2] == "failed"


def test_a_sync_that_the_app_made_by_itself_is_a_success(daemon):
    told = daemon.pipe("told")
    daemon.app("exit 1", **all_tell(told))
    daemon.start()
    daemon.refresh()
    daemon.call("App.Synced", app=TODO)
    assert told.line().split("/")[:5] == ["on_success", TODO, "no-data", "1", "reported"]
    daemon.refresh()
    daemon.settle()
    assert told.lines_so_far() == []


def test_a_command_that_fails_is_a_warning_and_no_failure(daemon):
    daemon.app("exit 0", on_new_data=["/bin/sh", "-c", "exit 3"])
    daemon.start()
    assert daemon.refresh()["outcome"] == "new_data"
    daemon.wait_for_output("cannot run on_new_data: it ended with exit code 3")
    assert "failures_in_row" not in daemon.call("Manager.Why", app=TODO)["why"]


def test_a_command_that_never_ends_and_prints_for_ever_is_ended_and_delays_no_refresh(daemon, preload):
    days, told = Days(daemon, preload("ahead")), daemon.pipe("told")
    never = f"trap '' TERM; echo up > {told}; while :; do echo y; done"
    daemon.app("exit 0", on_success=["/bin/sh", "-c", never])
    daemon.start(environment=days.environment)
    for _ in range(20):
        assert daemon.refresh()["outcome"] == "new_data"
    assert told.line() == "up"
    # More than the time limit of a command.
    days.go(60)
    daemon.wait_for_output("cannot run on_success: it was ended by SIGKILL")


@pytest.mark.parametrize("word", ["exit 0", ":"])
def test_a_command_that_runs_when_the_daemon_stops_is_asked_to_end_and_then_killed(daemon, word):
    told = daemon.pipe("told")
    wait = f"trap 'echo asked > {told}; {word}' TERM; echo up > {told}; while :; do sleep 0.1; done"
    daemon.app("exit 0", on_new_data=["/bin/sh", "-c", wait], on_success=tells(told, "x"))
    daemon.start()
    daemon.refresh()
    assert told.line() == "up"
    assert daemon.stop() == 0
    # The command that waited for its turn is not run.
    assert told.lines_so_far() == ["asked"]


def test_a_message_with_a_noncharacter_reaches_the_command(daemon):
    told = daemon.pipe("told")
    daemon.app("printf 'a\\357\\277\\277b\\n'; exit 3", failures_before_notice=1, on_failure=tells(told, "x"))
    daemon.start()
    daemon.refresh()
    assert told.line().endswith("/exit code 3 (a b)")


def test_a_command_that_waits_is_not_run_once_its_app_is_gone(daemon):
    told, go = daemon.pipe("told"), daemon.pipe("go")
    daemon.app("exit 0", on_new_data=["/bin/sh", "-c", f"echo up > {told}; read _ < {go}"], on_success=tells(told, "x"))
    daemon.start()
    daemon.refresh()
    assert told.line() == "up"
    daemon.file(TODO).unlink()
    daemon.app("exit 0", id=MAIL, on_success=tells(told, "y"))
    daemon.call("Manager.Reload")
    go.let_go()
    for _ in range(3):
        daemon.refresh(MAIL)
        assert told.line().startswith(f"y/{MAIL}/")


def test_a_command_is_run_by_the_defaults_for_every_app(daemon):
    told = daemon.pipe("told")
    command = ", ".join(f'"{word}"' for word in ["/bin/sh", "-c", f"echo $REFRESH_APP > {told}"])
    daemon.configure(f'foreground_floor = "1ms"\n[defaults]\nfailures_before_notice = 1\non_failure = [{command}]\n')
    daemon.app("exit 1")
    daemon.app("exit 1", id=MAIL)
    daemon.start()
    daemon.refresh()
    daemon.refresh(MAIL)
    assert set(told.lines(2)) == {TODO, MAIL}


@needs_root
def test_the_commands_run_as_the_owner(daemon):
    told = daemon.pipe("told")
    daemon.app("exit 0", owner="nobody", directory="/", on_success=["/bin/sh", "-c", f"id -un > {told}"])
    daemon.start()
    daemon.refresh()
    assert told.line() == "nobody"


@pytest.mark.parametrize(
    "keys, key",
    [
        ({"failures_before_notice": 0}, "failures_before_notice"),
        ({"failures_before_notice": 1001}, "failures_before_notice"),
        ({"failures_before_notice": "never", "on_failure": ["/usr/bin/true"]}, "on_failure"),
        ({"on_success": "true"}, "on_success"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_a_mistake(daemon, keys, key):
    daemon.app("exit 100", **keys)
    daemon.start()
    [problem] = daemon.call("Manager.Check")["problems"]
    assert problem["key"] == key


def test_no_app_counts_as_failing_where_the_file_says_never(daemon):
    told = daemon.pipe("told")
    daemon.app("exit 1", failures_before_notice="never", on_success=tells(told, "x"))
    daemon.start()
    session = daemon.client.stream("Session.Follow")
    for _ in range(3):
        daemon.refresh()
    daemon.call("App.Synced", app=TODO)
    assert told.line().split("/")[3] == "3"
    daemon.app("exit 1", lifecycle="signals")
    daemon.call("Manager.Reload")
    assert "notice" not in next(session)


def test_the_owner_is_shown_a_failing_app(daemon):
    daemon.app(ends(daemon), name="Todo")
    daemon.start()
    session = daemon.client.stream("Session.Follow")
    fail(daemon)
    fail(daemon)
    notice = next(session)["notice"]
    assert (notice["kind"], notice["app"], notice["title"]) == ("failing", TODO, "Todo")
    assert notice["body"] == f"The last 2 refreshes failed: exit code 1 (so it is). `refreshctl why {TODO}` says more."
    fail(daemon)
    fail(daemon, code=0)
    fail(daemon)
    fail(daemon)
    assert next(session)["notice"]["kind"] == "failing"


def test_a_failing_app_is_shown_to_the_next_session_if_it_fails_still(daemon):
    daemon.app(ends(daemon), failures_before_notice=1)
    daemon.app("exit 1", id=MAIL, failures_before_notice=1)
    daemon.start()
    fail(daemon)
    daemon.refresh(MAIL)
    daemon.call("App.Synced", app=TODO)
    session = daemon.client.stream("Session.Follow")
    assert next(session)["notice"]["app"] == MAIL
    daemon.app("exit 1", lifecycle="signals")
    daemon.call("Manager.Reload")
    assert "notice" not in next(session)


@needs_root
def test_another_user_is_not_shown_it(daemon):
    daemon.app("exit 1", owner="nobody", directory="/", failures_before_notice=1)
    daemon.app("exit 1", id=MAIL, failures_before_notice=1)
    daemon.start()
    with as_user(65534):
        session = daemon.client.stream("Session.Follow")
    daemon.refresh(MAIL)
    daemon.refresh()
    assert next(session)["notice"]["app"] == TODO


def test_skipping_for_a_time_outlives_a_refresh_by_hand(daemon):
    daemon.app("exit 75", background_interval="1h")
    daemon.start()
    daemon.refresh()
    until = daemon.show()["due_us"] + 9 * 3_600_000_000
    daemon.call("Manager.Skip", apps=[TODO], until_us=until)

    def close(due):
        return abs(due - until) < 1_000_000

    assert close(daemon.show()["due_us"])
    daemon.refresh()
    assert close(daemon.show()["due_us"])
    daemon.stop()
    daemon.start()
    assert close(daemon.call("Manager.Why", app=TODO)["why"]["skipped_until_us"])
    assert close(daemon.show()["due_us"])
    daemon.call("Manager.Skip", apps=[TODO], until_us=0)
    assert daemon.show()["due_us"] < until - 3_600_000_000
    assert daemon.call("Manager.Skip", apps=[TODO], until_us=0)["unchanged"] == [TODO]
