"""A user's own daemon, under the user's own service manager."""

import pathlib
import subprocess

import pytest

from service import TODO, app, as_user


@pytest.fixture
def anna(installed):
    """Runs systemctl --user for a user who is not logged in."""
    subprocess.run(["loginctl", "enable-linger", "anna"], check=True, timeout=60)

    def systemctl(*arguments):
        command = ["systemctl", "--user", "--machine=anna@", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()

    yield systemctl
    subprocess.run(["loginctl", "disable-linger", "anna"], check=True, timeout=60)


@pytest.fixture
def printed(anna):
    """Starts the user's daemon with one app, and gives what its refresh prints."""
    uid = subprocess.run(["id", "-u", "anna"], check=True, capture_output=True, text=True).stdout.strip()

    def run(text):
        apps = pathlib.Path("/home/anna/.config/refreshd/apps.d")
        write = f"mkdir -p {apps} && cat > {apps}/todo.toml"
        subprocess.run(["runuser", "--login", "anna", "--command", write], input=text, check=True, text=True)
        anna("daemon-reload")
        anna("restart", "refreshd.service")
        answer = as_user("anna", f"XDG_RUNTIME_DIR=/run/user/{uid}", "refreshctl", "run", TODO)
        assert answer.returncode == 0, answer.stderr
        return " ".join(line.removeprefix("work: ") for line in answer.stdout.splitlines())

    yield run
    anna("stop", "refreshd.service", "refreshd.socket")


def test_a_users_sandbox_is_in_force(printed):
    command = "mkdir -p open; for file in open/probe probe; do touch $file 2> /dev/null && echo $file; done; id -un"
    assert printed(app(command)) == "open/probe probe anna"
    table = '[sandbox]\nProtectHome = "read-only"\nReadWritePaths = "~/open"\nNice = 3\n'
    assert printed(app(command) + table) == "open/probe anna"


def test_the_first_call_starts_the_users_daemon_with_files_in_the_users_home(anna):
    apps = pathlib.Path("/home/anna/.config/refreshd/apps.d")
    write = f"mkdir -p {apps} && cat > {apps}/todo.toml"
    subprocess.run(["runuser", "--login", "anna", "--command", write], input=app("id -un"), check=True, text=True)

    anna("daemon-reload")
    anna("start", "refreshd.socket")
    uid = subprocess.run(["id", "-u", "anna"], check=True, capture_output=True, text=True).stdout.strip()
    environment = f"XDG_RUNTIME_DIR=/run/user/{uid}"
    answer = as_user("anna", environment, "refreshctl", "run", TODO)
    assert answer.returncode == 0, answer.stderr
    assert "anna" in answer.stdout
    assert anna("show", "--value", "--property=StatusText", "refreshd.service") == "Keeping 1 app fresh."
    assert pathlib.Path("/home/anna/.local/state/refreshd").is_dir()
    anna("stop", "refreshd.service", "refreshd.socket")
