"""Desktops show apps that signal nothing, and refresh-session tells the daemon."""

import json
import subprocess

import pytest

from client import as_user, fails
from daemon import MAIL, REFRESHD, TODO
from pushing import push
from test_clock import machine, needs_root  # noqa: F401 (fixtures)
from waiting import Bound
from wall import wall  # noqa: F401 (a fixture)


REFRESHCTL = REFRESHD.with_name("refreshctl")


def told(daemon, follower, *, front=(), running=(), is_watched=True, windows="wlr", **more):
    """Reports what a session shows."""
    apps = [{"app": app, "is_front": app in front} for app in sorted({*front, *running})]
    daemon.call("Session.Report", follower=follower, windows=windows, is_watched=is_watched, apps=apps, **more)


@pytest.fixture
def desk(daemon):
    """A daemon with two apps, and a session that follows them."""
    daemon.app("exit 100", foreground_interval="1h", background_interval="2h", desktop=["todo", "Todo.desktop"])
    daemon.app("exit 100", id=MAIL, front="open")
    daemon.start()
    daemon.refresh()
    daemon.session = daemon.client.stream("Session.Follow")
    return daemon


def test_a_session_is_told_which_apps_to_look_out_for_and_again_after_a_reload(desk):
    apps = {app["app"]: app for app in desk.session.first["apps"]}
    assert apps == {
        TODO: {"app": TODO, "desktop": ["todo", "Todo"], "front": "focused"},
        MAIL: {"app": MAIL, "desktop": [MAIL], "front": "open"},
    }
    desk.app("exit 100", id=MAIL, lifecycle="signals")
    desk.call("Manager.Reload")
    assert [app["app"] for app in next(desk.session)["apps"]] == [TODO]


def test_the_interval_follows_what_is_in_front(desk):
    follower = desk.session.first["follower"]
    told(desk, follower, front=[TODO])
    foreground = desk.show()
    told(desk, follower, running=[TODO])
    background = desk.show()
    assert (foreground["phase"], background["phase"]) == ("foreground", "background")
    assert background["due_us"] - foreground["due_us"] == 3_600_000_000


def test_nothing_is_in_front_while_nobody_is_there(desk):
    told(desk, desk.session.first["follower"], front=[TODO], is_watched=False)
    assert desk.show()["phase"] == "background"


def test_the_end_of_a_session_undoes_what_it_told(desk):
    told(desk, desk.session.first["follower"], front=[TODO, MAIL])
    assert desk.show(MAIL)["phase"] == "foreground"
    desk.session.close()
    desk.wait_for_output("now in the background", times=2)
    assert (desk.show()["phase"], desk.show(MAIL)["phase"]) == ("background", "background")


def test_two_sessions_of_one_user_are_joined(desk):
    second = desk.client.stream("Session.Follow")
    told(desk, desk.session.first["follower"], running=[TODO])
    told(desk, second.first["follower"], front=[TODO])
    assert desk.show()["phase"] == "foreground"
    told(desk, desk.session.first["follower"])
    assert desk.show()["phase"] == "foreground"
    second.close()
    desk.wait_for_output("now in the background")


def test_a_signal_wins_over_what_is_seen(desk):
    told(desk, desk.session.first["follower"], front=[TODO])
    desk.tell("background")
    told(desk, desk.session.first["follower"], front=[TODO, MAIL])
    assert desk.show()["phase"] == "background"


def test_an_app_that_signals_for_itself_is_not_observed(desk):
    told(desk, desk.session.first["follower"], front=[TODO])
    desk.app("exit 100", lifecycle="signals")
    desk.call("Manager.Reload")
    assert desk.show()["phase"] == "background"
    told(desk, desk.session.first["follower"], front=[TODO])
    assert desk.show()["phase"] == "background"


def test_a_user_speaks_for_own_apps_and_with_own_numbers_only(daemon):
    daemon.app("exit 100", owner="nobody", directory="/")
    daemon.app("exit 100", id=MAIL)
    daemon.start()
    own = daemon.client.stream("Session.Follow")
    with as_user(65534):
        others = daemon.client.stream("Session.Follow")
        told(daemon, others.first["follower"], front=[TODO, MAIL])
        with fails("org.refreshd.Session.NoSuchFollower", follower=own.first["follower"]):
            told(daemon, own.first["follower"], front=[MAIL])
    assert [app["app"] for app in others.first["apps"]] == [TODO]
    assert (daemon.show()["phase"], daemon.show(MAIL)["phase"]) == ("foreground", "background")
    assert daemon.status()["desktops"][0]["running"] == [TODO]


def test_reports_are_bounded(desk):
    follower = desk.session.first["follower"]
    many = [f"org.example.app{number}" for number in range(1001)]
    with fails("org.varlink.service.InvalidParameter") as error:
        told(desk, follower, running=many)
    assert error["parameter"].startswith("apps")
    with fails("org.varlink.service.InvalidParameter", parameter="remedy"):
        told(desk, follower, remedy="x" * 257)
    told(desk, follower, running=many[1:])
    sessions = [desk.client.stream("Session.Follow") for _ in range(15)]
    with fails("org.refreshd.TooManyWatches", limit=16):
        desk.client.stream("Session.Follow")
    sessions[0].close()
    desk.status()
    desk.client.stream("Session.Follow")


def test_status_says_what_is_seen_and_what_would_help(desk):
    follower = desk.session.first["follower"]
    told(desk, follower, front=[TODO], running=[MAIL])
    assert desk.status()["desktops"] == [
        {"uid": 0, "windows": "wlr", "is_watched": True, "apps": 2, "running": [MAIL, TODO], "front": [TODO]}
    ]
    told(desk, follower, windows="none", remedy="install labwc")
    assert desk.status()["desktops"][0]["remedy"] == "install labwc"


