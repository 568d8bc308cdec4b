"""Apps that log in and out with the sessions of their owners, by the real logind (`sessions = "logind"`)."""

import contextlib
import pathlib
import subprocess

import pytest

from service import TODO, app, log_out

ROOTS = "org.example.roots"
# Another app of anna's and one of berta's. Their changes show that the tested one had its turn.
SECOND = "org.example.second"
BERTAS = "org.example.bertas"


@pytest.fixture
def berta(installed):
    subprocess.run(["useradd", "--create-home", "berta"], check=True, timeout=60)
    yield
    subprocess.run(["userdel", "--remove", "--force", "berta"], check=True, capture_output=True, timeout=60)


@pytest.fixture
def following(refreshd):
    """Starts the service with an app of anna's, one of root's and more."""

    def start(*more, sessions="logind"):
        refreshd.configure(app("exit 0", owner="anna"), app("exit 0", id=ROOTS, owner="root"), *more)
        pathlib.Path("/etc/refreshd/refreshd.toml").write_text(f'sessions = "{sessions}"\n')
        refreshd.start()
        refreshd.journal.wait("daemonReady")
        return refreshd

    return start


@contextlib.contextmanager
def lingering(user):
    subprocess.run(["loginctl", "enable-linger", user], check=True, timeout=60)
    try:
        yield
    finally:
        subprocess.run(["loginctl", "disable-linger", user], check=True, timeout=60)


def wait_for_phase(refreshd, phase, id=TODO, times=1):
    """Waits until the app has entered this phase this many times; a new app begins logged out."""
    refreshd.journal.wait("appPhaseChanged", count=times, REFRESH_APP=id, REFRESH_PHASE=phase)
    assert refreshd.app(id)["phase"] == phase.replace("-", "_")


def test_an_app_is_logged_in_while_its_owner_has_a_session(anna, log_in, following):
    """From the first session to the last. The system's own apps do not depend on sessions."""
    refreshd = following()
    assert refreshd.app()["phase"] == "logged_out"
    first, second = log_in("anna"), log_in("anna")
    wait_for_phase(refreshd, "background")
    log_out(first)
    assert refreshd.refreshctl("run", TODO, check=False).returncode == 0
    log_out(second)
    wait_for_phase(refreshd, "logged-out")
    assert "until anna has a session" in " ".join(refreshd.refreshctl("why", TODO).stdout.split())
    assert refreshd.app(ROOTS)["phase"] == "background"


@pytest.mark.parametrize("way", [["restart"], ["kill", "--signal=KILL", "--kill-whom=main"]], ids=["restart", "kill"])
def test_a_persons_own_logout_holds_until_the_next_session(way, anna, log_in, following):
    """Also over a second session meanwhile, and over a restart or a crash of the daemon."""
    first = log_in("anna")
    refreshd = following(app("exit 0", id=SECOND, owner="anna"))
    wait_for_phase(refreshd, "background", SECOND)
    refreshd.refreshctl("logout", TODO)
    refreshd.systemctl(*way, "refreshd.service")
    refreshd.journal.wait("daemonReady", count=2)
    second = log_in("anna")
    log_out(first)
    assert refreshd.app()["phase"] == "logged_out"
    log_out(second)
    wait_for_phase(refreshd, "logged-out", SECOND)
    assert len(refreshd.journal.entries(REFRESH_APP=TODO, REFRESH_PHASE="background")) == 1
    log_in("anna")
    wait_for_phase(refreshd, "background", times=2)


def test_an_owner_who_lingers_is_not_logged_out(anna, berta, log_in, following):
    with lingering("anna"):
        sessions = [log_in("anna"), log_in("berta")]
        refreshd = following(app("exit 0", id=BERTAS, owner="berta"))
        wait_for_phase(refreshd, "background", BERTAS)
        for session in sessions:
            log_out(session)
        wait_for_phase(refreshd, "logged-out", BERTAS)
        assert refreshd.app()["phase"] == "background"


def test_a_new_app_of_an_absent_owner_is_not_started(anna, berta, log_in, following):
    """Neither at the start nor after a reload. An owner who lingers is not absent."""
    apps = [app("exit 0", id=SECOND, owner="anna", background_interval="1h"), app("exit 0", id=BERTAS, owner="berta")]
    with lingering("berta"):
        refreshd = following(*apps)
        wait_for_phase(refreshd, "background", BERTAS)
        third, fourth = "org.example.third", "org.example.fourth"
        apps += [app("exit 0", id=third, owner="anna", background_interval="1h"), app("exit 0", id=fourth, owner="berta")]
        refreshd.configure(*apps)
        refreshd.refreshctl("reload")
        wait_for_phase(refreshd, "background", fourth)
        assert refreshd.journal.entries(REFRESH_APP=SECOND) == refreshd.journal.entries(REFRESH_APP=third) == []
        assert refreshd.app(SECOND)["phase"] == refreshd.app(third)["phase"] == "logged_out"
        log_in("anna")
        for id in (SECOND, third):
            refreshd.journal.wait("refreshFinished", REFRESH_APP=id)


def test_without_the_word_sessions_mean_nothing(anna, following):
    """Nobody is logged in, and the app is refreshed all the same."""
    refreshd = following(sessions="none")
    assert refreshd.refreshctl("run", TODO).returncode == 0
    assert refreshd.app()["phase"] == "background"
