"""Apps that signal nothing, under GNOME Shell: their phases follow the windows that refreshd's extension reports."""

from test_sway import MAIL, desktops, phases  # noqa: F401


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


def test_a_locked_screen_ends_no_app(house, gnome, session, phases):  # noqa: F811
    gnome.enable()
    session.begin(gnome)
    gnome.window("mail")
    phases.expect(MAIL, "foreground")
    gnome.do("Main.sessionMode.pushMode('unlock-dialog')")
    phases.expect(MAIL, "background")
    assert "remedy" not in desktops(house, lambda desk: desk["windows"] == "gnome")
    assert "mail" in session.list(gnome).stdout
    gnome.do("Main.sessionMode.popMode('unlock-dialog')")
    phases.expect(MAIL, "foreground")


def test_the_list_has_what_gnome_shows(house, gnome, session, phases):  # noqa: F811
    gnome.enable()
    session.begin(gnome)
    gnome.window("mail")
    phases.expect(MAIL, "foreground")
    listed = session.list(gnome)
    assert "mail" in listed.stdout and "window in front" in listed.stdout, listed
