"""Users ask of background work, and `refreshctl why` answers word by word as docs/answers.md has it."""

import pathlib
import re
import subprocess
import time

import pytest
import varlink

from answers import PAGE, Answers, fact, past, plain
from preload import preload  # noqa: F401, a fixture
from service import SOCKET, TODO, log_out
from story import HURRY, Story
from test_conditions_logind import MANAGER
from waiting import BOUND

PUSH = '{"aps": {"content-available": 1, "content-id": "%s"}}'


@pytest.fixture
def story(request, refreshd, journal):
    number = int(request.function.__name__.split("_")[1])
    story = Story(refreshd, journal, Answers(number))
    yield story
    story.answers.check()


def test_every_demand_is_on_the_page():
    numbers = re.findall(r"\((?:demands?) ([\d, ]+)\)", PAGE.read_text())
    assert {int(number) for some in numbers for number in some.split(",")} == set(range(1, 29))


def hold_and_release(story, hold, holds, release):
    """An app that comes due while something holds it: the four answers."""
    hold()
    story.answer("Before it is due")
    story.due()
    story.is_held(*holds)
    story.answer("While it waits")
    story.restart()
    story.is_held(*holds)
    story.answer("After a restart")
    release()
    story.is_refreshed()
    story.answer("Afterwards")
    story.answer("Its past", past, "waited")


def test_1_mains_power(upower, story):
    story.begin(power="ac")
    hold_and_release(
        story, lambda: upower.set(OnBattery=("b", "true")), ["power"], lambda: upower.set(OnBattery=("b", "false")))


def test_2_the_mains_fail(upower, story):
    story.begin("test $REFRESH_TRIGGER != manual || sleep 60", power="ac")
    story.tell("run", TODO, "--no-wait")
    story.wait("refreshStarted")
    story.answer("While it runs")
    upower.set(OnBattery=("b", "true"))
    story.wait("refreshStopped")
    story.answer("When it has been stopped")
    story.answer("Its last refresh", fact, "last refresh")
    story.restart()
    story.answer("After a restart")
    upower.set(OnBattery=("b", "false"))
    story.wait("refreshFinished", REFRESH_TRIGGER="retry")
    story.answer("Afterwards")
    story.answer("Its last refresh then", fact, "last refresh")


def test_3_no_network_yet(network_manager, story):
    story.begin(network="any")

    def connect(state, connectivity):
        network_manager.set(State=("u", state), Connectivity=("u", connectivity))

    hold_and_release(story, lambda: connect(20, 1), ["network"], lambda: connect(70, 4))
    connect(60, 2)
    story.answer("Behind a login page")


def test_4_after_sleep(sleepless, probe, story):
    story.begin(settings=HURRY.replace('settle = "0s"', 'settle = "10s"'))
    story.tell("pause")
    story.answer("Before it is due")
    story.due()
    story.is_held("paused")
    seen = probe("nothing")
    seen.wait("started")
    subprocess.run(["busctl", "call", *MANAGER, "Suspend", "b", "false"], check=True, timeout=60)
    seen.wait_line(event="sleep", value=False, seconds=20)
    story.tell("resume")
    story.is_held("settling")
    story.answer("When the machine has woken up")
    story.is_refreshed()
    story.answer("Afterwards")
    story.restart()
    story.answer("After a restart")


def test_5_a_restart(story):
    story.begin()
    before = story.call("Why", app=TODO)["why"]["next"]["start"]
    story.answer("Before a restart")
    story.restart()
    after = story.call("Why", app=TODO)["why"]["next"]["start"]
    assert all(abs(after[end] - before[end]) < 1_000 for end in ("earliest_us", "latest_us"))
    story.answer("After a restart")


def test_6_not_now(story):
    story.begin()
    story.tell("skip", TODO)
    story.answer("After `refreshctl skip`")
    story.restart()
    story.answer("After a restart")
    story.tell("skip", TODO, "--end")
    story.tell("run", TODO)
    hold_and_release(story, lambda: story.tell("pause"), ["paused"], lambda: story.tell("resume"))


def test_7_off_by_the_user(story):
    story.begin()
    story.tell("disable", TODO)
    story.answer("After `refreshctl disable`")
    story.restart()
    story.answer("After a restart")
    story.due()
    story.is_held("disabled")
    story.answer("When it would be due")
    story.call("Set", apps=[TODO], background_interval="1h")
    story.tell("enable", TODO)
    story.answer("After `refreshctl enable`")


def test_8_a_wrong_clock(preload, story):  # noqa: F811
    offset = pathlib.Path("/run/wall")
    offset.write_text(f"{20_000 * 86_400}\n")
    story.refreshd.drop_in(f"[Service]\nEnvironment=LD_PRELOAD={preload('wall')} WALL_OFFSET={offset}\n")
    story.begin()
    story.answer("While the clock is 54 years ahead")
    offset.write_text("0\n")
    story.answer("When it is right again")
    story.restart()
    story.answer("After a restart")


def test_9_how_it_went(story):
    story.begin("test $REFRESH_TRIGGER != manual || { echo no route to imap.example.org; exit 3; }")
    story.tell("run", TODO, check=False)
    story.answer("After a failure")
    story.answer("Its last refresh", fact, "last refresh")
    story.restart()
    story.answer("After a restart")
    story.answer("Its last refresh then", fact, "last refresh")


def test_10_an_idle_user(anna, log_in, story):
    # With the usual ceiling of three intervals it would be refreshed while the views are read, on a busy machine.
    story.begin(idle=True, max_stale="2h")
    sessions = []
    hold_and_release(
        story, lambda: sessions.append(log_in("anna")), ["idle"], lambda: [log_out(session) for session in sessions])


