"""Transfers of a sandboxed app: with its own network, in its own folder, and nowhere else."""

import errno
import json
import os
import shutil

import pytest

from daemon import TODO, finished
from preload import preload  # noqa: F401
from processes import end_all
from sandbox import Flatpak, Lookalike, OwnDaemon
from servers.body import Body
from transfers import Transfers

pytestmark = [
    pytest.mark.spawned,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a process another user database"),
]

SIZE = 300_000
NOT_ALLOWED = "org.refreshd.NotAllowed"


@pytest.fixture
def own(scratch):
    daemon = OwnDaemon(scratch)
    daemon.transfers = Transfers(daemon)
    daemon.secret = daemon.home / ".ssh/id_test"
    daemon.secret.parent.mkdir(mode=0o700)
    daemon.secret.write_text("secret:key\n")
    daemon.secret.chmod(0o600)
    yield daemon
    daemon.close()
    end_all(str(scratch))


@pytest.fixture
def app(own):
    own.start()
    return Flatpak(own)


def of_ssh(own):
    return sorted(path.name for path in own.secret.parent.iterdir())


def test_a_flatpak_reads_and_writes_its_own_folder(own, app, misbehaving):
    """By the path inside the sandbox, and by the one outside; with a password of its own."""
    password = app.folder / "config/password"
    password.write_text("ann:secret\n")
    password.chmod(0o600)
    url = misbehaving.url("plain", SIZE, needs="ann:secret")
    own.transfers.done(app.enqueue(url, "/var/data/in", credential_file=str(password)))
    own.transfers.done(app.enqueue(misbehaving.url("plain", SIZE), app.folder / "cache/in"))
    assert (app.folder / "data/in").read_bytes() == (app.folder / "cache/in").read_bytes() == Body(SIZE).bytes()
    own.transfers.done(app.enqueue(misbehaving.url("put"), "/var/data/in", direction="upload"))
    assert misbehaving.of("put")[-1].sha256 == Body(SIZE).sha256


def test_a_flatpak_cannot_name_what_is_outside_its_folder(own, app, misbehaving):
    own.app("exit 100", id="org.example.other")
    url = misbehaving.url("plain", SIZE)
    places = [own.home / ".bashrc", app.folder / "x", own.home / ".var/app/org.example.other/data/x", "/etc/x",
              own.runtime / "doc/by-app/org.example.other/1a2b/x", own.runtime / "doc/1a2b/.xdp-x"]  # fmt: skip
    refused = [app.try_to_enqueue(url, place)["error"] for place in places]
    fields = [{"path": own.secret, "direction": "upload"}, {"netrc": True}, {"priority": 1},
              {"credential_file": str(own.secret)}, {"headers_file": str(own.secret)}]  # fmt: skip
    refused += [app.try_to_enqueue(url, **{"path": "/var/data/x", **one})["error"] for one in fields]
    assert set(refused) == {NOT_ALLOWED}
    id = app.enqueue(misbehaving.url("plain", SIZE, hold=1000), "/var/data/x")
    assert app.ask("Transfers.SetPriority", ids=[id], priority=1)["error"] == NOT_ALLOWED
    assert "error" not in app.ask("Transfers.SetPriority", ids=[id], priority=-1)
    # No server has heard of the refused ones.
    assert {asked.settings.get("hold") for asked in misbehaving.requests} <= {"1000"}


def test_a_flatpak_without_the_network_or_with_another_folder_gets_nothing(own, app, misbehaving):
    url = misbehaving.url("plain", SIZE)
    for other in (Flatpak(own, "--unshare=network"), Lookalike(own, own.home)):
        assert other.try_to_enqueue(url, "/var/data/x")["error"] == NOT_ALLOWED
    assert not misbehaving.requests


@pytest.mark.parametrize("place", ["data/x", "data"])
def test_links_that_the_app_has_planted_lead_nowhere(own, app, misbehaving, place):
    if place == "data":
        (app.folder / "data").rmdir()
    (app.folder / place).symlink_to(own.secret.parent)
    path = app.folder / ("data/x/in" if place == "data/x" else "data/in")
    assert "symbolic link" in own.transfers.failed(app.enqueue(misbehaving.url("plain", SIZE), path))["message"]
    upload = app.enqueue(misbehaving.url("put"), path.with_name("id_test"), direction="upload")
    assert "symbolic link" in own.transfers.failed(upload)["message"]
    assert of_ssh(own) == ["id_test"] and not misbehaving.requests


def test_a_slash_with_a_combining_mark_hides_no_link(own, app, misbehaving):
    """For Swift the two are one character, but not for the kernel."""
    (app.folder / "data/x").symlink_to(own.secret.parent)
    for name in ("\u0301in", "\u0301folder/in"):
        id = app.enqueue(misbehaving.url("plain", SIZE), f"/var/data/x/{name}")
        assert "symbolic link" in own.transfers.failed(id)["message"]
    assert of_ssh(own) == ["id_test"] and not misbehaving.requests


