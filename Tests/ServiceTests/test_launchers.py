"""Tasks and their outcomes are the same with both launchers."""

import json
import pathlib
import re
import subprocess

import pytest

from journal import MESSAGE_ID
from service import TODO, app, is_alive, owner_of

REPORT = pathlib.Path("/run/report")

# The shell command, the exit code of `refreshctl run`, the outcome, its cause.
ENDS = [
    ("exit 0", "new_data", None),
    ("exit 100", "no_data", None),
    ("exit 75", "failed", ("temporary", 75)),
    ("exit 3", "failed", ("exit", 3)),
    # systemd itself reports a failed start by this code, but here the program ran.
    ("exit 203", "failed", ("exit", 203)),
    ("kill -SEGV $$", "failed", ("signal", 11)),
]


def run(refreshd, check=False):
    """Refreshes the app and returns the refresh."""
    refreshd.refreshctl("run", TODO, check=check)
    return refreshd.history()[0]


@pytest.mark.parametrize("command, outcome, cause", ENDS)
def test_an_end_means(either, command, outcome, cause):
    either.configure(app(command))
    either.start()
    refresh = run(either)
    assert refresh["outcome"] == outcome
    assert cause is None or (refresh["cause"]["kind"], refresh["cause"]["code"]) == cause


@pytest.mark.parametrize(
    "break_it, why",
    [
        (lambda program: program.unlink(), "No such file or directory; install it, or what its #! line names"),
        (lambda program: program.chmod(0o644), "Permission denied; make it executable for the app's owner"),
        (
            lambda program: program.write_text("#!/nonexistent/sh\n"),
            "No such file or directory; install it, or what its #! line names",
        ),
        (
            lambda program: program.write_text("\0\1\2\3"),
            "Exec format error; it is neither a program of this machine nor a script with a #! line",
        ),
    ],
    ids=["gone", "not-executable", "no-interpreter", "no-program"],
)
def test_a_program_that_cannot_run_says_why(either, break_it, why):
    program = pathlib.Path("/run/program")
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    either.configure(app("exit 0").replace("shell = '''exit 0'''", f'run = ["{program}"]'))
    either.start()
    break_it(program)
    refresh = run(either)
    assert (refresh["cause"]["kind"], refresh["cause"]["text"]) == ("spawn", f"cannot start {program}: {why}")
    program.unlink(missing_ok=True)


def test_a_directory_that_is_not_there_is_named(either):
    either.configure(app("exit 0") + 'directory = "/nonexistent"\n')
    either.start()
    refresh = run(either)
    assert refresh["cause"]["kind"] == "spawn"
    assert "cannot enter its directory /nonexistent" in refresh["cause"]["text"]


FILTER = "SystemCallFilter=~close_range\nSystemCallErrorNumber=EPERM\n"


@pytest.mark.parametrize("filtered", ["", FILTER], ids=["all", "filtered"])
def test_a_task_gets_no_descriptor_of_the_daemon(spawned, filtered):
    """Also under a filter of system calls, such as a container's, that refuses to copy a few descriptors."""
    spawned.drop_in(f"[Service]\n{filtered}")
    spawned.configure(app("exec ls /proc/self/fd > /run/report"))
    spawned.start()
    for _ in range(2):
        assert run(spawned)["outcome"] == "new_data"
        # The last one is the folder that ls reads.
        assert REPORT.read_text().split() == ["0", "1", "2", "3"]


def test_at_the_deadline_the_whole_tree_ends(either):
    """A child that ignores signals, a grandchild of a double fork, and one with a cleared environment."""
    stay = "trap \"\" TERM HUP INT; echo $$ >> /run/report; while :; do sleep 100; done"
    either.configure(
        app(
            f"trap '' TERM; setsid sh -c \"{stay.replace(chr(34), chr(92) + chr(34)).replace('$', chr(92) + '$')}\" & "
            "(setsid env -i PATH=$PATH sh -c '(setsid sh -c \"trap \\\"\\\" TERM; echo \\$\\$ >> /run/report; "
            "while :; do sleep 100; done\" &)' &) ; while [ $(wc -l < /run/report) -lt 2 ]; do sleep 0.05; done; "
            "echo $$ >> /run/report; while :; do sleep 100; done",
            deadline="2s", grace="1s",
        )
    )
    REPORT.write_text("")
    either.start()
    refresh = run(either)
    assert (refresh["outcome"], refresh["stop_reason"]) == ("failed", "deadline")
    assert 3_000_000 <= refresh["duration_us"] < 8_000_000
    tree = [int(line) for line in REPORT.read_text().split()]
    assert len(tree) == 3
    assert not any(is_alive(each) for each in tree)


