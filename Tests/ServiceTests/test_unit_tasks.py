"""Tasks of the kind `unit`: services of the machine and of a user's own manager, started, joined, followed, stopped."""

import json
import pathlib
import select
import shutil
import subprocess
import time

import pytest
import varlink

from gate import Gate
from service import SOCKET, TODO, as_user

UNITS = pathlib.Path("/run/systemd/system")
MAIL = "sync-mail.service"
WAIT = "ExecStart=/bin/sh -c 'echo at work; read _ < /run/gate'"


def unit_app(unit=MAIL, more="", **keys):
    """The file of an app whose task is a unit."""
    keys = {"id": TODO, "background_interval": "never", **keys}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join([*lines, "[[task]]", f'unit = "{unit}"', more, ""])


@pytest.fixture
def write_unit():
    """Writes unit files of the machine, and removes them."""
    written = []

    def write(*lines, name=MAIL, unit=(), reload=True):
        (UNITS / name).write_text("\n".join(["[Unit]", *unit, "[Service]", *lines, ""]))
        written.append(name)
        if reload:
            subprocess.run(["systemctl", "daemon-reload"], check=True, timeout=60)

    yield write
    for name in written:
        subprocess.run(["systemctl", "kill", "--signal=KILL", name], timeout=60, capture_output=True)
        subprocess.run(["systemctl", "stop", name], timeout=60, capture_output=True)
        subprocess.run(["systemctl", "reset-failed", name], timeout=60, capture_output=True)
        (UNITS / name).unlink(missing_ok=True)
    subprocess.run(["systemctl", "daemon-reload"], check=True, timeout=60)


@pytest.fixture
def gate():
    gate = Gate("/run/gate")
    yield gate
    gate.close()


@pytest.fixture
def daemon(refreshd):
    refreshd.launch_by("systemd")
    return refreshd


def state(unit=MAIL):
    command = ["systemctl", "show", "--value", "--property=ActiveState", unit]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


def ran(daemon, *app, **keys):
    """Runs a refresh of an app whose task is a unit, and returns it with what `run` showed."""
    daemon.stop()
    daemon.configure(unit_app(*app, **keys))
    daemon.start()
    answer = daemon.refreshctl("run", TODO, check=False)
    return daemon.history()[0], answer.stdout


def task(refresh):
    return refresh["tasks"][0]


def ran_each(daemon, write_unit, units):
    """Runs a refresh of an app for each unit: its lines, those of its section [Unit], and keys of the task.

    Yields the app, its refresh and what `run` showed.
    """
    apps = {f"org.example.row{number}": unit for number, unit in enumerate(units)}
    for id, (lines, unit, _) in apps.items():
        write_unit(*lines, name=f"{id}.service", unit=unit, reload=False)
    subprocess.run(["systemctl", "daemon-reload"], check=True, timeout=60)
    daemon.configure(*[unit_app(f"{id}.service", keys, id=id) for id, (_, _, keys) in apps.items()])
    daemon.start()
    for id in apps:
        shown = daemon.refreshctl("run", id, check=False).stdout
        yield id, daemon.history(id)[0], shown


def test_the_exit_code_of_a_unit_is_the_outcome(daemon, write_unit):
    rows = [("exit 0", "new_data"), ("exit 100", "no_data"), ("exit 75", "failed"), ("exit 7", "failed")]
    lines = [["Type=oneshot", f"ExecStart=/bin/sh -c 'echo synced 3 messages; {script}'"] for script, _ in rows]
    ran = ran_each(daemon, write_unit, [(each, (), "") for each in lines])
    for (script, outcome), (id, refresh, shown) in zip(rows, ran, strict=True):
        assert (refresh["outcome"], task(refresh)["name"]) == (outcome, id), script
        assert "synced 3 messages" in shown, script
        if outcome == "failed":
            assert refresh["cause"]["kind"] == ("temporary" if "75" in script else "exit")
            # A unit that has failed is started again.
            daemon.refreshctl("run", id, check=False)
            assert len(daemon.history(id)) == 2, script


