"""`refreshctl top`: the live screen, on a terminal, with a real daemon."""

import os
import pwd
import re
import signal
import socket
import subprocess

import pytest

from daemon import MAIL, REFRESHD, TODO
from terminal import Terminal

REFRESHCTL = os.environ.get("REFRESHCTL", str(REFRESHD.with_name("refreshctl")))
UP, DOWN, ESCAPE = "\x1b[A", "\x1b[B", "\x1b"


@pytest.fixture
def top(daemon):
    """Starts `top` on a terminal, once the daemon runs."""
    terminals = []

    def start(*options, columns=80, lines=24, command=None, **environment):
        terminal = Terminal(
            command or [REFRESHCTL, "top", *options], {"REFRESH_SOCKET": str(daemon.socket), **environment}, columns,
            lines)
        terminals.append(terminal)
        return terminal

    yield start
    for terminal in terminals:
        terminal.close()


def row(terminal, app):
    """The row of an app on the screen; empty if there is none."""
    return next((row for row in terminal.rows if row[2:].startswith(app)), "")


def two_apps(daemon, todo="exit 100"):
    daemon.app(todo)
    daemon.app("exit 3", id=MAIL, name="Post", background_interval="1h")
    daemon.start()
    daemon.wait_for_output("failed after")


def test_it_shows_every_app_as_list_does(daemon, top):
    two_apps(daemon)
    terminal = top(columns=120)
    terminal.wait_for(TODO, MAIL, "q quit", "failed")
    shown = [terminal.rows[index] for index, line in enumerate(terminal.rows) if TODO in line or MAIL in line]
    listed = subprocess.run(
        [REFRESHCTL, "list", "--socket", daemon.socket], capture_output=True, text=True, check=True).stdout
    # The ages go on, so the numbers differ.
    words = [[word for word in line.split() if word.isalpha()] for line in listed.splitlines()[1:]]
    assert [[word for word in line.split() if word.isalpha()] for line in shown] == words
    assert "2 apps" in terminal.text and terminal.is_alternate and "25" not in terminal.modes


def test_a_refresh_appears_while_it_runs_and_when_it_has_ended(daemon, top):
    gate = daemon.pipe("gate")
    two_apps(daemon, todo=f"read _ < {gate}; exit 0")
    terminal = top()
    terminal.wait_for(TODO)
    refresh = daemon.run(TODO)
    terminal.wait_for("1 is being refreshed", until=lambda: "refreshing" in row(terminal, TODO))
    gate.let_go()
    terminal.wait_for(until=lambda: "new data" in row(terminal, TODO))
    refresh.close()


def test_a_key_runs_and_tells(daemon, top):
    started = daemon.pipe("started")
    two_apps(daemon, todo=f"echo run > {started}; exit 0")
    terminal = top()
    terminal.wait_for(TODO, MAIL)
    # The list is in the order of the ids, and the first app is selected.
    terminal.press(DOWN)
    terminal.wait_for(f"> {TODO}")
    terminal.press("r")
    assert started.line() == "run"
    terminal.wait_for(f"{TODO}: refresh ", "has started")


def test_a_key_undoes_what_it_did(daemon, top):
    two_apps(daemon)
    terminal = top(columns=120)
    terminal.wait_for(f"> {MAIL}", "d disable", "p pause", "f foreground")
    terminal.press("d")
    terminal.wait_for(f"{MAIL} is disabled", "d enable", until=lambda: "disabled" in row(terminal, MAIL))
    terminal.press("d")
    terminal.wait_for(f"{MAIL} is enabled", "d disable", until=lambda: "disabled" not in row(terminal, MAIL))
    terminal.press("f")
    terminal.wait_for(f"{MAIL} is in the foreground", "f background")
    assert daemon.show(MAIL)["phase"] == "foreground"
    terminal.press("f")
    terminal.wait_for(f"{MAIL} is in the background", "f foreground")
    terminal.press("p")
    terminal.wait_for("All apps are paused until tomorrow 00:00", "p resume")
    assert daemon.status()["pause"]["until_us"] % 86_400_000_000 == 0
    terminal.press("p")
    terminal.wait_for("Nothing is paused.", "p pause", without=["All apps are paused"])


def test_a_key_explains_and_escape_goes_back(daemon, top):
    two_apps(daemon)
    terminal = top(lines=10)
    terminal.wait_for(f"> {MAIL}")
    terminal.press("w")
    terminal.wait_for(f"Post ({MAIL}) is in the background", "q back", without=[TODO])
    first = terminal.rows[0]
    terminal.press("G")
    terminal.wait_for(until=lambda: terminal.rows[0] != first)
    # The explanation follows the app.
    terminal.press("g")
    daemon.call("Manager.Disable", apps=[MAIL])
    terminal.wait_for("It is disabled: not refreshed", "d enable")
    terminal.press(ESCAPE)
    terminal.wait_for(TODO, "q quit")


