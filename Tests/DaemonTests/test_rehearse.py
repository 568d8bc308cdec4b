"""`refreshctl rehearse` on the recorded past of the daemon: three weeks that it has lived through on its own wall clock."""

import json
import os
import subprocess

import pytest

from daemon import REPOSITORY, TODO
from wall import DAY, SECOND

REFRESHCTL = os.environ.get("REFRESHCTL", REPOSITORY / ".build/debug/refreshctl")
# Monday 4 January 2027, 00:00 UTC.
MONDAY = 1_798_934_400 + DAY // SECOND
DAYS = 21


@pytest.fixture
def past(daemon, wall):
    """An app that was opened at half past eleven each day and refreshed every four hours, each time with new data."""
    daemon.app("exit 0", background_interval="4h")
    wall.set_to(MONDAY)
    wall.environment["TZ"] = "UTC"
    daemon.start(environment=wall.environment)
    for day in range(DAYS):
        for hour in (1, 5, 9, 11.5, 13, 17, 21):
            wall.set_to(MONDAY + day * DAY // SECOND + int(hour * 3600))
            if hour == 11.5:
                daemon.tell("foreground")
                daemon.tell("background")
            else:
                daemon.refresh()
    daemon.settle()
    return daemon


def rehearse(daemon, wall, *arguments):
    command = [REFRESHCTL, "rehearse", "--json", *arguments]
    answer = subprocess.run(
        command, env={**os.environ, **wall.environment, "REFRESH_SOCKET": str(daemon.socket)}, stdout=subprocess.PIPE, check=True, text=True, timeout=60
    )
    return {line["name"]: line for line in json.loads(answer.stdout)}


def test_a_plan_would_have_met_the_user_with_fresher_data_and_fewer_refreshes(past, wall, tmp_path):
    other = tmp_path / "other"
    (other / "apps.d").mkdir(parents=True)
    text = past.file().read_text().replace('background_interval = "4h"', 'background_floor = "4h"\nbackground_interval = "auto"')
    (other / "apps.d" / f"{TODO}.toml").write_text(text)
    lines = rehearse(past, wall, "--config", other)
    before, after = lines["in force"], lines["rehearsed"]
    assert before["refreshes_per_app_and_day"] == pytest.approx(6, abs=1)
    assert after["age_min"] < before["age_min"]
    assert after["refreshes_per_app_and_day"] < before["refreshes_per_app_and_day"]


@pytest.mark.parametrize("text, status", [(None, 66), ("no trace\n", 65)])
def test_a_trace_that_is_missing_has_another_exit_status_than_a_malformed_one(tmp_path, text, status):
    trace = tmp_path / "trace.jsonl"
    if text is not None:
        trace.write_text(text)
    answer = subprocess.run([REFRESHCTL, "rehearse", "--trace", trace], capture_output=True, text=True, timeout=60)
    assert answer.returncode == status and f"cannot rehearse {trace}" in answer.stderr
