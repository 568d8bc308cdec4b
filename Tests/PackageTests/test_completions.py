"""The completions that refreshctl writes, in the real shells: subcommands, and ids that the running daemon knows."""

import os
import pty
import select
import subprocess
import time

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
    return subprocess.run(
        words, check=True, capture_output=True, text=True, env=environment, timeout=PATIENCE
    ).stdout.split()


def with_two_apps(daemon):
    daemon.app("exit 0")
    daemon.app("exit 0", id=MAIL)
    daemon.start()


BASH = """
source "$1"
COMP_WORDS=(refreshctl {words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
COMP_LINE="${{COMP_WORDS[*]}}" COMP_POINT=${{#COMP_LINE}} COMP_TYPE=9 COMP_KEY=9
$(complete -p refreshctl | sed 's/.*-F \\([^ ]*\\) .*/\\1/') refreshctl "${{COMP_WORDS[-1]}}" refreshctl
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


def test_fish_completes_subcommands(script, environment):
    assert "download" in fish("refreshctl dow", script, environment)


def test_zsh_completes_ids(daemon, script, environment, scratch):
    folder = scratch / "functions"
    folder.mkdir()
    script("zsh", "functions/_refreshctl")
    (scratch / ".zshrc").write_text(
        f"PS1='ready> '; fpath=({folder} $fpath); autoload -U compinit; compinit -u -d {scratch}/dump\n"
    )
    completes_ids(daemon, environment, "zsh", "-i")


def test_fish_completes_ids(daemon, script, environment):
    source = script("fish", "refreshctl.fish")
    prompt = "function fish_prompt; echo 'ready> '; end"
    completes_ids(daemon, environment, "fish", "--no-config", "-C", f"source {source}; {prompt}")


def completes_ids(daemon, environment, shell, *arguments):
    """In a terminal, because these shells run the completion of a command nowhere else."""
    with_two_apps(daemon)
    child, terminal = pty.fork()
    if child == 0:
        os.execve(f"/usr/bin/{shell}", [shell, *arguments], environment)
    try:
        until(terminal, "ready> ")
        os.write(terminal, f"refreshctl why {TODO[:-2]}\t".encode())
        until(terminal, TODO)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)


def until(terminal, wanted):
    """What the terminal shows up to the text that is waited for."""
    shown = ""
    end = time.monotonic() + PATIENCE
    while wanted not in shown:
        assert select.select([terminal], [], [], max(0, end - time.monotonic()))[0], f"no {wanted!r} in {shown!r}"
        shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def test_without_a_daemon_nothing_is_completed_and_nothing_is_said(scratch, script, environment):
    assert bash(f"why {TODO[:-2]}", script, environment) == []
