"""Only ids that a daemon wants leave refresh-session, and no title: the bytes on its sockets, on each desktop."""

import pathlib
import sys

import pytest

from desktop import TITLE, Session
from test_sway import MAIL, TODO, phases  # noqa: F401

SECRET = "org.example.Diary"


@pytest.mark.parametrize("desktop", ["sway", "x11", "kwin", "gnome"])
def test_of_an_app_that_nobody_asked_about_nothing_is_told(house, runtime, request, phases, desktop):  # noqa: F811
    desktop = request.getfixturevalue(desktop)
    if hasattr(desktop, "enable"):
        desktop.enable()
    socket, kept = runtime / "recorder", runtime / "kept"
    recorder = desktop.launch(sys.executable, pathlib.Path(__file__).with_name("recorder.py"), socket, house.socket, kept)
    desktop.until(socket.exists, "the recorder", recorder)
    session = Session(runtime, socket)
    try:
        session.begin(desktop)
        desktop.window("mail")
        phases.expect(MAIL, "foreground")
        secret = desktop.window(SECRET)
        phases.expect(MAIL, "background")
        desktop.window("todo")
        phases.expect(TODO, "foreground")
        desktop.end(secret)
        desktop.focus("mail")
        phases.expect(TODO, "background")
        phases.expect(MAIL, "foreground")
    finally:
        session.close()
    said = kept.read_text()
    # The reports about the followed apps were kept.
    assert said.count("org.refreshd.Session.Report") > 3 and MAIL in said
    for word in (SECRET, "Diary", TITLE, *TITLE.split()):
        assert word not in said, said
        assert not [line for line in session.written() if word in line], session.written()
    assert all(line.startswith("debug: ") for line in house.written() if "now in the" in line), house.written()
