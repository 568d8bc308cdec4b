"""Changes in folders of a user, under the service's own view of the file system and its sandbox."""

import json
import pathlib
import subprocess

import pytest

from service import TODO, app, as_user


@pytest.fixture
def notes(installed):
    """A folder in a home that only its owner may enter."""
    home = pathlib.Path("/home/anna")
    home.chmod(0o700)
    folder = home / "Notes"
    as_user("anna", "mkdir", "-p", str(folder / "year")).check_returncode()
    yield folder
    subprocess.run(["rm", "-r", folder], check=True, timeout=60)


def test_a_change_in_a_private_home_starts_a_refresh(refreshd, journal, notes):
    """The unit of the task writes into the folder too, and that starts nothing."""
    refreshd.configure(
        app(
            "date > ~/Notes/last", owner="anna", watch=["~/Notes"], watch_settle="2s", foreground_interval="minimum"
        )
    )
    refreshd.start()
    journal.wait("refreshFinished", REFRESH_APP=TODO, REFRESH_TRIGGER="change")
    why = json.loads(refreshd.refreshctl("why", TODO, "--json").stdout)["why"]
    assert why["watched"] == [{"app": TODO, "folder": "~/Notes", "folders": 2}]
    assert "change" not in why
    as_user("anna", "touch", str(notes / "year/new")).check_returncode()
    journal.wait("refreshFinished", count=2, REFRESH_APP=TODO, REFRESH_TRIGGER="change")
    assert len(refreshd.history()) == 2
