"""`refreshctl new` writes the file of an app, and `refreshctl` alone says what there is: with a real daemon and without."""

import os
import pathlib
import subprocess

import pytest

from daemon import MAIL, REPOSITORY, TODO
from terminal import Terminal

REFRESHCTL = pathlib.Path(os.environ.get("REFRESHCTL", REPOSITORY / ".build/debug/refreshctl")).absolute()
NOBODY = 65534


def refreshctl(daemon, *arguments, **options):
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC", "REFRESH_SOCKET": str(daemon.socket)}
    return subprocess.run(
        [REFRESHCTL, *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **options
    )


def apps(daemon):
    return [app["id"] for app in daemon.call("Manager.List")["apps"]]


def test_a_new_app_is_written_checked_and_refreshed(daemon):
    daemon.start()
    made = refreshctl(daemon, "new", MAIL, "--run", "sh -c 'exit 100'", "--every", "1h", "--network", "none")
    assert (made.returncode, made.stderr) == (0, "")
    assert f"{daemon.file(MAIL)} is written and applied." in made.stdout
    assert 'run = ["sh", "-c", "exit 100"]' in daemon.file(MAIL).read_text()
    assert daemon.file(MAIL).stat().st_mode & 0o777 == 0o644
    assert apps(daemon) == [MAIL]
    assert daemon.refresh(MAIL)["outcome"] == "no_data"
    assert [file.name for file in daemon.file(MAIL).parent.iterdir()] == [daemon.file(MAIL).name]
    assert "No mistakes." in refreshctl(daemon, "check").stdout


def test_a_file_that_is_there_stays_unless_forced(daemon):
    daemon.app("exit 0")
    daemon.start()
    before = daemon.file().read_text()
    # Without a command, it would be asked for one only after the refusal.
    for command in (["--run", "true"], []):
        refused = refreshctl(daemon, "new", TODO, *command)
        assert refused.returncode == 1
        assert "the file already exists; edit it, or replace it with --force" in refused.stderr
    assert daemon.file().read_text() == before
    assert refreshctl(daemon, "new", TODO, "--run", "true", "--force").returncode == 0
    assert 'run = ["true"]' in daemon.file().read_text()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["todo", "--run", "true"], 'cannot use "todo" as an app id'),
        ([MAIL, "--run", "no-such-program"], 'cannot find "no-such-program"'),
        ([MAIL, "--run", "true", "--every", "soon"], "background_interval: cannot"),
        ([MAIL, "--run", "true", "--owner", "no-such-user"], 'cannot find a user "no-such-user"'),
        (["org.example.twin", "--run", "true"], "cannot use the id org.example.twin twice"),
    ],
)
def test_a_mistake_writes_nothing(daemon, arguments, word):
    """The last of them is about the id of another file."""
    daemon.app("exit 0", id="org.example.twin")
    daemon.file("org.example.twin").rename(daemon.file("other"))
    daemon.start()
    before = sorted(daemon.file().parent.iterdir())
    refused = refreshctl(daemon, "new", *arguments)
    assert (refused.returncode, refused.stdout) == (65, "")
    assert word in refused.stderr
    assert sorted(daemon.file().parent.iterdir()) == before
    assert apps(daemon) == ["org.example.twin"]


def test_the_mistake_of_another_file_is_named_and_the_new_one_stays(daemon):
    daemon.start()
    daemon.file().write_text('id = "org.example.todo"\ncolour = "blue"\n')
    refused = refreshctl(daemon, "new", MAIL, "--run", "true")
    assert refused.returncode == 1
    assert f"cannot apply {daemon.file(MAIL)}: the file is written" in refused.stderr and "colour" in refused.stderr
    assert daemon.file(MAIL).exists()


def test_print_writes_nothing(daemon):
    daemon.start()
    shown = refreshctl(daemon, "new", MAIL, "--shell", 'echo "a" | wc', "--print")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[-1] == r'shell = "echo \"a\" | wc"'
    assert not daemon.file(MAIL).exists()


