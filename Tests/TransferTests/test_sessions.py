"""When the last transfer of a session has ended, its app is woken once, with the result of each transfer."""

import pathlib
import sqlite3
import time

import pytest

from client import Client, as_user, fails
from daemon import TODO, finished
from servers.body import Body

SIZE = 200_000


def test_an_app_is_woken_once_with_a_line_for_each_transfer(running, misbehaving, nginx):
    sha256 = Body(SIZE).sha256
    ids = running.enqueue(
        running.request(misbehaving.url("plain", SIZE, hold=1000), "a", session="night", sha256=sha256),
        running.request(nginx.url("s404"), "b", session="night", description="The second"),
        running.request(misbehaving.url("stall", SIZE, hold=1000), "c", session="night"),
    )
    misbehaving.wait_until_held("stall")
    running.failed(ids[1])
    running.cancel(ids[2])
    running.end(ids[2])
    assert running.wakes.lines_so_far() == []
    misbehaving.let_go("plain")
    trigger, session, lines = running.wake()
    assert (trigger, session) == ("transfer", "night")
    assert [line["outcome"] for line in lines] == ["done", "failed", "cancelled"]
    assert lines[0] == {
        "url": misbehaving.url("plain", SIZE) + "?…",
        "path": str(running.target("a")),
        "outcome": "done",
        "bytes": SIZE,
        "sha256": sha256,
    }
    assert lines[1]["description"] == "The second" and "404" in lines[1]["message"]
    running.no_more_wakes()


def test_who_watches_is_told_of_a_transfer_that_is_forgotten(running, misbehaving):
    old = running.download(misbehaving.url("plain", SIZE), "old")
    running.wake()
    running.no_more_wakes()
    running.daemon.stop()
    with sqlite3.connect(running.daemon.state / "refreshd.sqlite") as store:
        # It ended almost a day ago.
        ended = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000 - 24 * 3600 * 1_000_000 + 3_000_000
        store.execute("UPDATE transfer SET stage_us = ?", (ended,))
    running.daemon.start()
    stream = running.daemon.client.stream("Transfers.Watch", app=TODO)
    assert [one["id"] for one in stream.first["transfers"]] == [old]
    assert next(answer["forgotten"] for answer in iter(stream) if answer.get("forgotten")) == [old]
    stream.close()


def test_each_session_has_its_own_wake(running, misbehaving):
    ids = [running.download(misbehaving.url("plain", SIZE), name, session=name) for name in ("a", "b", "c")]
    wakes = [running.wake() for _ in ids]
    assert sorted((session, lines[0]["path"]) for _, session, lines in wakes) == [
        (name, str(running.target(name))) for name in ("a", "b", "c")
    ]
    running.no_more_wakes()


def test_a_wake_tells_only_of_what_ended_since_the_last(running, misbehaving):
    running.download(misbehaving.url("plain", SIZE), "a")
    assert len(running.wake()[2]) == 1
    running.download(misbehaving.url("plain", SIZE), "b")
    trigger, session, lines = running.wake()
    assert (session, [line["path"] for line in lines]) == ("default", [str(running.target("b"))])
    running.no_more_wakes()


@pytest.mark.spawned
def test_a_wake_that_is_owed_comes_after_a_crash_and_one_that_was_had_does_not(transfers, misbehaving):
    """The daemon is killed while it wakes the app, so it cannot know whether the app was notified."""
    daemon = transfers.daemon
    gate = daemon.pipe("gate")
    daemon.app(f"echo $REFRESH_TRIGGER $REFRESH_SESSION$REFRESH_TRY $(cat) > {transfers.wakes}; read _ < {gate}")
    daemon.start()
    transfers.download(misbehaving.url("plain", SIZE))
    assert transfers.wake()[:2] == ("transfer", "default1")
    daemon.kill()
    daemon.start()
    assert transfers.wake()[:2] == ("transfer", "default2")
    gate.let_go()
    for _ in range(2):
        refresh = daemon.run()
        assert transfers.wakes.line().startswith("manual")
        gate.let_go()
        assert finished(refresh)["outcome"] == "new_data"
        daemon.restart()
    assert transfers.wakes.lines_so_far() == []


def performed(stream):
    """Waits for the next order of an attached app to refresh itself."""
    while (event := next(stream)["event"])["kind"] != "perform":
        pass
    return event


def test_an_attached_app_is_told_the_session_and_the_try(running, misbehaving):
    stream = running.daemon.client.stream("App.Attach", app=TODO)
    running.download(misbehaving.url("plain", SIZE), session="night")
    event = performed(stream)
    assert (event["trigger"], event["session"], event["tries"]) == ("transfer", "night", 1)
    running.daemon.call("App.Complete", token=event["token"], outcome="new_data")
    refresh = running.daemon.run()
    event = performed(stream)
    assert event["trigger"] == "manual" and "tries" not in event
    running.daemon.call("App.Complete", token=event["token"], outcome="new_data")
    assert finished(refresh)["outcome"] == "new_data"
    stream.close()


def test_a_session_that_ends_while_the_daemon_is_away_is_told_by_the_next(running, misbehaving):
    id = running.download(misbehaving.url("plain", SIZE, hold=1000))
    misbehaving.wait_until_held("plain")
    running.daemon.kill()
    misbehaving.let_go()
    running.daemon.start()
    running.done(id)
    assert running.wake()[2][0]["outcome"] == "done"
    running.no_more_wakes()
    running.daemon.restart()
    running.no_more_wakes()


