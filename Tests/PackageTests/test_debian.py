"""The Debian packages of .build/deb in a throwaway machine: installed, used, upgraded, removed, purged.

`make test-package` runs this file; it needs the packages and a booted systemd, so `make test` leaves it out.
"""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from dpkg import APPS, BRIDGE, DAEMON, ROOT, SESSION, done, install, may_start_services, purge, run, state

OWN = ("refreshd.service", "refresh-session.service")
"""The services of a user."""


@pytest.fixture
def packages():
    may_start_services()
    install(*DAEMON, *BRIDGE, *SESSION)
    yield
    purge()


def test_a_new_installation_runs_the_daemon_and_leaves_the_bridge_off(packages):
    assert [state(unit) for unit in ("refreshd.socket", "refreshd.service")] == ["active", "active"]
    assert state("refreshd.service", "is-enabled") == "enabled"
    assert (state("refresh-push.service"), state("refresh-push.service", "is-enabled")) == ("inactive", "disabled")
    for unit in ("refreshd.socket", "refresh-session.service"):
        assert run("systemctl", "--global", "is-enabled", unit).stdout.strip() == "disabled"
    assert "All is well" in done("refreshctl", "status")
    assert done("getent", "group", "refreshd") and done("getent", "passwd", "refresh-push")


def test_gnome_shell_finds_an_extension_for_each_of_its_versions(packages):
    of = {}
    for file in Path("/usr/share/gnome-shell/extensions").glob("*@refreshd/metadata.json"):
        described = json.loads(file.read_text())
        assert described["uuid"] == file.parent.name and (file.parent / "extension.js").exists()
        of |= {version: described["uuid"] for version in described["shell-version"]}
    assert (of["43"], of["48"]) == ("windows-43@refreshd", "windows@refreshd")


def test_the_pages_and_completions_are_found(packages):
    for page in ("refreshd", "refresh-session", "refreshd.toml", "refreshd-app", "push.toml", "refreshctl", "refreshctl-why"):
        assert done("man", "--path", "--where", page)
    assert Path("/usr/share/bash-completion/completions/refreshctl").exists()