def test_12_failures(story):
    story.begin("test $REFRESH_TRIGGER != manual || exit 75")
    for _ in range(3):
        story.tell("run", TODO, check=False)
    story.answer("After three failures")
    story.restart()
    story.answer("After a restart")
    story.tell("run", TODO, "--trigger", "push")
    story.answer("After a success")


def test_13_what_a_network_costs(network_manager, story):
    story.begin(network="unmetered", denied_ssids=["Office"])
    hold_and_release(
        story, lambda: network_manager.set(Metered=("u", 1)), ["network"],
        lambda: network_manager.set(Metered=("u", 2)))
    path = "/org/freedesktop/NetworkManager"
    network_manager.set(
        f"{path}/ActiveConnection/1", "org.freedesktop.NetworkManager.Connection.Active",
        SpecificObject=("s", f"{path}/AccessPoint/2"))
    end = time.monotonic() + BOUND
    while "Office" not in story.why:
        assert time.monotonic() < end
    story.answer("On a Wi-Fi network that its file denies")


def test_14_wifi_only(network_manager, story):
    story.begin(network="wifi")
    hold_and_release(
        story, lambda: network_manager.set(PrimaryConnectionType=("s", "gsm")), ["network"],
        lambda: network_manager.set(PrimaryConnectionType=("s", "802-11-wireless")))


def test_15_am_i_allowed(story):
    story.refreshd.configure(f'id = "{TODO}"\nbackground_interval = "1h"\n')
    story.refreshd.start()
    story.is_held("app")
    story.answer("While no process of the app is there")
    story.restart()
    story.is_held("app")
    story.answer("After a restart")
    story.tell("disable", TODO)
    story.answer("When the user has switched it off")
    story.tell("enable", TODO)
    with varlink.Client(address=f"unix:{SOCKET}") as client, client.open("org.refreshd.App") as process:
        next(process.Attach(app=TODO, _more=True))
        story.wait("refreshStarted")
        story.answer("When one of its processes is there")


def test_16_pushes(story):
    story.begin(push_burst=1, push_per_hour=1)
    story.tell("push", TODO, PUSH % "1")
    story.wait("refreshFinished", REFRESH_TRIGGER="push")
    story.answer("After a push")
    story.answer("Its last refresh", fact, "last refresh")
    story.tell("push", TODO, PUSH % "2")
    story.answer("After one more than the limit allows")
    story.restart()
    story.answer("After a restart")


def test_17_never(story):
    story.begin()
    story.call("Set", apps=[TODO], background_interval="never")
    story.answer("With the background interval never")
    story.restart()
    story.answer("After a restart")
    story.tell("set", TODO, "--background", "1h")
    story.answer("After `refreshctl set --background 1h`")


def test_18_quit_by_the_user(story):
    story.begin()
    story.tell("terminated", TODO)
    story.answer("After the user has quit the app")
    story.tell("push", TODO, PUSH % "1")
    story.answer("When a push comes for it")
    story.restart()
    story.answer("After a restart")
    story.tell("launched", TODO)
    story.wait("refreshFinished", REFRESH_TRIGGER="push")
    story.answer("After `refreshctl launched`")
    story.answer("Its last refresh", fact, "last refresh")


def test_19_stopped(story):
    story.begin("test $REFRESH_TRIGGER != manual || sleep 60", deadline="1s", grace="0s")
    story.tell("run", TODO, "--no-wait")
    story.wait("refreshStarted")
    story.answer("While it runs")
    story.wait("refreshFailed")
    story.answer("After the deadline has passed")
    story.answer("Its last refresh", fact, "last refresh")
    story.restart()
    story.answer("After a restart")


def test_20_one_at_a_time(story):
    story.begin("test $REFRESH_TRIGGER != manual || sleep 60")
    story.tell("run", TODO, "--no-wait")
    story.wait("refreshStarted")
    story.answer("While it is refreshed")
    story.answers.add("`refreshctl run` then", plain(story.tell("run", TODO, "--no-wait")))
    story.restart()
    story.answer("After a restart, which it outlives")


def test_21_now(story):
    story.begin()
    for _ in range(2):
        story.answers.add("`refreshctl run`", plain(story.tell("run", TODO)))
    story.answer("Afterwards")


def test_22_synced_by_itself(story):
    story.begin()
    story.tell("synced", TODO, "--new-data")
    story.answer("After `refreshctl synced`")
    story.answer("Its last refresh", fact, "last refresh")
    story.restart()
    story.answer("After a restart")


def test_23_a_download(network_manager, misbehaving, tmp_path, story):
    story.begin()
    story.tell("download", TODO, misbehaving.url("plain", 4_000_000, hold=3_000_000), "--to", str(tmp_path / "file"))
    misbehaving.wait_until_held("plain")
    network_manager.set(Metered=("u", 1))
    end = time.monotonic() + BOUND
    while "held: network" not in (shown := story.tell("transfers")):
        assert time.monotonic() < end, shown
    story.answers.add("`refreshctl transfers` on a metered network", plain(shown.splitlines()[1]))
    story.restart()
    network_manager.set(Metered=("u", 2))
    misbehaving.wait_until_held("plain", 2)
    misbehaving.let_go()
    story.wait("refreshFinished", REFRESH_TRIGGER="transfer")
    story.answers.add("`refreshctl transfers` after a restart", plain(story.tell("transfers").splitlines()[1]))
    story.answer("Its last refresh", fact, "last refresh")
