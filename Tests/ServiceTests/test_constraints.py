"""Constraints from the system bus to the refresh: held, explained, started at the edge, stopped."""

import json
import subprocess

import pytest

from service import TODO, app, log_out


def why(refreshd):
    return json.loads(refreshd.refreshctl("why", TODO, "--json").stdout)["why"]


def unmetered(shell):
    return app(shell, network="unmetered", background_interval="15min")


def test_a_due_refresh_waits_for_an_unmetered_network_and_starts_when_there_is_one(network_manager, refreshd, journal):
    network_manager.set(Metered=("u", 1))
    refreshd.configure(unmetered("exit 0"))
    refreshd.start()
    journal.wait("daemonReady")
    explained = why(refreshd)
    assert [hold["name"] for hold in explained["holds"]] == ["network"]
    assert refreshd.history() == []
    text = refreshd.refreshctl("why", TODO).stdout
    assert "NetworkManager" in text and "unmetered" in text

    network_manager.set(Metered=("u", 2))
    journal.wait("refreshFinished", REFRESH_APP=TODO)
    assert [refresh["outcome"] for refresh in refreshd.history()] == ["new_data"]
    waited = [entry["wait"] for entry in why(refreshd)["past"] if entry.get("wait")]
    assert [wait["holds"] for wait in waited] == [["network"]]


def test_a_refresh_that_loses_its_network_is_stopped_and_runs_again_when_it_is_back(network_manager, refreshd, journal):
    refreshd.configure(unmetered("echo at work; sleep 20"))
    refreshd.start()
    journal.wait("taskOutput", REFRESH_APP=TODO)
    network_manager.set(Metered=("u", 1))
    journal.wait("refreshStopped", REFRESH_APP=TODO)
    lost = refreshd.history()[0]
    assert (lost["stop_reason"], lost["outcome"]) == ("constraint_lost", "failed")
    assert why(refreshd)["failures"] == 0
    reason = "stopped: needed an unmetered network, had "
    assert lost["cause"]["text"].startswith(reason) and lost["cause"]["text"].endswith(", metered")
    for command in ("why", "history"):
        assert "needed an unmetered network" in " ".join(refreshd.refreshctl(command, TODO).stdout.split())
    network_manager.set(Metered=("u", 2))
    journal.wait("refreshStarted", REFRESH_APP=TODO, REFRESH_TRIGGER="retry")


def test_run_the_list_and_the_journal_name_what_a_refresh_has_lost(network_manager, refreshd, journal):
    refreshd.configure(app("echo at work; sleep 20", network="unmetered"))
    refreshd.start()
    run = subprocess.Popen(["refreshctl", "run", TODO], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    journal.wait("taskOutput", REFRESH_APP=TODO)
    network_manager.set(Metered=("u", 1))
    entry = journal.wait("refreshStopped", REFRESH_APP=TODO)
    said = run.communicate(timeout=60)[1]
    reason = "needed an unmetered network, had wlan0 (Café), metered"
    assert run.returncode == 1
    assert said.splitlines()[-1].startswith(f"{TODO}: stopped: {reason} after ") and "failed" not in said
    assert entry["MESSAGE"].endswith(f": stopped: {reason}") and "ended after" in entry["MESSAGE"]
    (_, row) = refreshd.refreshctl("list").stdout.splitlines()
    assert "stopped " in row and "failed" not in row and "needed an unmetered network" in row


def test_a_refresh_that_loses_its_network_is_warned_and_may_end_by_itself(network_manager, refreshd, journal):
    refreshd.configure(unmetered("trap 'echo told; exit 0' URG; echo at work; while :; do sleep 0.1; done"))
    refreshd.start()
    journal.wait("taskOutput", REFRESH_APP=TODO)
    network_manager.set(Metered=("u", 1))
    journal.wait("refreshFinished", REFRESH_APP=TODO)
    (told,) = refreshd.history()
    assert (told["outcome"], told["tasks"][0]["message"]) == ("new_data", "told")


@pytest.mark.parametrize("lost", ["idle", "power"])
def test_long_work_makes_room_for_the_user_and_begins_again_later(upower, anna, log_in, refreshd, journal, lost):
    refreshd.configure(app("echo at work; sleep 60", kind="processing", background_interval="15min"))
    refreshd.start()
    journal.wait("taskOutput", REFRESH_APP=TODO)
    if lost == "idle":
        session = log_in("anna")
    else:
        upower.set(OnBattery=("b", "true"))
    journal.wait("refreshStopped", REFRESH_APP=TODO)
    ended = refreshd.history()[0]
    assert (ended["stop_reason"], ended["outcome"]) == ("constraint_lost", "failed")
    explained = why(refreshd)
    assert [hold["name"] for hold in explained["holds"]] == [lost]
    assert (explained["failures"], explained["strikes"]) == (0, 0)
    text = " ".join(refreshd.refreshctl("why", TODO).stdout.split())
    assert "long work: only while nobody uses the machine and it is on mains power" in text

    if lost == "idle":
        log_out(session)
    else:
        upower.set(OnBattery=("b", "false"))
    journal.wait("refreshStarted", count=2, REFRESH_APP=TODO)
