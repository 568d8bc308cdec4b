"""The completions that refreshctl writes, in the real shells: subcommands, and ids that the running daemon knows."""

import contextlib
import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

from daemon import MAIL, REFRESHD, TODO

PATIENCE = 30
"""Seconds; for a shell that completes on a busy machine."""


@pytest.fixture
def script(scratch):
    """Writes the completion script of a shell, and names it."""

    def write(shell, name):
        text = subprocess.run(
            [REFRESHD.with_name("refreshctl"), "--generate-completion-script", shell], check=True, capture_output=True
        ).stdout
        (scratch / name).write_bytes(text)
        return scratch / name

    return write


@pytest.fixture
def environment(daemon, scratch):
    """Of a shell that finds refreshctl, and whose refreshctl finds the daemon."""
    return {
        "PATH": f"{REFRESHD.parent}:/usr/bin:/bin", "HOME": str(scratch), "REFRESH_SOCKET": daemon.socket, "LC_ALL": "C.UTF-8",
        "TERM": "xterm",
    }  # fmt: skip


def run(words, environment):
    answer = subprocess.run(words, check=True, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    assert answer.stderr == ""
    return answer.stdout.split()


def with_two_apps(daemon):
    daemon.app("exit 0")
    daemon.app("exit 0", id=MAIL)
    daemon.start()


BASH = """
source "$1"
COMP_WORDS=(refreshctl {words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
COMP_LINE="${{COMP_WORDS[*]}}" COMP_POINT=${{#COMP_LINE}} COMP_TYPE=9 COMP_KEY=9
$(complete -p refreshctl | sed 's/.*-F \\([^ ]*\\) .*/\\1/') refreshctl "${{COMP_WORDS[-1]}}" "${{COMP_WORDS[-2]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def bash(words, script, environment):
    return run(
        ["bash", "--norc", "-c", BASH.format(words=words), "bash", script("bash", "refreshctl.bash")], environment
    )


def fish(line, script, environment):
    source = script("fish", "refreshctl.fish")
    found = subprocess.run(
        ["fish", "--no-config", "-c", f"source {source}; complete -C '{line}'"],
        check=True, capture_output=True, text=True, env=environment, timeout=PATIENCE,
    ).stdout  # fmt: skip
    return [entry.split("\t")[0] for entry in found.splitlines()]


def test_bash_completes_subcommands_and_ids(daemon, script, environment):
    with_two_apps(daemon)
    assert "download" in bash("dow", script, environment)
    assert bash(f"why {TODO[:-2]}", script, environment) == [TODO]


def test_bash_completes_the_numbers_and_sessions_of_transfers(daemon, script, environment, scratch):
    with_two_apps(daemon)
    path = str(scratch / "nothing")
    transfer = {"url": "http://127.0.0.1:9/", "path": path, "network": "none", "session": "night-pictures"}
    [number] = daemon.call("Transfers.Enqueue", app=TODO, transfers=[transfer])["ids"]
    assert bash(f"cancel-transfer {str(number)[:-1] or chr(39) * 2}", script, environment) == [str(number)]
    assert bash("transfers --session nigh", script, environment) == ["night-pictures"]


def test_bash_completes_timers(script, environment, scratch):
    folder = scratch / ".config/systemd/user"
    folder.mkdir(parents=True)
    for name in ("mbsync.timer", "mbsync@.timer", "mbsync.service"):
        (folder / name).touch()
    assert bash("adopt --user mb", script, environment) == ["mbsync.timer"]
    assert bash("adopt mb", script, environment) == []
    machine = [path.name for path in Path("/usr/lib/systemd/system").glob("systemd-tmpfiles*.timer")]
    assert machine and bash("adopt systemd-tmpfiles", script, environment) == machine


def test_fish_completes_subcommands(script, environment):
    assert "download" in fish("refreshctl dow", script, environment)


@pytest.fixture
def shells(script, scratch):
    """The shells that complete in a terminal only, each with its completion script."""
    folder = scratch / "functions"
    folder.mkdir()
    script("zsh", "functions/_refreshctl")
    (scratch / ".zshrc").write_text(
        f"PS1='ready> '; fpath=({folder} $fpath); autoload -U compinit; compinit -u -d {scratch}/dump\n"
    )
    source = script("fish", "refreshctl.fish")
    prompt = "function fish_prompt; echo 'ready> '; end"
    return {"zsh": ["zsh", "-i"], "fish": ["fish", "--no-config", "-C", f"source {source}; {prompt}"]}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_these_shells_complete_ids(daemon, shells, shell, environment):
    completes_ids(daemon, environment, *shells[shell])


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_without_a_daemon_these_shells_say_nothing(shells, shell, environment):
    with terminal_of(environment, *shells[shell]) as terminal:
        os.write(terminal, f"refreshctl why {TODO[:-2]}\t".encode())
        # The line goes on as it was typed.
        os.write(terminal, b"\x15echo do''ne\r")
        shown = until(terminal, "done")
        assert "refreshctl: " not in shown and "cannot" not in shown, shown


def completes_ids(daemon, environment, shell, *arguments):
    with_two_apps(daemon)
    with terminal_of(environment, shell, *arguments) as terminal:
        os.write(terminal, f"refreshctl why {TODO[:-2]}\t".encode())
        until(terminal, TODO)


@contextlib.contextmanager
def terminal_of(environment, shell, *arguments):
    """A shell in a terminal, because zsh and fish run the completion of a command nowhere else."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(f"/usr/bin/{shell}", [shell, *arguments], environment)
    try:
        until(terminal, "ready> ")
        yield terminal
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)


def until(terminal, wanted):
    """Gives the text that the terminal shows, up to the text that is waited for."""
    shown = ""
    end = time.monotonic() + PATIENCE
    while wanted not in shown:
        assert select.select([terminal], [], [], max(0, end - time.monotonic()))[0], f"no {wanted!r} in {shown!r}"
        shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def test_without_a_daemon_nothing_is_completed_and_nothing_is_said(script, environment):
    assert bash(f"why {TODO[:-2]}", script, environment) == []