def test_what_a_task_leaves_behind_ends_with_it(either):
    either.configure(app("(setsid sh -c 'trap \"\" TERM; echo $$ > /run/report; while :; do sleep 100; done' &) ; "
                         "while ! [ -s /run/report ]; do sleep 0.05; done"))
    REPORT.write_text("")
    either.start()
    assert run(either)["outcome"] == "new_data"
    assert not is_alive(int(REPORT.read_text()))


def test_a_task_has_its_own_environment_and_nobody_else_sees_it(either):
    values = {
        "QUOTES": "it's \"quoted\"", "LINES": "one\ntwo\n\nfour", "BACKSLASHES": "\\n \\\\ \\", "DOLLAR": "$HOME ${HOME} $$ `id`",
        "UTF8": "Grüße ☃ 🙂", "SPACES": "  two before, two after  ", "HASH": "# no comment", "EMPTY": "", "TAB": "a\tb",
        "CR": "a\r", "END": "x\n# printed\n",
    }
    table = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())
    either.configure(app("env -0 > /run/report; echo $$ '$HOME' $HOME", owner="anna").replace("[[task]]", f"environment = {{ {table} }}\n[[task]]", 1))
    REPORT.touch()
    REPORT.chmod(0o666)
    either.start()
    assert run(either)["outcome"] == "new_data"
    environment = dict(each.split("=", 1) for each in REPORT.read_bytes().decode().rstrip("\0").split("\0"))
    assert values.items() <= environment.items()
    assert environment["HOME"] == "/home/anna"
    assert environment["REFRESH_APP"] == TODO
    assert re.fullmatch("[0-9a-f]{32}", environment["REFRESH_TOKEN"])
    assert either.journal.entries(REFRESH_TASK="work")[0]["MESSAGE"].endswith(" $HOME /home/anna")


@pytest.fixture
def mates(installed):
    """A supplementary group of anna."""
    subprocess.run(["groupadd", "mates"], check=True)
    subprocess.run(["usermod", "--append", "--groups", "mates", "anna"], check=True)
    yield
    subprocess.run(["groupdel", "mates"], check=True)


def test_a_users_task_has_the_users_groups(either, mates):
    either.configure(app("id -un > refreshed; id -gn >> refreshed; id -Gn >> refreshed; pwd >> refreshed", owner="anna"))
    either.start()
    assert run(either)["outcome"] == "new_data"
    file = pathlib.Path("/home/anna/refreshed")
    assert file.read_text().splitlines() == ["anna", "anna", "anna mates", "/home/anna"]
    assert owner_of(file) == "anna"


def test_what_a_task_prints_is_in_the_journal_with_the_apps_fields(either):
    either.configure(app("echo fetched 3 messages; echo no route >&2; printf 'without an end'"))
    either.start()
    refresh = run(either)
    lines = either.journal.entries(MESSAGE_ID=MESSAGE_ID["taskOutput"], REFRESH_APP=TODO, REFRESH_ID=refresh["id"])
    assert [line["MESSAGE"].removeprefix(f"{TODO}: work: ") for line in lines] == [
        "fetched 3 messages", "no route", "without an end",
    ]
    assert all(line["REFRESH_TASK"] == "work" for line in lines)
    assert refresh["tasks"][0]["message"] == "without an end"


def test_a_task_that_prints_more_than_a_pipe_holds_is_not_held_up(either):
    either.configure(app("yes $(printf %02000d 0) | head -n 100; echo done"))
    either.start()
    refresh = run(either)
    assert (refresh["outcome"], refresh["tasks"][0]["message"]) == ("new_data", "done")


def test_what_a_task_takes_is_counted(either):
    either.configure(app("i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; sh -c 'exit 0'"))
    either.start()
    [task] = run(either)["tasks"]
    assert 20_000 < task["cpu_us"] <= task["duration_us"] * 2


def test_a_task_may_say_itself_how_it_went(either):
    either.configure(app("refreshctl complete no-data --message 'nothing new'; exit 7"))
    either.start()
    refresh = run(either)
    assert (refresh["outcome"], refresh["tasks"][0]["message"]) == ("no_data", "nothing new")


def test_a_task_is_told_before_its_deadline(either):
    either.configure(app("trap 'echo told; exit 100' URG; echo at work; while :; do sleep 0.1; done", deadline="6s"))
    either.start()
    refresh = run(either)
    assert (refresh["outcome"], refresh["tasks"][0]["message"]) == ("no_data", "told")


def test_the_status_says_which_launcher_it_is_and_why(either):
    either.configure(app("exit 0"))
    either.start()
    status = either.call("Status")["status"]
    assert (status["launcher"], status["launcher_reason"]) == (either.launcher, "refreshd.toml says so")
    assert f"{either.launcher} (refreshd.toml says so)" in either.refreshctl("status").stdout
