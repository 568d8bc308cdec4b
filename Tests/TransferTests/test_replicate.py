"""The task kind `replicate`: CouchDB's own replicator does the work, and refreshd learns the result.

The tests with the fixture `couch` also pass with a real CouchDB: set REFRESHD_COUCHDB_URL to http://user:password@host:port.
"""

import json
import time

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
    assert outcome == "failed" and "unauthorized" in said and "see the credential files" in said
    assert replicating.due() is None


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
         "does not replicate: 401 unauthorized: Name or password is incorrect.; see the credential files", None),
        (403, b'{"error":"forbidden","reason":"no"}', "application/json", "403 forbidden: no", None),
        (404, b"<html>nothing</html>", "text/html", "HTTP status 404, without a word of CouchDB", None),
        (412, b'{"error":"precondition_failed","reason":"no"}', "application/json", "412 precondition_failed", None),
        # Another made the target meanwhile.
        (412, b'{"error":"db_exists","reason":"x"}', "application/json", "412 db_exists", "retry"),
        (500, ERROR, "application/json", "500 internal_server_error: No DB shards", "retry"),
        # An error of a database, which the status does not show.
        (500, b'{"error":"unauthorized","reason":"unauthorized to access x"}', "application/json", "unauthorized", None),
        (502, b"<html>Bad Gateway</html>", "text/html", "HTTP status 502, without a word of CouchDB", "retry"),
        (200, b"<html>Log in to the hotel</html>", "text/html", "it is no JSON", "retry"),
        (200, b'{"ok":true,"session_id":"x","hist', "application/json", "it is no JSON", "retry"),
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
    stand_in.is_silent("/_active_tasks")
    replicating.start(replicating.task(source, target, stand_in.credentials))
    outcome, said = replicating.run()
    assert outcome == "failed" and "nothing came from 127.0.0.1" in said
    assert replicating.due() == "retry"


def test_the_progress_is_told_to_those_who_watch(replicating, stand_in):
    source, target = stand_in.database(), stand_in.database()
    stand_in.write(source, **{f"d{number}": {} for number in range(5)})
    stand_in.stop_after = 2
    replicating.start(replicating.task(source, target, stand_in.credentials))
    watch = replicating.daemon.client.stream("Manager.Watch")
    run = replicating.daemon.run()
    event = next(answer["event"] for answer in watch if answer["event"]["kind"] == "progress")
    assert (event["app"], event["task"], event["text"]) == (TODO, "pull", "2 documents written, 3 changes to come")
    assert event["id"] == run.first["event"]["id"]
    stand_in.let_go()
    assert finished(run)["outcome"] == "new_data"


@pytest.mark.parametrize("trouble", ["too long", "hangs up"])
def test_a_list_of_tasks_that_nobody_can_read_ends_nothing(replicating, stand_in, trouble):
    source, target = stand_in.database(), stand_in.database()
    stand_in.write(source, milk={}, bread={})
    stand_in.stop_after = 1
    if trouble == "too long":
        stand_in.answers("/_active_tasks", 200, b"[" + b" " * (2 << 20) + b"]")
    else:
        stand_in.hangs_up("/_active_tasks")
    replicating.start(replicating.task(source, target, stand_in.credentials))
    run = replicating.daemon.run()
    for _ in range(2):
        assert stand_in.looks.acquire(timeout=couchdb.BOUND)
    stand_in.let_go()
    assert finished(run)["tasks"][0]["message"] == "2 documents written"


def test_at_the_deadline_it_is_cancelled_and_goes_on_from_the_checkpoint(replicating, stand_in):
    source, target = stand_in.database(), stand_in.database()
    stand_in.write(source, **{f"d{number}": {} for number in range(5)})
    stand_in.stop_after = 2
    replicating.start(replicating.task(source, target, stand_in.credentials), deadline="4s")
    refresh = replicating.daemon.refresh()
    assert refresh["stop_reason"] == "deadline"
    assert stand_in.has_stopped.is_set() and len(stand_in.ids(target)) == 2
    [message] = [task["message"] for task in refresh["tasks"]]
    assert message == (
        "2 documents written, 3 changes to come when it was cancelled; the next refresh goes on from the checkpoint"
    )
    assert replicating.run() == ("new_data", "3 documents written")
