"""Signals of the real systemd-logind: sleep, sessions and idleness."""

import subprocess

from service import log_out

MANAGER = ["org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"]


def test_sleep_is_told_before_and_after(sleepless, probe):
    seen = probe("nothing")
    seen.wait("started")
    assert seen.is_silent(0.3)
    subprocess.run(["busctl", "call", *MANAGER, "Suspend", "b", "false"], check=True, timeout=60)
    seen.wait_line(event="sleep", value=True)
    seen.wait_line(event="sleep", value=False, seconds=20)


def test_a_user_is_logged_in_from_the_first_session_to_the_last(anna, log_in, probe):
    seen = probe("sessions")
    seen.wait("started")
    first = log_in("anna")
    seen.wait_line(event="session", user=anna, active=True)
    second = log_in("anna")
    log_out(first)
    assert seen.is_silent(0.5)
    log_out(second)
    seen.wait_line(event="session", user=anna, active=False)


def test_whoever_is_logged_in_already_is_told_at_the_start(anna, log_in, probe):
    log_in("anna")
    probe("sessions").wait_line(event="session", user=anna, active=True)


def test_a_service_manager_that_lingers_and_cron_are_no_login(anna, log_in, probe):
    seen = probe("sessions")
    seen.wait("started")
    subprocess.run(["loginctl", "enable-linger", "anna"], check=True, timeout=60)
    log_in("anna", kind="background")
    assert seen.is_silent(1)
    subprocess.run(["loginctl", "disable-linger", "anna"], check=True, timeout=60)


def test_nobody_is_logged_out_by_a_restart_of_logind(anna, log_in, probe):
    session = log_in("anna")
    seen = probe("sessions")
    seen.wait_line(event="session", user=anna, active=True)
    subprocess.run(["systemctl", "restart", "systemd-logind.service"], check=True, timeout=60)
    assert seen.is_silent(0.5)
    log_out(session)
    seen.wait_line(event="session", user=anna, active=False)


def test_the_machine_is_idle_while_all_sessions_are(anna, log_in, probe):
    seen = probe("idle")
    seen.wait("idle", source="systemd-logind", value=True)
    log_in("anna")
    seen.wait("idle", value=False)


def test_an_inhibitor_keeps_the_machine_from_being_idle(probe):
    seen = probe("idle")
    seen.wait("idle", value=True)
    with subprocess.Popen(["systemd-inhibit", "--what=idle", "--mode=block", "sleep", "infinity"]) as inhibitor:
        seen.wait("idle", value=False)
        inhibitor.terminate()
    seen.wait("idle", value=True)


def test_a_users_daemon_asks_for_that_user(anna, log_in, probe):
    log_in("anna")
    seen = probe("idle", "--user", anna)
    seen.wait("idle", source="systemd-logind", value=False)
