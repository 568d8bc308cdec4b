"""The start of the daemon, and its messages if it refuses to start (exit codes of sysexits.h)."""

import os
import pathlib
import socket
import subprocess
import time

import pytest

from client import fails
from daemon import REFRESHD, TODO

USAGE, CANNOT_CREATE, TEMPORARY, CONFIGURATION = 64, 73, 75, 78


@pytest.mark.parametrize("argument", ["--nonsense", "now", "--config", "--socket=", "--user=yes", "-x"])
def test_a_wrong_command_line_is_said(daemon, argument):
    code, said = daemon.refuse(argument)
    assert code == USAGE
    assert "cannot " in said and "--help" in said


def test_a_second_daemon_on_the_same_state_is_refused(daemon, scratch):
    """The second daemon reports it and changes nothing; the first goes on."""
    daemon.app("exit 100")
    daemon.start()
    first = daemon.process
    code, said = daemon.refuse("--socket", str(scratch / "second"))
    assert code == TEMPORARY
    assert "cannot " in said and str(daemon.state) in said
    daemon.process = first
    assert daemon.call("Manager.Version")["start"] == 1
    assert not (scratch / "second").exists()


def test_a_socket_that_another_daemon_serves_is_left_to_it(daemon, scratch):
    daemon.app("exit 100")
    daemon.start()
    first = daemon.process
    code, said = daemon.refuse("--state", str(scratch / "second"))
    assert code == TEMPORARY
    assert "cannot " in said and str(daemon.socket) in said
    daemon.process = first
    assert daemon.refresh()["outcome"] == "no_data"


def test_a_socket_that_nobody_serves_is_taken_over(daemon):
    """A daemon that was killed leaves its socket behind."""
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(daemon.socket))
    daemon.start()
    assert daemon.call("Manager.Version")["start"] == 1


def test_what_is_at_the_path_of_the_socket_and_is_none_is_not_removed(daemon):
    daemon.socket.write_text("precious")
    code, said = daemon.refuse()
    assert code in (CANNOT_CREATE, TEMPORARY)
    assert "cannot " in said
    assert daemon.socket.read_text() == "precious"


@pytest.mark.parametrize("option", ["--state", "--socket"])
def test_a_place_that_cannot_be_made_is_said(daemon, option):
    place = daemon.directory / "file" / "below"
    place.parent.write_text("")
    code, said = daemon.refuse(option, str(place))
    assert code == CANNOT_CREATE
    assert "cannot " in said and str(place.parent) in said


def test_the_state_directory_is_made_for_its_owner_alone(daemon):
    daemon.state = daemon.directory / "one" / "two"
    daemon.start()
    assert os.stat(daemon.state).st_mode & 0o777 == 0o700


def test_a_bad_refreshd_toml_keeps_the_daemon_down(daemon):
    """The check covers every app and reports each mistake, including those of the apps' files."""
    daemon.configure('max_concurrent = "many"')
    daemon.app({"run": ["/missing/program"]}, colour="blue")
    code, said = daemon.refuse()
    assert code == CONFIGURATION
    for text in ["max_concurrent", "/missing/program", "colour", str(daemon.file())]:
        assert text in said, text
    assert not daemon.socket.exists()


def test_a_mistake_in_an_apps_file_holds_that_app_only(daemon):
    """A missing program, an unknown owner and a file that is no TOML; every other app is refreshed."""
    daemon.app("exit 100")
    daemon.app({"run": ["/missing/program"]}, id="org.example.broken")
    daemon.app("exit 100", id="org.example.ldap", owner="whom-nobody-knows")
    daemon.file("org.example.text").write_text("id = ")
    daemon.start()
    assert daemon.refresh()["outcome"] == "no_data"
    holds = {app["id"]: [hold["name"] for hold in app["holds"]] for app in daemon.call("Manager.List")["apps"]}
    assert sorted(app for app in holds if "misconfigured" in holds[app]) == ["org.example.broken", "org.example.ldap", "org.example.text"]
    for app, words in [("broken", "task.run"), ("ldap", "whom-nobody-knows"), ("text", "TOML")]:
        why = daemon.call("Manager.Why", app=f"org.example.{app}")["why"]
        assert [hold["name"] for hold in why["holds"]] == ["misconfigured"]
        assert words in why["holds"][0]["remedy"] and f"org.example.{app}.toml:" in why["holds"][0]["remedy"]
        with fails("org.refreshd.Manager.Held", app=f"org.example.{app}"):
            daemon.refresh(f"org.example.{app}")
    assert len(daemon.status()["configuration"]["held"]) == 3
    assert "whom-nobody-knows" in str(daemon.call("Manager.Check")["problems"])


