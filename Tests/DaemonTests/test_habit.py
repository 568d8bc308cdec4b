"""A real daemon lives through three weeks of a habit, and its clients name the habit in words."""

import os
import re
import subprocess

import pytest

from daemon import REPOSITORY, TODO
from wall import DAY, SECOND

REFRESHCTL = os.environ.get("REFRESHCTL", REPOSITORY / ".build/debug/refreshctl")
# Monday 4 January 2027, 00:00 UTC.
MONDAY = 1_798_934_400 + DAY // SECOND
HOUR = 3600
DAYS = 21


@pytest.fixture
def lived(daemon, wall):
    """An app that was opened around noon from Monday to Friday; it is eight o'clock on the fourth Monday, after a refresh."""
    daemon.app("exit 0", background_interval="auto", background_floor="1h")
    wall.set_to(MONDAY)
    wall.environment["TZ"] = "UTC"
    daemon.start(environment=wall.environment)
    for day in range(DAYS):
        wall.set_to(MONDAY + day * 24 * HOUR + 8 * HOUR)
        daemon.refresh()
        if day % 7 < 5:
            wall.set_to(MONDAY + day * 24 * HOUR + 12 * HOUR + (day * 7 % 11 - 5) * 60)
            daemon.tell("foreground")
            daemon.tell("background")
            daemon.settle()
    wall.set_to(MONDAY + DAYS * 24 * HOUR + 8 * HOUR)
    daemon.refresh()
    return daemon


def ask(daemon, wall, *arguments):
    environment = {**os.environ, **wall.environment, "REFRESH_SOCKET": str(daemon.socket)}
    answer = subprocess.run(
        [REFRESHCTL, *arguments], env=environment, stdout=subprocess.PIPE, check=True, text=True, timeout=60
    )
    return answer.stdout


def test_why_and_usage_name_the_habit_that_the_plan_follows(lived, wall):
    why = " ".join(ask(lived, wall, "why", TODO).split())
    found = re.search(
        r"opened around (\d+):(\d+) on weekdays \(10 of the last 10\), so it will be refreshed "
        r"(?:at|between today|today) (\d+):(\d+)",
        why,
    )
    assert found, why
    middle, planned = (int(found[place]) * 60 + int(found[place + 1]) for place in (1, 3))
    assert abs(middle - 12 * 60) <= 10
    assert middle - 60 <= planned <= middle
    usage = ask(lived, wall, "usage", TODO)
    assert f"around {found[1]}:{found[2]} on weekdays (10 of the last 10)" in " ".join(usage.split()), usage
    habits = lived.call("Manager.Usage", app=TODO)["habits"]
    (named,) = habits["named"]
    assert (named["met"], named["days"]) == (10, 10)
    assert named["weekdays"] == ["monday", "tuesday", "wednesday", "thursday", "friday"]
    # The openings seen are at noon on these days, and next to nothing at weekends.
    work, rest = (next(kind for kind in habits["days"] if day in kind["weekdays"]) for day in ("monday", "sunday"))
    noon = range(len(work["seen"]) * 11 // 24, len(work["seen"]) * 13 // 24)
    assert sum(work["seen"][slot] for slot in noon) > 0.5 > 3 * sum(rest["seen"][slot] for slot in noon)
