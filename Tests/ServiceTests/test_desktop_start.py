"""The start and the end of refresh-session with the session of a user: by its target, and by an autostart file."""

import pathlib
import subprocess

import pytest

from test_desktop import desk, lingering  # noqa: F401
from waiting import Bound

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNIT = "refresh-session.service"


@pytest.fixture
def enabled(desk):  # noqa: F811
    """The unit, enabled by the user and not started."""
    desk.run("systemctl", "--user", "stop", UNIT)
    desk.run("systemctl", "--user", "enable", UNIT)
    yield
    desk.run("systemctl", "--user", "disable", UNIT)


def wait_until(desk, state):  # noqa: F811
    """Waits until the unit is in a state."""
    bound = Bound()
    while (now := desk.run("systemctl", "--user", "is-active", UNIT, check=False).stdout.strip()) != state:
        assert bound.left, now


def test_it_comes_and_goes_with_the_graphical_session(desk, enabled):  # noqa: F811
    session = ("--property=BindsTo=graphical-session.target", "--property=Before=graphical-session.target")
    desk.launch("compositor", *session)
    wait_until(desk, "active")
    desk.stop("compositor")
    wait_until(desk, "inactive")


@pytest.fixture
def autostart(desk):  # noqa: F811
    """A folder of the user's with the autostart file alone, for XDG_CONFIG_DIRS."""
    folder = pathlib.Path("/home/anna/xdg")
    (folder / "autostart").mkdir(parents=True)
    text = (ROOT / "systemd/refresh-session.desktop").read_text()
    (folder / "autostart/refresh-session.desktop").write_text(text)
    yield folder
    subprocess.run(["rm", "-r", folder], check=True)


# The program by which openbox, and with it LXDE, starts such files.
STARTER = next(pathlib.Path("/usr/lib").glob("*/openbox-xdg-autostart"), None)


def test_a_session_without_that_target_starts_it_by_the_autostart_file(desk, enabled, autostart):  # noqa: F811
    for _ in range(2):
        desk.run("env", f"XDG_CONFIG_DIRS={autostart}", STARTER, "OPENBOX")
        wait_until(desk, "active")
    # Only the unit runs, however often the desktop reads the file.
    shown = desk.run("pgrep", "--count", "--exact", "refresh-session").stdout
    assert shown.strip() == "1"


def test_the_autostart_file_leaves_a_unit_alone_that_the_user_has_not_enabled(desk, autostart):  # noqa: F811
    desk.run("systemctl", "--user", "stop", UNIT)
    command = (autostart / "autostart/refresh-session.desktop").read_text().split("\nExec=")[1].split("\n")[0]
    assert desk.run("sh", "-c", command, check=False).returncode != 0
    wait_until(desk, "inactive")


def test_systemd_makes_no_second_unit_of_the_autostart_file(desk, autostart):  # noqa: F811
    """X-systemd-skip: a session of systemd's has the target."""
    (autostart / "autostart/other.desktop").write_text("[Desktop Entry]\nType=Application\nName=Other\nExec=sleep 1000\n")
    generator = "/usr/lib/systemd/user-generators/systemd-xdg-autostart-generator"
    made = autostart / "made"
    made.mkdir()
    subprocess.run(
        ["env", f"XDG_CONFIG_DIRS={autostart}", "XDG_CURRENT_DESKTOP=sway", generator, made, made, made], check=True,
        capture_output=True, timeout=60)  # fmt: skip
    units = {path.name for path in made.rglob("*.service")}
    assert units == {"app-other@autostart.service"}
