"""Apps that log in and out with the sessions of their owners, by the real logind (`sessions = "logind"`)."""

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


def wait_for_phase(refreshd, phase, id=TODO, times=1):
    """Waits until the app has entered this phase this many times."""
    refreshd.journal.wait("appPhaseChanged", count=times, REFRESH_APP=id, REFRESH_PHASE=phase)
    assert refreshd.app(id)["phase"] == phase.replace("-", "_")


def test_an_app_is_logged_in_while_its_owner_has_a_session(anna, log_in, following):
    """From the first session to the last. The system's own apps do not depend on sessions."""
    refreshd = following()
    wait_for_phase(refreshd, "logged-out")
    first, second = log_in("anna"), log_in("anna")
    wait_for_phase(refreshd, "background")
    log_out(first)
    assert refreshd.refreshctl("run", TODO, check=False).returncode == 0
    log_out(second)
    wait_for_phase(refreshd, "logged-out", times=2)
    assert "until anna, who has no session, logs in" in " ".join(refreshd.refreshctl("why", TODO).stdout.split())
    assert refreshd.app(ROOTS)["phase"] == "background"


def test_a_persons_own_logout_holds_until_the_next_session(anna, log_in, following):
    first = log_in("anna")
    refreshd = following(app("exit 0", id=SECOND, owner="anna"))
    refreshd.refreshctl("logout", TODO)
    second = log_in("anna")
    log_out(first)
    assert refreshd.app()["phase"] == "logged_out"
    log_out(second)
    wait_for_phase(refreshd, "logged-out", SECOND)
    log_in("anna")
    wait_for_phase(refreshd, "background")


def test_an_owner_who_lingers_is_not_logged_out(anna, berta, log_in, following):
    subprocess.run(["loginctl", "enable-linger", "anna"], check=True, timeout=60)
    try:
        sessions = [log_in("anna"), log_in("berta")]
        refreshd = following(app("exit 0", id=BERTAS, owner="berta"))
        for session in sessions:
            log_out(session)
        wait_for_phase(refreshd, "logged-out", BERTAS)
        assert refreshd.app()["phase"] == "background"
    finally:
        subprocess.run(["loginctl", "disable-linger", "anna"], check=True, timeout=60)


def test_an_app_that_comes_with_a_reload_follows_too(anna, following):
    refreshd = following()
    wait_for_phase(refreshd, "logged-out")
    refreshd.configure(app("exit 0", owner="anna"), app("exit 0", id=SECOND, owner="anna"))
    refreshd.refreshctl("reload")
    wait_for_phase(refreshd, "logged-out", SECOND)


def test_without_the_word_sessions_mean_nothing(anna, following):
    """Nobody is logged in, and the app is refreshed all the same."""
    refreshd = following(sessions="none")
    assert refreshd.refreshctl("run", TODO).returncode == 0
    assert refreshd.app()["phase"] == "background"
