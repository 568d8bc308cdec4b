"""A story of two apps that signal nothing, on each desktop: their phases follow what the user does with their windows."""

import time

import pytest

from test_sway import MAIL, TODO, desktops, phases  # noqa: F401

HOUR = 3_600_000_000
# The name that the daemon has for the way in which windows are seen.
WAYS = {"sway": "wlr", "x11": "x11", "kwin": "kwin", "gnome": "gnome"}


def hours_between(house, app):
    """The hours from the last refresh of an app to its next."""
    shown = house.show(app)
    return round((shown["due_us"] - shown["last"]["started_us"]) / HOUR)


@pytest.mark.parametrize("name", WAYS)
def test_the_phase_follows_what_the_user_does(house, session, request, phases, name):  # noqa: F811
    desktop = request.getfixturevalue(name)
    if name == "gnome":
        desktop.enable()
    for app in (MAIL, TODO):
        house.refresh(app)
    session.begin(desktop)
    desktop.window("mail")
    phases.expect(MAIL, "foreground")
    desk = desktops(house, lambda desk: True)
    assert (desk["windows"], desk.get("remedy")) == (WAYS[name], None)
    assert hours_between(house, MAIL) == 1
    todo = desktop.window("todo")
    phases.expect(MAIL, "background")
    phases.expect(TODO, "foreground")
    assert (hours_between(house, MAIL), hours_between(house, TODO)) == (2, 1)

    # The foreground interval holds within a second of the focus, unless the machine is busy with something else.
    taken = []
    for app, other in [(MAIL, TODO), (TODO, MAIL), (MAIL, TODO)]:
        begun = time.monotonic()
        desktop.focus(app.rpartition(".")[2])
        phases.expect(other, "background")
        phases.expect(app, "foreground")
        taken.append(time.monotonic() - begun)
    assert min(taken) < 1, taken

    desktop.leave()
    phases.expect(MAIL, "background")
    desktop.come_back()
    phases.expect(MAIL, "foreground")
    if hasattr(desktop, "lock"):
        desktop.lock()
        phases.expect(MAIL, "background")
        desktop.lock(False)
        phases.expect(MAIL, "foreground")
    desktop.close("mail")
    phases.expect(MAIL, "background")
    desktops(house, lambda desk: desk["running"] == [TODO])
    desktop.focus("todo")
    phases.expect(TODO, "foreground")
    desktop.end(todo)
    phases.expect(TODO, "background")
    desktops(house, lambda desk: desk["running"] == [])
