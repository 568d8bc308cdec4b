"""Sandboxed apps of anna, and the system's daemon, which cannot see into a sandbox: `flatpak run` starts a real Flatpak."""

import contextlib
import json
import os
import pathlib
import shlex
import stat
import subprocess
import types

import pytest

from client import Client
from sandbox import Flatpak, Lookalike, installation
from servers.body import Body
from service import SOCKET, TODO, app, as_user

OTHER = "org.example.other"
SNAP = "snap.todo"
HOME = pathlib.Path("/home/anna")
REFUSED = "org.refreshd.NotAllowed"
SIZE = 300_000
SYSTEM = types.SimpleNamespace(home=HOME, socket=SOCKET)


@pytest.fixture
def lingering(anna):
    """Anna's service manager runs, with her bus."""
    subprocess.run(["loginctl", "enable-linger", "anna"], check=True, timeout=60)
    # It starts the manager, and waits for nothing.
    subprocess.run(["systemctl", "start", f"user@{anna}.service"], check=True, timeout=60)
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


def flatpak_of(anna, daemon=SYSTEM, **environment):
    """The Flatpak, started as anna with these variables, which calls a daemon."""
    _, folder = installation()
    user = ["setpriv", f"--reuid={anna}", f"--regid={anna}", "--clear-groups"]
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


@pytest.mark.parametrize("bus", ["her bus", "no bus"])
def test_a_flatpak_in_its_scope_speaks_for_its_own_app(todo, lingering, bus):
    """Flatpak asks the service manager for the scope by a socket of its own, also without a bus."""
    environment = session_of(lingering)
    if bus == "no bus":
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere"
    assert errors(flatpak_of(lingering, **environment)) == [None, REFUSED, REFUSED, REFUSED, None]


def test_a_flatpak_without_a_scope_is_nobody(todo, anna):
    """Without a service manager of the user there is none."""
    assert errors(flatpak_of(anna)) == [REFUSED] * 4 + [None]


TASK = """
for app in org.example.todo org.example.other
do
    asked='{"method":"org.refreshd.App.Signal","parameters":{"app":"'$app'","signal":"background"}}'
    %(outside)s "$asked" | tr '\\0' '\\n'; echo
    %(inside)s "$asked" | tr '\\0' '\\n'; echo
done > %(answers)s
exit 0
"""


def errors_of_a_task(flatpak, run, **keys):
    """Of calls of the task of another app, and of a Flatpak that it starts, each for the Flatpak's app and for the task's."""
    answers = HOME / "answers"
    ask = installation()[0] / f"app/{TODO}/current/active/files/bin/ask"
    words = {"outside": f"{ask} {flatpak.daemon.socket}", "answers": answers}
    variables = [f"{name}={value}" for name, value in flatpak.variables.items()]
    words["inside"] = shlex.join(["env", "--ignore-environment", *variables, *flatpak.command])
    run(app(TASK % words, id=OTHER, **keys))
    lines = [json.loads(line) for line in answers.read_text().split("\n") if line]
    answers.unlink()
    return [line.get("error") for line in lines]


def test_a_flatpak_that_another_apps_task_starts_speaks_for_its_own_app(refreshd, lingering, proc):
    """Flatpak moves it out of the task, into a scope of its own."""
    flatpak = flatpak_of(lingering, **session_of(lingering))
    assert errors_of_a_task(flatpak, run_by(refreshd), owner="anna") == [REFUSED, None, None, REFUSED]


def test_a_flatpak_in_another_apps_task_is_nobody(refreshd, anna, proc):
    """Without a service manager of the user it stays there."""
    assert errors_of_a_task(flatpak_of(anna), run_by(refreshd), owner="anna") == [REFUSED, REFUSED, None, REFUSED]


def run_by(refreshd):
    """Has the system's daemon run an app."""

    def run(other):
        refreshd.configure(app("exit 100", owner="anna"), other)
        refreshd.start()
        refreshd.refreshctl("run", OTHER)

    return run


@pytest.mark.parametrize("kind", ["flatpak", "bwrap"])
def test_in_the_users_daemon_too_a_flatpak_that_another_apps_task_starts_is_not_that_app(documents, kind):
    """What bwrap starts stays in the task, and has the information of a Flatpak: it is nobody."""
    own = flatpak_of(documents.anna, documents, **session_of(documents.anna))
    if kind == "bwrap":
        own = Lookalike(documents, own.folder)

    def run(other):
        documents.write(HOME / ".config/refreshd/apps.d/other.toml", other)
        documents.run("refreshctl", "reload")
        documents.run("refreshctl", "run", OTHER)

    expected = None if kind == "flatpak" else REFUSED
    assert errors_of_a_task(own, run) == [REFUSED, expected, None, REFUSED]


