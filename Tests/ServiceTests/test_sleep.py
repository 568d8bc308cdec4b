"""Refreshes and suspend, with the real logind: the delay lock, the warning, the stopped refreshes."""

import json
import pathlib
import subprocess
import time

from service import TODO, app
from test_conditions_logind import MANAGER

# It reports the warning, and goes on.
DEAF = "trap 'echo told' URG; trap '' TERM; echo at work; while :; do sleep 0.1; done"


def locks():
    """The sleep locks of refreshd, from logind."""
    answer = subprocess.run(
        ["busctl", "call", "--json=short", *MANAGER, "ListInhibitors"], check=True, capture_output=True, timeout=60
    )
    return [
        (what, mode) for what, who, _, mode, *_ in json.loads(answer.stdout)["data"][0] if who == "refreshd"
    ]


def wait_for_locks(expected):
    end = time.monotonic() + 20
    while locks() != expected:
        assert time.monotonic() < end, locks()


def suspend():
    subprocess.run(["busctl", "call", *MANAGER, "Suspend", "b", "false"], check=True, timeout=60)


def test_the_machine_is_asked_to_wait_while_anything_runs_and_only_then(refreshd, journal):
    refreshd.configure(app("echo at work; while [ ! -e /run/refreshd/end ]; do sleep 0.05; done"))
    refreshd.start()
    assert locks() == []
    refreshd.run_in_background()
    wait_for_locks([("sleep", "delay")])
    pathlib.Path("/run/refreshd/end").touch()
    journal.wait("refreshFinished", REFRESH_APP=TODO)
    wait_for_locks([])


def test_what_ends_in_time_is_no_failure_and_the_machine_sleeps_at_once(sleepless, probe, refreshd, journal):
    refreshd.configure(app("trap 'echo told; exit 0' URG; echo at work; while :; do sleep 0.1; done"))
    refreshd.start()
    seen = probe("nothing")
    seen.wait("started")
    refreshd.run_in_background()
    wait_for_locks([("sleep", "delay")])
    suspend()
    begun = time.monotonic()
    seen.wait_line(event="sleep", value=False, seconds=20)
    assert time.monotonic() - begun < 4
    [refresh] = refreshd.history()
    assert (refresh["outcome"], refresh.get("stop_reason")) == ("new_data", None)


def test_what_sleep_cuts_off_was_told_and_runs_again_when_the_machine_is_awake(sleepless, probe, refreshd, journal):
    refreshd.configure(app(f"[ -e /run/refreshd/again ] && exit 0; touch /run/refreshd/again; {DEAF}"))
    pathlib.Path("/etc/refreshd/refreshd.toml").write_text('settle = "1s"\n')
    refreshd.start()
    seen = probe("nothing")
    seen.wait("started")
    refreshd.run_in_background()
    wait_for_locks([("sleep", "delay")])
    suspend()
    seen.wait_line(event="sleep", value=False, seconds=20)
    journal.wait("refreshFinished", REFRESH_APP=TODO, REFRESH_TRIGGER="retry")
    again, cut_off = refreshd.history()
    assert (again["outcome"], again["trigger"]) == ("new_data", "retry")
    assert (cut_off["outcome"], cut_off["stop_reason"]) == ("failed", "sleep")
    # logind waits 5 s at most.
    assert cut_off["duration_us"] < 5_000_000 + 1_000_000
    assert any("told" in each["MESSAGE"] for each in journal.entries(REFRESH_APP=TODO))
