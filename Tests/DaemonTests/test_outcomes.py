"""The outcome of a task, from the way it ends."""

import pytest

from daemon import REFRESHD, TODO

# Keys of the task, its command, the outcome, the kind of the cause, its code.
ENDS = [
    ({}, "exit 0", "new_data", None, None),
    ({}, "exit 100", "no_data", None, None),
    ({}, "exit 75", "failed", "temporary", 75),
    ({}, "exit 1", "failed", "exit", 1),
    ({}, "exit 255", "failed", "exit", 255),
    ({"no_data_exit": 3}, "exit 3", "no_data", None, None),
    ({"no_data_exit": 3}, "exit 100", "failed", "exit", 100),
    ({"no_data_exit": 0}, "exit 0", "no_data", None, None),
    ({"retry_exit": 4}, "exit 4", "failed", "temporary", 4),
    ({"retry_exit": 4}, "exit 75", "failed", "exit", 75),
    ({}, "kill -KILL $$", "failed", "signal", 9),
    ({}, "kill -SEGV $$", "failed", "signal", 11),
    ({"new_data": "output"}, "echo hello", "new_data", None, None),
    ({"new_data": "output"}, "echo hello >&2", "new_data", None, None),
    ({"new_data": "output"}, "exit 0", "no_data", None, None),
    ({"new_data": "output"}, "echo hello; exit 1", "failed", "exit", 1),
    ({"new_data": "output"}, "echo hello; exit 100", "no_data", None, None),
]


@pytest.mark.parametrize("keys, command, outcome, kind, code", ENDS)
def test_an_exit_means(daemon, keys, command, outcome, kind, code):
    daemon.app({"name": "work", "shell": command, **keys})
    daemon.start()
    refresh = daemon.refresh()
    cause = refresh.get("cause", {})
    assert (refresh["outcome"], cause.get("kind"), cause.get("code")) == (outcome, kind, code)
    assert refresh["tasks"][0].get("cause") == refresh.get("cause")
    assert daemon.history() == [refresh]
    assert ("fresh_us" in daemon.show()) == (outcome != "failed")


# A change in a tree with data/inbox/one, and whether it is a change of data/.
CHANGES = [
    ("echo more >> inbox/one", "new_data"),
    ("touch inbox/two", "new_data"),
    ("mkdir -p archive/2024", "new_data"),
    ("rm inbox/one", "new_data"),
    ("mv inbox/one inbox/uno", "new_data"),
    ("cp inbox/one new; mv new inbox/one", "new_data"),
    ("rm -r inbox", "new_data"),
    ("cat inbox/one", "no_data"),
    ("touch inbox/.lock; rm inbox/.lock", "no_data"),
    ("touch ../beside", "no_data"),
    ("echo more >> inbox/one; exit 100", "no_data"),
    ("echo more >> inbox/one; exit 1", "failed"),
]


@pytest.mark.parametrize("command, outcome", CHANGES)
def test_a_change_below_the_path_is_new_data(daemon, command, outcome):
    data = daemon.directory / "data"
    (data / "inbox").mkdir(parents=True)
    (data / "inbox" / "one").write_text("one")
    daemon.app({"shell": command, "new_data": f"changed:{data}", "directory": str(data)})
    daemon.start()
    assert daemon.refresh()["outcome"] == outcome


def test_a_change_of_one_file_is_new_data(daemon):
    """The file may be created, changed and removed."""
    file = daemon.directory / "file"
    daemon.app({"shell": f"cat {file}.next > {file} 2>&1 || rm -f {file}", "new_data": f"changed:{file}"})
    daemon.start()
    outcomes = []
    for text in ["one", "other", None, None]:
        next_file = file.with_suffix(".next")
        next_file.write_text(text) if text else next_file.unlink(missing_ok=True)
        outcomes.append(daemon.refresh()["outcome"])
    assert outcomes == ["new_data", "new_data", "new_data", "no_data"]


# The exit codes of a group's tasks, the group's outcome, and the code of the cause.
GROUPS = [
    ([0, 0], "new_data", None),
    ([100, 0], "new_data", None),
    ([1, 0], "failed", 1),
    ([100, 100], "no_data", None),
    ([100, 1], "failed", 1),
    ([7, 100, 8], "failed", 7),
    ([75, 100], "failed", 75),
]


@pytest.mark.parametrize("codes, outcome, code", GROUPS)
def test_a_group_means(daemon, codes, outcome, code):
    """The first failure, else any new data, else no data. Each task keeps its own outcome."""
    daemon.app(*[f"exit {code}" for code in codes])
    daemon.start()
    refresh = daemon.refresh()
    assert (refresh["outcome"], refresh.get("cause", {}).get("code")) == (outcome, code)
    meant = {0: "new_data", 100: "no_data"}
    assert [task["outcome"] for task in refresh["tasks"]] == [meant.get(code, "failed") for code in codes]


def test_the_tasks_of_a_group_run_side_by_side(daemon):
    """Each task waits for the other."""
    there, back = daemon.pipe("there"), daemon.pipe("back")
    daemon.app(f"echo > {there}; read _ < {back}", f"read _ < {there}; echo > {back}")
    daemon.start()
    assert daemon.refresh()["outcome"] == "new_data"


def test_a_program_that_is_gone_is_a_failure_to_start(daemon):
    program = daemon.directory / "program"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    daemon.app({"name": "gone", "run": [str(program)]}, {"name": "there", "shell": "exit 100"})
    daemon.start()
    assert daemon.refresh()["outcome"] == "new_data"
    program.unlink()
    refresh = daemon.refresh()
    assert (refresh["outcome"], refresh["cause"]["kind"]) == ("failed", "spawn")
    assert str(program) in refresh["cause"]["text"] and refresh["cause"]["text"].startswith("cannot ")
    assert [task["outcome"] for task in refresh["tasks"]] == ["failed", "no_data"]


def test_the_last_line_is_kept_as_the_message(daemon):
    daemon.app("echo first; echo last; echo", "printf 'no end'", "exit 0")
    daemon.start()
    assert [task["message"] for task in daemon.refresh()["tasks"]] == ["last", "no end", ""]


def test_what_a_task_costs_is_counted(daemon):
    """User and system time of all processes of the task."""
    daemon.app("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done & wait", "exit 0")
    daemon.start()
    refresh = daemon.refresh()
    busy, idle = [task["cpu_us"] for task in refresh["tasks"]]
    assert busy > 5 * idle and busy > 10_000
    assert refresh["cpu_us"] == busy + idle
    assert refresh["duration_us"] >= max(task["duration_us"] for task in refresh["tasks"])


def test_the_last_refresh_is_shown(daemon):
    daemon.app("exit 7")
    daemon.start()
    refresh = daemon.refresh()
    assert daemon.show()["last"] == refresh
    (row,) = daemon.call("Manager.List")["apps"]
    assert row["id"] == TODO
    assert row["last"] == {
        "outcome": "failed",
        "cause": "exit code 7",
        "ended_us": refresh["started_us"] + refresh["duration_us"],
    }


def test_a_task_says_when_to_try_again(daemon):
    refreshctl = REFRESHD.parent / "refreshctl"
    daemon.app(f'{refreshctl} complete failed --message "HTTP 503" --retry-after 10min')
    daemon.start()
    refresh = daemon.refresh()
    assert (refresh["outcome"], refresh["cause"]["kind"]) == ("failed", "reported")
    app = daemon.show()
    assert app["due_trigger"] == "retry"
    ended = refresh["started_us"] + refresh["duration_us"]
    assert 0 <= app["due_us"] - ended - 600_000_000 < 1_000_000
