"""Apps that signal nothing, under GNOME Shell: their phases follow the windows that our extension tells of."""

from test_sway import MAIL, TODO, desktops, phases  # noqa: F401


def test_the_phase_follows_the_focus(house, gnome, session, phases):  # noqa: F811
    gnome.enable()
    session.begin(gnome)
    mail = gnome.window("mail")
    phases.expect(MAIL, "foreground")
    desk = desktops(house, lambda desk: True)
    assert (desk["windows"], desk.get("remedy")) == ("gnome", None)
    todo = gnome.window("todo")
    phases.expect(MAIL, "background")
    phases.expect(TODO, "foreground")
    gnome.focus("mail")
    phases.expect(TODO, "background")
    phases.expect(MAIL, "foreground")
    gnome.leave()
    phases.expect(MAIL, "background")
    gnome.come_back()
    phases.expect(MAIL, "foreground")
    gnome.end(todo)
    desktops(house, lambda desk: desk["running"] == [MAIL] and desk["front"] == [MAIL])
    gnome.end(mail)
    phases.expect(MAIL, "background")
    desktops(house, lambda desk: desk["running"] == [])


def test_status_says_how_to_enable_the_extension(house, gnome, session, phases):  # noqa: F811
    session.begin(gnome)
    desk = desktops(house, lambda desk: desk.get("remedy"))
    assert desk["windows"] == "none"
    assert f"run gnome-extensions enable {gnome.extension}" in desk["remedy"]
    gnome.window("mail")
    gnome.enable()
    phases.expect(MAIL, "foreground")
    assert "remedy" not in desktops(house, lambda desk: desk["windows"] == "gnome")
    gnome.enable("Disable")
    phases.expect(MAIL, "background")
    assert gnome.extension in desktops(house, lambda desk: desk["windows"] == "none")["remedy"]


def test_gnome_shell_that_crashes_leaves_nothing_in_front_and_is_found_again(house, gnome, session, phases):  # noqa: F811
    gnome.enable()
    session.begin(gnome)
    gnome.window("mail")
    phases.expect(MAIL, "foreground")
    gnome.crash()
    phases.expect(MAIL, "background")
    gnome.start()
    gnome.window("mail")
    phases.expect(MAIL, "foreground")


def test_the_list_has_what_gnome_shows(house, gnome, session, phases):  # noqa: F811
    gnome.enable()
    session.begin(gnome)
    gnome.window("mail")
    phases.expect(MAIL, "foreground")
    listed = session.list(gnome)
    assert "mail" in listed.stdout and "window in front" in listed.stdout, listed