def test_nobody_is_asked_without_a_terminal(daemon):
    daemon.start()
    assert refreshctl(daemon, "new").returncode == 64
    refused = refreshctl(daemon, "new", MAIL)
    assert (refused.returncode, "give --run or --shell" in refused.stderr) == (64, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_a_user_without_a_daemon_gets_a_file_in_their_own_folder(scratch):
    home = scratch / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "LC_ALL": "C.UTF-8"}

    def new(*arguments):
        return subprocess.run(
            ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", REFRESHCTL, "new", MAIL, *arguments],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, cwd="/",
        )  # fmt: skip

    made = new("--run", "true")
    file = home / ".config/refreshd/apps.d" / f"{MAIL}.toml"
    assert made.returncode == 0, made.stderr
    assert "systemctl --user" in made.stdout and "owner" not in file.read_text()
    assert new("--run", "true").returncode == 1
    # Somebody else's folder.
    refused = new("--run", "true", "--system")
    assert refused.returncode == 77, refused.stderr
    assert "--user for your own" in refused.stderr


def test_a_person_at_a_terminal_is_asked(daemon):
    """A wrong answer is asked for again, an empty one takes the default, and the file is shown before it is written."""
    daemon.configure("")
    daemon.start()
    terminal = Terminal([REFRESHCTL, "new"], {"REFRESH_SOCKET": str(daemon.socket)}, columns=300, lines=60)
    try:
        for prompt, answer in [
            ("such as org.example.mail:", "mail"), ("two or more parts", MAIL), ("such as `mbsync inbox`:", "nosuch"),
            ("install the program", "true | cat"), ("background [1h]:", "1s"), ("the floor is 15min", ""),
            ("wifi [any]:", "none"), ("tasks run as [", ""),
        ]:  # fmt: skip
            terminal.wait_for(prompt)
            terminal.press(answer + "\n")
        rows = terminal.wait_for("[Y/n]")
        assert {'shell = "true | cat"', 'background_interval = "1h"', 'network = "none"'} <= set(rows)
        assert not daemon.file(MAIL).exists()
        terminal.press("\n")
        assert terminal.wait() == 0
    finally:
        terminal.close()
    assert apps(daemon) == [MAIL]


def test_a_no_and_the_end_of_input_write_nothing(daemon):
    daemon.start()
    for keys, code in (("n\n", 1), ("\x04", 64)):
        terminal = Terminal(
            [REFRESHCTL, "new", MAIL], {"REFRESH_SOCKET": str(daemon.socket)}, columns=200, lines=60
        )
        try:
            for prompt, answer in [("such as `mbsync inbox`:", "true"), ("[1h]:", ""), ("[any]:", ""), ("run as [", "")]:
                terminal.wait_for(prompt)
                terminal.press(answer + "\n")
            terminal.wait_for("[Y/n]")
            terminal.press(keys)
            assert terminal.wait() == code
        finally:
            terminal.close()
        assert not daemon.file(MAIL).exists()


def test_refreshctl_alone_says_what_is_there_and_what_to_do(daemon):
    alone = refreshctl(daemon)
    assert (alone.returncode, "No daemon answers" in alone.stdout, "refreshd --config" in alone.stdout) == (0, True, True)
    daemon.start()
    alone = refreshctl(daemon)
    assert "It has no app yet." in alone.stdout and "refreshctl new" in alone.stdout
    assert "sudo" not in alone.stdout
    # Without root, `new` would write for a daemon other than this one.
    daemon.socket.chmod(0o666)
    assert "sudo refreshctl new" in refreshctl(daemon, user=NOBODY, group=NOBODY, extra_groups=[]).stdout
    assert refreshctl(daemon, "new", MAIL, "--run", "true", "--every", "never").returncode == 0
    alone = refreshctl(daemon)
    assert "All is well." in alone.stdout and "1 app" in alone.stdout and "refreshctl list" in alone.stdout
    assert len(alone.stdout.splitlines()) <= 6
