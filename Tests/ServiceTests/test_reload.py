"""A new configuration, all of it or nothing."""

import pytest

from journal import MESSAGE_ID
from service import app

BAD = 'id = "org.example.bad"\nowner = "nobody-of-that-name"\n'


def ids(refreshd):
    return [each["id"] for each in refreshd.call("List")["apps"]]


def test_a_good_configuration_comes_into_force(refreshd, journal):
    refreshd.configure(app("exit 0"))
    refreshd.start()
    refreshd.configure(app("exit 0"), app("exit 0", id="org.example.mail"))
    refreshd.systemctl("reload", "refreshd.service")
    assert ids(refreshd) == ["org.example.mail", "org.example.todo"]
    assert refreshd.show("StatusText") == "Keeping 2 apps fresh."
    journal.wait("configurationInForce")


def test_a_bad_one_leaves_the_old_in_force_and_everyone_is_told(refreshd, journal):
    refreshd.configure(app("exit 0"))
    refreshd.start()
    pid = refreshd.main_pid
    refreshd.configure(app("exit 0", id="org.example.new"), BAD)
    assert refreshd.systemctl("reload", "refreshd.service", check=False).returncode != 0

    assert (refreshd.main_pid, refreshd.show("ActiveState")) == (pid, "active")
    assert ids(refreshd) == ["org.example.todo"]
    status = refreshd.show("StatusText")
    assert "was rejected" in status and "1.toml" in status
    refused = journal.entries(MESSAGE_ID=MESSAGE_ID["configurationRefused"])
    assert any("nobody-of-that-name" in each["MESSAGE"] for each in refused)
    assert refreshd.call("Status")["status"]["configuration"]["problems"]

    refreshd.configure(app("exit 0"))
    refreshd.systemctl("reload", "refreshd.service")
    assert refreshd.show("StatusText") == "Keeping 1 app fresh."
    assert refreshd.call("Status")["status"]["configuration"]["problems"] == []


@pytest.mark.parametrize("text, kind", [(app("exit 0"), "configurationInForce"), (BAD, "configurationRefused")])
def test_sighup_reloads_as_well(refreshd, journal, text, kind):
    refreshd.configure()
    refreshd.start()
    refreshd.configure(text)
    refreshd.systemctl("kill", "--kill-who=main", "--signal=HUP", "refreshd.service")
    journal.wait(kind)
    assert refreshd.show("ActiveState") in ("active", "reloading")
    assert ids(refreshd) == (["org.example.todo"] if kind == "configurationInForce" else [])
