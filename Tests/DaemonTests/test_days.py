"""A real daemon does as List says, over a day and a night on virtual time.

The clocks go ahead by a quarter of an hour at a time; the night is that of the end of daylight saving.
"""

import calendar
import time

import pytest

from preload import preload  # noqa: F401, a fixture
from waiting import BOUND
from wall import SECOND

BEGIN = calendar.timegm((2026, 10, 24, 8, 0, 0))
STEP = 900
HOUR = 3600 * SECOND
# More than a night takes for a few apps.
TURNS = 30
# A start comes at a step, so late after the window that was said.
LATE = (STEP + 60) * SECOND

APPS = {
    "org.example.often": {"background_interval": "2h", "adaptive": True},
    "org.example.daily": {"background_interval": "20h", "adaptive": True},
    "org.example.asleep": {"background_interval": "3h", "adaptive": True, "quiet": "22:00-07:00"},
    "org.example.change": {"background_interval": "8h", "adaptive": True, "quiet": "01:30-02:30"},
    "org.example.plain": {"background_interval": "1h"},
    "org.example.held": {"background_interval": "1h", "network": "wifi"},
}


class Days:
    """The clocks of the daemon."""

    def __init__(self, daemon, library):
        self.daemon = daemon
        self.file = daemon.directory / "ahead"
        self.environment = {"LD_PRELOAD": str(library), "AHEAD": str(self.file), "TZ": "Europe/Berlin"}
        self.wall = BEGIN - int(time.time())
        self.ahead = 0
        self.go(0)

    def go(self, seconds):
        """Sets the clocks ahead, while nothing runs and nothing is written."""
        self.ahead += seconds
        part = self.file.with_suffix(".part")
        part.write_text(f"{self.ahead} {self.wall}\n")
        part.rename(self.file)

    @property
    def now(self):
        return int(time.time() * SECOND) + (self.wall + self.ahead) * SECOND

    def rest(self):
        """Waits until nothing is being refreshed and all is on the disk.

        A night goes through the apps in slices, each a turn of the daemon's loop. With each call the loop turns once.
        """
        end = time.monotonic() + BOUND
        turns = 0
        while turns < TURNS:
            assert time.monotonic() < end
            turns = 0 if self.daemon.status()["refreshing"] else turns + 1
        self.daemon.settle("org.example.plain")


@pytest.mark.bound(180)
def test_a_day_and_a_night_go_as_it_was_said(daemon, preload):  # noqa: F811
    days = Days(daemon, preload("ahead"))
    daemon.configure('settle = "0s"\n')
    for id, keys in APPS.items():
        daemon.app("exit 100", id=id, **keys)
    daemon.start(environment=days.environment)
    (is_paused, said) = (False, [])
    while days.now < BEGIN * SECOND + 30 * HOUR:
        days.rest()
        if not is_paused and days.now >= BEGIN * SECOND + 5 * HOUR:
            daemon.call("Manager.Pause", until_us=days.now + 3 * HOUR)
            # Nobody knew of the pause before.
            (is_paused, said) = (True, [])
        rows = daemon.call("Manager.List")["apps"]
        said += [(days.now, row["id"], row["next"]) for row in rows if row["verdict"] in ("not_due", "held")]
        days.go(STEP)
    days.rest()
    end = days.now
    starts = {id: sorted(r["started_us"] for r in daemon.history(id, limit=1000)) for id in APPS}
    lies, foreseen = [], 0
    for at, id, following in said:
        begun = next((start for start in starts[id] if start > at), None)
        if "start" not in following:
            lies += [(id, at, following, begun)] if begun else []
            continue
        foreseen += "planned_us" in following
        earliest, latest = following["start"]["earliest_us"], following["start"]["latest_us"]
        if begun is None and latest + LATE > end:
            continue
        if begun is None or not earliest - SECOND <= begun <= latest + LATE:
            lies.append((id, at, following, begun))
    assert lies == []
    assert foreseen > 20 and len(said) > 300
    assert all(len(starts[id]) > 1 for id in APPS if id != "org.example.held")