def test_a_link_swapped_in_during_the_transfer_leads_nowhere(own, app, misbehaving):
    id = app.enqueue(misbehaving.url("plain", SIZE, hold=100_000), "/var/data/in")
    misbehaving.wait_until_held("plain")
    (app.folder / "data").rename(app.folder / "moved")
    (app.folder / "data").symlink_to(own.secret.parent)
    misbehaving.let_go()
    own.transfers.failed(id)
    assert of_ssh(own) == ["id_test"]


def test_files_with_secrets_are_the_apps_alone(own, app, misbehaving):
    """A link to somebody else's secret, one with a second name, and one that others may read."""
    folder = app.folder / "data"
    (folder / "link").symlink_to(own.secret)
    for name in ("twice", "open"):
        shutil.copy(own.secret, folder / name)
    os.link(folder / "twice", folder / "again")
    (folder / "open").chmod(0o644)
    url = misbehaving.url("plain", SIZE)
    for name, words in (("link", "symbolic link"), ("twice", "another name"), ("open", "mode 0600")):
        id = app.enqueue(url, "/var/data/in", credential_file=f"/var/data/{name}")
        assert words in own.transfers.failed(id)["message"]
    assert not misbehaving.requests


def test_a_flatpak_speaks_for_its_own_app_and_is_not_the_person(own, app):
    """Neither may it change what the person has set, nor ask about the machine or another app."""
    other = "org.example.other"
    own.app("exit 100", network="wifi", ssids=["HomeNet"])
    own.app("exit 100", id=other)
    own.call("Manager.Reload")
    for method in ("Enable", "Disable", "Skip", "Set", "Reset"):
        assert app.ask(f"Manager.{method}", apps=[TODO])["error"] == NOT_ALLOWED, method
    for method, fields in (("Run", {"app": TODO, "anyway": True}), ("Pause", {}), ("Reload", {}), ("Status", {})):
        assert app.ask(f"Manager.{method}", **fields)["error"] == NOT_ALLOWED, method
    for id in (other, "org.example.none"):
        assert app.ask("App.Signal", app=id, signal="foreground")["error"] == NOT_ALLOWED
        assert app.ask("Manager.Why", app=id)["error"] == NOT_ALLOWED
    assert app.ask("App.Signal", app=TODO, signal="background")["phase"] == "background"
    assert "HomeNet" in str(own.call("Manager.Why", app=TODO))
    for method in ("Why", "Show", "History"):
        answer = app.ask(f"Manager.{method}", app=TODO)
        assert "error" not in answer
        assert not [word for word in ("HomeNet", other) if word in str(answer)], json.dumps(answer, indent=1)


def test_a_flatpak_whose_first_thread_has_ended_is_nobody(own, app):
    """The kernel shows no root directory of such a process, so it is not known in which sandbox it is."""
    own.app("exit 100")
    own.call("Manager.Reload")
    for method, fields in (("Show", {"app": TODO}), ("Disable", {"apps": [TODO]}), ("Status", {})):
        assert app.ask(f"Manager.{method}", "thread", **fields)["error"] == NOT_ALLOWED, method
    assert "error" not in app.ask("Manager.Version", "thread")


def test_a_flatpak_ends_nothing_of_another_app(own, app, misbehaving):
    """Not even with the token of the other's task, nor from a sandbox that it makes within its own."""
    other = "org.example.other"
    tokens = own.pipe("tokens")
    own.app(f"echo $REFRESH_TOKEN > {tokens}; exec sleep 60", id=other)
    own.app("exit 100")
    own.call("Manager.Reload")
    run = own.run(other)
    token = tokens.line()
    request = {"url": misbehaving.url("plain", SIZE, hold=1000), "path": str(own.home / "other"), "network": "none"}
    id = own.transfers.enqueue(request, app=other)[0]
    misbehaving.wait_until_held("plain")
    assert app.ask("App.Complete", token=token, outcome="new_data")["error"] == "org.refreshd.NoSuchToken"
    for method in ("Cancel", "Pause", "Resume"):
        assert app.ask(f"Transfers.{method}", ids=[id])["error"] == NOT_ALLOWED
    assert app.ask("Transfers.Rejoin", app=other, session="default")["error"] == NOT_ALLOWED
    assert app.ask("Transfers.List")["transfers"] == []
    for method in ("Show", "Why", "History"):
        assert app.ask(f"Manager.{method}", "within", app=other)["error"] == NOT_ALLOWED
    assert "error" not in app.ask("Manager.Show", "within", app=TODO)
    assert own.show(other)["running"] and "result" not in own.transfers.show(id)
    own.call("Manager.Expire", refresh=own.show(other)["running"]["id"])
    assert finished(run)["outcome"] == "failed"


def test_a_flatpak_has_a_share_of_its_users_queue(own, app):
    def ask(count, servers):
        requests = [{"url": f"http://h{n % servers}.invalid/{n}", "path": f"/var/data/{n}"} for n in range(count)]
        return app.ask("Transfers.Enqueue", app=TODO, transfers=requests)

    assert "64 servers" in "{limit} {bound}".format(**ask(65, 65))
    assert len(ask(1000, 1)["ids"]) == 1000
    assert "1000 transfers" in "{limit} {bound}".format(**ask(1, 1))


