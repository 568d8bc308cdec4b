"""Lifecycle signals: the phase, the interval, and a refresh on entering the foreground."""

import pytest

from client import fails
from daemon import MAIL, TODO, finished

HOUR = 3_600_000_000


def test_each_signal_leads_to_its_phase_from_every_other(daemon):
    """Also twice, late and out of order; `login` restores the phase of before."""
    daemon.app("exit 100")
    daemon.start()
    script = [
        ("launched", "background"),
        ("foreground", "foreground"),
        ("foreground", "foreground"),
        ("launched", "foreground"),
        ("login", "foreground"),
        ("background", "background"),
        ("background", "background"),
        ("terminated", "background"),
        ("terminated", "background"),
        ("foreground", "foreground"),
        ("terminated", "background"),
        ("logout", "logged_out"),
        ("logout", "logged_out"),
        ("background", "logged_out"),
        ("foreground", "logged_out"),
        ("login", "foreground"),
        ("login", "foreground"),
    ]
    assert [(signal, daemon.tell(signal)) for signal, _ in script] == script
    assert daemon.show()["phase"] == "foreground"


def test_a_signal_to_an_app_that_is_not_there(daemon):
    daemon.start()
    with fails("org.refreshd.NoSuchApp", app="org.example.none"):
        daemon.tell("foreground", "org.example.none")


def test_a_switch_keeps_the_anchor_and_changes_the_interval(daemon):
    """The next refresh is due one interval of the phase after the last start."""
    daemon.app("exit 0", foreground_interval="1h", background_interval="3h")
    daemon.start()
    started = finished(daemon.run())["started_us"]
    for signal, hours in [("foreground", 1), ("background", 3), ("foreground", 1), ("terminated", 3)]:
        daemon.tell(signal)
        app = daemon.show()
        assert (app["verdict"], app["due_us"] - started) == ("not_due", hours * HOUR), signal
    assert {refresh["started_us"] for refresh in daemon.history()[:1]} == {started}


def test_the_timer_runs_at_the_interval_of_the_phase(daemon):
    """Also at the first launch, without a second signal."""
    events = daemon.pipe("events")
    daemon.app(f"echo $REFRESH_TRIGGER > {events}", foreground_interval="300ms")
    daemon.start()
    daemon.tell("launched")
    daemon.tell("foreground")
    assert events.lines(3) == ["foreground", "interval", "interval"]
    daemon.tell("background")
    starts = [refresh["started_us"] for refresh in reversed(daemon.history())]
    assert all(300_000 <= later - earlier < 1_300_000 for earlier, later in zip(starts, starts[1:]))


def test_a_signal_sent_many_times_starts_no_second_timer(daemon):
    """Two starts are never closer than the interval, and repeated signals start no refresh."""
    events = daemon.pipe("events")
    daemon.app(f"echo $REFRESH_TRIGGER > {events}", foreground_interval="400ms", on_foreground="always")
    daemon.start()
    for _ in range(5):
        daemon.tell("launched")
        daemon.tell("foreground")
    assert events.lines(4) == ["foreground", "interval", "interval", "interval"]
    daemon.tell("logout")
    starts = [refresh["started_us"] for refresh in reversed(daemon.history())]
    assert all(later - earlier >= 400_000 for earlier, later in zip(starts, starts[1:]))


# on_foreground; the outcome of the refresh before, if any; the trigger of the refresh that entering the foreground
# starts, if any; when the next one is due after the last start, or after entering.
ENTERING = [
    ("stale", None, "foreground"),
    ("stale", "exit 1", "foreground"),
    ("stale", "exit 100", None),
    ("stale", "exit 0", None),
    ("always", None, "foreground"),
    ("always", "exit 0", "foreground"),
    ("never", None, None),
    ("never", "exit 1", None),
    ("never", "exit 0", None),
]


@pytest.mark.parametrize("on_foreground, before, trigger", ENTERING)
def test_entering_the_foreground(daemon, on_foreground, before, trigger):
    """Entering refreshes at once if the data is older than the interval, or always, or never."""
    go = daemon.pipe("go")
    wait = f'test "$REFRESH_TRIGGER" = manual || read _ < {go};'
    daemon.app(f"{wait} {before or 'exit 0'}", on_foreground=on_foreground, foreground_interval="1h")
    daemon.start()
    if before:
        daemon.refresh()
    daemon.tell("foreground")
    app = daemon.show()
    assert app.get("running", {}).get("trigger") == trigger
    if trigger:
        go.let_go()
        daemon.wait_for_output("finished" if before != "exit 1" else "failed", times=2 if before else 1)
        daemon.settle()
    assert [refresh["trigger"] for refresh in daemon.history()] == [trigger] * bool(trigger) + ["manual"] * bool(before)
    app = daemon.show()
    assert app["verdict"] == "not_due"
    if daemon.history():
        assert app["due_us"] - daemon.history()[0]["started_us"] == HOUR


def test_a_switch_stops_no_refresh(daemon):
    """A running refresh goes on to its end when the app enters or leaves the foreground."""
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app(f"echo started > {events}; read _ < {go}", foreground_interval="1h")
    daemon.start()
    daemon.tell("foreground")
    assert events.line() == "started"
    for signal in ["background", "foreground", "terminated"]:
        daemon.tell(signal)
        assert daemon.show()["verdict"] == "refreshing"
    go.let_go()
    daemon.wait_for_output("finished: new data")
    daemon.settle()
    assert [refresh["outcome"] for refresh in daemon.history()] == ["new_data"]


def test_logout_stops_the_refresh_that_runs(daemon):
    """The refresh is stopped and recorded as such; this is no failure of the app."""
    events = daemon.pipe("events")
    daemon.app(f"trap 'echo told > {events}; exit 0' TERM; echo started > {events}; while :; do sleep 1; done")
    daemon.start()
    stream = daemon.run()
    assert events.line() == "started"
    assert daemon.tell("logout") == "logged_out"
    assert events.line() == "told"
    refresh = finished(stream)
    assert (refresh["outcome"], refresh["stop_reason"]) == ("failed", "logout")
    assert refresh["cause"]["kind"] == "stopped"


def test_nothing_runs_between_logout_and_login(daemon):
    """Neither by time nor on request; `login` starts the refreshes again at once."""
    events, ticks = daemon.pipe("events"), daemon.pipe("ticks")
    daemon.app(f"echo run > {events}", background_interval="10ms", foreground_interval="10ms")
    daemon.app(f"echo tick > {ticks}", id=MAIL, background_interval="10ms")
    daemon.start()
    events.line()
    watched = daemon.client.stream("Manager.Watch", apps=[TODO])
    daemon.tell("logout")
    # The refresh that was running has ended by the time the app is held.
    while next(watched)["event"]["kind"] != "held":
        pass
    with fails("org.refreshd.Manager.Held", app=TODO) as held:
        daemon.refresh()
    assert [hold["name"] for hold in held["holds"]] == ["logged-out"]
    app = daemon.show()
    assert (app["verdict"], app.get("due_us")) == ("held", None)
    before = len(daemon.history())
    events.lines_so_far()
    daemon.tell("foreground")
    ticks.lines_so_far()
    ticks.lines(10)
    assert events.lines_so_far() == []
    assert len(daemon.history()) == before
    assert daemon.tell("login") == "foreground"
    assert events.line() == "run"
