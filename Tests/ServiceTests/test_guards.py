"""Guards: services that run only while nothing holds their app, under the real systemd."""

import contextlib
import json
import os
import pathlib
import select
import signal
import statistics
import subprocess
import time

import pytest

from service import TODO, app, as_user

UNITS = pathlib.Path("/run/systemd/system")
UNIT = "sync.service"
SLEEP = "ExecStart=/bin/sleep infinity"
BOUND = 60


def guard(unit=UNIT, id=TODO, **keys):
    """The file of an app that guards a unit."""
    keys = {"id": id, "kind": "guard", "unit": unit, **keys}
    return "\n".join([*(f"{key} = {json.dumps(value)}" for key, value in keys.items()), ""])


@pytest.fixture
def write_unit():
    """Writes the files of units of the machine, starts these, and removes them."""
    written = []

    def write(*lines, name=UNIT, start=True):
        (UNITS / name).write_text("\n".join(["[Unit]", "StartLimitIntervalSec=0", "[Service]", *(lines or [SLEEP]), ""]))
        subprocess.run(["systemctl", "daemon-reload"], check=True, timeout=60)
        written.append(name)
        if start:
            systemctl("start", name)

    yield write
    for name in written:
        subprocess.run(["systemctl", "thaw", name], timeout=60, capture_output=True)
        subprocess.run(["systemctl", "stop", name], timeout=60, capture_output=True)
        subprocess.run(["systemctl", "reset-failed", name], timeout=60, capture_output=True)
        (UNITS / name).unlink(missing_ok=True)
    subprocess.run(["systemctl", "daemon-reload"], check=True, timeout=60)


@pytest.fixture
def daemon(refreshd, network_manager):
    """The service on a network that is not metered."""
    refreshd.launch_by("systemd")
    metered(network_manager, False)
    return refreshd


def metered(network_manager, is_metered):
    network_manager.set(Metered=("u", 1 if is_metered else 2))


def systemctl(*arguments):
    subprocess.run(["systemctl", *arguments], check=True, timeout=60, capture_output=True)


def show(name, unit=UNIT):
    command = ["systemctl", "show", "--value", f"--property={name}", unit]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


def wait_until(what, bound=BOUND):
    """Asks again with each entry of the journal and each event until it is so, and returns how long that took."""
    begin = time.monotonic()
    # Each prints at least one line at its start, after which it misses nothing.
    with follow("journalctl", "--follow", "--lines=1", "--output=cat") as journal, follow("refreshctl", "watch") as events:
        readable = [journal, events]
        while not what():
            left = begin + bound - time.monotonic()
            # The question may itself add to the journal, each time.
            ready = select.select(readable, [], [], left)[0] if left > 0 else []
            assert ready, f"it is not so after {bound} s"
            # A daemon that ends closes its events.
            readable = [stream for stream in readable if stream not in ready or os.read(stream, 65536)]
    return time.monotonic() - begin


@contextlib.contextmanager
def follow(*command):
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0) as process:
        yield process.stdout.fileno()
        process.kill()


def is_in(state, name="ActiveState"):
    return lambda: show(name) == state


def words(refreshd, command="why", id=TODO):
    return " ".join(refreshd.refreshctl(command, *([id] if id else [])).stdout.split())


def why(refreshd, id=TODO):
    return json.loads(refreshd.refreshctl("why", id, "--json").stdout)["why"]


def settle(refreshd, verdict="clear"):
    wait_until(lambda: refreshd.app()["verdict"] == verdict)


