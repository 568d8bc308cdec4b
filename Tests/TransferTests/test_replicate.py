"""The task kind `replicate`: CouchDB's own replicator does the work, and refreshd learns the result.

The tests with the fixture `couch` also pass with a real CouchDB: set REFRESHD_COUCHDB_URL to http://user:password@host:port.
"""

import json
import threading

import pytest

from daemon import TODO, finished
from processes import alive
from servers import couchdb
from test_recipes import RECIPES


@pytest.fixture
def couch():
    server = couchdb.make()
    yield server
    server.close()


@pytest.fixture
def stand_in():
    server = couchdb.StandIn()
    yield server
    server.close()


class Replicating:
    """An app with tasks that replicate."""

    def __init__(self, daemon, scratch):
        self.daemon = daemon
        self.scratch = scratch

    def login(self, text, mode=0o600):
        path = self.scratch / "login"
        path.write_text(text + "\n")
        path.chmod(mode)
        return str(path)

    def task(self, source, target, credentials, name="pull", **keys):
        login = self.login(credentials)
        files = {"source_credential_file": login, "target_credential_file": login}
        return {"name": name, "replicate": {"source": source, "target": target, **files, **keys}}

    def start(self, *tasks, **app):
        self.daemon.app(*tasks, **app)
        self.daemon.start()

    def run(self):
        task = self.daemon.refresh()["tasks"][0]
        return task["outcome"], task.get("message", "")

    def due(self):
        return self.daemon.show(TODO).get("due_trigger")


@pytest.fixture
def replicating(daemon, scratch):
    return Replicating(daemon, scratch)


def test_written_documents_are_new_data_and_none_are_not(replicating, couch):
    source, target = couch.database(), couch.database()
    couch.write(source, milk={"n": 1}, bread={"n": 2})
    replicating.start(replicating.task(source, target, couch.credentials))
    assert replicating.run() == ("new_data", "2 documents written")
    assert replicating.run() == ("no_data", "no changes")
    couch.write(source, tea={"n": 3})
    assert replicating.run() == ("new_data", "1 document written")
    assert couch.ids(target) == {"milk", "bread", "tea"}


def test_pull_and_push_go_side_by_side(replicating, couch):
    there, here = couch.database(), couch.database()
    couch.write(there, theirs={})
    couch.write(here, ours={})
    tasks = [
        replicating.task(*pair, couch.credentials, name=name)
        for name, pair in {"pull": (there, here), "push": (here, there)}.items()
    ]
    replicating.start(*tasks)
    refresh = replicating.daemon.refresh()
    assert [task["outcome"] for task in refresh["tasks"]] == ["new_data", "new_data"]
    assert couch.ids(here) == couch.ids(there) == {"ours", "theirs"}


def test_the_recipe_pulls_and_pushes(replicating, stand_in, scratch):
    there, here = stand_in.database(), stand_in.database()
    stand_in.write(there, theirs={})
    stand_in.write(here, ours={})
    (scratch / ".config").mkdir()
    for name in ("notes.there", "notes.here"):
        (scratch / ".config" / name).write_text(stand_in.credentials + "\n")
        (scratch / ".config" / name).chmod(0o600)
    text = RECIPES["CouchDB"].replace("https://db.example.org/notes", there).replace(
        "http://localhost:5984/notes", here)  # fmt: skip
    # The machine of the test has no Wi-Fi.
    text = text.replace('network = "wifi"', "").replace('background_interval = "24h"', 'background_interval = "never"')
    replicating.daemon.file("org.example.notes").write_text(text.replace("~/", f"{scratch}/"))
    replicating.daemon.start()
    refresh = replicating.daemon.refresh("org.example.notes")
    assert [(task["name"], task["outcome"]) for task in refresh["tasks"]] == [("pull", "new_data"), ("push", "new_data")]
    assert stand_in.ids(here) == stand_in.ids(there) == {"ours", "theirs"}


def test_refused_documents_are_counted(replicating, couch):
    source, target = couch.database(), couch.database()
    couch.guard(target)
    couch.write(source, good={}, bad={"forbid": True}, worse={"forbid": True})
    replicating.start(replicating.task(source, target, couch.credentials))
    assert replicating.run() == ("new_data", "1 document written, 2 documents refused by the target")
    couch.write(source, worst={"forbid": True})
    assert replicating.run() == ("no_data", "1 document refused by the target")
    assert couch.ids(target) == {"good"}


