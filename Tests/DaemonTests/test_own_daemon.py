"""A user's own daemon obeys its user and root, and nobody else; a sandboxed app speaks for itself only."""

import json
import os
import pwd
import stat
import subprocess

import pytest

from client import as_user, fails
from daemon import MAIL, TODO, Daemon, finished

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")

NOBODY = pwd.getpwnam("nobody").pw_uid
STRANGER = 54321
GROUP = 54322
# Another group and another bridge than this machine's.
AS_ON_A_SERVER = 'mount --bind "$0" /etc/group && mount --bind "$1" /etc/passwd && shift && exec "$@"'
CALLING = """
import os, socket, sys
if sys.argv[1]:
    os.chroot(sys.argv[1])
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[2])
client.sendall(sys.argv[3].encode() + b"\\0")
while piece := client.recv(65536):
    sys.stdout.buffer.write(piece.replace(b"\\0", b"\\n"))
    sys.stdout.buffer.flush()
    if piece.endswith(b"\\0") and '"more"' not in sys.argv[3]:
        break
"""
# Methods for people: a Flatpak may not call them about its own app either.
FOR_PEOPLE = [
    ("Manager.Set", {"apps": [TODO], "background_interval": "15min"}),
    ("Manager.Reset", {"apps": [TODO]}),
    ("Manager.Enable", {"apps": [TODO]}),
    ("Manager.Disable", {"apps": [TODO]}),
    ("Manager.Skip", {"apps": [TODO]}),
    ("Manager.Forget", {"apps": [TODO]}),
    ("Manager.Run", {"app": TODO, "anyway": True}),
    ("Manager.Schedule", {"app": TODO, "earliest_us": 0}),
    ("Manager.Expire", {"refresh": "1-1"}),
    ("Manager.Usage", {"app": TODO}),
    ("Manager.Openings", {"app": TODO}),
    ("Manager.Timeline", {"app": TODO, "since_us": 0}),
    ("Manager.Forecast", {"app": TODO}),
    *((f"Manager.{name}", {}) for name in ("List", "Status", "Pause", "Resume", "Reload", "Check", "Metrics")),
    ("Manager.Erase", {"app": TODO}),
    ("App.Push", {"app": TODO, "payload": "{}"}),
    ("Push.Report", {"sources": []}),
    ("Session.Follow", {}),
]


def ask(method, parameters, root="", socket="/socket", prefix=()):
    """The answer to a call of a process with another root directory, or of one that a program starts."""
    command = [*prefix, *calling(method, parameters, root, socket)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout)


def calling(method, parameters, root, socket="/socket", **flags):
    """The command of such a process, which prints each answer as a line."""
    asked = json.dumps({"method": f"org.refreshd.{method}", "parameters": parameters, **flags})
    return ["/usr/bin/python3", "-c", CALLING, root, socket, asked]


def error(*arguments, **options):
    return ask(*arguments, **options).get("error")


class OwnDaemon(Daemon):
    @property
    def command(self):
        return [*super().command, "--user"]


@pytest.fixture
def own(scratch):
    daemon = OwnDaemon(scratch)
    yield daemon
    daemon.close()


def test_only_the_user_and_root_are_obeyed(own):
    group, passwd = own.directory / "group", own.directory / "passwd"
    group.write_text(open("/etc/group").read() + f"refreshd:x:{GROUP}:\n")
    passwd.write_text(open("/etc/passwd").read() + f"refresh-push:x:{STRANGER}:{STRANGER}::/:/bin/false\n")
    own.app("exit 100")
    user = ["setpriv", f"--reuid={NOBODY}", "--clear-groups"]
    for path in [own.directory, *own.directory.rglob("*")]:
        os.chown(path, NOBODY, -1)
    own.start(prefix=["unshare", "--mount", "sh", "-c", AS_ON_A_SERVER, group, passwd, *user])
    assert stat.S_IMODE(own.socket.stat().st_mode) == 0o600
    # as_user() keeps root's real id, and such a process hides its root directory: it would be nobody.
    assert ask("Manager.Status", {}, socket=str(own.socket), prefix=user)["parameters"]["status"]["apps"] == 1
    assert own.status()["is_user_daemon"]
    own.socket.chmod(0o666)
    for stranger, groups in ((STRANGER, []), (54323, [GROUP])):
        with as_user(stranger, groups=groups):
            with fails("org.refreshd.NotAllowed"):
                own.status()
            with fails("org.refreshd.NotAllowed"):
                own.call("Manager.Show", app=TODO)
            with fails("org.refreshd.NotAllowed"):
                own.call("Push.Report", sources=[])


REFUSED = "org.refreshd.NotAllowed"


