"""An hour of virtual time, in which a real daemon sees on each desktop how often the user comes."""

import subprocess

import pytest

from daemon import MAIL
from days import Days
from desktop import BINARIES, USER, Session
from preload import preload  # noqa: F401, a fixture
from test_sway import Phases
from waiting import Bound
from wall import SECOND

MINUTES = 5
TURNS = 6


@pytest.mark.bound(120)
@pytest.mark.parametrize("name", ["sway", "x11", "kwin", "gnome"])
def test_an_hour_in_which_the_user_came_six_times_is_what_usage_shows(daemon, runtime, preload, request, name):  # noqa: F811
    desktop = request.getfixturevalue(name)
    if name == "gnome":
        desktop.enable()
    days = Days(daemon, preload("ahead"))
    daemon.app(
        "exit 100", id=MAIL, owner=USER.name, directory="/", foreground_interval="1h", background_interval="auto", background_floor="2h",
        desktop=["mail"],
    )  # fmt: skip
    daemon.start(environment=days.environment)
    daemon.refresh(MAIL)
    phases, session = Phases(daemon), Session(runtime, daemon.socket)
    try:
        session.begin(desktop)
        desktop.window("mail")
        for turn in range(TURNS):
            phases.expect(MAIL, "foreground")
            days.go(60 * MINUTES)
            bound = Bound()
            while len(daemon.call("Manager.Openings", app=MAIL)["spans"]) <= turn:
                assert bound.left, "nothing is an opening"
            desktop.leave()
            phases.expect(MAIL, "background")
            days.rest(MAIL)
            days.go(60 * MINUTES)
            desktop.come_back()
    finally:
        session.close()

    def usage(*options):
        command = [BINARIES / "refreshctl", "usage", MAIL, *options, "--socket", daemon.socket]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=days.environment).stdout

    shown = usage()
    # The last comes with the end of the session, and is no opening: it lasts no two seconds.
    assert f"{TURNS} seen on a desktop, 0 reported by signals" in shown, shown
    spans = daemon.call("Manager.Openings", app=MAIL)["spans"]
    assert all(span["is_observed"] for span in spans)
    for span in spans:
        assert abs((span["until_us"] - span["since_us"]) / SECOND - 60 * MINUTES) < 60, spans
    usage("--forget")
    forgotten = usage()
    assert "seen on a desktop" not in forgotten and "not seen yet" in forgotten, forgotten
