"""refreshctl -H HOST: the same command on another machine, by ssh. A program in the place of ssh hands the line to a shell,
as sshd does."""

import os
import pathlib
import subprocess

import pytest

from daemon import TODO
from terminal import Terminal
from test_json import REFRESHCTL

SSH = """#!/bin/sh
printf '%s\\n' "$@" > "$SSH_SEEN"
[ "$1" = -T ] || [ "$1" = -t ] && [ "$2" = -- ] && [ $# = 4 ] || exit 99
exec sh -c "$4"
"""


@pytest.fixture
def remote(daemon, scratch):
    """The environment of a person with that ssh, and the words that it was given last."""
    daemon.app("printf '%s\\n' \"$REFRESH_TRIGGER\"")
    daemon.start()
    programs = scratch / "bin"
    programs.mkdir()
    (programs / "ssh").write_text(SSH)
    (programs / "ssh").chmod(0o755)
    (programs / "refreshctl").symlink_to(pathlib.Path(REFRESHCTL).absolute())
    seen = scratch / "seen"
    path = f"{programs}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "SSH_SEEN": str(seen), "REFRESH_SOCKET": str(daemon.socket)}

    def run(*arguments, **options):
        done = subprocess.run(
            [REFRESHCTL, *arguments], env=environment, capture_output=True, text=True, timeout=30, **options
        )
        return done.returncode, done.stdout, done.stderr

    run.seen = lambda: seen.read_text().splitlines() if seen.exists() else []
    run.environment = environment
    return run


@pytest.mark.parametrize(
    "arguments",
    [
        ["-H", "ann@nas", "run", TODO], ["run", "-H", "ann@nas", TODO], ["run", TODO, "-Hann@nas"],
        ["--host=ann@nas", "run", TODO], ["run", TODO, "--host", "ann@nas"],
    ],
)  # fmt: skip
def test_it_runs_there_with_its_output_and_exit_status(remote, arguments):
    status, text, _ = remote(*arguments)
    assert (status, text) == (0, "task0: manual\n")
    assert remote.seen() == ["-T", "--", "ann@nas", f"refreshctl run {TODO}"]


def test_every_word_arrives_as_it_was_written(remote, daemon):
    # A quote with a combining mark after it is still a quote for a shell.
    for reason in ("it's \"$HOME\" `id`; \\ * & ü", "x'\u0301; echo $HOME; '\u0301"):
        assert remote("-H", "nas", "run", TODO, "--after", "1h", "--reason", reason)[0] == 0
        assert daemon.call("Manager.Why", app=TODO)["why"]["one_shot"]["reason"] == reason
    payload = '{"aps":{"content-available":1},"content-id":"it\'s 7"}'
    assert remote("push", TODO, "-", "-H", "nas", input=payload)[0] == 0


def test_a_wrong_command_line_is_found_here(remote):
    status, _, said = remote("-H", "nas", "run")
    assert status == 64 and remote.seen() == []
    for host in ["-oProxyCommand=id", "", "a b"]:
        status, _, said = remote("list", "--host", host)
        assert status == 64 and "write HOST or USER@HOST" in said
    assert remote.seen() == []


@pytest.mark.parametrize("hyphens", [["--"], []])
def test_a_command_of_a_lease_keeps_its_own_options(remote, hyphens):
    words = ["-H", "x", "--socket", "y", "--json"]
    assert remote("foreground", TODO, "--while", *hyphens, "echo", *words)[1] == " ".join(words) + "\n"
    assert remote.seen() == []


def test_on_a_terminal_it_gets_one_there(remote):
    terminal = Terminal([REFRESHCTL, "-H", "nas", "list"], remote.environment)
    try:
        terminal.wait_for(TODO)
    finally:
        terminal.close()
    assert remote.seen()[:2] == ["-t", "--"]


def test_without_ssh_it_says_so(remote):
    remote.environment["PATH"] = "/nowhere"
    status, _, said = remote("-H", "nas", "list")
    assert status == 69 and "install openssh-client" in said