def test_a_target_is_made_only_if_the_file_says_so(replicating, couch):
    source, target = couch.database(), couch.database(is_made=False)
    couch.write(source, milk={})
    replicating.start(replicating.task(source, target, couch.credentials))
    outcome, said = replicating.run()
    assert outcome == "failed" and "create_target" in said and replicating.due() is None
    replicating.daemon.app(replicating.task(source, target, couch.credentials, create_target=True))
    replicating.daemon.call("Manager.Reload")
    assert replicating.run() == ("new_data", "1 document written")


def test_a_selector_chooses_documents(replicating, couch):
    source, target = couch.database(), couch.database()
    couch.write(source, note={"type": "note"}, photo={"type": "photo"})
    replicating.start(replicating.task(source, target, couch.credentials, selector={"type": "note"}))
    assert replicating.run() == ("new_data", "1 document written")
    assert couch.ids(target) == {"note"}


def test_documents_that_came_without_a_word_count_in_the_next_run(replicating, couch):
    source, target = couch.database(), couch.database()
    couch.write(source, milk={})
    replicating.start(replicating.task(source, target, couch.credentials))
    assert replicating.run() == ("new_data", "1 document written")
    couch.write(source, bread={}, tea={})
    # As if refreshd had gone down in the middle: CouchDB goes on by itself.
    couch.replicate_as_another(source, target)
    assert replicating.run() == ("new_data", "2 documents written")
    assert replicating.run() == ("no_data", "no changes")


def test_a_wrong_password_fails_without_a_retry(replicating, couch):
    source, target = couch.database(), couch.database()
    couch.write(source, milk={})
    task = replicating.task(source, target, couch.credentials)
    wrong = replicating.scratch / "wrong"
    wrong.write_text("admin:wrong\n")
    wrong.chmod(0o600)
    task["replicate"]["source_credential_file"] = str(wrong)
    replicating.start(task)
    outcome, said = replicating.run()
    assert outcome == "failed" and "unauthorized" in said and "check the credential files" in said
    assert replicating.due() is None


def test_a_selector_that_couchdb_does_not_know_fails_without_a_retry(replicating, couch):
    source, target = couch.database(), couch.database()
    couch.write(source, milk={})
    replicating.start(replicating.task(source, target, couch.credentials, selector={"n": {"$foo": 1}}))
    outcome, said = replicating.run()
    assert outcome == "failed" and "invalid_operator" in said and "correct the selector" in said
    assert replicating.due() is None


def test_a_remote_where_nobody_listens_is_tried_again(replicating, couch):
    replicating.start(
        replicating.task("http://127.0.0.1:1/notes", couch.database(), couch.credentials, server=couch.url)
    )
    outcome, said = replicating.run()
    assert outcome == "failed" and "econnrefused" in said and "credential" not in said
    assert replicating.due() == "retry"


def test_a_job_that_another_cancels_is_started_again(replicating, couch):
    source, target = couch.database(), couch.database()
    couch.write(source, milk={}, bread={})
    replicating.start(replicating.task(source, target, couch.credentials))
    couch.hold()
    run = replicating.daemon.run()
    # CouchDB never answers the request whose job is cancelled. A real one may have finished already.
    couchdb.await_that(lambda: couch.jobs_of(target) or couch.ids(target))
    couch.replicate_as_another(source, target, cancel=True)
    couch.release()
    assert finished(run)["outcome"] == "new_data"
    assert couch.ids(target) == {"milk", "bread"}


def test_logins_go_as_objects_and_are_shown_nowhere(replicating, stand_in, scratch):
    source, target = stand_in.database(), stand_in.database()
    stand_in.write(source, milk={})
    headers = scratch / "headers"
    headers.write_text("X-Key: sesame4711\nX-Empty:\n")
    headers.chmod(0o600)
    task = replicating.task(source, target, stand_in.credentials)
    replicating.start(task)
    stream = replicating.daemon.run()
    refresh = finished(stream)
    assert refresh["outcome"] == "new_data"
    login = {"basic": {"username": couchdb.USER, "password": couchdb.PASSWORD}}
    assert stand_in.of("/_replicate") == [
        {"source": {"url": source, "auth": login}, "target": {"url": target, "auth": login}}
    ]
    shown = [*replicating.daemon.written(), json.dumps(refresh), json.dumps(replicating.daemon.show(TODO))]
    assert not [line for line in shown if couchdb.PASSWORD in line]
    table = task["replicate"]
    del table["source_credential_file"]
    replicating.daemon.app({**task, "replicate": {**table, "source_headers_file": str(headers)}})
    replicating.daemon.call("Manager.Reload")
    replicating.run()
    assert stand_in.of("/_replicate")[-1]["source"] == {"url": source, "headers": {"X-Key": "sesame4711", "X-Empty": ""}}


