"""A user's own daemon with a home of its own, and a Flatpak, which `flatpak run` starts."""

import atexit
import functools
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

from daemon import TODO, Daemon

# Another home in the user database than this machine's.
WITH_HOME = 'mount --bind "$0" /etc/passwd && exec "$@"'
# The program in the sandbox: it makes one call, and prints the answer. With a third argument it tries first to get into a
# sandbox within this one, and to write a `.flatpak-info` in it; with the argument `thread`, its first thread ends before it
# calls.
ASK = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static char **words;
static void call(void) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path, words[1], sizeof to.sun_path - 1);
    int client = socket(AF_UNIX, SOCK_STREAM, 0);
    size_t count = strlen(words[2]) + 1;
    if (connect(client, (void *)&to, sizeof to) || write(client, words[2], count) != (ssize_t)count) exit(1);
    for (char c; read(client, &c, 1) == 1 && c;) putchar(c);
    exit(0);
}
static void *call_alone(void *_) {
    while (access("/proc/self/root/", F_OK) == 0) sched_yield();
    call();
    return NULL;
}
int main(int argc, char **argv) {
    words = argv;
    if (argc > 3 && strcmp(argv[3], "thread") == 0) {
        pthread_t second;
        pthread_create(&second, NULL, call_alone, NULL);
        pthread_exit(NULL);
    }
    if (argc > 3) {
        int entered = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
        int moved = chroot("/var/data") == 0;
        int written = open("/.flatpak-info", O_WRONLY | O_CREAT | O_TRUNC, 0644) >= 0;
        if (entered || moved || written) fprintf(stderr, "gained %d %d %d\\n", entered, moved, written);
    }
    call();
}
"""


@functools.cache
def installation():
    """A folder with a runtime and an app, installed from a repository of this machine; removed with the process."""
    folder = tempfile.TemporaryDirectory(prefix="flatpak-")
    atexit.register(folder.cleanup)
    path = pathlib.Path(folder.name)
    path.chmod(0o755)
    environment = {**os.environ, "HOME": str(path), "FLATPAK_USER_DIR": str(path / "installed")}

    def run(*words, **options):
        subprocess.run(words, check=True, capture_output=True, timeout=60, cwd=path, env=environment, **options)

    for part in ("platform/usr/bin", "platform/usr/lib", "app/files/bin", "app/export"):
        (path / part).mkdir(parents=True)
    run("gcc", "-static", "-O1", "-x", "c", "-o", "app/files/bin/ask", "-", input=ASK.encode())
    # Flatpak makes the cache of libraries in each sandbox.
    shutil.copy("/sbin/ldconfig", path / "platform/usr/bin")
    platform = f"org.example.Platform/{os.uname().machine}/1"
    (path / "platform/metadata").write_text(f"[Runtime]\nname=org.example.Platform\nruntime={platform}\nsdk={platform}\n")
    run("flatpak", "build-export", "--runtime", "--files=usr", "repository", "platform", "1")
    (path / "app/metadata").write_text(
        f"[Application]\nname={TODO}\nruntime={platform}\nsdk={platform}\ncommand=ask\n\n[Context]\nshared=network;\n"
    )
    run("flatpak", "build-export", "repository", "app", "1")
    run("flatpak", "--user", "remote-add", "--no-gpg-verify", "here", "repository")
    run("flatpak", "--user", "install", "--assumeyes", "--noninteractive", "here", TODO)
    return path / "installed", folder


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
    """A Flatpak of this user, run by `flatpak run`: its folder, and calls from its sandbox.

    A prefix of the command may make it another user's, whose surroundings are the environment.
    """

    def __init__(self, daemon, *options, prefix=(), environment=None):
        self.daemon, self.options, self.prefix = daemon, options, prefix
        self.environment = os.environ if environment is None else environment
        self.id = TODO
        self.folder = daemon.home / ".var/app" / self.id
        for kind in ("data", "cache", "config"):
            (self.folder / kind).mkdir(parents=True, exist_ok=True)

    @property
    def variables(self):
        """What `flatpak` needs to know."""
        installed, _ = installation()
        return {**self.environment, "HOME": str(self.daemon.home), "FLATPAK_USER_DIR": str(installed)}

    @property
    def command(self):
        """The command that a text for the daemon completes, apart from the prefix."""
        socket = str(self.daemon.socket)
        return ["flatpak", "--user", "run", f"--filesystem={socket}", *self.options, self.id, socket]

    def call(self, text, *more):
        """Has the program in the sandbox send a text, and returns the answer."""
        ran = subprocess.run(
            [*self.prefix, *self.command, text, *more], capture_output=True, text=True, timeout=60, env=self.variables)
        assert ran.returncode == 0 and "gained" not in ran.stderr, ran.stderr
        return ran.stdout

    def ask(self, method, *more, **parameters):
        """A call from the sandbox: the reply, with the name of the error in `error`."""
        call = json.dumps({"method": f"org.refreshd.{method}", "parameters": parameters})
        answer = json.loads(self.call(call, *more))
        return {**answer.get("parameters", {}), **({"error": answer["error"]} if "error" in answer else {})}

    def enqueue(self, url, path, **fields):
        """Queues one transfer from the sandbox, and returns its number."""
        answer = self.try_to_enqueue(url, path, **fields)
        assert "error" not in answer, answer
        return answer["ids"][0]

    def try_to_enqueue(self, url, path, **fields):
        request = {"url": url, "path": str(path), "network": "none", **fields}
        return self.ask("Transfers.Enqueue", app=self.id, transfers=[request])


class Lookalike(Flatpak):
    """A sandbox of bwrap with a `.flatpak-info` that no real Flatpak has."""

    def __init__(self, daemon, instance_path):
        super().__init__(daemon)
        self.info = daemon.directory / "flatpak-info"
        self.info.write_text(
            f"[Application]\nname={self.id}\n\n[Instance]\ninstance-path={instance_path}\n\n[Context]\nshared=network;\n"
        )

    @property
    def command(self):
        installed, _ = installation()
        program = installed / f"app/{self.id}/current/active/files/bin/ask"
        sandbox = ["bwrap", "--unshare-pid", "--ro-bind", self.info, "/.flatpak-info", "--ro-bind", program, "/ask"]
        return [*map(str, sandbox), "--bind", str(self.daemon.socket), "/socket", "/ask", "/socket"]
