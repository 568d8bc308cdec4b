"""`refreshctl adopt`: Debian's timers, odd ones and a user's, adopted and given back."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

import jsonschema
import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "RefreshAPITests"))

import json_schema  # noqa: E402

from service import as_user

UNITS = pathlib.Path("/run/systemd/system")
DEBIAN = ["apt-daily.timer", "apt-daily-upgrade.timer", "fstrim.timer", "man-db.timer", "e2scrub_all.timer",
          "dpkg-db-backup.timer", "systemd-tmpfiles-clean.timer"]  # fmt: skip
# The timer and the service of Debian's package logrotate.
LOGROTATE = """[Unit]
Description=Daily rotation of log files
Documentation=man:logrotate(8) man:logrotate.conf(5)
[Timer]
OnCalendar=daily
AccuracySec=1h
Persistent=true
[Install]
WantedBy=timers.target
"""
LOGROTATE_SERVICE = """[Unit]
Description=Rotate log files
RequiresMountsFor=/var/log
ConditionACPower=true
[Service]
Type=oneshot
ExecStart=/bin/true
"""


def systemctl(*arguments, check=True):
    return subprocess.run(["systemctl", *arguments], check=check, capture_output=True, text=True, timeout=60).stdout


@pytest.fixture
def write_timer():
    """Writes a timer and its service, and removes them."""
    written = []

    def write(name, timer, service="[Service]\nType=oneshot\nExecStart=/bin/true\n", reload=True):
        for suffix, text in (("timer", timer), ("service", service)):
            (UNITS / f"{name}.{suffix}").write_text(text)
            written.append(UNITS / f"{name}.{suffix}")
        if reload:
            systemctl("daemon-reload")
        return f"{name}.timer"

    yield write
    for file in written:
        systemctl("stop", file.name, check=False)
        file.unlink()
    systemctl("daemon-reload")


def adopted(refreshd, timer):
    """The app that `adopt` prints for a timer, and the comments about its settings."""
    text = refreshd.refreshctl("adopt", timer).stdout
    return tomllib.loads(text), text


@pytest.fixture(scope="module")
def timer_of_tmpfiles():
    """This machine masks it, because it must not clean what is not its own."""
    systemctl("unmask", "--runtime", "systemd-tmpfiles-clean.timer")
    yield "systemd-tmpfiles-clean.timer"
    systemctl("unmask", "systemd-tmpfiles-clean.timer")
    systemctl("stop", "systemd-tmpfiles-clean.timer")
    systemctl("mask", "--runtime", "systemd-tmpfiles-clean.timer")


@pytest.fixture
def daemon(refreshd, timer_of_tmpfiles):
    refreshd.configure()
    refreshd.start()
    systemctl("start", timer_of_tmpfiles)
    return refreshd


def state_of_timers():
    """All that an administrator can see of the timers: their links, masks and states."""
    links = sorted(
        (str(path), str(path.readlink()))
        for root in ("/etc/systemd/system", "/run/systemd/system", "/run/systemd/system.control")
        for path in pathlib.Path(root).rglob("*.timer") if path.is_symlink())  # fmt: skip
    states = systemctl("show", "--property=Id,UnitFileState,ActiveState", *DEBIAN)
    return links, states


EXPECTED = {
    "apt-daily.timer": {"background_interval": "12h", "power": "ac", "network": "any"},
    "apt-daily-upgrade.timer": {"background_interval": "1d", "power": "ac"},
    "fstrim.timer": {"background_interval": "1w"},
    "man-db.timer": {"background_interval": "1d", "power": "ac"},
    "e2scrub_all.timer": {"background_interval": "1w"},
    "dpkg-db-backup.timer": {"background_interval": "1d"},
    "systemd-tmpfiles-clean.timer": {"background_interval": "1d"},
}


def test_the_timers_of_debian_are_apps(daemon):
    assert set(EXPECTED) == set(DEBIAN)
    for timer in DEBIAN:
        app, text = adopted(daemon, timer)
        schedule = {key: app[key] for key in EXPECTED[timer]}
        assert schedule == EXPECTED[timer], text
        assert app["task"] == [{"unit": timer.replace(".timer", ".service")}]
        assert app["id"] == f"timer.{timer.removesuffix('.timer')}"
        assert "LOST" in text


def test_timers_are_adopted_and_given_back_as_they_were(daemon):
    # The units that are enabled on the host are not in this machine.
    enabled = [timer for timer in DEBIAN if "[Install]" in systemctl("cat", timer)]
    systemctl("enable", *enabled)
    systemctl("start", *DEBIAN)
    states = [state_of_timers()]
    for timer in DEBIAN:
        name = timer.removesuffix(".timer")
        answer = daemon.refreshctl("adopt", timer, "--now")
        assert f"refreshd starts {name}.service now, and {timer} is off." in answer.stdout
        assert systemctl("is-active", timer, check=False).strip() == "inactive"
        assert state_of_timers() not in states
        states.append(state_of_timers())
        assert f"timer.{name}" in daemon.refreshctl("list").stdout
    # Nothing starts them at the next boot.
    systemctl("daemon-reload")
    subprocess.run(["systemctl", "restart", "timers.target"], check=True, timeout=60)
    assert state_of_timers() == states.pop()
    listed = json.loads(daemon.refreshctl("adopt", "--list", "--json").stdout)["timers"]
    assert {each["timer"]: each.get("obstacle") for each in listed if each["adopted"]} == dict.fromkeys(DEBIAN)
    # In the opposite order, so that each is given back as it was, whatever the others are.
    for timer in reversed(DEBIAN):
        again = daemon.refreshctl("adopt", timer, "--now", check=False)
        assert again.returncode == 1 and "run `refreshctl unadopt" in again.stderr
        assert "is as it was before" in daemon.refreshctl("unadopt", timer).stdout
        assert state_of_timers() == states.pop()
    assert states == []
    assert daemon.call("List")["apps"] == []
    assert list(pathlib.Path("/etc/refreshd/apps.d").iterdir()) == []
    systemctl("disable", *enabled)
    systemctl("stop", *DEBIAN)


def test_the_adopted_service_runs_and_is_accounted(daemon, write_timer):
    timer = write_timer("logrotate-like", LOGROTATE, LOGROTATE_SERVICE.replace("ConditionACPower=true\n", ""))
    systemctl("start", timer)
    daemon.refreshctl("adopt", timer, "--now")
    daemon.refreshctl("run", "timer.logrotate-like")
    assert daemon.history("timer.logrotate-like")[0]["outcome"] == "new_data"
    daemon.refreshctl("unadopt", timer)
    assert systemctl("is-active", timer).strip() == "active"


def test_conditions_of_a_service_are_those_of_the_app(daemon, write_timer):
    app, text = adopted(daemon, write_timer("logrotate-like", LOGROTATE, LOGROTATE_SERVICE))
    assert (app["background_interval"], app["power"]) == ("1d", "ac")
    assert "# Persistent=yes: nothing to do" in text
    assert "the time of day is not kept" in text


def calendar(*expressions, more=""):
    return "[Timer]\n" + "".join(f"OnCalendar={expression}\n" for expression in expressions) + more


def test_other_rhythms(daemon, write_timer):
    rows = [
        (calendar("02:00", "06:00", "10:30", "15:00", "21:00"), {"background_interval": "4h"}, "not evenly spaced"),
        (calendar("Mon..Fri 9..17:00"), {"background_interval": "1h", "quiet": "18:00-09:00"}, "no days of the week"),
        (calendar("*:0/30"), {"background_interval": "30min"}, None),
        (calendar("*:0/5"), {"background_interval": "15min"}, "the machine's floor is 15min"),
        (calendar("weekly", more="WakeSystem=yes\n"), {"background_interval": "1w"}, "does not wake a sleeping machine"),
        ("[Timer]\nOnBootSec=15min\nOnUnitActiveSec=6h\n", {"background_interval": "6h"}, None),
        ("[Timer]\nOnUnitInactiveSec=45min\n", {"background_interval": "45min"}, None),
        ("[Unit]\nConditionPathExists=/srv\n" + calendar("hourly"), {"background_interval": "1h"},
         "ConditionPathExists=/srv"),
    ]  # fmt: skip
    names = [write_timer(f"odd{number}", timer, reload=False) for number, (timer, _, _) in enumerate(rows)]
    systemctl("daemon-reload")
    for name, (timer, keys, lost) in zip(names, rows, strict=True):
        app, text = adopted(daemon, name)
        assert {key: app.get(key) for key in keys} == keys, text
        said = [line for line in text.splitlines() if "LOST" in line and "TimeoutStartSec" not in line]
        assert any(lost in line for line in said) if lost else said == [], text
        # Every line of the timer's settings is explained.
        explained = [line for line in text.splitlines() if re.match(r"# OnCalendar=.+: background_interval = ", line)]
        assert len(explained) == len(re.findall(r"OnCalendar=(.+)", timer)), text


def test_a_timer_without_an_equal_says_why(daemon, write_timer):
    rows = [
        ("[Timer]\nOnBootSec=15min\n", None, "once, and not repeatedly"),
        (calendar("hourly", more="Unit=timers.target\n"), None, "is not a service"),
        (calendar("hourly", more="Unit=nowhere.service\n"), None, "its nowhere.service does not exist"),
        (calendar("hourly"), "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n", "RemainAfterExit"),
    ]
    for number, (timer, service, _) in enumerate(rows):
        write_timer(f"odd{number}", timer, *([service] if service else []), reload=False)
    systemctl("daemon-reload")
    shown = json.loads(daemon.refreshctl("adopt", "--list", "--json").stdout)["timers"]
    for number, (timer, _, reason) in enumerate(rows):
        name = f"odd{number}.timer"
        answer = daemon.refreshctl("adopt", name, check=False)
        assert answer.returncode == 1 and reason in answer.stderr, timer
        assert reason in next(each["obstacle"] for each in shown if each["timer"] == name), timer


def test_the_output_follows_the_schema(daemon):
    definitions = json_schema.schema(strict=True)["$defs"]
    for command in (["adopt", "--list"], ["adopt", "man-db"], ["adopt", "man-db", "--now"], ["unadopt", "man-db"]):
        answer = json.loads(daemon.refreshctl(*command, "--json").stdout)
        schema = {"$ref": f"#/$defs/{command[0]}", "$defs": definitions}
        jsonschema.Draft202012Validator(schema).validate(answer)


def test_a_masked_timer_is_left_alone(refreshd):
    systemctl("mask", "--runtime", "fstrim.timer")
    try:
        answer = refreshd.refreshctl("adopt", "fstrim.timer", check=False)
    finally:
        systemctl("unmask", "--runtime", "fstrim.timer")
    assert answer.returncode == 1 and "it is masked" in answer.stderr


def test_a_missing_timer_and_a_daemon_that_is_away_change_nothing(refreshd, write_timer):
    assert refreshd.refreshctl("adopt", "nowhere.timer", check=False).returncode == 66
    assert refreshd.refreshctl("unadopt", "nowhere.timer", check=False).returncode == 66
    timer = write_timer("odd", calendar("hourly"))
    systemctl("start", timer)
    answer = refreshd.refreshctl("adopt", timer, "--now", check=False)
    assert answer.returncode == 69
    assert not pathlib.Path("/etc/refreshd/apps.d/timer.odd.toml").exists()
    assert systemctl("is-active", timer).strip() == "active"


def test_a_daemon_that_does_not_read_the_file_leaves_the_timer_on(refreshd, write_timer):
    refreshd.configure()
    pathlib.Path("/etc/refreshd/other").mkdir()
    refreshd.drop_in("[Service]\nExecStart=\nExecStart=refreshd --config /etc/refreshd/other\n")
    refreshd.start()
    timer = write_timer("odd", calendar("hourly"))
    systemctl("start", timer)
    answer = refreshd.refreshctl("adopt", timer, "--now", check=False)
    assert answer.returncode == 1 and "does not use /etc/refreshd/apps.d/timer.odd.toml" in answer.stderr, answer
    assert not pathlib.Path("/etc/refreshd/apps.d/timer.odd.toml").exists()
    assert systemctl("is-active", timer).strip() == "active"


def test_a_mistake_in_another_file_is_told_once(daemon, write_timer):
    timer = write_timer("odd", calendar("hourly"))
    pathlib.Path("/etc/refreshd/apps.d/bad.toml").write_text("nonsense = 1\n")
    answer = daemon.refreshctl("adopt", timer, "--now", check=False)
    assert answer.returncode == 1 and answer.stderr.count("bad.toml:1") == 1, answer


def test_a_timer_that_cannot_be_kept_off_is_as_before(daemon):
    # The administrator's file is where the mask would be.
    timer, service = (pathlib.Path(f"/etc/systemd/system/rare.{kind}") for kind in ("timer", "service"))
    timer.write_text(calendar("hourly"))
    service.write_text("[Service]\nType=oneshot\nExecStart=/bin/true\n")
    systemctl("daemon-reload")
    systemctl("start", "rare.timer")
    try:
        answer = daemon.refreshctl("adopt", "rare.timer", "--now", check=False)
        assert answer.returncode == 1 and "systemctl mask rare.timer" in answer.stderr, answer
        assert systemctl("is-active", "rare.timer").strip() == "active"
        assert daemon.call("List")["apps"] == []
    finally:
        systemctl("stop", "rare.timer")
        timer.unlink()
        service.unlink()
        systemctl("daemon-reload")


@pytest.mark.parametrize("runtime", [[], ["--runtime"]])
def test_an_enabled_timer_is_enabled_again_in_the_same_way(daemon, write_timer, runtime):
    timer = write_timer("odd", calendar("hourly", more="[Install]\nWantedBy=timers.target\n"))
    systemctl("enable", "--now", *runtime, timer)
    state = systemctl("is-enabled", timer)
    daemon.refreshctl("adopt", timer, "--now")
    assert systemctl("is-enabled", timer, check=False).strip() == "disabled"
    daemon.refreshctl("unadopt", timer)
    assert systemctl("is-enabled", timer) == state
    systemctl("disable", "--now", *runtime, timer)


def test_a_static_timer_that_is_stopped_does_not_come_back_at_boot(daemon, write_timer):
    timer = write_timer("odd", calendar("hourly"))
    daemon.refreshctl("adopt", timer, "--now")
    assert systemctl("is-enabled", timer, check=False).strip() == "masked"
    daemon.refreshctl("unadopt", timer)
    assert systemctl("is-enabled", timer, check=False).strip() == "static"
    assert systemctl("is-active", timer, check=False).strip() == "inactive"


def test_an_edited_file_is_kept_under_another_name(daemon, write_timer):
    timer = write_timer("odd", calendar("hourly"))
    daemon.refreshctl("adopt", timer, "--now")
    file = pathlib.Path("/etc/refreshd/apps.d/timer.odd.toml")
    edited = file.read_text() + 'environment = { A = "my own" }\n'
    file.write_text(edited)
    answer = daemon.refreshctl("unadopt", timer)
    assert f"is now {file}.unadopted" in " ".join(answer.stdout.split()) and not file.exists()
    assert pathlib.Path(f"{file}.unadopted").read_text() == edited
    assert daemon.call("List")["apps"] == []


def test_two_timers_whose_apps_would_have_one_id(daemon, write_timer):
    first, second = (write_timer(name, calendar("hourly")) for name in ("fo_o_a", "fo_o:a"))
    daemon.refreshctl("adopt", first, "--now")
    for command in (["adopt", second, "--now"], ["unadopt", second]):
        answer = daemon.refreshctl(*command, check=False)
        assert answer.returncode == 1 and ("belongs to something else" in answer.stderr or first in answer.stderr), answer
    listed = {each["timer"]: each for each in json.loads(daemon.refreshctl("adopt", "--list", "--json").stdout)["timers"]}
    assert (listed[first]["adopted"], listed[second]["adopted"]) == (True, False)
    daemon.refreshctl("unadopt", first)


@pytest.mark.parametrize("line", ["ConditionACPower=yes", "ConditionACPower = 1", "  ConditionACPower=On\r"])
def test_mains_power_is_found_in_every_spelling(daemon, write_timer, line):
    app, text = adopted(daemon, write_timer("odd", f"[Unit]\n{line}\n" + calendar("hourly")))
    assert app["power"] == "ac" and "a run is stopped, which systemd does not do" in text


def test_a_name_that_begins_with_a_digit_and_a_time_limit_below_a_second(daemon, write_timer):
    service = "[Service]\nType=oneshot\nTimeoutStartSec=500ms\nExecStart=/bin/true\n"
    timer = write_timer("30min", calendar("hourly"), service)
    daemon.refreshctl("adopt", timer, "--now")
    assert daemon.app("timer._30min")["deadline_us"] == 1_000_000
    daemon.refreshctl("unadopt", timer)


@pytest.mark.parametrize(
    ("more", "limit"), [("", "RuntimeMaxSec=infinity: LOST"), ("RuntimeMaxSec=20s", "RuntimeMaxSec=20s: ")])
def test_the_time_limit_of_a_service_that_runs_on(daemon, write_timer, more, limit):
    _, text = adopted(daemon, write_timer("odd", calendar("hourly"), f"[Service]\nExecStart=/bin/true\n{more}\n"))
    assert limit in text and "TimeoutStartSec" not in text


def test_the_list_has_every_timer_and_its_gains(daemon):
    timers = {each["timer"]: each for each in json.loads(daemon.refreshctl("adopt", "--list", "--json").stdout)["timers"]}
    assert set(DEBIAN) <= set(timers)
    assert "waits for mains power" in timers["man-db.timer"]["gains"]
    assert "waits for a network" in timers["apt-daily.timer"]["gains"]
    assert "catches up" in timers["dpkg-db-backup.timer"]["gains"]
    assert "man-db.timer" in daemon.refreshctl("adopt", "--list").stdout


@pytest.mark.parametrize(
    ("name", "timer", "service"),
    [
        # The files that isync and vdirsyncer document.
        ("mbsync", "OnBootSec=2m\nOnUnitActiveSec=20m", "Type=oneshot"),
        ("vdirsyncer", "OnBootSec=5m\nOnUnitActiveSec=15m", "RuntimeMaxSec=3m\nRestart=on-failure"),
    ],
)
def test_a_users_timer_is_adopted_by_the_users_daemon(anna, name, timer, service):
    units = pathlib.Path("/home/anna/.config/systemd/user")
    run = lambda *words: as_user("anna", f"XDG_RUNTIME_DIR=/run/user/{anna}", *words)  # noqa: E731
    subprocess.run(["loginctl", "enable-linger", "anna"], check=True, timeout=60)
    try:
        run("mkdir", "-p", str(units))
        (units / f"{name}.timer").write_text(f"[Timer]\n{timer}\n[Install]\nWantedBy=timers.target\n")
        (units / f"{name}.service").write_text(f"[Service]\n{service}\nExecStart=/bin/echo synced\n")
        run("systemctl", "--user", "daemon-reload")
        run("systemctl", "--user", "enable", "--now", f"{name}.timer")
        run("systemctl", "--user", "start", "refreshd.socket")
        answer = run("refreshctl", "adopt", "--user", f"{name}.timer", "--now")
        assert answer.returncode == 0 and f"{name}.timer is off" in answer.stdout, answer
        assert run("systemctl", "--user", "is-active", f"{name}.timer").stdout.strip() == "inactive"
        ended = run("refreshctl", "run", f"timer.{name}", "--json").stdout
        assert '"new_data"' in ended, ended
        assert run("refreshctl", "unadopt", "--user", f"{name}.timer").returncode == 0
        assert run("systemctl", "--user", "is-active", f"{name}.timer").stdout.strip() == "active"
        assert run("systemctl", "--user", "is-enabled", f"{name}.timer").stdout.strip() == "enabled"
    finally:
        run("systemctl", "--user", "stop", f"{name}.timer", "refreshd.service", "refreshd.socket")
        run("systemctl", "--user", "disable", f"{name}.timer")
        subprocess.run(["loginctl", "disable-linger", "anna"], check=True, timeout=60)
        for path in ("/home/anna/.config/refreshd", units):
            shutil.rmtree(path, ignore_errors=True)
