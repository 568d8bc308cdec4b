"""The notices that refresh-session shows on the desktop of a lingering user."""

import datetime
import json
import pathlib
import select
import subprocess

import pytest

from test_desktop import FILE, MAIL, desk, lingering  # noqa: F401
from waiting import BOUND, Bound

NOTIFICATIONS = ("org.freedesktop.Notifications", "/org/freedesktop/Notifications")
USER = "org.example.User"


@pytest.fixture
def desktop(desk, request):
    """Reads the notifications on anna's desktop, in order."""
    mock = pathlib.Path(__file__).parent / "mocks/notifications.py"
    command = desk.command("/usr/bin/python3", mock, *getattr(request, "param", []))
    # Without the bus's own folders of services, no other program answers.
    # select(2) does not see what Python has read ahead.
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as process:

        def read():
            assert select.select([process.stdout], [], [], BOUND)[0], "no notification"
            return json.loads(process.stdout.readline())

        assert read() == "ready"
        yield read
        process.terminate()


def test_an_alert_is_shown_and_a_click_on_it_opens_the_app(desk, desktop, journal):
    folder = pathlib.Path("/home/anna/.local/share/applications")
    desk.run("mkdir", "--parents", folder)
    entry = folder / "mail-app.desktop"
    entry.write_text("[Desktop Entry]\nType=Application\nName=Mail\nExec=sh -c \"exec sleep 1000\" %u\n")
    desk.refreshd.refreshctl("push", MAIL, '{"aps": {"content-available": 1, "alert": "1 < 2 & so on"}}')
    shown = desktop()
    assert (shown["summary"], shown["body"], shown["desktop"]) == ("mail", "1 &lt; 2 &amp; so on", "mail-app")
    assert shown["actions"] == ["default", "Open"]
    (ended,) = desk.refreshd.history(MAIL)
    assert (ended["trigger"], ended["outcome"]) == ("push", "new_data")
    desk.run("busctl", "--user", "call", *NOTIFICATIONS, USER, "Click", "u", str(shown["id"]))
    desk.expect(lambda session: session["running"] == [MAIL])
    desk.run("systemctl", "--user", "stop", "app-refreshd-*.service")
    entry.unlink()
    desk.refreshd.refreshctl("push", MAIL, '{"aps": {"alert": {"title": "Anna", "body": "Hello"}}}')
    shown = desktop()
    assert (shown["summary"], shown["body"], shown["actions"]) == ("Anna", "Hello", [])


def test_a_failing_app_is_shown_and_pausing_it_for_today_skips_until_midnight(desk, desktop):
    """The button of the notice, by a real refresh-session: the daemon of the machine keeps it across a restart."""
    desk.refreshd.configure(FILE.replace('"never"', '"1h"').replace('["true"]', '["false"]'))
    desk.refreshd.refreshctl("reload")
    for _ in range(2):
        desk.refreshd.refreshctl("run", MAIL, check=False)
    shown = desktop()
    assert shown["summary"] == "mail" and shown["body"].startswith("The last 2 refreshes failed: exit code 1.")
    assert shown["actions"] == ["pause-today", "Pause for today"]
    desk.run("busctl", "--user", "call", *NOTIFICATIONS, USER, "Press", "us", str(shown["id"]), "pause-today")

    def skipped_until():
        why = json.loads(desk.refreshd.refreshctl("why", MAIL, "--json").stdout)["why"]
        return why.get("skipped_until_us", 0) // 1_000_000

    bound = Bound()
    while not skipped_until():
        assert bound.left, "the app is not paused"
    now = datetime.datetime.now()
    midnight = (now + datetime.timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    assert abs(skipped_until() - midnight.timestamp()) <= 1
    desk.refreshd.refreshctl("run", MAIL, check=False)
    desk.refreshd.systemctl("restart", "refreshd")
    assert abs(skipped_until() - midnight.timestamp()) <= 1
    desk.refreshd.refreshctl("skip", MAIL, "--end")
    assert not skipped_until()


@pytest.mark.parametrize("desktop", [["busy"]], indirect=True)
def test_notices_wait_while_the_user_does_not_want_to_be_disturbed(desk, desktop):
    for text in ("One", "Two", "Three"):
        desk.refreshd.refreshctl("push", MAIL, json.dumps({"aps": {"alert": text}}))
    # A later change of a unit is reported, so the notices have arrived.
    desk.launch(r"app-mail\x2dapp@8.service")
    desk.expect(lambda session: session["running"] == [MAIL])
    desk.run("busctl", "--user", "call", *NOTIFICATIONS, USER, "Inhibit", "b", "false")
    for number, text in enumerate(("One", "Two", "Three"), 1):
        shown = desktop()
        assert (shown["body"], shown["id"]) == (text, number)
    desk.refreshd.refreshctl("push", MAIL, json.dumps({"aps": {"alert": "Four"}}))
    assert desktop()["body"] == "Four"


@pytest.mark.parametrize("desktop", [["mute"]], indirect=True)
def test_a_desktop_that_does_not_say_whether_it_may_be_disturbed_has_the_notice_all_the_same(desk, desktop):
    desk.refreshd.refreshctl("push", MAIL, json.dumps({"aps": {"alert": "Hello"}}))
    assert desktop()["body"] == "Hello"


def test_a_click_starts_an_app_that_the_bus_starts(desk, desktop):
    """`DBusActivatable=true`: the app does not run, and the bus knows how to start it."""
    share = pathlib.Path("/home/anna/.local/share")
    desk.run("mkdir", "--parents", share / "applications", share / "dbus-1/services")
    entry, service = share / "applications/org.example.Bus.desktop", share / "dbus-1/services/org.example.Bus.service"
    entry.write_text("[Desktop Entry]\nType=Application\nName=Mail\nExec=true\nDBusActivatable=true\n")
    service.write_text(
        "[D-BUS Service]\nName=org.example.Bus\n"
        f"Exec=/usr/bin/python3 {pathlib.Path(__file__).parent}/mocks/activated.py\n"
    )
    desk.run("busctl", "--user", "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ReloadConfig")
    desk.refreshd.configure(FILE.replace('"mail-app", ', ""))
    desk.refreshd.refreshctl("reload")
    desk.refreshd.refreshctl("push", MAIL, '{"aps": {"alert": "Hello"}}')
    shown = desktop()
    assert shown["actions"] == ["default", "Open"]
    desk.run("busctl", "--user", "call", *NOTIFICATIONS, USER, "Click", "u", str(shown["id"]))
    desk.expect(lambda session: session["running"] == [MAIL])
    desk.run("busctl", "--user", "call", "org.example.Bus", "/org/example/Bus", "org.example.App", "Quit")
    entry.unlink()
    service.unlink()


def test_the_end_of_a_session_of_transfers_is_shown_by_the_session(desk, desktop, misbehaving, journal):
    path = "/home/anna/songs"
    desk.refreshd.refreshctl(
        "download", MAIL, misbehaving.url("plain", 1000), "--to", path, "--network", "none", "--notify", "All is there")
    assert desktop()["body"] == "All is there"
    assert not [entry for entry in journal.entries() if "desktop notification" in entry["MESSAGE"]]
    pathlib.Path(path).unlink()