def test_a_filter_keeps_the_apps_of_a_part_of_an_id_or_a_name(daemon, top):
    two_apps(daemon)
    terminal = top()
    terminal.wait_for(TODO, MAIL)
    terminal.press("/pos")
    terminal.wait_for("filter: pos", "1 of 2 apps", MAIL, without=[TODO])
    terminal.press("\rq")
    assert terminal.wait() == 0


def test_a_change_of_somebody_else_is_shown(daemon, top):
    two_apps(daemon)
    terminal = top()
    terminal.wait_for(TODO, MAIL)
    daemon.call("Manager.Pause")
    terminal.wait_for("All apps are paused until `refreshctl resume`")
    daemon.call("Manager.Disable", apps=[TODO])
    terminal.wait_for(until=lambda: "disabled" in row(terminal, TODO))


def test_an_age_goes_on_each_second_while_nothing_happens(daemon, top):
    two_apps(daemon)
    terminal = top(columns=120)
    seen = set()

    def are_three_seen():
        seen.update(map(int, re.findall(r"failed (\d+) s ago", row(terminal, MAIL))))
        return len(seen) == 3

    terminal.wait_for(MAIL, until=are_three_seen)
    # The list is asked for every 5 s, which must not be what draws the ages.
    assert max(seen) - min(seen) < 5


def test_a_reload_is_shown_though_it_is_no_event(daemon, top):
    two_apps(daemon)
    terminal = top()
    terminal.wait_for(TODO, MAIL)
    daemon.file(TODO).unlink()
    daemon.call("Manager.Reload")
    terminal.wait_for(MAIL, "1 app", without=[TODO])


def test_a_daemon_that_hangs_is_told_and_keys_still_work(daemon, top):
    two_apps(daemon)
    terminal = top()
    terminal.wait_for(TODO, MAIL)
    daemon.signal(signal.SIGSTOP)
    terminal.wait_for("the daemon does not answer", TODO)
    terminal.press("r")
    terminal.press("d")
    terminal.wait_for("The last key has not been answered yet; this one comes after it.")
    daemon.signal(signal.SIGCONT)
    terminal.wait_for(f"{MAIL} is disabled", "d enable", without=["does not answer"])


def test_keys_that_come_faster_than_answers_are_done_one_after_the_other(daemon, top):
    two_apps(daemon)
    terminal = top()
    terminal.wait_for(f"> {MAIL}", TODO)
    terminal.press("dd" + DOWN + "dff")
    terminal.wait_for(f"{TODO} is in the background", until=lambda: "disabled" in row(terminal, TODO))
    assert "disabled" not in row(terminal, MAIL) and daemon.show(TODO)["phase"] == "background"


def test_a_new_size_is_drawn_at_once_and_no_id_is_lost(daemon, top):
    two_apps(daemon)
    terminal = top()
    terminal.wait_for("PHASE")
    all_titles = ["APP", "PHASE", "NEXT", "HELD BY", "LAST", "DATA AGE"]
    for columns, titles in [(40, ["APP", "NEXT", "HELD BY"]), (200, all_titles), (20, ["APP"]), (80, all_titles)]:
        terminal.size(columns, 24)
        terminal.wait_for(
            f"> {MAIL}", TODO, "q quit", until=lambda: re.split("  +", terminal.rows[1].strip()) == titles)
    terminal.size(80, 3)
    terminal.wait_for(f"> {MAIL}", "q quit", until=lambda: len(terminal.rows) == 3)


def test_it_connects_again_when_the_daemon_has_restarted(daemon, top):
    two_apps(daemon)
    terminal = top()
    terminal.wait_for(TODO, MAIL)
    assert daemon.stop() == 0
    terminal.wait_for("the daemon closed the connection; connecting again when it answers", TODO, MAIL)
    daemon.app("exit 100", id="org.example.new")
    daemon.start()
    terminal.wait_for("the daemon answers again", "org.example.new", without=["closed the connection"])
    terminal.press("q")
    assert terminal.wait() == 0


@pytest.mark.parametrize("end, code", [
    ("q", 0), ("\x03", -signal.SIGINT), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP),
])
def test_every_end_restores_the_terminal(daemon, top, end, code):
    two_apps(daemon)
    terminal = top()
    terminal.wait_for(TODO)
    assert terminal.settings != terminal.before
    if isinstance(end, str):
        terminal.press(end)
    else:
        terminal.process.send_signal(end)
    assert terminal.wait() == code
    assert terminal.settings == terminal.before and not terminal.is_alternate and "25" in terminal.modes
    assert terminal.text.strip() == ""


