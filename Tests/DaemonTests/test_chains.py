"""Tasks that run after other tasks, under one deadline."""

import signal

import pytest

from daemon import TODO, finished

PULL = {"name": "pull", "shell": "exit 100"}


def after(*names, shell="exit 100", name="index"):
    return {"name": name, "shell": shell, "after": list(names)}


def outcomes(refresh):
    return {task["name"]: task["cause"]["text"] if "cause" in task else task["outcome"] for task in refresh["tasks"]}


def test_a_task_runs_after_another(daemon):
    """The second task finds the files of the first, and has its own token and environment."""
    log = daemon.directory / "log"
    report = f"echo $REFRESH_ID $REFRESH_TOKEN >> {log}"
    daemon.app(after("pull", shell=f"test -s {log} && {report}"), {"name": "pull", "shell": report})
    daemon.start()
    refresh = daemon.refresh()
    assert outcomes(refresh) == {"index": "new_data", "pull": "new_data"}
    (first, one), (second, other) = (line.split() for line in log.read_text().splitlines())
    assert first == second == refresh["id"] and one != other
    assert [task["after"] for task in daemon.show()["tasks"]] == [["pull"], []]


def test_what_comes_after_a_failure_is_not_run(daemon):
    """The failure is the outcome of the refresh, also if its task stands later in the file. Other tasks go on."""
    log = daemon.directory / "log"
    daemon.app(
        after("index", name="notify", shell=f"echo >> {log}"),
        after("pull", shell=f"echo >> {log}"),
        {"name": "pull", "shell": "exit 7"},
        {"name": "push", "shell": "exit 100"},
    )
    daemon.start()
    refresh = daemon.refresh()
    assert outcomes(refresh) == {
        "notify": "not run: pull failed",
        "index": "not run: pull failed",
        "pull": "exit code 7",
        "push": "no_data",
    }
    assert refresh["cause"]["code"] == 7
    assert refresh["tasks"][0]["cause"]["kind"] == "not_run" and refresh["tasks"][0]["duration_us"] == 0
    assert not log.exists()
    assert daemon.history() == [refresh]
    daemon.restart()
    assert daemon.history() == [refresh]


def test_one_deadline_holds_for_the_whole_chain(daemon):
    daemon.app(
        {"name": "pull", "shell": "exec sleep 0.5"},
        after("pull", shell="exec sleep 60"),
        after("index", name="notify"),
        deadline="1s",
        grace="0s",
    )
    daemon.start()
    refresh = daemon.refresh()
    late = "still running at its deadline"
    assert outcomes(refresh) == {"pull": "new_data", "index": late, "notify": late}
    assert refresh["stop_reason"] == "deadline" and 1_000_000 <= refresh["duration_us"] < 5_000_000


@pytest.mark.spawned
def test_a_stop_starts_nothing_more(daemon):
    """The first task ends well in spite of the stop. The second does not run, so the refresh runs again later."""
    log = daemon.directory / "log"
    there = daemon.pipe("there")
    pull = f"trap 'exit 0' TERM; echo > {there}; while :; do sleep 0.1; done"
    daemon.app({"name": "pull", "shell": pull}, after("pull", shell=f"echo >> {log}"))
    daemon.start()
    daemon.run()
    there.line()
    assert daemon.stop() == 0
    daemon.start()
    there.line()
    (first,) = daemon.history()
    assert first["stop_reason"] == "shutdown" and first["tasks"][1]["cause"]["stop_reason"] == "shutdown"
    assert not log.exists()


def test_a_reload_in_the_middle_changes_nothing_of_what_runs(daemon):
    """The chain goes on with the configuration of its start."""
    there, go = daemon.pipe("there"), daemon.pipe("go")
    daemon.app({"name": "pull", "shell": f"echo > {there}; read _ < {go}"}, after("pull", shell="exit 0"))
    daemon.start()
    stream = daemon.run()
    there.line()
    daemon.app("exit 7")
    daemon.signal(signal.SIGHUP)
    daemon.wait_for_output("the new configuration is in force")
    go.let_go()
    assert outcomes(finished(stream)) == {"pull": "new_data", "index": "new_data"}
    assert outcomes(daemon.refresh(TODO)) == {"task0": "exit code 7"}
