"""Sandboxed apps of anna, and the system's daemon, which cannot see into a sandbox: `flatpak run` starts a real Flatpak."""

import os
import pathlib
import subprocess
import types

import pytest

from sandbox import Flatpak, installation
from service import SOCKET, TODO, app, as_user

OTHER = "org.example.other"
SNAP = "snap.todo"
HOME = pathlib.Path("/home/anna")
REFUSED = "org.refreshd.NotAllowed"


@pytest.fixture
def lingering(anna):
    """Anna's service manager runs, with her bus."""
    subprocess.run(["loginctl", "enable-linger", "anna"], check=True, timeout=60)
    yield anna
    subprocess.run(["loginctl", "disable-linger", "anna"], check=True, timeout=60)
    subprocess.run(["systemctl", "stop", f"user@{anna}.service"], check=True, timeout=60)


@pytest.fixture(scope="module")
def proc():
    """A whole /proc: the kernel lets a user mount one in a sandbox only where one without covers can be seen."""
    place = pathlib.Path("/run/whole-proc")
    place.mkdir()
    subprocess.run(["mount", "-t", "proc", "proc", place], check=True, timeout=60)
    yield
    subprocess.run(["umount", place], check=True, timeout=60)


def flatpak_of(anna, socket=SOCKET, **environment):
    """The Flatpak, started as anna with these variables."""
    _, folder = installation()
    user = ["setpriv", f"--reuid={anna}", f"--regid={anna}", "--clear-groups"]
    daemon = types.SimpleNamespace(home=HOME, socket=socket)
    flatpak = Flatpak(daemon, prefix=user, environment={"PATH": os.environ["PATH"], **environment})
    subprocess.run(["chown", "-R", "anna:", HOME / ".var", folder.name], check=True, timeout=60)
    return flatpak


def session_of(anna):
    return {"XDG_RUNTIME_DIR": f"/run/user/{anna}", "DBUS_SESSION_BUS_ADDRESS": f"unix:path=/run/user/{anna}/bus"}


@pytest.fixture
def todo(refreshd, proc):
    refreshd.configure(*(app("exit 100", id=id, owner="anna") for id in (TODO, OTHER, SNAP)))
    refreshd.start()


def errors(flatpak):
    """Of a call for its own app, for another of the user, for what is the person's, and for everybody."""
    request = {"url": "http://127.0.0.1:1/x", "path": str(HOME / "x")}
    calls = [
        ("App.Signal", {"app": TODO, "signal": "background"}),
        ("App.Signal", {"app": OTHER, "signal": "background"}),
        ("Manager.Enable", {"apps": [TODO]}),
        ("Transfers.Enqueue", {"app": TODO, "transfers": [request]}),
        ("Manager.Version", {}),
    ]
    return [flatpak.ask(method, **parameters).get("error") for method, parameters in calls]


def test_a_flatpak_in_its_scope_speaks_for_its_own_app(todo, lingering):
    flatpak = flatpak_of(lingering, **session_of(lingering))
    assert errors(flatpak) == [None, REFUSED, REFUSED, REFUSED, None]


@pytest.mark.parametrize("why", ["no service manager", "no bus"])
def test_a_flatpak_without_a_scope_is_nobody(request, todo, anna, why):
    environment = {}
    if why == "no bus":
        request.getfixturevalue("lingering")
        environment = session_of(anna) | {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}
    assert errors(flatpak_of(anna, **environment)) == [REFUSED] * 4 + [None]


def test_without_a_label_of_apparmor_a_process_in_the_scope_of_a_snap_speaks_for_that_snap(todo, lingering):
    if pathlib.Path("/sys/module/apparmor/parameters/enabled").exists():
        pytest.skip("AppArmor may label the process, and the label decides")

    def asks(id, *prefix):
        command = [*prefix, "refreshctl", "status", id]
        return as_user("anna", *(f"{name}={value}" for name, value in session_of(lingering).items()), *command).returncode

    scope = ("systemd-run", "--user", "--scope", "--quiet", "--unit=snap.todo.gui-1a2b.scope")
    assert [asks(SNAP, *scope), asks(TODO)] == [0, 0]
    assert asks(TODO, *scope) != 0
