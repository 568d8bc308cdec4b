"""Socket activation: systemd owns the socket."""

import os

from service import SOCKET, app, as_user, mode_of


def test_the_first_call_starts_the_daemon(refreshd):
    refreshd.configure(app("exit 0"))
    refreshd.systemctl("start", "refreshd.socket")
    assert refreshd.show("ActiveState") == "inactive"
    assert "org.example.todo" in refreshd.refreshctl("list").stdout
    assert refreshd.show("ActiveState") == "active"


def test_the_socket_outlives_the_daemon_and_goes_with_its_unit(refreshd):
    refreshd.configure(app("exit 0"))
    refreshd.systemctl("start", "refreshd.socket")
    refreshd.refreshctl("version")
    refreshd.stop()
    assert os.path.exists(SOCKET)
    refreshd.refreshctl("version")
    assert refreshd.call("Status")["status"]["start"] == 2
    refreshd.systemctl("stop", "refreshd.service", "refreshd.socket")
    assert not os.path.exists(SOCKET)


def test_anyone_may_connect_and_only_the_owner_may_ask(refreshd):
    refreshd.configure(app("exit 0", owner="anna"), app("exit 0", id="org.example.other"))
    refreshd.systemctl("start", "refreshd.socket")
    assert mode_of(SOCKET) == "0o666"
    assert as_user("anna", "refreshctl", "version").returncode == 0
    assert as_user("anna", "refreshctl", "run", "org.example.todo").returncode == 0
    assert as_user("anna", "refreshctl", "run", "org.example.other").returncode == 77


def test_without_a_socket_refreshctl_says_how_to_start_the_daemon(refreshd):
    answer = refreshd.refreshctl("list", check=False)
    assert answer.returncode == 69
    assert "systemctl start refreshd.socket" in answer.stderr