@pytest.fixture(params=["with Landlock", "without"])
def taken_over(own, preload, request):  # noqa: F811
    """A daemon whose workers try to read the secret and to make a file beside it; gives what comes of both."""
    verdict = own.home / ".var/app" / TODO / "data/verdict"
    verdict.parent.mkdir(parents=True)
    is_bound = request.param != "without"
    own.start(environment={
        "LD_PRELOAD": str(preload("landlock")), "OUTSIDE": str(own.secret), "VERDICT": str(verdict),
        "LANDLOCK": "" if is_bound else "none",
    })  # fmt: skip
    expected = [errno.EACCES, errno.EACCES] if is_bound else [0, 0]
    yield lambda: [int(word) for word in verdict.read_text().split()] == expected
    assert ("all files of the user" in own.status()["unconfined"]) == (not is_bound)


def test_the_kernel_keeps_a_flatpaks_worker_in_its_folder(own, taken_over, misbehaving):
    own.transfers.done(Flatpak(own).enqueue(misbehaving.url("plain", SIZE), "/var/data/in"))
    assert taken_over()


def test_the_kernel_keeps_every_worker_of_a_user_at_its_files(own, taken_over, misbehaving):
    """A transfer, and a task of the kind `http`."""
    folder = own.home / ".var/app" / TODO / "data"
    own.app("exit 100")
    own.call("Manager.Reload")
    request = {"url": misbehaving.url("plain", SIZE), "path": str(folder / "in"), "network": "none"}
    own.transfers.done(own.transfers.enqueue(request)[0])
    assert taken_over()
    fetch = f'{{ url = "{misbehaving.url("plain", SIZE)}", to = "{folder / "feed"}" }}'
    own.file().write_text(f'id = "{TODO}"\nbackground_interval = "never"\nnetwork = "none"\n[[task]]\nhttp = {fetch}\n')
    own.call("Manager.Reload")
    (folder / "verdict").unlink()
    assert own.refresh()["outcome"] == "new_data"
    assert taken_over() and Body(SIZE).is_in(folder / "feed")


def test_a_bound_worker_reads_what_its_transfer_names(own, misbehaving):
    """And what it may read is what the path leads to when the transfer begins, though an earlier one still runs."""
    own.app("exit 100")
    own.start()
    password, netrc = own.home / "password", own.home / ".netrc"
    for file, text in ((password, "ann:wrong\n"), (netrc, "machine 127.0.0.1 login ann password secret\n")):
        file.write_text(text)
        file.chmod(0o600)
    running = own.transfers.download(misbehaving.url("plain", SIZE, hold=200_000), "first", credential_file=str(password))
    misbehaving.wait_until_held("plain")
    replacement = own.home / "new"
    replacement.write_text("ann:secret\n")
    replacement.chmod(0o600)
    replacement.rename(password)
    url = misbehaving.url("chunked", 1000, needs="ann:secret")
    own.transfers.done(own.transfers.download(url, "second", credential_file=str(password)))
    own.transfers.done(own.transfers.download(url, "third", netrc=True))
    upload = own.home / "upload"
    upload.mkdir()
    Body(SIZE).write(upload / "file")
    request = {"url": misbehaving.url("put"), "path": str(upload / "file"), "direction": "upload", "network": "none"}
    own.transfers.done(own.transfers.enqueue(request)[0])
    assert misbehaving.of("put")[-1].sha256 == Body(SIZE).sha256
    misbehaving.let_go()
    own.transfers.done(running)


def test_a_bound_worker_puts_a_file_where_its_path_leads_when_it_is_whole(own, misbehaving):
    own.app("exit 100")
    own.start()
    music, old = own.transfers.folder / "music", own.transfers.folder / "old"
    music.mkdir()
    first = own.transfers.download(misbehaving.url("plain", SIZE, hold=200_000), "music/one")
    misbehaving.wait_until_held("plain")
    own.transfers.wait(first, "there", lambda it: it["bytes"] == 200_000)
    music.rename(old)
    music.mkdir()
    own.transfers.done(own.transfers.download(misbehaving.url("chunked", 1000), "music/two"))
    misbehaving.let_go()
    own.transfers.done(first)
    assert Body(SIZE).is_in(music / "one") and Body(1000).is_in(music / "two") and list(old.iterdir()) == []


def test_the_bounds_of_a_transfer_survive_the_daemon(own, app, misbehaving):
    """The next daemon's worker is bound as well, though the Flatpak has ended."""
    id = app.enqueue(misbehaving.url("plain", SIZE, hold=100_000), "/var/data/in")
    misbehaving.wait_until_held("plain")
    own.kill()
    shutil.rmtree(app.folder / "data")
    (app.folder / "data").symlink_to(own.secret.parent)
    misbehaving.let_go()
    own.start()
    own.transfers.failed(id)
    assert of_ssh(own) == ["id_test"]
