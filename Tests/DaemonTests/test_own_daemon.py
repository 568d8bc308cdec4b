"""A user's own daemon obeys its user and root, and nobody else; a sandboxed app speaks for itself only."""

import os
import pwd
import stat
import subprocess
import sys

import pytest

from client import as_user, fails
from daemon import MAIL, TODO, Daemon

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")

NOBODY = pwd.getpwnam("nobody").pw_uid
STRANGER = 54321
GROUP = 54322
# Another group and another bridge than this machine's.
AS_ON_A_SERVER = 'mount --bind "$0" /etc/group && mount --bind "$1" /etc/passwd && shift && exec "$@"'
CHROOTED = """
import json, os, socket, sys
os.chroot(sys.argv[1])
client = socket.socket(socket.AF_UNIX)
client.connect("/socket")
client.sendall(json.dumps({"method": "org.refreshd.Manager.Show", "parameters": {"app": sys.argv[2]}}).encode() + b"\\0")
data = b""
while not data.endswith(b"\\0"):
    data += client.recv(65536)
print(json.loads(data[:-1]).get("error", "ok"))
"""


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
    with as_user(NOBODY):
        assert own.status()["apps"] == 1
    assert own.status()["is_user_daemon"]
    own.socket.chmod(0o666)
    for user, groups in ((STRANGER, []), (54323, [GROUP])):
        with as_user(user, groups=groups):
            with fails("org.refreshd.NotAllowed"):
                own.status()
            with fails("org.refreshd.NotAllowed"):
                own.call("Manager.Show", app=TODO)
            with fails("org.refreshd.NotAllowed"):
                own.call("Push.Report", sources=[])


def test_a_flatpak_speaks_for_the_app_of_its_id_only(own):
    own.app("exit 100")
    own.app("exit 100", id=MAIL)
    own.start()

    def ask(app):
        command = [sys.executable, "-c", CHROOTED, own.directory, app]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()

    assert [ask(TODO), ask(MAIL)] == ["ok", "ok"]
    (own.directory / ".flatpak-info").write_text(f"[Application]\nname={TODO}\n\n[Instance]\ninstance-id=7\n")
    assert [ask(TODO), ask(MAIL)] == ["ok", "org.refreshd.NotAllowed"]
    # A runtime has no app.
    (own.directory / ".flatpak-info").write_text("[Runtime]\nname=org.example.Platform\n")
    assert ask(TODO) == "org.refreshd.NotAllowed"
