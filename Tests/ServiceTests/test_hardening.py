"""The options of the daemon's unit are in force, tasks inherit none of them, and everything works."""

import pathlib
import subprocess
import time

import pytest

from service import TODO, app, owner_of

# Of capabilities(7).
DAC_READ_SEARCH, KILL, SETGID, SETUID = (1 << bit for bit in (2, 5, 6, 7))
FIELDS = ("NoNewPrivs", "CapBnd", "Seccomp")


def rights(text):
    """The security fields of /proc/PID/status: no new privileges, the capabilities, the system call filter."""
    status = dict(line.split(":\t") for line in text.splitlines() if ":\t" in line)
    return [int(status[field], 16) for field in FIELDS]


def test_a_task_is_its_owner_in_his_home(either):
    either.configure(app('cd && { id -un; id -Gn; echo "$HOME $REFRESH_APP"; } > refreshed', owner="anna"))
    either.start()
    either.refreshctl("run", TODO)
    result = pathlib.Path("/home/anna/refreshed")
    assert result.read_text().splitlines() == ["anna", "anna", f"/home/anna {TODO}"]
    assert owner_of(result) == "anna"


@pytest.fixture
def private_home(installed):
    """A home that only its owner may enter, with a program that only its owner may run: this needs CAP_DAC_READ_SEARCH."""
    home = pathlib.Path("/home/anna")
    home.chmod(0o700)
    tool = home / "tool"
    tool.write_text("#!/bin/sh\ntest ! -e $HOME/news || date +%N > $HOME/inbox\n")
    tool.chmod(0o700)
    subprocess.run(["chown", "anna:anna", tool], check=True)
    (home / "news").unlink(missing_ok=True)
    return home


def test_a_private_directory_is_watched_for_new_data(either, private_home):
    text = app("", owner="anna").replace("shell = ''''''", 'run = ["/home/anna/tool"]')
    either.configure(text + 'new_data = "changed:/home/anna/inbox"\n')
    either.start()
    assert either.refreshctl("run", TODO, check=False).returncode == 100
    (private_home / "news").touch()
    assert either.refreshctl("run", TODO, check=False).returncode == 0


def test_the_daemon_has_the_rights_that_it_uses_and_its_tasks_have_none_of_its_bounds(refreshd):
    report = pathlib.Path("/run/report")
    refreshd.configure(app(f"cat /proc/self/status > {report}"))
    refreshd.start()
    refreshd.refreshctl("run", TODO)
    assert rights(pathlib.Path(f"/proc/{refreshd.main_pid}/status").read_text()) == [1, DAC_READ_SEARCH, 2]
    own = rights(pathlib.Path("/proc/1/status").read_text())
    assert rights(report.read_text()) == [0, own[1], 0]
    report.unlink()


def test_the_daemon_hears_of_the_machine_within_its_bounds(refreshd):
    refreshd.configure(app("exit 0", network="any", power="not-low", idle=True, calm=True))
    refreshd.start()
    end = time.monotonic() + 20
    # The sources have two seconds to reply.
    while not all(
        (conditions := refreshd.call("Why", app=TODO)["why"]["conditions"])[fact]["source"]
        for fact in ("idle", "network", "pressure")
    ):
        assert time.monotonic() < end, conditions
    assert conditions["idle"]["source"] == "systemd-logind"
    assert (conditions["pressure"]["source"], conditions["pressure"].get("problem")) == ("PSI", None)
    # The value depends on the tests before.
    assert conditions["network"]["source"] in ("rtnetlink", "systemd-networkd")


def test_the_daemon_does_not_see_the_tmp_of_others_and_says_so(refreshd):
    refreshd.configure(app("true") + 'new_data = "changed:/tmp/inbox"\n')
    refreshd.start()
    assert 'cannot watch "/tmp/inbox": the daemon has its own /tmp' in refreshd.journal.text()


def test_the_options_are_in_force_for_spawned_tasks_of_root_too(spawned):
    spawned.configure(
        app("exec > /run/refreshd/report 2>&1; cat /proc/self/status; "
            "for path in /etc/probe /usr/probe /proc/sys/kernel/domainname; do "
            "echo x > $path && echo wrote $path; done; "
            "hostname probe && echo renamed; dmesg > /dev/null && echo read the kernel log; exit 0")
    )
    spawned.start()
    spawned.refreshctl("run", TODO)
    report = pathlib.Path("/run/refreshd/report").read_text()
    assert rights(report) == [1, DAC_READ_SEARCH | KILL | SETGID | SETUID, 2]
    for done in ("wrote", "renamed", "read the kernel log"):
        assert done not in report, report


def test_a_spawned_task_has_a_cgroup_of_its_own(spawned):
    spawned.configure(app("cat /proc/self/cgroup > /run/refreshd/cgroup"))
    spawned.start()
    spawned.refreshctl("run", TODO)
    group = pathlib.Path("/run/refreshd/cgroup").read_text()
    assert "/system.slice/refreshd.service/refresh-" in group


def test_state_is_private_and_kept_over_restarts(refreshd):
    refreshd.configure(app("exit 0"))
    refreshd.start()
    refreshd.refreshctl("run", TODO)
    before = refreshd.history()
    refreshd.systemctl("restart", "refreshd.service")
    assert refreshd.history() == before
    assert oct(pathlib.Path("/var/lib/refreshd").stat().st_mode & 0o777) == "0o700"


def test_the_units_are_without_a_fault(refreshd):
    for scope in ("system", "user"):
        units = [f"/usr/lib/systemd/{scope}/refreshd.{kind}" for kind in ("service", "socket")]
        pathlib.Path("/run/user/0").mkdir(parents=True, exist_ok=True)
        answer = subprocess.run(
            ["systemd-analyze", f"--{scope}", "verify", *units], capture_output=True, text=True, timeout=60,
            env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": "/run/user/0"},
        )
        assert (answer.returncode, answer.stderr) == (0, "")


def test_the_exposure_of_the_daemon_is_at_most_one_and_a_half(refreshd):
    """The score in tenths; 100 is a service without any restriction."""
    answer = subprocess.run(
        ["systemd-analyze", "security", "--threshold=15", "refreshd.service"], capture_output=True, text=True, timeout=60,
    )
    assert answer.returncode == 0, answer.stdout.splitlines()[-1]