COMPLETE = """
source /usr/share/bash-completion/completions/refreshctl
COMP_WORDS=(refreshctl "$@") COMP_CWORD=$# COMP_LINE="refreshctl $*" COMP_TYPE=9 COMP_KEY=9
COMP_POINT=${#COMP_LINE} complete=$(complete -p refreshctl | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
for try in {1..20}; do
  COMPREPLY=() began=$EPOCHREALTIME
  $complete refreshctl "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
  ended=$EPOCHREALTIME
  echo $((${ended/./} - ${began/./}))
done
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(*words):
    """The words that bash completes, and the milliseconds of the fastest of 20 tries, as other work may delay the rest."""
    lines = done("bash", "--norc", "-c", COMPLETE, "bash", *words).splitlines()
    return [line for line in lines[20:] if line], min(map(int, lines[:20])) / 1000


@pytest.mark.bound(120)
def test_every_kind_of_word_is_completed_within_50_ms(packages, tmp_path):
    ids = [f"org.example.app{number}" for number in range(100)]
    for id in ids:
        (APPS / f"{id}.toml").write_text(f'id = "{id}"\nbackground_interval = "never"\n[[task]]\nrun = ["true"]\n')
    done("refreshctl", "reload")
    url = "http://127.0.0.1:9/"
    done("refreshctl", "download", ids[0], url, "--to", str(tmp_path / "file"), "--session", "night-pictures")
    expected = {
        ("why", "org.ex"): ids, ("cancel-transfer", ""): ["1"], ("transfers", "--session", "ni"): ["night-pictures"],
        ("adopt", "apt-daily.t"): ["apt-daily.timer"], ("timel",): ["timeline"],
    }  # fmt: skip
    for words, found in expected.items():
        answer, took = completed(*words)
        assert (sorted(answer), took < 50) == (sorted(found), True), (words, answer, took)
    done("systemctl", "stop", "refreshd.socket", "refreshd.service")
    for words in list(expected)[:3]:
        answer, took = completed(*words)
        assert (answer, took < 50) == ([], True), (words, answer, took)


def test_the_smoke_test_of_the_package_passes(packages):
    done("sh", str(ROOT / "debian/tests/smoke"))


@pytest.mark.bound(240)
def test_an_upgrade_takes_over_the_state_of_an_older_release(before):
    """The daemon of the lower version must not touch the state, so it is stopped first."""
    install(*before)
    done("systemctl", "stop", "refreshd.socket", "refreshd.service")
    folder = Path("/var/lib/refreshd")
    for file in folder.iterdir():
        file.unlink()
    with sqlite3.connect(folder / "refreshd.sqlite") as store:
        store.executescript((ROOT / "Tests/RefreshStoreTests/Fixtures/schema-16.sql").read_text())
        ids = [id for (id,) in store.execute("SELECT id FROM app")]
    store.close()
    for id in ids:
        (APPS / f"{id}.toml").write_text(f'id = "{id}"\n[[task]]\nrun = ["true"]\n')
    install(*DAEMON, *BRIDGE, *SESSION)
    assert state("refreshd.service") == "active"
    assert "All is well" in done("refreshctl", "status")
    assert "1750000001123456" in done("refreshctl", "history", "org.example.todo", "--json")


@pytest.mark.bound(120)
def test_lintian_finds_no_error_no_warning_and_no_pedantic_remark():
    """As another user, because lintian warns root. Informations remain: docs/packages.md says which and why."""
    (changes,) = (ROOT / ".build/deb").glob("*.changes")
    command = ["lintian", "--no-cfg", "-EIL", "+pedantic", str(changes)]
    found = run("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command, cwd="/")
    assert not found.stderr
    tags = [line for line in found.stdout.splitlines() if line[:2] in ("E:", "W:", "P:", "I:")]
    assert tags
    assert [line for line in tags if not line.startswith("I:")] == []
    assert {line.split()[2] for line in tags} <= {
        "hardening-no-fortify-functions", "package-supports-alternative-init-but-no-init.d-script",
    }  # fmt: skip


def test_removing_the_bridge_stops_it(packages):
    Path("/etc/refreshd/push.toml").write_text(
        '[[ntfy]]\nname = "home"\nurl = "http://127.0.0.1:9"\ntopics = { "org.example.mail" = "upMail0123456" }\n'
    )
    done("chown", "root:refresh-push", "/etc/refreshd/push.toml")
    done("chmod", "640", "/etc/refreshd/push.toml")
    done("systemctl", "start", "refresh-push.service")
    done("dpkg", "--remove", "refresh-push")
    assert state("refresh-push.service") == "inactive"


def test_an_upgrade_restarts_users_own_daemons_and_a_removal_stops_them(before):
    """Of a user whose manager runs; what nobody has started stays so."""
    may_start_services()
    install(*before)
    done("useradd", "--create-home", "anna")
    uid = done("id", "-u", "anna").strip()
    done("systemctl", "start", f"user@{uid}.service")

    def own(*words):
        return run("systemctl", "--user", "--machine", "anna@", *words).stdout.strip()

    try:
        own("start", "refreshd.socket", "refreshd.service", "refresh-session.service")
        pids = [own("show", "--value", "-p", "MainPID", unit) for unit in OWN]
        assert "0" not in pids
        install(*DAEMON, *BRIDGE, *SESSION)
        for unit, pid in zip(OWN, pids, strict=True):
            assert own("is-active", unit) == "active" and own("show", "--value", "-p", "MainPID", unit) != pid
        purge()
        assert [own("is-active", unit) for unit in ("refreshd.socket", *OWN)] == ["inactive"] * 3
    finally:
        done("systemctl", "stop", f"user@{uid}.service")
        done("userdel", "--remove", "--force", "anna")
        purge()


def everything():
    """The files of the machine, except logs and the records of dpkg, systemd and man."""
    notes = ["/run/systemd", "/run/user", "/var/cache/man", "/var/lib/dpkg", "/var/lib/systemd", "/var/log", "/var/tmp"]
    pruned = [word for path in notes for word in ("-path", path, "-o")][:-1]
    folders = ["/etc", "/run", "/srv", "/usr", "/var"]
    return set(done("find", *folders, "(", *pruned, ")", "-prune", "-o", "-print").splitlines())


def test_purging_leaves_nothing():
    may_start_services()
    before = everything()
    install(*DAEMON, *BRIDGE, *SESSION)
    app = APPS / "org.example.todo.toml"
    app.write_text('id = "org.example.todo"\nbackground_interval = "1h"\n[[task]]\nshell = "exit 0"\n')
    source = Path("/etc/refreshd/push.toml")
    source.write_text('[[ntfy]]\nname = "home"\nurl = "http://127.0.0.1:9"\ntopics = { "org.example.todo" = "upTodo" }\n')
    shutil.chown(source, "root", "refresh-push")
    source.chmod(0o640)
    done("refreshctl", "reload")
    done("refreshctl", "run", "org.example.todo")
    done("systemctl", "start", "refresh-push.service")
    assert Path("/var/lib/refresh-push").exists() and Path("/run/refreshd").exists()
    # dpkg leaves what an administrator wrote.
    app.unlink()
    source.unlink()
    done("dpkg", "--purge", "refresh-session", "refresh-push", "refreshd")
    # Users stay, as Debian wants it: files of theirs may be elsewhere.
    users = {f"/etc/{name}{end}" for name in ("passwd", "group", "shadow", "gshadow") for end in ("-", "")}
    assert everything() - before - users == set()
    assert state("refreshd.socket") != "active"
