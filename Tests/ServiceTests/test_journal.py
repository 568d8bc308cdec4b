"""The journal entries of a refresh."""

import subprocess

from journal import MESSAGE_ID
from service import TODO, app


def test_entries_carry_the_fields(refreshd, journal):
    refreshd.configure(app("echo fetched 3 messages"))
    refreshd.start()
    refreshd.refreshctl("run", TODO)
    journal.wait("refreshFinished")
    [record] = refreshd.history()

    everything = {"REFRESH_APP": TODO, "REFRESH_ID": record["id"], "SYSLOG_IDENTIFIER": "refreshd"}
    by_kind = {each["MESSAGE_ID"]: each for each in journal.entries(REFRESH_ID=record["id"])}
    expected = {
        "refreshStarted": {"REFRESH_TRIGGER": "manual"},
        "taskOutput": {"REFRESH_TASK": "work"},
        "refreshFinished": {"REFRESH_TRIGGER": "manual", "REFRESH_OUTCOME": "new-data"},
    }
    for kind, fields in expected.items():
        entry = by_kind[MESSAGE_ID[kind]]
        for name, value in {**everything, **fields, "PRIORITY": "6"}.items():
            assert entry[name] == value, (kind, name)
        # The entry belongs to the service, although the daemon is in a sub-cgroup of it, and has its code location.
        assert entry["_SYSTEMD_UNIT"] == "refreshd.service"
        assert entry["CODE_FILE"].endswith(".swift") and int(entry["CODE_LINE"]) > 0
    assert "fetched 3 messages" in by_kind[MESSAGE_ID["taskOutput"]]["MESSAGE"]


def test_a_failure_is_a_warning_with_its_outcome(refreshd, journal):
    refreshd.configure(app("echo no route to host >&2; exit 3"))
    refreshd.start()
    assert refreshd.refreshctl("run", TODO, check=False).returncode == 1
    entry = journal.wait("refreshFailed", REFRESH_APP=TODO)
    assert (entry["PRIORITY"], entry["REFRESH_OUTCOME"]) == ("4", "failed")


def test_a_change_of_phase_is_told(refreshd, journal):
    refreshd.configure(app("exit 0"))
    refreshd.start()
    refreshd.refreshctl("foreground", TODO)
    journal.wait("appPhaseChanged", REFRESH_APP=TODO)


def test_journalctl_explains_entries(refreshd, journal):
    refreshd.configure(app("exit 3"))
    refreshd.start()
    refreshd.refreshctl("run", TODO, check=False)
    journal.wait("refreshFailed")
    command = ["journalctl", "--catalog", f"--after-cursor={journal.cursor}"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert f"A refresh of {TODO} failed" in text
    assert f"refreshctl run {TODO}" in text
