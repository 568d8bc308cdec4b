"""The options of the unit are in force, and tasks work all the same."""

import pathlib
import subprocess

from service import TODO, app, owner_of

UNIT = pathlib.Path(__file__).resolve().parents[2] / "systemd"


def test_a_task_is_its_owner_in_his_home(either):
    refreshd = either
    refreshd.configure(app('cd && { id -un; id -Gn; echo "$HOME $REFRESH_APP"; } > refreshed', owner="anna"))
    refreshd.start()
    refreshd.refreshctl("run", TODO)
    result = pathlib.Path("/home/anna/refreshed")
    assert result.read_text().splitlines() == ["anna", "anna", f"/home/anna {TODO}"]
    assert owner_of(result) == "anna"


def test_a_private_directory_is_watched_for_new_data(either):
    refreshd = either
    # What CAP_DAC_READ_SEARCH is for: the daemon sees into a home that is its owner's alone.
    home = pathlib.Path("/home/anna")
    home.chmod(0o700)
    text = app("true", owner="anna") + 'new_data = "changed:/home/anna/inbox"\n'
    refreshd.configure(text)
    refreshd.start()
    assert refreshd.refreshctl("run", TODO, check=False).returncode == 100
    refreshd.configure(text.replace("true", "date +%N > /home/anna/inbox"))
    refreshd.systemctl("reload", "refreshd.service")
    assert refreshd.refreshctl("run", TODO, check=False).returncode == 0


def test_the_options_are_in_force_for_spawned_tasks_of_root_too(spawned):
    spawned.configure(
        app("exec > /run/refreshd/report 2>&1; grep -E '^(NoNewPrivs|CapBnd|Seccomp):' /proc/self/status; "
            "for path in /etc/probe /usr/probe /proc/sys/kernel/domainname; do "
            "echo x > $path && echo wrote $path; done; "
            "hostname probe && echo renamed; dmesg > /dev/null && echo read the kernel log; exit 0")
    )
    spawned.start()
    spawned.refreshctl("run", TODO)
    report = pathlib.Path("/run/refreshd/report").read_text()
    status = dict(line.split(":\t") for line in report.splitlines() if ":\t" in line)
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    # CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SETGID, CAP_SETUID: bits 2, 5, 6 and 7 (capabilities(7)).
    assert int(status["CapBnd"], 16) == 1 << 2 | 1 << 5 | 1 << 6 | 1 << 7
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


def test_the_sandbox_does_not_get_wider(refreshd):
    answer = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=50", "refreshd.service"],
        capture_output=True, text=True, timeout=60,
    )
    assert answer.returncode == 0, answer.stdout.splitlines()[-1]
