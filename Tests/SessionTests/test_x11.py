"""Apps that signal nothing, under X11: their phases follow the windows."""

import pathlib
import sys

from test_sway import MAIL, TODO, desktops, phases  # noqa: F401


def test_an_x_server_that_crashes_leaves_nothing_in_front_and_is_found_again(house, x11, session, phases):  # noqa: F811
    session.begin(x11)
    x11.window("mail")
    phases.expect(MAIL, "foreground")
    x11.end(x11.server)
    phases.expect(MAIL, "background")
    x11.start()
    x11.window("mail")
    phases.expect(MAIL, "foreground")


def test_the_list_has_the_class_of_a_window(house, x11, session):
    x11.window("mail")
    listed = session.list(x11)
    assert "mail" in listed.stdout and "window in front" in listed.stdout, listed


def test_of_three_hundred_windows_the_one_in_front_is_found(house, x11, session, phases):  # noqa: F811
    """They are more than x11.c asks about at once."""
    many = x11.launch(sys.executable, pathlib.Path(__file__).with_name("many_windows.py"), "other", "300")
    # The window manager draws a frame around each.
    x11.wait_for_property("_NET_CLIENT_LIST", lambda list: list.count("0x") == 300, "300 windows", many, within=60)
    session.begin(x11)
    mail = x11.window("mail")
    phases.expect(MAIL, "foreground")
    x11.end(mail)
    phases.expect(MAIL, "background")


def test_windows_that_are_gone_before_they_are_asked_about_harm_nothing(house, x11, session, phases):  # noqa: F811
    session.begin(x11)
    x11.window("mail")
    phases.expect(MAIL, "foreground")
    brief = pathlib.Path(__file__).with_name("many_windows.py")
    assert x11.launch(sys.executable, brief, "other", "200", "briefly").wait(60) == 0
    # The window manager may report these windows late, as if they had never existed.
    x11.focus("mail")
    desktops(house, lambda desk: (desk["running"], desk["front"]) == ([MAIL], [MAIL]))
    for name in ("_NET_ACTIVE_WINDOW", "_NET_CLIENT_LIST"):
        x11.run("xprop", "-root", "-format", name, "32x", "-set", name, "0x7fffff")
    desktops(house, lambda desk: (desk["running"], desk["front"]) == ([], []))
    todo = x11.window("todo")
    desktops(house, lambda desk: desk["running"] == [MAIL, TODO] and desk["front"] == [TODO])
    x11.end(todo)
    desktops(house, lambda desk: desk["running"] == [MAIL])