def test_a_process_that_the_daemon_cannot_see_is_nobody(own):
    """The daemon is in a pid namespace of its own, and the caller is outside."""
    own.app("exit 100")
    own.start(prefix=["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"])
    assert error("Manager.Version", {}, socket=str(own.socket)) is None
    assert error("Manager.Show", {"app": TODO}, socket=str(own.socket)) == REFUSED


@pytest.fixture
def flatpak(own):
    """Asks from a root directory with a `.flatpak-info`."""
    own.app("exit 100")
    own.app("exit 100", id=MAIL)
    own.start()
    information = own.directory / ".flatpak-info"
    information.write_text(f"[Application]\nname={TODO}\n\n[Instance]\ninstance-id=7\n")
    return information


def show(own, app=TODO):
    return error("Manager.Show", {"app": app}, str(own.directory))


def test_a_flatpak_speaks_for_the_app_of_its_id_only(own, flatpak):
    assert [show(own, TODO), show(own, MAIL)] == [None, REFUSED]
    signal = {"app": MAIL, "signal": "foreground"}
    assert error("App.Signal", signal, str(own.directory)) == REFUSED
    assert error("App.Signal", signal | {"app": TODO}, str(own.directory)) is None
    flatpak.unlink()
    assert [show(own, TODO), show(own, MAIL)] == [None, None]


def test_what_is_for_people_is_refused_to_a_flatpak(own, flatpak):
    own.call("Manager.Disable", apps=[TODO])
    for method, parameters in FOR_PEOPLE:
        answer = ask(method, parameters, str(own.directory))
        assert answer.get("error") == REFUSED and "person" in answer["parameters"]["remedy"], (method, answer)
    assert own.call("Manager.Why", app=TODO)["why"]["is_disabled"]
    assert not own.show()["background_interval"]["overridden"]


def test_a_flatpak_learns_of_the_machine_only_what_is_met(own, flatpak):
    own.app("exit 100", network="unmetered")
    own.call("Manager.Reload")
    why = ask("Manager.Why", {"app": TODO}, str(own.directory))["parameters"]["why"]
    assert {term["has"] for term in why["terms"]} <= {"met", "not met"} and why["terms"]
    assert all(not fact["source"] and "value" not in fact for fact in why["conditions"].values())


@pytest.fixture
def place(own):
    """A folder with a file system on it."""
    folder = own.directory / "place"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True, timeout=60)
    yield folder
    subprocess.run(["umount", folder], capture_output=True, timeout=60)


def test_a_flatpak_does_not_learn_which_condition_stopped_it(own, flatpak, place):
    own.app("echo at work; sleep 60", mounted=str(place))
    own.call("Manager.Reload")
    root, watches, seen = str(own.directory), [], []

    def watch(method, **parameters):
        command = calling(method, parameters, root, more=True)
        watches.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        seen.append(watches[-1].stdout.readline())

    watch("Manager.Watch")
    run = own.run()
    while next(run)["event"]["kind"] != "output":
        pass
    # A process that attaches before would perform the refresh.
    watch("App.Attach", app=TODO)
    subprocess.run(["umount", place], check=True, timeout=60)
    lost = finished(run)["cause"]["text"]
    for watching in watches:
        for line in watching.stdout:
            seen.append(line)
            if '"kind":"ended"' in line:
                break
        watching.kill()
        watching.communicate(timeout=60)
    seen += [json.dumps(ask(f"Manager.{name}", {"app": TODO}, root)) for name in ("Show", "Why", "History")]
    assert lost.endswith(", had no file system there")
    assert [text for text in seen if "no file system there" in text or MAIL in text] == []
    assert sum("a constraint was no longer met" in text for text in seen) >= 5


# A network with an interface of its own, and a battery.
ELSEWHERE = """
ip link add name uplink77 type veth peer name uplink78 && ip link set uplink78 up && ip link set uplink77 up &&
ip address add 192.0.2.1/24 dev uplink77 && ip route add default via 192.0.2.2 && mount --bind "$0" /sys/class/power_supply && exec "$@"
"""


