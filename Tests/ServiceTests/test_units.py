"""Tasks as units of the service manager: their names, limits and ends, and changes from outside."""

import pathlib
import subprocess

import pytest

from gate import Gate
from service import TODO, app, is_alive, mode_of

GATE = "read _ < /run/gate"


@pytest.fixture
def gate():
    gate = Gate("/run/gate")
    yield gate
    gate.close()


@pytest.fixture
def daemon(refreshd):
    refreshd.launch_by("systemd")
    return refreshd


def show(unit, *properties):
    command = ["systemctl", "show", *[f"--property={each}" for each in properties], unit]
    lines = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()
    return dict(line.split("=", 1) for line in lines)


def unit_of(refreshd, id=TODO):
    return f"refreshd-task-{refreshd.app(id)['running']['id']}-0.service"


def test_where_systemd_is_the_system_daemon_takes_it(refreshd):
    refreshd.configure(app("exit 0"))
    refreshd.start()
    status = refreshd.call("Status")["status"]
    assert status["launcher"] == "systemd"
    assert status["launcher_reason"].startswith("systemd 2") and "answers on the system bus" in status["launcher_reason"]


def test_a_task_is_a_unit_in_the_slice_of_its_app(daemon, gate):
    daemon.configure(app(f"echo at work; {GATE}", id="org.example.to-do", name="To do", owner="anna", grace="7s"))
    daemon.start()
    daemon.run_in_background("org.example.to-do")
    unit = unit_of(daemon, "org.example.to-do")
    assert unit == "refreshd-task-1-1-0.service"
    assert show(unit, "Slice", "Description", "User", "Group", "WorkingDirectory", "KillMode", "TimeoutStopUSec",
                "RuntimeMaxUSec", "CPUAccounting", "MemoryAccounting", "IOAccounting", "IPAccounting") == {
        "Slice": r"refreshd-org.example.to\x2ddo.slice",
        "Description": "To do: work (refresh 1-1)",
        "User": "anna",
        "Group": str(pathlib.Path("/home/anna").stat().st_gid),
        "WorkingDirectory": "/home/anna",
        "KillMode": "control-group",
        "TimeoutStopUSec": "7s",
        # The deadline, the grace, and a second. Part of the deadline has passed when the unit is made.
        "RuntimeMaxUSec": show(unit, "RuntimeMaxUSec")["RuntimeMaxUSec"],
        **dict.fromkeys(["CPUAccounting", "MemoryAccounting", "IOAccounting", "IPAccounting"], "yes"),
    }
    assert show(unit, "RuntimeMaxUSec")["RuntimeMaxUSec"].startswith("37.") or \
        show(unit, "RuntimeMaxUSec")["RuntimeMaxUSec"] in ("38s", "37s")
    # A unit whose program is never loaded has the same timeout.
    assert show(unit, "TimeoutStartUSec")["TimeoutStartUSec"] == show(unit, "RuntimeMaxUSec")["RuntimeMaxUSec"]
    gate.open()
    daemon.journal.wait("refreshFinished")


def test_the_slice_of_an_app_that_is_taken_away_goes(daemon):
    ids = ["org.example.goes", "org.example.stays"]
    daemon.configure(*[app("exit 100", id=id) for id in ids])
    daemon.start()
    for id in ids:
        daemon.refreshctl("run", id, check=False)
    assert show(f"refreshd-{ids[0]}.slice", "ActiveState") == {"ActiveState": "active"}
    daemon.configure(app("exit 100", id=ids[1]))
    daemon.systemctl("reload", "refreshd.service")
    # systemd handles a later call later.
    daemon.refreshctl("run", ids[1], check=False)
    assert show(f"refreshd-{ids[0]}.slice", "ActiveState") == {"ActiveState": "inactive"}
    assert show(f"refreshd-{ids[1]}.slice", "ActiveState") == {"ActiveState": "active"}


