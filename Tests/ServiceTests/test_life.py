"""Start, status, exit codes."""

import pathlib
import subprocess

import pytest

from service import app


def test_start_returns_when_the_socket_answers_and_the_configuration_is_in_force(refreshd):
    refreshd.configure(app("exit 0"))
    refreshd.start()
    assert refreshd.show("ActiveState") == "active"
    assert [each["id"] for each in refreshd.call("List")["apps"]] == ["org.example.todo"]


def test_start_waits_for_ready_and_for_nothing_else(refreshd):
    # A daemon that cannot report its readiness: systemd must not take the running process for a success.
    refreshd.configure(app("exit 0"))
    refreshd.drop_in(
        "[Service]\nTimeoutStartSec=2s\nRestart=no\n"
        "ExecStart=\nExecStart=/usr/bin/env --unset=NOTIFY_SOCKET /usr/bin/refreshd\n"
    )
    assert refreshd.systemctl("start", "refreshd.service", check=False).returncode != 0
    assert refreshd.show("Result") == "timeout"


def test_systemctl_status_says_what_the_daemon_does(refreshd):
    refreshd.configure(app("exit 0"))
    refreshd.start()
    assert 'Status: "Keeping 1 app fresh."' in refreshd.systemctl("status", "refreshd.service").stdout


def test_it_stops_at_once_and_in_order_when_nothing_runs(refreshd, journal):
    refreshd.configure(app("exit 0"))
    refreshd.start()
    refreshd.stop()
    assert refreshd.show("Result") == "success"
    assert refreshd.show("ExecMainStatus") == "0"
    journal.wait("daemonReady")
    journal.wait("daemonStopping")


def test_mistakes_in_the_configuration_end_the_start_with_78_and_no_restart(refreshd):
    refreshd.configure(app("exit 0"))
    pathlib.Path("/etc/refreshd/refreshd.toml").write_text("max_concurent = 2\n")
    assert refreshd.systemctl("start", "refreshd.service", check=False).returncode != 0
    assert refreshd.show("ExecMainStatus") == "78"
    # "activating" would mean that systemd waits to start it again.
    assert refreshd.show("ActiveState") == "failed"
    assert "max_concurent" in refreshd.journal.text()


@pytest.mark.parametrize(
    "arguments, code", [(["--check"], 0), (["--no-such-option"], 64), (["surplus"], 64), (["--version"], 0)]
)
def test_exit_codes_of_the_command_line(refreshd, arguments, code):
    refreshd.configure(app("exit 0"))
    assert subprocess.run(["refreshd", *arguments], capture_output=True, timeout=60).returncode == code


def test_a_second_daemon_on_the_same_state_ends_with_75(refreshd):
    refreshd.configure(app("exit 0"))
    refreshd.start()
    second = subprocess.run(
        ["refreshd", "--socket", "/run/second"], capture_output=True, text=True, timeout=60
    )
    assert second.returncode == 75
    assert "cannot use the state directory /var/lib/refreshd" in second.stderr
