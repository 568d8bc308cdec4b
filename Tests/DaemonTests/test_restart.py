"""A restart: everything goes on as before."""

import pytest

from daemon import MAIL, TODO

# Wall times are times of the boot clock plus one offset per start; the tolerance in microseconds.
CLOCK_READING = 1_000
# The ways in which a daemon ends.
ENDS = ["stop", "kill"]


def end(daemon, how):
    getattr(daemon, how)()


@pytest.mark.parametrize("how", ENDS)
def test_a_restart_moves_nothing(daemon, how):
    """The due times stay the same, in either phase."""
    daemon.app("exit 0", background_interval="2h")
    daemon.app("exit 0", id=MAIL, foreground_interval="1h")
    daemon.start()
    daemon.tell("foreground", MAIL)
    daemon.wait_for_output("finished", times=2)
    daemon.settle()
    before = [daemon.show(app) for app in (TODO, MAIL)]
    end(daemon, how)
    daemon.start()
    after = [daemon.show(app) for app in (TODO, MAIL)]
    for key in ["phase", "verdict", "due_trigger", "last"]:
        assert [app.get(key) for app in after] == [app.get(key) for app in before], key
    assert [app["phase"] for app in after] == ["background", "foreground"]
    for app, was in zip(after, before):
        assert abs(app["due_us"] - was["due_us"]) < CLOCK_READING
        assert abs(app["fresh_us"] - was["fresh_us"]) < CLOCK_READING


@pytest.mark.parametrize("how", ENDS)
def test_the_next_refresh_is_neither_earlier_nor_later(daemon, how):
    events = daemon.pipe("events")
    daemon.app(f"echo run > {events}", background_interval="1s")
    daemon.start()
    events.line()
    daemon.wait_for_output("finished")
    daemon.settle()
    end(daemon, how)
    daemon.start()
    events.line()
    daemon.wait_for_output("finished", times=2)
    daemon.settle()
    second, first = [refresh["started_us"] for refresh in daemon.history()[:2]]
    assert 1_000_000 - CLOCK_READING <= second - first < 1_500_000


def test_what_was_missed_is_caught_up_once_and_not_all_at_once(daemon):
    """Overdue apps run once each, spread over a second per app, and then go on by their intervals."""
    events = daemon.pipe("events")
    for app in (TODO, MAIL):
        daemon.app(f"echo $REFRESH_APP $REFRESH_TRIGGER > {events}", id=app)
    daemon.start()
    for app in (TODO, MAIL):
        daemon.refresh(app)
    events.lines(2)
    daemon.stop()
    # A shorter interval, long past, as after a night with the machine off.
    for app in (TODO, MAIL):
        daemon.app(f"echo $REFRESH_APP $REFRESH_TRIGGER > {events}; sleep 2", id=app, background_interval="1ms")
    daemon.start()
    assert sorted(events.lines(2)) == [f"{MAIL} catch-up", f"{TODO} catch-up"]
    assert sorted(events.lines(2)) == [f"{MAIL} interval", f"{TODO} interval"]
    starts = [daemon.show(app)["last"]["started_us"] for app in (TODO, MAIL)]
    assert starts[0] != starts[1]
    assert all(start - daemon.status()["since_us"] < 1_500_000 for start in starts)


def test_overrides_history_switches_and_phase_are_kept(daemon):
    daemon.app("exit 100", background_interval="never")
    daemon.app("exit 100", id=MAIL)
    daemon.start()
    refreshes = [daemon.refresh() for _ in range(3)]
    daemon.call("Manager.Set", apps=[TODO], background_interval="90min")
    daemon.tell("foreground")
    daemon.tell("logout", MAIL)
    before = daemon.show()
    daemon.restart()
    assert daemon.history() == list(reversed(refreshes))
    after = daemon.show()
    assert (after["phase"], after["last"]) == ("foreground", before["last"])
    assert after["background_interval"] == {
        "in_force": "1h 30min",
        "in_force_us": 5_400_000_000,
        "configured": "never",
        "overridden": True,
    }
    assert daemon.show(MAIL)["phase"] == "logged_out"


def test_starts_are_counted_and_ids_never_come_again(daemon):
    daemon.app("exit 100")
    ids = []
    for start in (1, 2, 3):
        daemon.start()
        assert daemon.call("Manager.Version")["start"] == start
        ids.append(daemon.refresh()["id"])
        end(daemon, ENDS[start % 2])
    assert ids == ["1-1", "2-1", "3-1"]


def test_what_is_known_of_an_app_outlives_its_file(daemon):
    """An app whose file is removed and comes back keeps its schedule, its history and its intervals."""
    daemon.app("exit 0", background_interval="1h")
    daemon.start()
    daemon.wait_for_output("finished")
    daemon.call("Manager.Set", apps=[TODO], background_interval="2h")
    before = daemon.show()
    text = daemon.file().read_text()
    daemon.file().unlink()
    daemon.restart()
    assert daemon.call("Manager.List")["apps"] == []
    daemon.file().write_text(text)
    daemon.restart()
    after = daemon.show()
    assert after.pop("next")["holds"] == before.pop("next")["holds"] == []
    assert {**after, "due_us": 0, "fresh_us": 0} == {**before, "due_us": 0, "fresh_us": 0}
    assert abs(after["due_us"] - before["due_us"]) < CLOCK_READING
