"""A real daemon does as List says, over a day and a night on virtual time.

The clocks go ahead by a quarter of an hour at a time; the night is that of the end of daylight saving.
"""

import pytest

from days import BEGIN, Days
from preload import preload  # noqa: F401, a fixture
from wall import SECOND

STEP = 900
HOUR = 3600 * SECOND
# A start comes at a step, so late after the window that was said.
LATE = (STEP + 60) * SECOND

APPS = {
    "org.example.often": {"background_interval": "auto", "background_floor": "2h"},
    "org.example.daily": {"background_interval": "auto", "background_floor": "20h"},
    "org.example.asleep": {"background_interval": "auto", "background_floor": "3h", "quiet": "22:00-07:00"},
    "org.example.change": {"background_interval": "auto", "background_floor": "8h", "quiet": "01:30-02:30"},
    "org.example.plain": {"background_interval": "1h"},
    "org.example.held": {"background_interval": "1h", "network": "wifi"},
}


@pytest.mark.bound(400)
def test_a_day_and_a_night_go_as_it_was_said(daemon, preload):  # noqa: F811
    days = Days(daemon, preload("ahead"))
    daemon.configure('settle = "0s"\n')
    for id, keys in APPS.items():
        daemon.app("exit 100", id=id, **keys)
    daemon.start(environment=days.environment)
    (is_paused, said) = (False, [])
    while days.now < BEGIN * SECOND + 30 * HOUR:
        days.rest("org.example.plain")
        if not is_paused and days.now >= BEGIN * SECOND + 5 * HOUR:
            daemon.call("Manager.Pause", until_us=days.now + 3 * HOUR)
            # Nobody knew of the pause before.
            (is_paused, said) = (True, [])
        rows = daemon.call("Manager.List")["apps"]
        said += [(days.now, row["id"], row["next"]) for row in rows if row["verdict"] in ("not_due", "held")]
        days.go(STEP)
    days.rest("org.example.plain")
    end = days.now
    starts = {id: sorted(r["started_us"] for r in daemon.history(id, limit=1000)) for id in APPS}
    priced = [start for id, keys in APPS.items() if "background_floor" in keys for start in starts[id]]
    lies, foreseen = [], 0
    for at, id, following in said:
        begun = next((start for start in starts[id] if start > at), None)
        if "start" not in following:
            lies += [(id, at, following, begun)] if begun else []
            continue
        if "planned_us" in following:
            # Each refresh of a planned app moves the price, and with it the plans that the next night makes.
            if any(at < start < min(begun or end, following["planned_us"]) for start in priced):
                continue
            foreseen += 1
        earliest, latest = following["start"]["earliest_us"], following["start"]["latest_us"]
        if begun is None and latest + LATE > end:
            continue
        if begun is None or not earliest - SECOND <= begun <= latest + LATE:
            lies.append((id, at, following, begun))
    assert lies == []
    assert foreseen > 20 and len(said) > 300
    assert all(len(starts[id]) > 1 for id in APPS if id != "org.example.held")