def test_the_environment_is_no_property_and_in_a_file_for_the_daemon_alone(daemon, gate):
    daemon.configure(app(f"echo at work; {GATE}", environment={}).replace(
        "environment = {}", 'environment = { SECRET = "hunter2" }'))
    daemon.start()
    daemon.run_in_background()
    unit = unit_of(daemon)
    everything = subprocess.run(["systemctl", "show", unit], check=True, capture_output=True, text=True).stdout
    everything += subprocess.run(["systemctl", "cat", unit], check=True, capture_output=True, text=True).stdout
    assert "hunter2" not in everything and "REFRESH_TOKEN" not in everything
    file = pathlib.Path(f"/run/refreshd/tasks/{unit}.env")
    assert "hunter2" in file.read_text()
    assert (mode_of(file), mode_of(file.parent)) == ("0o600", "0o700")
    gate.open()
    daemon.journal.wait("refreshFinished")
    assert list(file.parent.iterdir()) == []


def test_a_unit_is_gone_with_its_refresh(daemon):
    daemon.configure(app("exit 0"), app("exit 3", id="org.example.fails"), app("exit 100", id="org.example.idle"))
    daemon.start()
    for id in (TODO, "org.example.fails", "org.example.idle"):
        daemon.refreshctl("run", id, check=False)
    # The manager handles calls in order: this reply comes after the earlier calls are done.
    command = ["systemctl", "list-units", "--all", "--no-legend", "refreshd-task-*"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == ""


def test_the_end_of_a_unit_from_outside_is_the_end_of_its_task(daemon):
    daemon.configure(app("echo at work; sleep 1000"))
    daemon.start()
    daemon.run_in_background()
    subprocess.run(["systemctl", "stop", unit_of(daemon)], check=True, timeout=60)
    daemon.journal.wait("refreshFailed")
    [refresh] = daemon.history()
    assert (refresh["cause"]["kind"], refresh["cause"]["code"]) == ("signal", 15)


def test_the_manager_ends_a_task_at_its_bound_if_no_daemon_does(daemon):
    daemon.configure(app("echo at work; echo $$ > /run/pid; sleep 1000", deadline="1s", grace="1s"))
    daemon.start()
    daemon.run_in_background()
    unit = unit_of(daemon)
    daemon.stop()
    follow = ["journalctl", "--follow", "--no-tail", "--output=cat", f"--unit={unit}"]
    with subprocess.Popen(follow, stdout=subprocess.PIPE, text=True) as journal:
        assert any("Failed with result 'timeout'" in line for line in journal.stdout)
        journal.kill()
    daemon.start()
    daemon.journal.wait("refreshFailed")
    refresh = daemon.history()[-1]
    assert (refresh["outcome"], refresh["stop_reason"]) == ("failed", "deadline")


def test_a_task_does_not_leave_its_cgroup(daemon):
    escape = "echo $$ > /sys/fs/cgroup/cgroup.procs || echo kept; cat /proc/self/cgroup; trap '' TERM; sleep 1000"
    daemon.configure(app(f"{escape} & echo $! > /run/pid; wait", owner="anna", deadline="1s", grace="1s"))
    pathlib.Path("/run/pid").touch()
    pathlib.Path("/run/pid").chmod(0o666)
    daemon.start()
    daemon.refreshctl("run", TODO, check=False)
    [refresh] = daemon.history()
    assert (refresh["outcome"], refresh["stop_reason"]) == ("failed", "deadline")
    assert not is_alive(int(pathlib.Path("/run/pid").read_text()))
    lines = [entry["MESSAGE"] for entry in daemon.journal.entries(REFRESH_TASK="work")]
    assert any(line.endswith("kept") for line in lines)
    assert any("/refreshd.slice/refreshd-org.example.todo.slice/refreshd-task-1-1-0.service" in line for line in lines)


def test_a_daemon_reload_changes_nothing_of_what_runs(daemon, gate):
    daemon.configure(app(f"echo 'at $work'; {GATE}; echo 'still $here'; exit 100"))
    daemon.start()
    daemon.run_in_background()
    unit = unit_of(daemon)
    subprocess.run(["systemctl", "daemon-reload"], check=True, timeout=60)
    # systemd accepts every line of the unit's file again.
    assert show(unit, "LoadState", "SubState") == {"LoadState": "loaded", "SubState": "running"}
    gate.open()
    daemon.journal.wait("refreshFinished")
    [refresh] = daemon.history()
    assert (refresh["outcome"], refresh["tasks"][0]["message"]) == ("no_data", "still $here")


def test_a_manager_that_executes_itself_anew_changes_nothing_of_what_runs(daemon, gate):
    daemon.configure(app(f"echo at work; {GATE}; exit 100"))
    daemon.start()
    daemon.run_in_background()
    subprocess.run(["systemctl", "daemon-reexec"], check=True, timeout=60)
    gate.open()
    daemon.journal.wait("refreshFinished")
    assert [refresh["outcome"] for refresh in daemon.history()] == ["no_data"]


def test_two_daemons_under_one_manager_never_meet(daemon, gate):
    """Each daemon has its own state, and ends only its own tasks."""
    daemon.configure(app(f"echo at work; {GATE}"))
    daemon.start()
    daemon.run_in_background()
    first = unit_of(daemon)
    second = subprocess.Popen(
        ["refreshd", "--config", "/etc/refreshd", "--state", "/run/second", "--socket", "/run/second/socket"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    assert any("ready" in line for line in second.stdout)
    client = subprocess.Popen(["refreshctl", "run", TODO, "--socket", "/run/second/socket"], stdout=subprocess.PIPE, text=True)
    assert any("at work" in line for line in client.stdout)
    units = subprocess.run(
        ["systemctl", "list-units", "--plain", "--no-legend", "refreshd-task-*"], check=True, capture_output=True, text=True
    ).stdout.split("\n")[:-1]
    assert len(units) == 2 and any(line.startswith(first) for line in units)
    second.terminate()
    second.wait(timeout=60)
    client.kill()
    client.wait()
    assert show(first, "SubState")["SubState"] == "running"
    gate.open()
    gate.open()
    daemon.journal.wait("refreshFinished")


def test_memory_that_runs_out_is_the_cause(daemon):
    """It needs the memory controller: without it, systemd accepts the property and bounds nothing."""
    controllers = pathlib.Path("/sys/fs/cgroup/cgroup.controllers").read_text().split()
    drop_in = pathlib.Path("/run/systemd/system/refreshd-task-.service.d")
    drop_in.mkdir(parents=True)
    (drop_in / "memory.conf").write_text("[Service]\nMemoryMax=32M\nMemorySwapMax=0\n")
    try:
        subprocess.run(["systemctl", "daemon-reload"], check=True, timeout=60)
        fill = "python3 -c 'x = bytearray(200_000_000)'" if "memory" in controllers else "echo no controller"
        daemon.configure(app(f"{fill}; systemctl show --property=MemoryMax --value refreshd-task-1-1-0.service"))
        daemon.start()
        daemon.refreshctl("run", TODO, check=False)
    finally:
        (drop_in / "memory.conf").unlink()
        drop_in.rmdir()
        subprocess.run(["systemctl", "daemon-reload"], check=True, timeout=60)
    [refresh] = daemon.history()
    if "memory" in controllers:
        assert refresh["cause"]["kind"] == "out_of_memory"
    else:
        assert refresh["tasks"][0]["message"] == "33554432"


def test_what_goes_over_the_network_is_counted(daemon):
    daemon.configure(app('bash -c "head -c 1000 /dev/zero > /dev/udp/127.0.0.1/9"'))
    daemon.start()
    daemon.refreshctl("run", TODO)
    [refresh] = daemon.history()
    # With the headers of UDP and IP.
    assert refresh["tasks"][0]["bytes"] == 1028
    assert "1.0 kB of network" in daemon.refreshctl("why", TODO).stdout
