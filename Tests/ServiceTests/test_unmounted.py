"""A home that is mounted after the daemon has started: its app is held and explained, and no other app waits."""

import pathlib
import shutil
import subprocess

import pytest

from service import TODO, app

MAIL = "org.example.mail"
HOME = pathlib.Path("/home/late")
TOOL = HOME / "bin/tool"


@pytest.fixture
def disk(tmp_path):
    """A file system with the program of an app, which a test mounts at the home of its owner."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "late", tmp_path], check=True)
    tool = tmp_path / TOOL.relative_to(HOME)
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\npwd\n")
    tool.chmod(0o755)
    HOME.mkdir()
    yield tmp_path
    subprocess.run(["umount", HOME], capture_output=True)
    subprocess.run(["umount", tmp_path], check=True)
    shutil.rmtree(HOME)


def test_an_app_below_a_path_that_is_not_mounted_is_held_until_it_is(refreshd, journal, disk):
    text = app("", id=MAIL, owner="anna", directory=str(HOME)).replace("shell = ''''''", f'run = ["{TOOL}"]')
    refreshd.configure(app("exit 100"), text)
    refreshd.start()
    assert refreshd.show("ActiveState") == "active"

    def why(id):
        return " ".join(refreshd.refreshctl("why", id).stdout.split())

    assert 'It is held for a mistake in its file. refreshd reads the file again every few minutes' in why(MAIL), why(MAIL)
    assert f'cannot execute "{TOOL}"' in why(MAIL), why(MAIL)
    status = " ".join(refreshd.refreshctl("status").stdout.split())
    assert "The apps of 1 file are held until you correct 1 mistake." in status
    checked = refreshd.refreshctl("check", check=False)
    assert checked.returncode != 0 and str(TOOL) in checked.stdout + checked.stderr, checked
    held = refreshd.app(MAIL)
    assert (held["verdict"], [hold["name"] for hold in held["holds"]]) == ("held", ["misconfigured"])
    assert refreshd.refreshctl("run", TODO, check=False).returncode == 100, "another app is refreshed"

    subprocess.run(["mount", "--bind", disk, HOME], check=True)
    # Nobody reloads: the daemon looks again by itself.
    journal.wait("configurationInForce")
    assert str(HOME) in refreshd.refreshctl("run", MAIL).stdout
    assert "held" not in refreshd.call("Status")["status"]["configuration"]
    assert refreshd.refreshctl("check").returncode == 0