def test_an_app_that_is_told_and_fails_for_now_is_told_again(transfers, misbehaving):
    daemon = transfers.daemon
    flag = daemon.directory / "flag"
    daemon.app(f"echo $REFRESH_TRIGGER $REFRESH_SESSION $(cat) > {transfers.wakes}; test -e {flag} || exit 75")
    daemon.start()
    transfers.download(misbehaving.url("plain", SIZE))
    first = transfers.wake()
    flag.touch()
    daemon.refresh()
    assert transfers.wakes.line().startswith("manual")
    assert first[2][0]["outcome"] == "done"


def test_an_app_rejoins_a_session_and_hears_of_its_end(running, misbehaving):
    id = running.download(misbehaving.url("plain", SIZE, hold=1000), session="night", description="Song")
    running.download(misbehaving.url("stall", SIZE, hold=1000), "b", session="other")
    misbehaving.wait_until_held("plain")
    stream = running.daemon.client.stream("Transfers.Rejoin", app=TODO, session="night")
    assert not stream.first["drained"]
    assert [(one["id"], one["description"]) for one in stream.first["transfers"]] == [(id, "Song")]
    with fails("org.refreshd.Transfers.SessionTaken", app=TODO, session="night"):
        running.daemon.client.stream("Transfers.Rejoin", app=TODO, session="night")
    misbehaving.let_go("plain")
    answers = iter(stream)
    last = next(answer for answer in answers if answer["drained"])
    assert last["transfers"][0]["result"] == "done"
    stream.close()
    with fails("org.refreshd.NoSuchApp", app="org.example.none"):
        running.daemon.client.stream("Transfers.Rejoin", app="org.example.none", session="night")
    for method in ["Rejoin", "List"]:
        with fails("org.varlink.service.InvalidParameter", parameter="session"):
            running.daemon.client.stream(f"Transfers.{method}", app=TODO, session="x" * 256)


def test_an_attached_app_hears_of_each_transfer_and_performs_the_wake(running, misbehaving):
    stream = running.daemon.client.stream("App.Attach", app=TODO, performs=True)
    running.download(misbehaving.url("plain", SIZE), session="night")
    events = []
    for answer in iter(stream):
        events.append(answer["event"])
        if answer["event"]["kind"] == "perform":
            break
    wakes = next(event for event in events if event["kind"] == "transfer_ended")
    assert (wakes["session"], wakes["path"], wakes["result"]) == ("night", str(running.target()), "done")
    assert (events[-1]["trigger"], events[-1]["session"]) == ("transfer", "night")
    assert '"outcome":"done"' in events[-1]["payload"].replace(": ", ":")
    running.daemon.call("App.Complete", token=events[-1]["token"], outcome="new_data")
    stream.close()


@pytest.mark.parametrize("result", ["done", "failed"])
def test_a_wake_comes_for_a_session_that_ends_well_or_badly(running, misbehaving, nginx, result):
    running.download(misbehaving.url("plain", SIZE) if result == "done" else nginx.url("s404"))
    assert running.wake()[2][0]["outcome"] == result
    running.no_more_wakes()


def test_nobody_speaks_for_a_worker_without_its_token(running, misbehaving):
    running.download(misbehaving.url("plain", SIZE, hold=1000))
    misbehaving.wait_until_held("plain")
    report = {"id": 1, "kind": "ended", "end": "done"}
    with fails("org.refreshd.NoSuchToken"):
        running.daemon.call("Worker.Report", token="0" * 32, reports=[report])
    with fails("org.refreshd.NoSuchToken"):
        running.daemon.client.stream("Worker.Work", token="0" * 32)
    assert running.show(1)["state"] == "transferring"


def test_a_workers_token_is_of_no_use_to_another_user(running, misbehaving):
    running.download(misbehaving.url("plain", SIZE, hold=1000))
    misbehaving.wait_until_held("plain")
    running.daemon.socket.chmod(0o666)
    mark = f"REFRESH_SOCKET={running.daemon.socket}"
    environments = [read(process / "environ").split("\0") for process in pathlib.Path("/proc").glob("[0-9]*")]
    [worker] = [variables for variables in environments if mark in variables]
    [token] = [variable.partition("=")[2] for variable in worker if variable.startswith("REFRESH_TOKEN=")]
    with as_user(65534), fails("org.refreshd.NoSuchToken"):
        running.daemon.call("Worker.Report", token=token, reports=[])
    running.daemon.call("Worker.Report", token=token, reports=[])


def read(path):
    try:
        return path.read_text()
    except OSError:
        return ""


def test_only_owner_and_root_have_files_moved(running, misbehaving):
    running.download(misbehaving.url("plain", SIZE, hold=1000))
    other = Client(running.daemon.socket)
    running.daemon.socket.chmod(0o666)
    with as_user(65534):
        with fails("org.refreshd.NotAllowed", app=TODO):
            other.call("Transfers.Enqueue", app=TODO, transfers=[running.request("http://127.0.0.1/x")])
        with fails("org.refreshd.NotAllowed"):
            other.call("Transfers.Cancel", ids=[1])
        with fails("org.refreshd.NotAllowed"):
            other.call("Transfers.List", app=TODO)
        assert other.call("Transfers.List")["transfers"] == []