def test_no_reply_to_a_flatpak_names_the_machine_or_another_app(own, flatpak):
    own.stop()
    battery = own.directory / "supplies/BAT0"
    battery.mkdir(parents=True)
    facts = {"type": "Battery", "scope": "System", "present": "1", "status": "Discharging", "capacity": "37"}
    for name, text in facts.items():
        (battery / name).write_text(f"{text}\n")
    # In the person's replies each of these is there.
    of_machine = ["uplink77", "37 %"]
    of_file = {"ssids": ["HomeNet"], "denied_ssids": ["NextDoor"], "reachable": "vault.invalid:443", "present": "usb:dead:beef",
               "mounted": "/srv/vault", "when": ["/bin/false", "check-vault"]}  # fmt: skip
    own.app("exit 100", network="wifi", power="ac", idle=True, calm=True, **of_file)
    own.app("exec /srv/secret/mail-sync", id=MAIL)
    own.start(prefix=["unshare", "--net", "--mount", "sh", "-c", ELSEWHERE, battery.parent])
    secrets = of_machine + ["HomeNet", "NextDoor", "vault", "dead:beef", MAIL, "/srv/secret", "mail-sync"]
    root, streams = str(own.directory), []
    try:
        for method, parameters in (("Manager.Watch", {}), ("App.Attach", {"app": TODO}), ("Transfers.Watch", {})):
            command = calling(method, parameters, root, more=True)
            streams.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            streams[-1].first = streams[-1].stdout.readline()
        for app in (TODO, MAIL):
            request = {"url": "http://127.0.0.1:9/file", "path": f"/srv/secret/{app}", "network": "wifi"}
            own.call("Transfers.Enqueue", app=app, transfers=[request | ({"path": "/tmp/file"} if app == TODO else {})])
        finished(own.run(MAIL, anyway=True))
        own.call("Manager.Disable", apps=[MAIL])
        own.run(anyway=True)
        own.call("Manager.Pause")
        asked = [(f"Manager.{name}", {"app": TODO}) for name in ("Show", "Why", "History")] + [("Transfers.List", {})]
        asked += [("App.Signal", {"app": id, "signal": "background"}) for id in (TODO, MAIL)]
        asked += [(f"Manager.{name}", {"app": MAIL}) for name in ("Show", "Why", "History")]
        seen = {method + str(parameters): json.dumps(ask(method, parameters, root)) for method, parameters in asked}
        # The last event of each, so that all before it have come.
        own.call("App.Signal", app=TODO, signal="foreground")
        own.call("Transfers.Cancel", ids=[1])
        for stream, last in zip(streams, ("phase_changed", "phase_changed", "ended")):
            lines = [stream.first]
            while f'"{last}"' not in lines[-1]:
                lines.append(stream.stdout.readline())
            seen[last + stream.args[-1]] = "".join(lines)
    finally:
        for stream in streams:
            stream.kill()
            stream.communicate(timeout=60)
    person = json.dumps([own.call("Manager.Why", app=TODO), own.show(MAIL), own.call("Transfers.List")])
    assert [secret for secret in secrets if secret not in person] == []
    for asked, text in seen.items():
        # A reply of an error repeats the id that the caller has named.
        hidden = [secret for secret in secrets if secret in text and not (secret == MAIL and MAIL in asked)]
        assert hidden == [], (asked, text)


def test_nobody_watches_nothing(own, flatpak):
    flatpak.write_text("")
    watching = calling("Manager.Watch", {}, str(own.directory), more=True)
    with subprocess.Popen(watching, stdout=subprocess.PIPE, text=True) as watch:
        first = json.loads(watch.stdout.readline())
        watch.kill()
    assert first.get("error") == REFUSED


@pytest.mark.parametrize("kind", ["pipe", "link", "long", "null", "two", "runtime", "folder", "empty"])
def test_information_that_cannot_be_understood_is_nobodys(own, flatpak, kind):
    text = flatpak.read_text()
    flatpak.rename(own.directory / "real")
    match kind:
        case "pipe":
            os.mkfifo(flatpak)
        case "link":
            flatpak.symlink_to("real")
        case "long":
            flatpak.write_text(text)
            os.truncate(flatpak, 1 << 30)
        case "null":
            flatpak.write_text(text + "\0")
        case "two":
            flatpak.write_text(f"[Application]\nname={TODO}\nname={MAIL}\n")
        case "runtime":
            flatpak.write_text("[Runtime]\nname=org.example.Platform\n")
        case "folder":
            flatpak.mkdir()
        case "empty":
            flatpak.touch()
    assert [show(own), error("Manager.Version", {}, str(own.directory))] == [REFUSED, None]


def test_a_sandbox_is_nobody_to_the_systems_daemon(daemon):
    """It cannot open the sandbox's root directory, but the sandbox has a pid namespace of its own."""
    daemon.app("exit 100", owner="nobody", directory="/")
    daemon.start()
    asked = {"app": TODO}
    user = ["setpriv", f"--reuid={NOBODY}", "--clear-groups"]
    here = {"socket": str(daemon.socket)}
    assert error("Manager.Show", asked, prefix=user, **here) is None
    sandbox = ["unshare", "--pid", "--fork", "--kill-child", *user]
    assert error("Manager.Show", asked, prefix=sandbox, **here) == REFUSED
    assert error("Manager.Version", {}, prefix=sandbox, **here) is None
