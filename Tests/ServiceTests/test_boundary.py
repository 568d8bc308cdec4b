"""A task speaks on the socket for its own app only, whoever it runs as, so that a sandbox is a boundary there too."""

import pytest

from service import TODO, app, as_user

MAIL = "org.example.mail-box"
ASKS = f"""
own() {{ "$@" > /dev/null 2>&1 && echo "may $*" || echo "may not $*"; }}
own refreshctl status {TODO}
own refreshctl status {MAIL}
own refreshctl run {MAIL}
own refreshctl upload {MAIL} /etc/hostname http://127.0.0.1/x
own refreshctl status
own refreshctl reload
own refreshctl list
own refreshctl run {TODO} --anyway
own refreshctl set {TODO} --background 15min
own refreshctl disable {TODO}
own refreshctl enable {TODO}
own refreshctl skip {TODO}
own refreshctl pause
own refreshctl push {TODO} {{}}
setsid sh -c 'refreshctl status {MAIL}' 2>&1 | grep -o "speaks for itself only"
exit 0
"""


@pytest.mark.parametrize("owner", ["anna", "root"])
@pytest.mark.parametrize("table", ["", "\n[sandbox]\nPrivateNetwork = true\n"], ids=["free", "sandboxed"])
def test_a_task_speaks_for_its_own_app_only(refreshd, owner, table):
    refreshd.launch_by("systemd")
    refreshd.configure(
        app(ASKS, owner=owner, deadline="1min") + table, app("exit 0", id=MAIL, owner=owner, deadline="1min"))
    refreshd.start()
    check(refreshd)
    # The same user elsewhere may.
    assert as_user(owner, "refreshctl", "status", MAIL).returncode == 0


def test_a_spawned_task_with_a_cgroup_speaks_for_its_own_app_only(spawned):
    spawned.configure(app(ASKS, owner="anna", deadline="1min"), app("exit 0", id=MAIL, owner="anna", deadline="1min"))
    spawned.start()
    check(spawned)


def check(refreshd):
    lines = [line.removeprefix("work: ") for line in refreshd.refreshctl("run", TODO).stdout.splitlines()]
    asked = [line for line in lines if line.startswith("may")]
    assert [line.split()[1] == "not" for line in asked] == [False] + [True] * 13, lines
    assert "speaks for itself only" in lines
    assert refreshd.history(MAIL) == []