def test_lines_that_journald_reads_after_the_end_of_the_unit_are_shown(daemon, write_unit):
    # A process that has ended cannot be asked any more which run of a unit it belonged to.
    kill = "/bin/systemctl kill --signal={} systemd-journald.service"
    write_unit("Type=oneshot", f"ExecStart={kill.format('CONT')}", name="continue-journald.service")
    write_unit(
        "Type=oneshot",
        f"ExecStart=/bin/sh -c '{kill.format('STOP')}; echo synced 3 messages'",
        unit=["OnSuccess=continue-journald.service"],
    )
    refresh, shown = ran(daemon)
    assert refresh["outcome"] == "new_data"
    assert "synced 3 messages" in shown


def test_an_exit_code_that_the_units_file_allows_is_a_success(daemon, write_unit):
    rows = [
        (["SuccessExitStatus=DATAERR", "ExecStart=/bin/sh -c 'exit 65'"], "", "new_data"),
        (["ExecStart=-/bin/sh -c 'exit 7'"], "", "new_data"),
        (["ExecStart=-/bin/sh -c 'exit 7'"], "no_data_exit = 0", "new_data"),
        (["SuccessExitStatus=100 75", "ExecStart=/bin/sh -c 'exit 100'"], "", "no_data"),
        (["SuccessExitStatus=100 75", "ExecStart=/bin/sh -c 'exit 75'"], "", "failed"),
        (["ExecStart=-/bin/sh -c 'exit 3'"], "no_data_exit = 3", "no_data"),
    ]
    ran = ran_each(daemon, write_unit, [(["Type=oneshot", *lines], (), keys) for lines, keys, _ in rows])
    for row, (_, refresh, _) in zip(rows, ran, strict=True):
        assert refresh["outcome"] == row[-1], (row, refresh)


def test_an_account_beyond_all_bounds_is_refused(daemon, write_unit, gate):
    write_unit("Type=oneshot", WAIT)
    daemon.configure(unit_app())
    daemon.start()
    running = subprocess.Popen(["refreshctl", "run", TODO], stdout=subprocess.PIPE, bufsize=0)
    wait_for_line(running, "at work")
    worker = f"refreshd-task-{daemon.app()['running']['id']}-0.service"
    pid = subprocess.run(
        ["systemctl", "show", "--value", "--property=MainPID", worker], check=True, capture_output=True, text=True
    ).stdout.strip()
    variables = pathlib.Path(f"/proc/{pid}/environ").read_text().split("\0")
    token = next(each for each in variables if each.startswith("REFRESH_TOKEN=")).partition("=")[2]
    with varlink.Client(address=f"unix:{SOCKET}") as client, client.open("org.refreshd.Worker") as daemons_worker:
        for used in ({"cpu_us": 2**63 - 1}, {"bytes": 2**63 - 1}, {"cpu_us": -1}, {"bytes": 2**53 + 1}):
            with pytest.raises(varlink.InvalidParameter):
                daemons_worker.Account(token=token, **used)
        daemons_worker.Account(token=token, cpu_us=2**50, bytes=2**53)
    gate.open()
    assert running.wait(60) == 0
    assert daemon.history()[0]["outcome"] == "new_data"


def test_every_line_of_a_long_output_is_shown(daemon, write_unit):
    write_unit("Type=oneshot", "ExecStart=/usr/bin/seq 1000")
    _, shown = ran(daemon)
    assert [line for line in shown.split() if line.isdigit()] == [str(number) for number in range(1, 1001)]


def test_its_own_codes_and_a_changed_path_count_as_with_a_command(daemon, write_unit):
    # The service has a /tmp of its own.
    folder = pathlib.Path("/srv/mail")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "box").write_text("old")
    write_unit("Type=oneshot", f"ExecStart=/bin/sh -c 'test -e {folder}/new && cp {folder}/new {folder}/box; exit 0'")
    refresh, _ = ran(daemon, MAIL, f'new_data = "changed:{folder}/box"')
    assert refresh["outcome"] == "no_data"
    (folder / "new").write_text("new")
    daemon.refreshctl("run", TODO)
    assert daemon.history()[0]["outcome"] == "new_data"
    write_unit("Type=oneshot", "ExecStart=/bin/sh -c 'exit 3'")
    daemon.configure(unit_app(more="no_data_exit = 3"))
    daemon.refreshctl("reload")
    daemon.refreshctl("run", TODO, check=False)
    assert daemon.history()[0]["outcome"] == "no_data"


