"""The permissions of callers, by the credentials of the socket."""

import json
import os
import pwd
import signal
import socket
import subprocess
import sys

import pytest

from client import answers, as_user, fails, message
from daemon import MAIL, TODO
from preload import preload  # noqa: F401
from waiting import BOUND

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")

NOBODY = pwd.getpwnam("nobody").pw_uid
STRANGER = 54321
ABOUT_AN_APP = [
    ("Manager.Show", {"app": TODO}),
    ("Manager.Run", {"app": TODO}),
    ("Manager.History", {"app": TODO}),
    ("Manager.Set", {"apps": [MAIL, TODO], "background_interval": "1h"}),
    ("Manager.Reset", {"apps": [TODO]}),
    ("App.Signal", {"app": TODO, "signal": "foreground"}),
]
ABOUT_THE_DAEMON = ["Manager.Metrics", "Manager.Check", "Manager.Reload"]


@pytest.fixture
def apps(daemon):
    """An app of root and one of nobody."""
    daemon.app("exit 100")
    daemon.app("exit 100", id=MAIL, owner="nobody", directory="/")
    daemon.start()
    # Warm up: a connection reads the descriptions of the interfaces once.
    daemon.status(), daemon.tell("background")


@pytest.mark.parametrize("method, parameters", ABOUT_AN_APP)
def test_another_users_app_is_not_ones_own(daemon, apps, method, parameters):
    """The error names the user to ask. Nothing is changed, not even the caller's own app in the same call."""
    with as_user(NOBODY), fails("org.refreshd.NotAllowed", app=TODO) as refused:
        daemon.call(method, **parameters)
    assert "root" in refused["remedy"]
    assert daemon.show()["phase"] == "background"
    assert daemon.history() == []
    assert [daemon.show(app)["background_interval"]["overridden"] for app in (TODO, MAIL)] == [False, False]


@pytest.mark.parametrize("method, parameters", ABOUT_AN_APP)
def test_a_stranger_learns_nothing_about_which_apps_there_are(daemon, apps, method, parameters):
    def refusal(name):
        asked = {key: name if key == "app" else [name] if key == "apps" else value for key, value in parameters.items()}
        with as_user(STRANGER), fails("org.refreshd.NotAllowed", app=name) as refused:
            daemon.call(method, **asked)
        return refused["remedy"]

    assert refusal(TODO) == refusal(MAIL) == refusal("org.example.none")


def test_a_users_process_that_has_ended_speaks_for_nobody(daemon, apps):
    """It may have been in a sandbox, and have handed its socket to another there: the kernel has forgotten that."""
    daemon.signal(signal.SIGSTOP)
    mine, childs = socket.socketpair()
    child = os.fork()
    if child == 0:
        os.setgroups([]), os.setuid(NOBODY)
        connection = daemon.client.connect()
        socket.send_fds(childs, [b"x"], [connection.fileno()])
        os._exit(0)
    _, [descriptor], _, _ = socket.recv_fds(mine, 1, 1)
    os.waitpid(child, 0)
    daemon.signal(signal.SIGCONT)
    with socket.socket(fileno=descriptor) as connection:
        connection.settimeout(BOUND)
        connection.sendall(message("org.refreshd.Manager.Show", {"app": MAIL}))
        [answer] = answers(connection)
    assert answer["error"] == "org.refreshd.NotAllowed"


@pytest.mark.parametrize("method", ABOUT_THE_DAEMON)
def test_the_daemon_itself_is_the_administrators(daemon, apps, method):
    with as_user(NOBODY), fails("org.refreshd.NotAllowed") as refused:
        daemon.call(method)
    assert "root" in refused["remedy"] and "app" not in refused


def test_an_owner_may_all_with_his_own_app(daemon, apps):
    with as_user(NOBODY):
        assert daemon.tell("foreground", MAIL) == "foreground"
        assert daemon.refresh(MAIL)["outcome"] == "no_data"
        assert len(daemon.history(MAIL)) == 1
        assert daemon.call("Manager.Set", apps=[MAIL], background_interval="1h")["apps"][0]["app"] == MAIL
        assert daemon.call("Manager.Reset", apps=[MAIL])["apps"][0]["app"] == MAIL
        assert daemon.show(MAIL)["owner"] == "nobody"


def test_everybody_sees_his_own_apps_and_the_version(daemon, apps):
    seen = {}
    for user in (0, NOBODY, STRANGER):
        with as_user(user):
            reply = daemon.call("Manager.List")
            seen[user] = [app["id"] for app in reply["apps"]], reply.get("has_apps_of_others", False)
            assert daemon.call("Manager.Version")["start"] == 1
    assert seen == {0: ([MAIL, TODO], False), NOBODY: ([MAIL], True), STRANGER: ([], True)}