def test_without_a_label_of_apparmor_a_process_in_the_scope_of_a_snap_speaks_for_that_snap(todo, lingering):
    if pathlib.Path("/sys/module/apparmor/parameters/enabled").exists():
        pytest.skip("AppArmor may label the process, and the label decides")

    def asks(id, *prefix):
        command = [*prefix, "refreshctl", "status", id]
        return as_user("anna", *(f"{name}={value}" for name, value in session_of(lingering).items()), *command).returncode

    scope = ("systemd-run", "--user", "--scope", "--quiet", "--unit=snap.todo.gui-1a2b.scope")
    assert [asks(SNAP, *scope), asks(TODO)] == [0, 0]
    assert asks(TODO, *scope) != 0


class Documents:
    """Anna's own daemon, with the document portal of her session."""

    def __init__(self, anna):
        self.anna, self.home, self.directory, self.folder = anna, HOME, HOME, HOME / "Papers"
        self.portal = f"/run/user/{anna}/doc"
        self.socket = f"/run/user/{anna}/refreshd/org.refreshd"
        self.client = Client(self.socket)

    def run(self, *command):
        """A command in her session."""
        variables = [f"{name}={value}" for name, value in session_of(self.anna).items()]
        ran = as_user("anna", *variables, *map(str, command))
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        subprocess.run(["chown", "-R", "anna:", HOME], check=True, timeout=60)

    def opened(self, name, *options):
        """Writes a file, and gives it to an app as the dialog of the portal does: the path of the document."""
        self.write(self.folder / name, "old\n")
        return self.run("flatpak", "document-export", "--unique", *options, self.folder / name)

    def by_app(self, document):
        """The path at which the portal checks the rights of the app."""
        return document.replace(self.portal, f"{self.portal}/by-app/{TODO}")

    def end(self, id):
        """Waits for the end of a transfer: its result, and the words for a failure."""
        with contextlib.closing(self.client.stream("Transfers.Watch", app=TODO)) as stream:
            for answer in stream:
                for transfer in answer["transfers"]:
                    if transfer["id"] == id and transfer["state"] == "ended":
                        return transfer["result"], transfer.get("message")
        raise AssertionError("the daemon ended")


@pytest.fixture
def documents(lingering, proc):
    fuse = pathlib.Path("/dev/fuse")
    if not fuse.exists():
        os.mknod(fuse, stat.S_IFCHR, os.makedev(10, 229))
        fuse.chmod(0o666)
    own = Documents(lingering)
    own.write(HOME / ".config/refreshd/apps.d/todo.toml", app("cat"))
    own.run("systemctl", "--user", "start", "refreshd.socket")
    yield own
    own.run("systemctl", "--user", "stop", "refreshd.service", "refreshd.socket")
    own.run("rm", "-rf", own.folder, HOME / ".config/refreshd", HOME / ".local/state/refreshd")


@pytest.mark.parametrize("place", ["outside", "inside"])
def test_a_flatpak_downloads_into_a_document_that_its_user_opened_for_it(documents, misbehaving, place):
    """By the path that the portal gives to others, and by the one in the sandbox."""
    flatpak = flatpak_of(documents.anna, documents, **session_of(documents.anna))
    document = documents.opened("mine", f"--app={TODO}", "--allow-read", "--allow-write")
    path = document if place == "outside" else document.replace(documents.portal, "/run/flatpak/doc")
    id = flatpak.enqueue(misbehaving.url("plain", SIZE, hold=100_000), path)
    misbehaving.wait_until_held("plain")
    assert sorted(documents.run("ls", os.path.dirname(documents.by_app(document))).split()) == ["mine", "mine.part"]
    assert (documents.folder / "mine").read_text() == "old\n"
    misbehaving.let_go()
    assert documents.end(id) == ("done", None)
    assert (documents.folder / "mine").read_bytes() == Body(SIZE).bytes()
    assert documents.run("ls", "-A", documents.folder) == "mine"
    # The daemon's unit lets it see that the kernel binds the worker to the files of the Flatpak.
    assert "Landlock" not in documents.run("refreshctl", "status")


def test_a_flatpak_gets_no_document_that_is_not_its_own(documents, misbehaving):
    flatpak = flatpak_of(documents.anna, documents, **session_of(documents.anna))
    to_read = documents.opened("to-read", f"--app={TODO}", "--allow-read")
    others = documents.opened("others", f"--app={OTHER}", "--allow-read", "--allow-write")
    ends = []
    for name, document in ("to-read", to_read), ("others", others):
        ends.append(documents.end(flatpak.enqueue(misbehaving.url("plain", SIZE), document)))
        assert (documents.folder / name).read_text() == "old\n"
    ends.append(documents.end(flatpak.enqueue(misbehaving.url("put"), others, direction="upload")))
    assert [result for result, _ in ends] == ["failed"] * 3
    assert "Permission denied" in ends[0][1] and "No such file" in ends[1][1] and "No such file" in ends[2][1]
    assert not misbehaving.requests
    assert documents.end(flatpak.enqueue(misbehaving.url("put"), to_read, direction="upload")) == ("done", None)