def test_the_processor_time_of_the_unit_is_that_of_the_refresh(daemon, write_unit):
    script = "i=0; while [ $$i -lt 400000 ]; do i=$$((i+1)); done; cat /proc/$$$$/stat"
    write_unit("Type=oneshot", f"ExecStart=/bin/sh -c '{script}'")
    refresh, shown = ran(daemon)
    line = next(line for line in shown.splitlines() if "(sh)" in line)
    ticks = sum(map(int, line.rpartition(")")[2].split()[11:13]))
    assert ticks > 10
    assert refresh["cpu_us"] >= (ticks - 1) * 10_000


def test_what_a_unit_prints_is_in_the_journal_once(daemon, write_unit, journal):
    write_unit("Type=oneshot", "ExecStart=/bin/sh -c 'echo a line of its own'")
    _, shown = ran(daemon)
    assert shown.count("a line of its own") == 1
    assert [entry["_SYSTEMD_UNIT"] for entry in journal.entries(MESSAGE="a line of its own")] == [MAIL]


def test_an_alias_of_a_unit_is_followed_as_the_unit(daemon, write_unit):
    alias = UNITS / "mail-alias.service"
    alias.symlink_to(MAIL)
    try:
        write_unit("Type=oneshot", "ExecStart=/bin/sh -c 'echo synced 3 messages; exit 100'")
        refresh, shown = ran(daemon, alias.name)
    finally:
        alias.unlink()
    assert refresh["outcome"] == "no_data"
    assert "synced 3 messages" in shown


def test_a_service_that_runs_on_is_a_success_when_it_ends(daemon, write_unit, gate):
    write_unit("Type=simple", WAIT)
    daemon.configure(unit_app())
    daemon.start()
    running = subprocess.Popen(["refreshctl", "run", TODO], stdout=subprocess.PIPE, bufsize=0)
    wait_for_line(running, "at work")
    assert state() == "active" and "running" in daemon.app()
    gate.open()
    assert running.wait(60) == 0
    assert daemon.history()[0]["outcome"] == "new_data"


def wait_for_line(process, text, seconds=60):
    end = time.monotonic() + seconds
    while select.select([process.stdout], [], [], max(0, end - time.monotonic()))[0]:
        line = process.stdout.readline().decode()
        if text in line:
            return line
        assert line, f"ended without {text!r}"
    raise AssertionError(f"no line with {text!r} in {seconds} s")


def test_a_unit_is_stopped_at_the_deadline_of_the_refresh(daemon, write_unit, gate):
    write_unit("Type=oneshot", WAIT)
    refresh, _ = ran(daemon, deadline="1s")
    assert (refresh["outcome"], refresh["stop_reason"]) == ("failed", "deadline")
    assert state() in ("inactive", "failed")


def test_a_run_that_the_timer_began_is_joined_and_not_ended(daemon, write_unit, gate):
    write_unit("Type=oneshot", WAIT)
    subprocess.run(["systemctl", "start", "--no-block", MAIL], check=True)
    refresh, shown = ran(daemon, deadline="1s")
    assert "runs already" in shown and "at work" in shown
    assert (refresh["outcome"], refresh["stop_reason"]) == ("failed", "deadline")
    assert state() == "activating"
    daemon.configure(unit_app())
    daemon.refreshctl("reload")
    running = subprocess.Popen(["refreshctl", "run", TODO], stdout=subprocess.PIPE, bufsize=0)
    wait_for_line(running, "at work")
    gate.open()
    assert running.wait(60) == 0
    entries = daemon.journal.entries(MESSAGE="at work")
    assert len(entries) == 1
    assert daemon.history()[0]["outcome"] == "new_data"