def test_everybody_sees_his_own_part_of_the_status(daemon, apps):
    """The mistakes of his own files too, and nothing of other apps."""
    daemon.file(MAIL).write_text("mistake = 1\n")
    daemon.file(TODO).write_text("mistake = 1\n")
    with fails("org.refreshd.Manager.BadConfiguration"):
        daemon.call("Manager.Reload")
    seen = {}
    for user in (0, NOBODY, STRANGER):
        with as_user(user):
            status = daemon.status()
        files = {problem["file"] for problem in status["configuration"]["problems"]}
        others = status.get("has_apps_of_others", False)
        seen[user] = status["apps"], others, files, "transferring" in status
    mine, roots = str(daemon.file(MAIL)), str(daemon.file(TODO))
    assert seen == {
        0: (2, False, {mine, roots}, True), NOBODY: (1, True, {mine}, False), STRANGER: (0, True, set(), False),
    }


def test_a_token_is_enough_to_complete(daemon, apps):
    """The holder of a token may complete the task, as any user."""
    tokens, go = daemon.pipe("tokens"), daemon.pipe("go")
    daemon.app(f"echo $REFRESH_TOKEN > {tokens}; read _ < {go}")
    daemon.call("Manager.Reload")
    stream = daemon.run()
    with as_user(STRANGER):
        daemon.call("App.Complete", token=tokens.line(), outcome="no_data")
    go.let_go()
    assert [answer["event"] for answer in stream][-1]["refresh"]["outcome"] == "no_data"


def test_a_member_of_the_group_refreshd_may_all(daemon):
    """Any group of the caller counts, as it is at connect(2)."""
    groups = daemon.directory / "group"
    groups.write_text(open("/etc/group").read() + "refreshd:x:54322:\n")
    script = 'mount --bind "$0" /etc/group && exec "$@"'
    daemon.app("exit 100")
    daemon.start(prefix=["unshare", "--mount", "sh", "-c", script, groups])
    with as_user(STRANGER), fails("org.refreshd.NotAllowed"):
        daemon.call("Manager.Reload")
    with as_user(STRANGER, groups=[54322]):
        assert daemon.status()["apps"] == 1
        assert daemon.tell("foreground") == "foreground"
        daemon.call("Manager.Reload")


def test_a_waiting_caller_hears_nothing_of_another_owners_refresh(daemon):
    daemon.app("exec sleep 600", owner="nobody", directory="/")
    daemon.start()
    stream = daemon.run()
    with as_user(NOBODY):
        queued = daemon.run()
    daemon.app("echo secret; exit 100")
    daemon.call("Manager.Reload")
    with fails("org.refreshd.NotAllowed", app=TODO):
        next(queued)
    stream.close()


# A process asks. Then another connects and ends, a third one gets its id, and a fourth asks on the connection.
TAKES_AN_ID = """
import os, signal, socket, sys
path, user, version, call = sys.argv[1:]

def ask(client, call):
    client.sendall(call.encode() + b"\\0")
    return client.recv(65536).rstrip(b"\\0").decode()

def start(work):
    process = os.fork()
    if process == 0:
        os.setresuid(int(user), int(user), int(user))
        work()
        os._exit(0)
    return process

def ask_alone():
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    print(ask(client, call), flush=True)

os.waitpid(start(ask_alone), 0)
for _ in range(100):
    client, other = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    ready, connected = os.pipe()
    def connect():
        client.connect(path)
        os.write(connected, b"x")
        signal.pause()
    first = start(connect)
    os.read(ready, 1)
    # The daemon accepts one after the other.
    other.connect(path)
    ask(other, version)
    os.kill(first, signal.SIGKILL)
    os.waitpid(first, 0)
    open("/proc/sys/kernel/ns_last_pid", "w").write(str(first - 1))
    second = start(signal.pause)
    answer = ask(client, call)
    os.kill(second, signal.SIGKILL)
    os.waitpid(second, 0)
    # A thread of the daemon may have got the id.
    if second == first:
        print(answer)
        break
"""


@pytest.mark.skipif(not os.path.exists("/proc/sys/kernel/ns_last_pid"), reason="the kernel lets nobody choose an id")
def test_before_linux_6_5_a_process_that_got_the_id_of_the_caller_is_not_taken_for_it(daemon, preload):  # noqa: F811
    daemon.app("exit 100", owner="nobody", directory="/")
    daemon.start(
        prefix=["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"],
        environment={"LD_PRELOAD": str(preload("older_kernel"))},
    )
    namespaces = f"/proc/{daemon.process.pid}/ns"
    inside = ["nsenter", f"--pid={namespaces}/pid_for_children", f"--mount={namespaces}/mnt"]
    version, show = ({"method": f"org.refreshd.Manager.{method}", "parameters": parameters}
                     for method, parameters in (("Version", {}), ("Show", {"app": TODO})))  # fmt: skip
    command = [sys.executable, "-c", TAKES_AN_ID, daemon.socket, str(NOBODY), json.dumps(version), json.dumps(show)]
    ran = subprocess.run([*inside, *command], check=True, capture_output=True, text=True, timeout=60)
    alone, taken = [json.loads(line).get("error") for line in ran.stdout.splitlines()]
    assert [alone, taken] == [None, "org.refreshd.NotAllowed"]