def test_an_error_restores_the_terminal(daemon, top):
    """Another program on the socket, which does not know the method, is an error that no new attempt mends."""
    two_apps(daemon)
    terminal = top()
    terminal.wait_for(TODO)
    daemon.stop()
    terminal.wait_for("closed the connection")
    daemon.socket.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(daemon.socket))
        other.listen()
        connection, _ = other.accept()
        connection.recv(4096)
        connection.sendall(b'{"error":"org.varlink.service.MethodNotFound","parameters":{"method":"Watch"}}\0')
        assert terminal.wait() == 70
        connection.close()
    said = " ".join(terminal.text.split())
    assert "refreshctl: cannot do this: the daemon answered org.varlink.service.MethodNotFound" in said
    assert terminal.settings == terminal.before and not terminal.is_alternate and "25" in terminal.modes


def test_ctrl_z_gives_the_terminal_back_until_fg(daemon, top):
    two_apps(daemon)
    settings = daemon.pipe("settings")
    terminal = top(command=["bash", "--norc", "-i"], PS1="ready$ ", INPUTRC="/dev/null")

    def settings_at_the_prompt():
        terminal.wait_for(until=lambda: not terminal.is_alternate and terminal.rows[-1] == "ready$")
        terminal.press(f"stty -g > {settings}\r")
        return settings.line()

    before = settings_at_the_prompt()
    terminal.wait_for(until=lambda: terminal.rows[-1] == "ready$")
    terminal.press(f"{REFRESHCTL} top\r")
    terminal.wait_for(TODO, "q quit", until=lambda: terminal.is_alternate)
    live = terminal.settings
    terminal.press("\x1a")
    terminal.wait_for("Stopped", until=lambda: not terminal.is_alternate)
    assert settings_at_the_prompt() == before
    terminal.wait_for(until=lambda: terminal.rows[-1] == "ready$")
    terminal.press("fg\r")
    terminal.wait_for(TODO, "q quit", until=lambda: terminal.is_alternate and terminal.settings == live)
    terminal.press("q")
    assert settings_at_the_prompt() == before


def test_a_terminal_without_colours_and_without_unicode_is_served(daemon, top):
    two_apps(daemon)
    read = os.read
    seen = []

    def kept(descriptor, count):
        data = read(descriptor, count)
        seen.append(data)
        return data

    os.read = kept
    try:
        terminal = top(NO_COLOR="1", LC_ALL="C")
        terminal.wait_for(f"> {MAIL}", TODO, "q quit")
        terminal.press("w")
        terminal.wait_for("q back", "is in the background")
    finally:
        os.read = read
    output = b"".join(seen)
    assert output.isascii() and b"m" not in {part[-1:] for part in output.split(b"\x1b") if part[1:-1].isdigit()}


@pytest.mark.parametrize("environment, options", [({}, ["--plain"]), ({"TERM": "dumb"}, [])])
def test_plain_text_moves_nothing(daemon, top, environment, options):
    two_apps(daemon)
    terminal = top(*options, NO_COLOR="1", **environment)
    terminal.wait_for("APP", TODO, MAIL)
    daemon.refresh(TODO)
    terminal.wait_for(f"{TODO}: refresh ", "starts (manual)", "no data after")
    assert not terminal.is_alternate and terminal.settings == terminal.before and not terminal.modes
    assert terminal.text.count("APP") == 1


def test_a_pipe_gets_the_list_and_the_events(daemon):
    two_apps(daemon)
    with subprocess.Popen(
        [REFRESHCTL, "top", "--socket", daemon.socket], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        lines = [process.stdout.readline() for _ in range(3)]
        assert [line.split()[0] for line in lines] == ["APP", MAIL, TODO]
        daemon.call("Manager.Disable", apps=[TODO])
        assert f"{TODO}: disabled" in process.stdout.readline()
        process.kill()


def test_without_a_daemon_the_terminal_is_left_alone(daemon, top):
    terminal = top()
    assert terminal.wait() == 69
    assert "cannot connect" in terminal.text and not terminal.modes and terminal.settings == terminal.before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_who_may_not_do_a_thing_is_told_so(daemon, top):
    daemon.app("exit 100", id=MAIL, owner="nobody", directory="/")
    daemon.app("exit 100")
    daemon.start()
    user = pwd.getpwnam("nobody")
    terminal = top(command=[
        "setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", REFRESHCTL, "top"])
    terminal.wait_for(f"> {MAIL}", "1 app; there are apps of other users", without=[TODO])
    terminal.press("p")
    terminal.wait_for("cannot do this: not allowed")