def test_a_login_that_others_may_read_is_not_used(replicating, stand_in):
    source, target = stand_in.database(), stand_in.database()
    replicating.start(replicating.task(source, target, stand_in.credentials))
    replicating.login(stand_in.credentials, mode=0o644)
    outcome, said = replicating.run()
    assert outcome == "failed" and "mode 0600" in said
    assert stand_in.of("/_replicate") == []


ERROR = b'{"error":"internal_server_error","reason":"No DB shards could be opened."}'


@pytest.mark.parametrize(
    "status, body, kind, said, due",
    [
        (401, b'{"error":"unauthorized","reason":"Name or password is incorrect."}', "application/json",
         "does not replicate: 401 unauthorized: Name or password is incorrect.; check the credential files", None),
        (403, b'{"error":"forbidden","reason":"no"}', "application/json", "403 forbidden: no", None),
        (404, b"<html>nothing</html>", "text/html", "HTTP status 404, without an answer of CouchDB", None),
        (412, b'{"error":"precondition_failed","reason":"no"}', "application/json", "412 precondition_failed", None),
        # Another made the target meanwhile.
        (412, b'{"error":"db_exists","reason":"x"}', "application/json", "412 db_exists", "retry"),
        (500, ERROR, "application/json", "500 internal_server_error: No DB shards", "retry"),
        # An error of a database, which the status does not show.
        (500, b'{"error":"unauthorized","reason":"unauthorized to access x"}', "application/json", "unauthorized", None),
        (502, b"<html>Bad Gateway</html>", "text/html", "HTTP status 502, without an answer of CouchDB", "retry"),
        (200, b"<html>Log in to the hotel</html>", "text/html", "it is not JSON", "retry"),
        (200, b'{"ok":true,"session_id":"x","hist', "application/json", "it is not JSON", "retry"),
        (200, b'{"ok":true}', "application/json", "cannot find the result", "retry"),
        (302, b"", "text/html", "redirect", None),
    ],
)  # fmt: skip
def test_each_bad_answer_has_its_words_and_its_outcome(replicating, stand_in, status, body, kind, said, due):
    source, target = stand_in.database(), stand_in.database()
    stand_in.answers("/_replicate", status, body, kind)
    replicating.start(replicating.task(source, target, stand_in.credentials))
    outcome, message = replicating.run()
    assert outcome == "failed" and said in message
    assert replicating.due() == due


def test_nobody_listens(replicating):
    replicating.start(replicating.task("http://127.0.0.1:1/a", "http://127.0.0.1:1/b", "a:b"))
    assert replicating.run() == ("failed", "cannot connect to 127.0.0.1:1")
    assert replicating.due() == "retry"


def test_a_server_that_says_nothing_is_left_before_the_deadline(replicating, stand_in):
    source, target = stand_in.database(), stand_in.database()
    stand_in.is_silent("/_replicate")
    stand_in.is_silent("/_scheduler/jobs")
    replicating.start(replicating.task(source, target, stand_in.credentials))
    outcome, said = replicating.run()
    assert outcome == "failed" and "nothing came from 127.0.0.1" in said
    assert replicating.due() == "retry"


def test_the_progress_is_told_to_those_who_watch(replicating, stand_in):
    source, target = stand_in.database(), stand_in.database()
    stand_in.write(source, before={})
    replicating.start(replicating.task(source, target, stand_in.credentials))
    assert replicating.run() == ("new_data", "1 document written")
    stand_in.write(source, **{f"d{number}": {} for number in range(5)})
    stand_in.stop_after = 2
    watch = replicating.daemon.client.stream("Manager.Watch")
    run = replicating.daemon.run()
    events = (answer["event"] for answer in watch if answer["event"]["kind"] == "progress")
    event = next(events)
    assert (event["app"], event["task"], event["text"]) == (TODO, "pull", "2 documents written")
    assert event["id"] == run.first["event"]["id"]
    [job] = stand_in.jobs.values()
    job.info["changes_pending"] = 3
    assert next(events)["text"] == "2 documents written, about 3 changes left"
    # CouchDB counts the changes to come every 30 s only.
    job.info.update(docs_written=4, revisions_checked=4)
    assert next(events)["text"] == "3 documents written, about 2 changes left"
    stand_in.let_go()
    assert finished(run)["outcome"] == "new_data"