def test_a_restart_of_the_daemon_finds_the_run_again(daemon, write_unit, gate):
    write_unit("Type=oneshot", WAIT)
    daemon.configure(unit_app())
    daemon.start()
    running = subprocess.Popen(["refreshctl", "run", TODO], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
    wait_for_line(running, "at work")
    daemon.systemctl("kill", "--signal=KILL", "refreshd.service")
    running.wait(60)
    daemon.journal.wait("daemonReady", 2)
    assert state() == "activating"
    gate.open()
    daemon.journal.wait("refreshFinished", REFRESH_APP=TODO)
    assert [refresh["outcome"] for refresh in daemon.history()] == ["new_data"]
    assert len(daemon.journal.entries(MESSAGE="at work")) == 1


def test_a_service_that_restarts_itself_is_followed_to_its_last_run(daemon, write_unit, tmp_path):
    script = f"test -e {tmp_path}/second && exit 0; touch {tmp_path}/second; exit 1"
    write_unit("Type=simple", "Restart=on-failure", "RestartSec=100ms", f"ExecStart=/bin/sh -c '{script}'")
    refresh, _ = ran(daemon)
    assert refresh["outcome"] == "new_data"


def test_a_unit_that_does_not_run_is_named_with_the_reason(daemon, write_unit):
    rows = [
        (["Type=oneshot", "ExecStart=/bin/true"], ["RefuseManualStart=yes"], "failed", "RefuseManualStart"),
        (["Type=oneshot", "ExecStart=/bin/true"], ["ConditionPathExists=/nowhere"], "no_data",
         "not run: ConditionPathExists=/nowhere is not met"),
        (["Type=oneshot", "ExecStart=/bin/true"], ["AssertPathExists=/nowhere"], "failed", "Assert"),
        (["Type=oneshot", "ExecStart=/bin/true"], ["Requires=missing.service", "After=missing.service"], "failed",
         "missing.service"),
        (["Type=oneshot", "ExecStart=/bin/true", "Nonsense"], [], "new_data", ""),
        (["Type=oneshot"], [], "failed", "its file has mistakes"),
        (["Type=oneshot", "ExecStartPre=/bin/false", "ExecStart=/bin/true"], [], "failed", "ExecStartPre="),
        (["Type=oneshot", "ExecCondition=/bin/false", "ExecStart=/bin/true"], [], "no_data", "ExecCondition="),
        (["Type=oneshot", "TimeoutStartSec=1", "ExecStart=/bin/sleep 100"], [], "failed", "TimeoutStartSec="),
        (["Type=oneshot", "ExecStart=/bin/sh -c 'kill -SEGV $$$$'"], [], "failed", "signal 11"),
        (["Type=notify", "ExecStart=/bin/true"], [], "failed", "protocol"),
        (["Type=forking", "ExecStart=/bin/sh -c 'sleep 0.2 & exit 0'"], [], "new_data", ""),
    ]  # fmt: skip
    ran = ran_each(daemon, write_unit, [(lines, unit, "") for lines, unit, _, _ in rows])
    for (lines, unit, outcome, message), (_, refresh, _) in zip(rows, ran, strict=True):
        assert refresh["outcome"] == outcome, (lines, unit, refresh)
        said = task(refresh).get("message") or ""
        assert message in said if message else said == "", (lines, unit, refresh)


def test_a_unit_whose_program_is_missing_has_the_exit_code_of_systemd(daemon, write_unit):
    write_unit("Type=exec", "ExecStart=/nowhere/program")
    refresh, _ = ran(daemon)
    assert refresh["outcome"] == "failed" and "203" in json.dumps(refresh["cause"]), refresh


def test_a_masked_and_a_missing_unit_are_named_with_the_remedy(daemon):
    refresh, _ = ran(daemon, "missing.service")
    assert "the machine has no such unit; correct its name" in task(refresh)["message"]
    subprocess.run(["systemctl", "mask", "--runtime", MAIL], check=True, timeout=60)
    try:
        refresh, _ = ran(daemon)
        assert "it is masked; `systemctl unmask sync-mail.service` allows it" in task(refresh)["message"]
    finally:
        subprocess.run(["systemctl", "unmask", "--runtime", MAIL], check=True, timeout=60)


def test_a_unit_that_stays_active_after_its_end_says_why_it_cannot_start_again(daemon, write_unit):
    write_unit("Type=oneshot", "RemainAfterExit=yes", "ExecStart=/bin/true")
    refresh, _ = ran(daemon)
    assert refresh["outcome"] == "new_data"
    daemon.refreshctl("run", TODO, check=False)
    refresh = daemon.history()[0]
    assert refresh["outcome"] == "failed"
    assert "RemainAfterExit=no" in task(refresh)["message"]


def test_an_instance_of_a_template_is_started(daemon, write_unit):
    write_unit("Type=oneshot", "ExecStart=/bin/echo account %i", name="sync-mail@.service")
    refresh, shown = ran(daemon, "sync-mail@work.service")
    assert refresh["outcome"] == "new_data" and "account work" in shown
    assert task(refresh)["name"] == "sync-mail@work"


def test_a_manager_that_executes_itself_anew_does_not_lose_the_run(daemon, write_unit, gate):
    write_unit("Type=oneshot", WAIT)
    daemon.configure(unit_app())
    daemon.start()
    running = subprocess.Popen(["refreshctl", "run", TODO], stdout=subprocess.PIPE, bufsize=0)
    wait_for_line(running, "at work")
    subprocess.run(["systemctl", "daemon-reexec"], check=True, timeout=60)
    gate.open()
    assert running.wait(60) == 0
    assert daemon.history()[0]["outcome"] == "new_data"


@pytest.fixture
def anna_lingers(anna):
    """A user whose manager runs, with a unit that waits at a gate of hers."""
    folder = pathlib.Path("/home/anna/.config/systemd/user")
    subprocess.run(["runuser", "--login", "anna", "--command", f"mkdir -p {folder}"], check=True)
    (folder / MAIL).write_text("[Service]\nType=oneshot\nExecStart=/bin/sh -c 'id -un > %h/ran; exit 100'\n")
    subprocess.run(["loginctl", "enable-linger", "anna"], check=True, timeout=60)
    subprocess.run(["systemctl", "--user", "--machine=anna@", "daemon-reload"], check=True, timeout=60)
    yield anna
    (folder / MAIL).unlink()
    pathlib.Path("/home/anna/ran").unlink(missing_ok=True)
    subprocess.run(["loginctl", "disable-linger", "anna"], check=True, timeout=60)


def test_an_app_of_a_user_means_a_unit_of_that_user(daemon, write_unit, anna_lingers):
    write_unit("Type=oneshot", "ExecStart=/bin/touch /run/machine-ran")
    refresh, _ = ran(daemon, owner="anna")
    assert refresh["outcome"] == "no_data", refresh
    assert pathlib.Path("/home/anna/ran").read_text() == "anna\n"
    assert not pathlib.Path("/run/machine-ran").exists()


def test_a_user_whose_manager_does_not_run_is_named_with_the_remedy(daemon, anna):
    subprocess.run(["systemctl", "stop", f"user@{anna}.service", f"user-runtime-dir@{anna}.service"], check=True)
    refresh, _ = ran(daemon, owner="anna")
    assert refresh["outcome"] == "failed"
    assert "there is no user bus" in task(refresh)["message"] and "enable-linger" in task(refresh)["message"]


def test_a_users_own_daemon_starts_the_users_units(anna_lingers):
    folder = pathlib.Path("/home/anna/.config/refreshd/apps.d")
    write = f"mkdir -p {folder} && cat > {folder}/{TODO}.toml"
    subprocess.run(["runuser", "--login", "anna", "--command", write], input=unit_app(), check=True, text=True)
    own = ["systemctl", "--user", "--machine=anna@"]
    try:
        subprocess.run([*own, "start", "refreshd.socket"], check=True, timeout=60)
        answer = as_user("anna", f"XDG_RUNTIME_DIR=/run/user/{anna_lingers}", "refreshctl", "run", TODO, "--json")
        assert '"no_data"' in answer.stdout, answer
        assert pathlib.Path("/home/anna/ran").read_text() == "anna\n"
    finally:
        subprocess.run([*own, "stop", "refreshd.service", "refreshd.socket"], check=True, timeout=60)
        shutil.rmtree("/home/anna/.config/refreshd")


def test_the_other_launcher_starts_units_as_well(spawned, write_unit):
    write_unit("Type=oneshot", "ExecStart=/bin/echo as usual")
    refresh, shown = ran(spawned)
    assert refresh["outcome"] == "new_data" and "as usual" in shown