def test_a_held_app_keeps_what_is_known_of_it(daemon):
    """Also a switch that is set while it is held; a reload of the mended file lifts the hold."""
    program = daemon.directory / "program"
    program.write_text("#!/bin/sh\nexit 100\n")
    program.chmod(0o755)
    daemon.app({"run": [str(program)]})
    daemon.start()
    daemon.refresh()
    program.unlink()
    daemon.restart()
    assert daemon.show()["holds"][0]["name"] == "misconfigured"
    assert len(daemon.history()) == 1
    held = daemon.call("Manager.Reload")["held"]
    assert len(held) == 1 and held[0]["key"] == "task.run"
    assert daemon.show()["holds"][0]["name"] == "misconfigured"
    program.write_text("#!/bin/sh\nexit 100\n")
    program.chmod(0o755)
    daemon.call("Manager.Reload")
    assert [hold["name"] for hold in daemon.show()["holds"]] == ["never"]
    assert "held" not in daemon.status()["configuration"]
    daemon.refresh()
    assert len(daemon.history()) == 2


def test_an_app_whose_file_cannot_be_read_is_kept_though_the_file_has_another_name(daemon):
    """Nothing says whose file it is, so no app that it may be of counts as taken out."""
    daemon.app("exit 100", id="org.example.mail")
    daemon.app("exit 100")
    other = daemon.file().with_name("my-app.toml")
    daemon.file().rename(other)
    daemon.start()
    daemon.refresh()
    daemon.call("Manager.Disable", apps=[TODO])
    later = int(time.time() + 3600) * 1_000_000
    daemon.call("Manager.Schedule", app="org.example.mail", earliest_us=later)
    text = other.read_text()
    other.write_text("id = ")
    daemon.restart()
    for _ in range(2):
        why = daemon.call("Manager.Why", app=TODO)["why"]
        assert "my-app.toml" in str(why["holds"]) and why["is_disabled"]
        assert len(daemon.history()) == 1
        assert len(daemon.call("Manager.List")["apps"]) == 2
        daemon.call("Manager.Reload")
    other.write_text(text)
    daemon.call("Manager.Reload")
    assert daemon.show()["holds"][0]["name"] == "disabled"
    assert len(daemon.history()) == 1 and "held" not in daemon.status()["configuration"]


def test_check_says_every_mistake_and_starts_nothing(daemon):
    daemon.app("exit 0", background_interval="soon")
    code, said = daemon.refuse("--check")
    assert (code, "background_interval" in said) == (CONFIGURATION, True)
    daemon.app("exit 0")
    code, said = daemon.refuse("--check")
    assert (code, "1 app" in said) == (0, True)
    assert not daemon.state.exists()


def test_a_configuration_without_apps_is_one(daemon):
    daemon.start()
    assert daemon.call("Manager.List")["apps"] == []


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_are_for_standard_output(option):
    result = subprocess.run([REFRESHD, option], capture_output=True, text=True, timeout=15)
    assert (result.returncode, result.stderr) == (0, "")
    assert "refreshd" in result.stdout


def test_a_user_has_a_daemon_of_his_own(daemon, scratch):
    """Configuration, state and socket are in the user's folders; tasks have the user's environment."""
    home, runtime = scratch / "home", scratch / "run"
    apps = home / ".config/refreshd/apps.d"
    apps.mkdir(parents=True)
    runtime.mkdir(mode=0o700)
    (apps / f"{TODO}.toml").write_text(
        f'id = "{TODO}"\nbackground_interval = "never"\n[[task]]\nshell = "echo $FAVOURITE $XDG_RUNTIME_DIR"\n'
    )
    environment = {"HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "FAVOURITE": "blue", "PATH": os.environ["PATH"]}
    environment["NOTIFY_SOCKET"] = str(daemon.notices.path)
    process = subprocess.Popen([REFRESHD, "--user"], env=environment)
    try:
        assert daemon.notices.wait("READY")
        daemon.client = type(daemon.client)(runtime / "refreshd/org.refreshd")
        assert daemon.refresh()["tasks"][0]["message"] == f"blue {runtime}"
        assert daemon.status()["is_user_daemon"] is True
        assert pathlib.Path(daemon.status()["store"]["directory"]) == home / ".local/state/refreshd"
    finally:
        process.terminate()
        assert process.wait(timeout=15) == 0
