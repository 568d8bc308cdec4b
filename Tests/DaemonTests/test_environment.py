"""The environment of a task: variables, directory, user, standard input."""

import os
import pwd

import pytest

from daemon import TODO

NOBODY = pwd.getpwnam("nobody")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may run a task as another user")


def said(daemon, shell, **keys):
    """The last line of output of the app's task."""
    daemon.app({"name": "say", "shell": shell}, **keys)
    daemon.start()
    return daemon.refresh()["tasks"][0]["message"]


def test_a_task_knows_its_refresh(daemon):
    file = daemon.directory / "environment"
    daemon.app(f"env > {file}", deadline="20s", environment={"COLOUR": "blue", "LANG": "C.UTF-8"})
    daemon.start(environment={"LANG": "xx", "SECRET": "of the daemon"})
    refresh = daemon.refresh()
    variables = dict(line.split("=", 1) for line in file.read_text().splitlines())
    own = {name: value for name, value in variables.items() if name.startswith("REFRESH_")}
    token = own.pop("REFRESH_TOKEN")
    assert len(token) == 32
    assert own == {
        "REFRESH_APP": TODO,
        "REFRESH_ID": refresh["id"],
        "REFRESH_TRIGGER": "manual",
        "REFRESH_DEADLINE": str((refresh["started_us"] + 20_000_000) // 1_000_000),
        "REFRESH_SOCKET": str(daemon.socket),
    }
    assert (variables["COLOUR"], variables["LANG"]) == ("blue", "C.UTF-8")
    assert "SECRET" not in variables and "NOTIFY_SOCKET" not in variables


def test_a_variable_of_a_task_counts_before_that_of_its_app(daemon):
    daemon.configure('[defaults]\nenvironment = { A = "default", B = "default", C = "default" }\n')
    daemon.app(
        {"shell": "echo $A $B $C", "environment": {"A": "task"}}, environment={"A": "app", "B": "app"}
    )
    daemon.start()
    assert daemon.refresh()["tasks"][0]["message"] == "task app default"


def test_standard_input_is_empty(daemon):
    assert said(daemon, "readlink /proc/self/fd/0") == "/dev/null"


def test_nothing_of_the_daemon_is_open_in_a_task(daemon):
    """Neither its socket nor its store. The last descriptor is the folder that ls itself lists."""
    assert said(daemon, "exec ls /proc/self/fd") == "3"


def test_a_task_has_the_signals_of_a_fresh_process(daemon):
    """No signal is blocked or ignored, whatever the daemon does with signals. The two that libc reserves are as in the
    machine's first process (signal(7), "Real-time signals")."""
    masks = said(daemon, "exec grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f 2 | paste -s -d ' '")
    blocked, ignored = (int(mask, 16) for mask in masks.split())
    assert blocked == 0 and ignored & ~(0b11 << 31) == 0


def test_a_task_runs_where_its_file_says(daemon):
    place = daemon.directory / "place"
    place.mkdir()
    assert said(daemon, "pwd", directory=str(place)) == str(place)


def test_a_task_runs_at_home(daemon):
    assert said(daemon, "echo $(pwd) $HOME") == f"{os.path.expanduser('~')} {os.path.expanduser('~')}"


def test_a_directory_that_is_not_there_is_a_failure_to_start(daemon):
    missing = daemon.directory / "missing"
    daemon.app("exit 0", directory=str(missing))
    daemon.start()
    refresh = daemon.refresh()
    assert (refresh["outcome"], refresh["cause"]["kind"]) == ("failed", "spawn")
    assert str(missing) in refresh["cause"]["text"]


def test_a_command_is_no_shell(daemon):
    """Arguments arrive unchanged."""
    daemon.app({"run": ["/bin/echo", "$HOME; *", "a  b"]})
    daemon.start()
    assert daemon.refresh()["tasks"][0]["message"] == "$HOME; * a  b"


@needs_root
def test_a_task_runs_as_the_owner_of_its_app(daemon):
    """With the owner's groups, and none of the daemon's."""
    text = said(daemon, "echo $(id -u):$(id -g):$(id -G) $USER $LOGNAME $HOME", owner="nobody", directory="/")
    user, groups = NOBODY.pw_uid, " ".join(map(str, sorted(os.getgrouplist("nobody", NOBODY.pw_gid))))
    assert text == f"{user}:{NOBODY.pw_gid}:{groups} nobody nobody {NOBODY.pw_dir}"


@needs_root
def test_a_task_runs_in_the_group_of_its_file(daemon):
    assert said(daemon, "id -gn", owner="nobody", group="daemon", directory="/") == "daemon"


@needs_root
def test_an_owner_gains_nothing_by_a_setuid_program(daemon):
    """A task may not harm the daemon: it cannot signal it, for example."""
    daemon.app("kill -0 $PPID && exit 0; exit 100", owner="nobody", directory="/")
    daemon.start()
    assert daemon.refresh()["outcome"] == "no_data"
