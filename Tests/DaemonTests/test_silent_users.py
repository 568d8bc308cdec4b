"""A user database that does not answer, such as a directory server that is gone: it holds its users' apps alone.

silent_users.c has the lookups wait.
"""

import os
import signal

import pytest

from daemon import LAUNCHER, MAIL, TODO
from processes import threads
from waiting import Bound

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root's daemon has apps of several users")


# systemd looks up the groups of a task's user itself.
@pytest.mark.parametrize("kind", ["user", "groups"] if LAUNCHER == "spawn" else ["user"])
def test_it_holds_the_apps_of_its_users_alone(daemon, preload, kind):
    mark = daemon.directory / "silent"
    mark.touch()
    environment = {"LD_PRELOAD": str(preload("silent_users")), "SILENT_FILE": str(mark), "SILENT_USER": "nobody"}
    if kind == "groups":
        environment["SILENT_GROUPS_ONLY"] = "1"
    daemon.app("exit 100")
    daemon.app({"run": ["/usr/bin/id", "-u"]}, id=MAIL, owner="nobody", directory="/")
    daemon.start(environment=environment)
    assert daemon.refresh()["outcome"] == "no_data"
    hold = daemon.show(MAIL)["holds"][0]
    assert hold["name"] == "misconfigured" and "the user database has not answered" in hold["remedy"]
    assert "has not answered" in str(daemon.call("Manager.Check")["problems"])
    mark.unlink()
    daemon.wait_for_output("the new configuration is in force")
    assert daemon.refresh(MAIL)["tasks"][0]["message"] == "65534"


def test_a_reload_during_the_start_waits_for_it(daemon, preload):
    """While the daemon asks for a user it listens to nobody yet."""
    mark = daemon.directory / "silent"
    mark.touch()
    daemon.app("exit 100", owner="nobody", directory="/")
    daemon.launch(
        environment={"LD_PRELOAD": str(preload("silent_users")), "SILENT_FILE": str(mark), "SILENT_USER": "nobody"}
    )
    bound = Bound()
    while len(threads(daemon.process.pid)) == 1:
        assert bound.left, "the daemon asks nobody"
    os.kill(daemon.process.pid, signal.SIGHUP)
    mark.unlink()
    daemon.pid = daemon.notices.wait("READY").pid
    daemon.wait_for_output("the new configuration is in force")
