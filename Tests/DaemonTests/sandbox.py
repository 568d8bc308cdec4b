"""A user's own daemon with a home of its own, and Flatpaks: processes in a sandbox of bwrap, as `flatpak run` makes it."""

import json
import os
import pwd
import subprocess

from daemon import TODO, Daemon

# Another home in the user database than this machine's.
WITH_HOME = 'mount --bind "$0" /etc/passwd && exec "$@"'
# The program in the sandbox: it makes one call, and prints the answer.
ASK = """
import json, socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(sys.argv[2].encode() + b"\\0")
data = b""
while not data.endswith(b"\\0"):
    piece = client.recv(65536)
    if not piece: break
    data += piece
print(data[:-1].decode())
"""


class OwnDaemon(Daemon):
    """The daemon of this user, whose home is a folder of the test."""

    def __init__(self, directory):
        super().__init__(directory)
        self.home = directory / "home"
        self.home.mkdir()
        self.runtime = directory / "run"
        self.runtime.mkdir(mode=0o700)
        me = pwd.getpwuid(os.geteuid())
        lines = [line for line in open("/etc/passwd").read().splitlines() if f":x:{me.pw_uid}:" not in line]
        self.passwd = directory / "passwd"
        self.passwd.write_text("\n".join([f"{me.pw_name}:x:{me.pw_uid}:{me.pw_gid}::{self.home}:/bin/sh", *lines]) + "\n")

    @property
    def command(self):
        return [*super().command, "--user"]

    def start(self, **surroundings):
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.runtime), **(surroundings.pop("environment", None) or {})}
        prefix = ["unshare", "--mount", "sh", "-c", WITH_HOME, self.passwd]
        return super().start(prefix=prefix, environment=environment, **surroundings)


class Flatpak:
    """A Flatpak of this user: its folder, and calls from its sandbox."""

    def __init__(self, daemon, id=TODO, shared="network;ipc;", instance_path=None):
        self.daemon = daemon
        self.id = id
        self.folder = daemon.home / ".var/app" / id
        for kind in ("data", "cache", "config"):
            (self.folder / kind).mkdir(parents=True, exist_ok=True)
        self.info = daemon.directory / f"flatpak-info-{len(list(daemon.directory.glob('flatpak-info-*')))}"
        self.info.write_text(
            f"[Application]\nname={id}\nruntime=runtime/org.example.Platform/x86_64/1\n\n"
            f"[Instance]\ninstance-id=1\ninstance-path={instance_path or self.folder}\n\n[Context]\nshared={shared}\n"
        )

    def run(self, *command):
        """Runs a program in the sandbox, and returns its output."""
        links = [word for name in ("bin", "lib", "lib64", "sbin") for word in ("--symlink", f"usr/{name}", f"/{name}")]
        sandbox = [
            "bwrap", "--unshare-pid", "--die-with-parent", "--ro-bind", "/usr", "/usr", *links, "--proc", "/proc",
            "--dev", "/dev", "--ro-bind", self.info, "/.flatpak-info", "--bind", self.folder, self.folder,
            "--bind", self.folder / "data", "/var/data", "--bind", self.daemon.socket, "/run/refreshd.socket",
        ]  # fmt: skip
        ran = subprocess.run([*sandbox, "--", *command], capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def ask(self, method, **parameters):
        """A call from the sandbox: the reply, with the name of the error in `error`."""
        call = json.dumps({"method": f"org.refreshd.{method}", "parameters": parameters})
        answer = json.loads(self.run("/usr/bin/python3", "-c", ASK, "/run/refreshd.socket", call))
        return {**answer.get("parameters", {}), **({"error": answer["error"]} if "error" in answer else {})}

    def enqueue(self, url, path, **fields):
        """Queues one transfer from the sandbox, and returns its number."""
        answer = self.try_to_enqueue(url, path, **fields)
        assert "error" not in answer, answer
        return answer["ids"][0]

    def try_to_enqueue(self, url, path, **fields):
        request = {"url": url, "path": str(path), "network": "none", **fields}
        return self.ask("Transfers.Enqueue", app=self.id, transfers=[request])