@pytest.mark.parametrize("trouble", ["too long", "hangs up"])
def test_a_list_of_jobs_that_nobody_can_read_ends_nothing(replicating, stand_in, trouble):
    source, target = stand_in.database(), stand_in.database()
    stand_in.write(source, milk={}, bread={})
    stand_in.stop_after = 1
    if trouble == "too long":
        stand_in.answers("/_scheduler/jobs", 200, b"[" + b" " * (2 << 20) + b"]")
    else:
        stand_in.hangs_up("/_scheduler/jobs")
    replicating.start(replicating.task(source, target, stand_in.credentials))
    run = replicating.daemon.run()
    for _ in range(2):
        assert stand_in.looks.acquire(timeout=couchdb.BOUND)
    stand_in.let_go()
    assert finished(run)["tasks"][0]["message"] == "2 documents written"


def test_a_job_that_another_cancels_again_and_again_is_retried_later(replicating, stand_in):
    source, target = stand_in.database(), stand_in.database()
    stand_in.write(source, milk={}, bread={})
    replicating.start(replicating.task(source, target, stand_in.credentials))
    stand_in.hold()
    run = replicating.daemon.run()
    for _ in range(2):
        couchdb.await_that(lambda: stand_in.jobs)
        # The worker sees the job in the list, and then by its name.
        stand_in.looks = threading.Semaphore(0)
        for _ in range(2):
            assert stand_in.looks.acquire(timeout=couchdb.BOUND)
        assert stand_in.replicate_as_another(source, target, cancel=True)
    [task] = finished(run)["tasks"]
    assert (task["outcome"], replicating.due()) == ("failed", "retry")
    assert task["message"] == f"another request has cancelled the replication in {stand_in.host}, twice"


CUT = "2 documents written when it was cancelled; the next refresh continues from the checkpoint"


@pytest.fixture
def cut(replicating, stand_in):
    """Runs a replication of five documents to its deadline, with two of them written; returns the message."""

    def run_to_deadline(source, target, before_the_end=lambda: None):
        server = couchdb.StandIn.all[source.split("/")[2]]
        server.write(source, **{f"d{number}": {} for number in range(5)})
        stand_in.stop_after = 2
        replicating.start(
            replicating.task(source, target, stand_in.credentials, server=stand_in.url), deadline="4s"
        )
        run = replicating.daemon.run()
        couchdb.await_that(lambda: len(stand_in.ids(target)) == 2)
        before_the_end()
        refresh = finished(run)
        assert refresh["stop_reason"] == "deadline"
        return refresh["tasks"][0]["message"]

    return run_to_deadline


def test_at_the_deadline_it_is_cancelled_and_the_next_run_counts_all(replicating, stand_in, cut):
    source, target = stand_in.database(), stand_in.database()
    assert cut(source, target) == CUT
    assert len(stand_in.ids(target)) == 2 and not stand_in.jobs
    assert replicating.run() == ("new_data", "5 documents written")
    assert replicating.run() == ("no_data", "no changes")


def test_a_cancel_that_takes_long_is_said_and_the_next_run_outlives_it(replicating, stand_in, cut):
    source, target = stand_in.database(), stand_in.database()
    said = cut(source, target, stand_in.ends.clear)
    assert "2 documents written; " in said and "was asked to cancel and is still doing so" in said
    # The job that ends is still in CouchDB's list, so this request joins it, and CouchDB does not answer.
    run = replicating.daemon.run()
    couchdb.await_that(lambda: len(stand_in.of("/_replicate")) == 3)
    stand_in.ends.set()
    assert finished(run)["tasks"][0]["message"] == "5 documents written"


def test_a_remote_that_freezes_is_not_cancelled_because_that_blocks_couchdb(replicating, stand_in, cut):
    remote = couchdb.StandIn()
    try:
        source, target = remote.database(), stand_in.database()
        said = cut(source, target, remote.is_awake.clear)
        assert f"{remote.host} does not answer, so {stand_in.host} continues until it gives up" in said
        here, there = stand_in.database(), stand_in.database()
        stand_in.write(here, milk={})
        assert stand_in.replicate_as_another(here, there)["ok"]
        remote.is_awake.set()
        stand_in.let_go()
        assert replicating.run() == ("new_data", "5 documents written")
    finally:
        remote.close()


def test_a_replicator_that_is_busy_with_others_is_said(replicating, stand_in):
    source, target = stand_in.database(), stand_in.database()
    stand_in.write(source, milk={})
    replicating.start(replicating.task(source, target, stand_in.credentials), deadline="4s")
    with stand_in.scheduler:
        refresh = replicating.daemon.refresh()
    assert refresh["stop_reason"] == "deadline"
    assert refresh["tasks"][0]["message"] == f"{stand_in.host} did not begin: its replicator is busy with others"