def test_a_unit_is_stopped_at_the_edge_and_started_again(daemon, write_unit, network_manager):
    write_unit()
    daemon.configure(guard(network="unmetered"))
    daemon.start()
    settle(daemon)
    assert "guards sync.service. Nothing keeps it from running." in words(daemon)
    assert is_in("active")()

    metered(network_manager, True)
    wait_until(is_in("inactive"))
    wait_until(lambda: why(daemon)["guarded"].get("state") == "stopped")
    text = words(daemon)
    assert "It is stopped, because it waits for an unmetered network" in text and "NetworkManager" in text
    assert "sync.service: stopped (network)" in words(daemon, "status", None)
    assert "stopped" in words(daemon, "list", None)

    metered(network_manager, False)
    wait_until(is_in("active"))
    wait_until(lambda: not why(daemon)["guarded"]["is_kept"])
    assert "may run" in words(daemon, "list", None)


def test_the_edge_takes_less_than_a_second(daemon, write_unit, network_manager, journal):
    write_unit()
    daemon.configure(guard(network="unmetered"))
    for _ in range(int(os.environ.get("EDGES", 5))):
        # A start of refreshd knows of no flapping.
        daemon.start()
        settle(daemon)
        metered(network_manager, True)
        wait_until(lambda: why(daemon)["guarded"].get("state") == "stopped")
        daemon.stop()
        metered(network_manager, False)
        wait_until(is_in("active"))
    spans, edge = [], None
    for entry in journal.entries():
        text, now = str(entry.get("MESSAGE", "")), int(entry["__MONOTONIC_TIMESTAMP"])
        if text.endswith('{"Metered": 1} []'):
            edge = now
        elif edge and text == f"{UNIT}: Deactivated successfully.":
            spans.append((now - edge) // 1000)
            edge = None
    print("edge to inactive, ms:", sorted(spans))
    assert len(spans) == int(os.environ.get("EDGES", 5))
    # The machine also runs other tests, so the bound is above the time of a release build.
    assert statistics.median(spans) < 1000, spans


def test_a_frozen_unit_keeps_its_processes(daemon, write_unit, network_manager):
    write_unit()
    pid = show("MainPID")
    daemon.configure(guard(network="unmetered", guard="freeze"))
    daemon.start()
    settle(daemon)
    metered(network_manager, True)
    wait_until(is_in("frozen", name="FreezerState"))
    wait_until(lambda: why(daemon)["guarded"].get("state") == "frozen")
    assert "It is frozen, because it waits for an unmetered network" in words(daemon)
    metered(network_manager, False)
    wait_until(is_in("running", name="FreezerState"))
    assert show("MainPID") == pid

    # A person stops the frozen unit: it stays stopped.
    daemon.refreshctl("disable", TODO)
    wait_until(is_in("frozen", name="FreezerState"))
    systemctl("stop", UNIT)
    wait_until(lambda: not why(daemon)["guarded"]["is_kept"])
    daemon.refreshctl("enable", TODO)
    settle(daemon)
    wait_until(lambda: keepers() == [])
    assert is_in("inactive")()


def keepers():
    command = ["systemctl", "list-units", "--plain", "--no-legend", "--state=active", "refreshd-task-*.service"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()


def test_a_unit_that_a_person_has_stopped_stays_stopped(daemon, write_unit):
    write_unit()
    daemon.configure(guard())
    daemon.start()
    settle(daemon)
    systemctl("stop", UNIT)
    daemon.refreshctl("disable", TODO)
    wait_until(lambda: why(daemon)["guarded"].get("state") == "not running")
    daemon.refreshctl("enable", TODO)
    settle(daemon)
    wait_until(lambda: keepers() == [])
    assert is_in("inactive")()

    # Until the person starts it again.
    systemctl("start", UNIT)
    daemon.refreshctl("disable", TODO)
    wait_until(is_in("inactive"))
    daemon.refreshctl("enable", TODO)
    wait_until(is_in("active"))


def test_a_unit_that_is_started_while_it_is_held_is_stopped_again(daemon, write_unit, network_manager):
    write_unit(SLEEP, "Restart=always", "RestartSec=100ms", start=False)
    metered(network_manager, True)
    daemon.configure(guard(network="unmetered"))
    daemon.start()
    wait_until(lambda: why(daemon)["guarded"].get("state") == "not running")
    systemctl("start", "--no-block", UNIT)
    wait_until(lambda: why(daemon)["guarded"].get("state") == "stopped")
    assert is_in("inactive")()


def test_a_unit_is_guarded_by_its_alias_too(daemon, write_unit):
    write_unit()
    alias = UNITS / "alias-of-sync.service"
    alias.symlink_to(UNIT)
    try:
        systemctl("daemon-reload")
        daemon.configure(guard(alias.name))
        daemon.start()
        settle(daemon)
        daemon.refreshctl("disable", TODO)
        wait_until(is_in("inactive"))
        # Only the unit itself tells that somebody starts it.
        systemctl("start", UNIT)
        wait_until(is_in("inactive"))
        daemon.refreshctl("enable", TODO)
        wait_until(is_in("active"))
    finally:
        alias.unlink()
        systemctl("daemon-reload")


@pytest.mark.parametrize("switch", ["pause", "disable"])
def test_a_persons_switch_keeps_the_unit_from_running(daemon, write_unit, switch):
    write_unit()
    daemon.configure(guard())
    daemon.start()
    settle(daemon)
    names = [] if switch == "pause" else [TODO]
    daemon.refreshctl(switch, *names)
    wait_until(is_in("inactive"))
    hold = {"pause": "paused", "disable": "disabled"}[switch]
    assert [hold["name"] for hold in why(daemon)["holds"]] == [hold]
    begin = time.monotonic()
    daemon.refreshctl({"pause": "resume", "disable": "enable"}[switch], *names)
    wait_until(is_in("active"))
    # Nothing is damped that a person does.
    assert time.monotonic() - begin < 5


def test_quiet_hours_keep_the_unit_from_running(daemon, write_unit):
    write_unit()
    now = time.localtime()
    hours = [f"{(now.tm_hour + offset) % 24:02}:00" for offset in (0, 2)]
    daemon.configure(guard(quiet="-".join(hours)))
    daemon.start()
    wait_until(is_in("inactive"))
    assert "the end of its quiet hours" in words(daemon)


def test_a_network_that_flaps_is_damped(daemon, write_unit, network_manager):
    write_unit()
    daemon.configure(guard(network="unmetered"))
    daemon.start()
    settle(daemon)
    for wait in (5, 10):
        metered(network_manager, True)
        wait_until(is_in("inactive"))
        metered(network_manager, False)
        begin = time.monotonic()
        wait_until(lambda: [hold["name"] for hold in why(daemon)["holds"]] == ["unsteady"])
        assert "its conditions are met, but must stay so until then" in words(daemon)
        wait_until(is_in("active"))
        assert time.monotonic() - begin > wait - 1


def test_a_restart_keeps_the_unit_stopped_and_a_stop_returns_it(daemon, write_unit, network_manager, journal):
    write_unit()
    daemon.configure(guard(network="unmetered"))
    daemon.start()
    settle(daemon)
    metered(network_manager, True)
    wait_until(lambda: why(daemon)["guarded"].get("state") == "stopped")
    starts = started(journal)
    systemctl("restart", "refreshd.service")
    wait_until(lambda: why(daemon)["guarded"].get("state") == "stopped")
    assert started(journal) == starts, "the unit ran in between"

    # After a crash, the next daemon knows which units it must return.
    systemctl("kill", "--signal=KILL", "refreshd.service")
    journal.wait("daemonReady", count=3)
    wait_until(lambda: why(daemon)["guarded"].get("state") == "stopped")
    assert started(journal) == starts
    metered(network_manager, False)
    wait_until(is_in("active"))

    metered(network_manager, True)
    wait_until(lambda: why(daemon)["guarded"].get("state") == "stopped")
    daemon.stop()
    wait_until(is_in("active"))


def started(journal):
    """How often the unit was started since the test began, by the message of systemd (sd-messages.h)."""
    return len(journal.entries(UNIT=UNIT, MESSAGE_ID="39f53479d3a045ac8e11786248231fbf"))


@pytest.mark.parametrize("end", ["restart", "stop", "file"])
def test_nothing_stays_frozen_without_its_guard(daemon, write_unit, end):
    write_unit()
    daemon.configure(guard(guard="freeze"))
    daemon.start()
    settle(daemon)
    daemon.refreshctl("disable", TODO)
    wait_until(is_in("frozen", name="FreezerState"))
    if end == "file":
        daemon.configure()
        daemon.refreshctl("reload")
    else:
        systemctl(end, "refreshd.service")
    wait_until(is_in("running", name="FreezerState") if end != "restart" else lambda: True)
    if end == "restart":
        # The next daemon freezes it again, by the switch that it remembers.
        wait_until(lambda: why(daemon)["guarded"].get("state") == "frozen")
    assert is_in("active")()


def test_a_keeper_without_a_daemon_returns_the_unit_and_the_next_daemon_knows(daemon, write_unit, journal):
    """Nobody guards the two units any more when the next daemon starts: one was returned, one was not."""
    units = {TODO: UNIT, "org.example.zoo": "zoo.service"}
    for name in units.values():
        write_unit(name=name)
    plain = app("true", id="org.example.plain")
    daemon.configure(guard(guard="freeze"), guard("zoo.service", id="org.example.zoo"), plain)
    daemon.drop_in("[Service]\nRestart=no\n")
    daemon.start()
    for id in units:
        wait_until(lambda id=id: daemon.app(id)["verdict"] == "clear")
        daemon.refreshctl("disable", id)
        wait_until(lambda id=id: why(daemon, id)["guarded"]["is_kept"])
    # Its answer comes when everything before it is on the disk.
    daemon.refreshctl("disable", "org.example.plain")
    processes = {unit: keeper_of(unit) for unit in units.values()}
    os.kill(processes["zoo.service"], signal.SIGSTOP)
    with pidfd(processes[UNIT]) as returns, pidfd(processes["zoo.service"]) as dies:
        systemctl("kill", "--signal=KILL", "refreshd.service")
        os.kill(processes["zoo.service"], signal.SIGKILL)
        # Nobody asks the daemon, which would start it.
        for keeper in (returns, dies):
            assert select.select([keeper], [], [], BOUND)[0], "a keeper has not ended"
    assert is_in("running", name="FreezerState")()

    daemon.configure(plain)
    daemon.start()
    journal.wait("unitReturned", REFRESH_APP="org.example.zoo")
    left = [entry["MESSAGE"] for entry in journal.entries() if "no file guards it any more" in entry["MESSAGE"]]
    assert left == [
        "org.example.zoo: zoo.service is still stopped, and no file guards it any more; run systemctl start zoo.service"
    ]


def keeper_of(unit):
    """The process of the keeper of a unit."""
    task = next(line.split()[0] for line in keepers() if line.endswith(f"guard of {unit}"))
    return int(show("MainPID", task))


@contextlib.contextmanager
def pidfd(process):
    descriptor = os.pidfd_open(process)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def test_a_missing_unit_is_named_and_kept_when_it_comes(daemon, network_manager, write_unit):
    metered(network_manager, True)
    daemon.configure(guard("nothing.service", network="unmetered"))
    daemon.start()
    wait_until(lambda: why(daemon)["guarded"].get("state") == "not installed")
    assert "not installed" in words(daemon)
    checked = daemon.refreshctl("check", check=False)
    assert "cannot find nothing.service among the units of the system" in checked.stdout + checked.stderr
    write_unit(name="nothing.service")
    wait_until(lambda: show("ActiveState", "nothing.service") == "inactive")


def test_a_stop_that_waits_for_its_turn_is_undone_by_the_return(daemon, write_unit, tmp_path):
    write_unit()
    pid = show("MainPID")
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # The stop of the unit waits until this one, which needs it, has stopped.
    write_unit(SLEEP, f"ExecStop=/bin/cat {gate}", "[Unit]", f"Requires={UNIT}", f"After={UNIT}", name="needs.service")
    daemon.configure(guard())
    daemon.start()
    settle(daemon)
    daemon.refreshctl("disable", TODO)
    wait_until(lambda: show("ActiveState", "needs.service") == "deactivating" and show("Job") != "0")
    assert is_in("active")()
    daemon.refreshctl("enable", TODO)
    wait_until(lambda: keepers() == [])
    gate.write_text("")
    wait_until(lambda: show("ActiveState", "needs.service") == "inactive")
    assert show("MainPID") == pid, "it was stopped after its return"


def test_a_unit_that_is_starting_is_frozen_after_that(daemon, write_unit, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    write_unit(SLEEP, f"ExecStartPre=/bin/cat {gate}", start=False)
    systemctl("start", "--no-block", UNIT)
    daemon.configure(guard(guard="freeze"))
    daemon.start()
    daemon.refreshctl("disable", TODO)
    wait_until(lambda: why(daemon)["guarded"].get("state") == "starting, and frozen after that")
    gate.write_text("")
    wait_until(is_in("frozen", name="FreezerState"))


def test_a_unit_that_is_masked_meanwhile_is_not_started_again(daemon, write_unit):
    write_unit()
    daemon.configure(guard())
    daemon.start()
    settle(daemon)
    daemon.refreshctl("disable", TODO)
    wait_until(lambda: why(daemon)["guarded"].get("state") == "stopped")
    (UNITS / UNIT).unlink()
    (UNITS / UNIT).symlink_to("/dev/null")
    systemctl("daemon-reload")
    daemon.refreshctl("enable", TODO)
    wait_until(lambda: "cannot start sync.service again" in (why(daemon)["guarded"].get("trouble") or ""))
    assert "masked" in words(daemon)


def test_two_guards_of_one_unit_are_refused(daemon, write_unit):
    write_unit()
    daemon.configure(guard(), guard(id="org.example.second"))
    daemon.start()
    checked = daemon.refreshctl("check", check=False)
    assert checked.returncode != 0
    assert "cannot guard sync.service twice" in checked.stdout + checked.stderr
    assert [hold["name"] for hold in why(daemon)["holds"]] == ["misconfigured"]
    assert is_in("active")()


def test_a_guard_is_not_refreshed(daemon, write_unit):
    write_unit()
    daemon.configure(guard())
    daemon.start()
    settle(daemon)
    refused = daemon.refreshctl("run", TODO, check=False)
    assert refused.returncode != 0 and "it guards sync.service" in " ".join(refused.stderr.split())
    assert "Nothing will be refreshed" in words(daemon, "forecast", None)


def test_a_users_guard_reaches_only_the_users_units(daemon, write_unit, anna, log_in):
    log_in("anna")
    write_unit()
    folder = pathlib.Path("/home/anna/.config/systemd/user")
    as_user("anna", "mkdir", "-p", str(folder))
    (folder / UNIT).write_text(f"[Service]\n{SLEEP}\n")
    environment = f"XDG_RUNTIME_DIR=/run/user/{anna}"
    wait_until(lambda: as_user("anna", environment, "systemctl", "--user", "daemon-reload").returncode == 0)

    def state():
        return as_user("anna", environment, "systemctl", "--user", "is-active", UNIT).stdout.strip()

    assert as_user("anna", environment, "systemctl", "--user", "start", UNIT).returncode == 0
    daemon.configure(guard(owner="anna"), guard(id="org.example.machine"))
    daemon.start()
    settle(daemon)
    daemon.refreshctl("disable", TODO)
    wait_until(lambda: state() == "inactive")
    assert is_in("active")(), "the unit of the machine is another one"
    daemon.refreshctl("enable", TODO)
    wait_until(lambda: state() == "active")