def test_two_seconds_in_front_are_an_opening_and_a_glance_is_none(desk):
    follower = desk.session.first["follower"]
    told(desk, follower, front=[TODO])
    told(desk, follower, running=[TODO])
    told(desk, follower, front=[TODO])
    bound = Bound()
    while not desk.call("Manager.Openings", app=TODO)["spans"]:
        assert bound.left, "nothing is an opening"
    told(desk, follower, running=[TODO])
    while "until_us" not in (opening := desk.call("Manager.Openings", app=TODO)["spans"][0]):
        assert bound.left, "the opening does not end"
    assert opening["is_observed"] and opening["until_us"] - opening["since_us"] >= 2_000_000
    used = desk.call("Manager.Usage", app=TODO)
    assert (used["openings_told"], used["openings_observed"]) == (0, 1)


def test_a_wrong_match_is_forgotten_with_the_openings_that_it_showed(desk):
    """The app is still in front when its openings are forgotten; signalled openings stay."""
    desk.app("exit 100", desktop=["todo"], background_interval="auto", background_floor="2h")
    desk.call("Manager.Reload")
    next(desk.session)
    desk.tell("foreground")
    desk.tell("background")
    follower = desk.session.first["follower"]
    told(desk, follower)
    told(desk, follower, front=[TODO])
    bound = Bound()
    while desk.call("Manager.Usage", app=TODO)["openings_observed"] < 1:
        assert bound.left, "nothing is an opening"

    def usage(*options):
        command = [REFRESHCTL, "usage", TODO, *options, "--socket", desk.socket]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert "1 seen on a desktop, 1 reported by signals" in usage()
    usage("--forget")
    assert "0 seen on a desktop, 1 reported by signals" in usage() and "not seen yet" in usage()
    told(desk, follower, running=[TODO])
    [opening] = desk.call("Manager.Openings", app=TODO)["spans"]
    assert not opening["is_observed"] and opening["until_us"] - opening["since_us"] < 2_000_000


def test_why_says_what_desktops_show_and_whether_it_counts(desk):
    follower = desk.session.first["follower"]

    def why(app=TODO):
        return " ".join(
            subprocess.run([REFRESHCTL, "why", app, "--socket", desk.socket], check=True, capture_output=True, text=True)
            .stdout.split()
        )

    assert "desktop" not in why()
    told(desk, follower, front=[TODO])
    assert "desktop in front" in why() and "desktop not open" in why(MAIL)
    desk.tell("background")
    assert "desktop in front; but a signal says otherwise" in why()
    told(desk, follower)
    assert "desktop not open" in why()


def alert(text, **more):
    return json.dumps({"aps": {"alert": text, **more}})


def test_an_alert_comes_when_the_refresh_of_its_push_has_ended(desk):
    gate = desk.pipe("gate")
    desk.app(f"read line < {gate}", name="Todo", desktop=["todo"])
    desk.call("Manager.Reload")
    watch = desk.client.stream("Manager.Watch", apps=[TODO])
    next(desk.session)
    push(desk, alert({"title": "Anna", "body": "Lunch?"}, **{"content-available": 1}))
    while next(watch)["event"]["kind"] != "started":
        pass
    # An alert that wakes nobody comes at once, and so before the other.
    push(desk, alert("Now"), app=MAIL)
    assert next(desk.session)["notice"] == {
        "kind": "alert", "app": MAIL, "desktop": MAIL, "title": MAIL.rpartition(".")[2], "body": "Now"}
    gate.let_go()
    assert next(desk.session)["notice"] == {
        "kind": "alert", "app": TODO, "desktop": "todo", "title": "Anna", "body": "Lunch?"}


def test_an_alert_goes_to_the_session_that_somebody_watches(desk):
    other = desk.client.stream("Session.Follow")
    told(desk, desk.session.first["follower"], running=[MAIL])
    told(desk, other.first["follower"], is_watched=False)
    push(desk, alert("Now"), app=MAIL)
    assert next(desk.session)["notice"]["body"] == "Now"


def test_a_user_gets_thirty_notices_a_minute_at_most(desk):
    for number in range(32):
        push(desk, alert(f"{number} {'x' * 2000}"), app=MAIL)
    bodies = [next(desk.session)["notice"]["body"] for _ in range(30)]
    assert [body.split()[0] for body in bodies] == [str(number) for number in range(30)]
    assert {len(body) for body in bodies} == {1000}
    desk.wait_for_output("a notice is not shown: its user has had 30 within a minute")
    desk.app("exit 100", id=MAIL, lifecycle="signals")
    desk.call("Manager.Reload")
    assert "notice" not in next(desk.session)


@needs_root
def test_data_that_became_stale_while_the_machine_was_off_is_told_to_the_next_session(daemon, wall, machine):
    daemon.app("exit 100", name="Todo", stale_after="1h")
    daemon.app("exit 100", id=MAIL, stale_after="1h")
    machine.boot()
    daemon.call("Manager.Disable", apps=[MAIL])
    daemon.call("Manager.Pause")
    daemon.refresh(trigger="manual")
    daemon.stop()
    wall.set_off(+1)
    machine.boot()
    daemon.wait_for_output("its data is 1d")
    session = daemon.client.stream("Session.Follow")
    notice = next(session)["notice"]
    assert (notice["kind"], notice["app"], notice["title"]) == ("stale", TODO, "Todo")
    assert notice["body"].startswith("The data is 1d") and notice["body"].endswith(f"`refreshctl why {TODO}` says why.")
