"""The deadline: SIGTERM, the grace period, SIGKILL, and no process of the task is left."""

import subprocess

import pytest

from daemon import REFRESHD, TODO, finished
from processes import alive

# Four processes that resist: a child, one in a new session, a grandchild of that in a session of its own whose
# parent has ended, and one that has also cleared its environment. Each reports that it runs.
CLINGING = """
trap '' TERM INT HUP
stay() {{ echo up > {events}; while :; do sleep 100; done; }}
stay &
setsid sh -c 'trap "" TERM; echo up > {events}; while :; do sleep 100; done' &
(setsid sh -c '(setsid sh -c "trap \\"\\" TERM; echo up > {events}; while :; do sleep 100; done" &)' &)
(setsid env -i PATH=$PATH sh -c 'trap "" TERM; echo up > {events}; while :; do sleep 100; done' &)
stay
"""


def is_deadline(refresh):
    return (refresh["outcome"], refresh["stop_reason"], refresh["cause"]["kind"], refresh["cause"]["stop_reason"]) == (
        "failed",
        "deadline",
        "stopped",
        "deadline",
    )


def test_nothing_is_left_of_a_task_that_clings(daemon):
    """The task forks, double-forks with setsid, ignores SIGTERM and hides its environment; all its processes end."""
    events = daemon.pipe("events")
    daemon.app(CLINGING.format(events=events), deadline="1s", grace="300ms")
    daemon.start()
    stream = daemon.run()
    events.lines(5)
    assert len(alive(str(events))) >= 5
    refresh = finished(stream)
    assert alive(str(events)) == []
    assert is_deadline(refresh), refresh
    assert 1_300_000 <= refresh["duration_us"] < 5_000_000


def test_what_a_task_leaves_behind_ends_with_it(daemon):
    """Also if the task ends by itself and in time: no process goes on unseen."""
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app(f"(setsid sh -c 'trap \"\" TERM; echo up > {events}; while :; do sleep 100; done' &); read _ < {go}")
    daemon.start()
    stream = daemon.run()
    assert events.line() == "up"
    go.let_go()
    assert finished(stream)["outcome"] == "new_data"
    assert alive(str(events)) == []


def test_a_task_may_use_the_grace_to_end_well(daemon):
    """SIGTERM comes first, and no SIGKILL follows if the task obeys. Its exit code then does not count."""
    events = daemon.pipe("events")
    daemon.app(f"trap 'echo told > {events}; exit 0' TERM; while :; do sleep 0.1; done", deadline="1s", grace="1min")
    daemon.start()
    refresh = daemon.refresh()
    assert events.lines_so_far() == ["told"]
    assert is_deadline(refresh), refresh
    assert 1_000_000 <= refresh["duration_us"] < 5_000_000


def test_a_stopped_process_hears_of_the_deadline(daemon):
    """SIGTERM reaches a task that is stopped by SIGSTOP: the daemon continues the task."""
    events = daemon.pipe("events")
    daemon.app(f"trap 'echo told > {events}; exit 0' TERM; kill -STOP $$", deadline="1s", grace="1min")
    daemon.start()
    assert is_deadline(daemon.refresh())
    assert events.lines_so_far() == ["told"]


def test_a_deadline_stops_only_the_tasks_that_run(daemon):
    """A task that has ended before keeps its outcome; the worst one is the refresh's."""
    daemon.app({"name": "quick", "shell": "exit 0"}, {"name": "slow", "run": ["/bin/sleep", "100"]}, deadline="1s")
    daemon.start()
    refresh = daemon.refresh()
    assert (refresh["outcome"], refresh["stop_reason"]) == ("failed", "deadline")
    quick, slow = refresh["tasks"]
    assert quick["outcome"] == "new_data" and quick["duration_us"] < 1_000_000
    assert slow["outcome"] == "failed" and slow["cause"]["stop_reason"] == "deadline"


def test_run_and_history_name_the_task_that_was_killed_at_its_deadline(daemon):
    """The other task brought new data, and the refresh failed."""
    daemon.app({"name": "quick", "shell": "exit 0"}, {"name": "slow", "run": ["/bin/sleep", "100"]}, deadline="1s")
    daemon.start()
    words = [REFRESHD.with_name("refreshctl"), "--socket", daemon.socket]
    run, history = (
        subprocess.run([words[0], command, TODO, *words[1:]], capture_output=True, text=True, timeout=60)
        for command in ("run", "history")
    )
    assert run.returncode == 1
    words = "slow (still running at its deadline); quick: new data"
    assert run.stderr.splitlines()[-1] == f"{TODO}: failed: {words}"
    assert history.stdout.rstrip().endswith(words)


def test_the_app_goes_on_after_a_deadline(daemon):
    daemon.app("test $REFRESH_TRIGGER = manual || exit 0; exec sleep 100", deadline="1s")
    daemon.start()
    assert is_deadline(daemon.refresh())
    assert daemon.refresh(trigger="push")["outcome"] == "new_data"


@pytest.mark.spawned
def test_a_task_without_a_cgroup_can_make_a_bounded_number_of_processes(daemon):
    daemon.app(f"grep 'Max processes' /proc/self/limits > {daemon.directory}/limits")
    daemon.start()
    daemon.refresh()
    soft, hard = (daemon.directory / "limits").read_text().split()[2:4]
    assert int(soft) <= int(hard) == 4096
