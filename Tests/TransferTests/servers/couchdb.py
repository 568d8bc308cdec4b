"""CouchDB for the tests of the task kind `replicate`: a stand-in, or a real one at REFRESHD_COUCHDB_URL.

The stand-in's answers about databases and documents are those of captures/, which were taken from CouchDB 3.4.3. Its
replicator does what CouchDB 3.5.0 was seen to do, and no more: it counts documents over all runs of a replication, lets a
request join a job that is ending, and never answers a request whose job another has cancelled. A test works with both
through HTTP only; what a real server does not do on demand (`stand_in`) is tested with the stand-in alone.
"""

import base64
import http.server
import json
import os
import pathlib
import threading
import time
import urllib.parse
import urllib.request
import uuid

CAPTURES = pathlib.Path(__file__).with_name("captures")
# How long a test waits for an expected event.
BOUND = 15
USER, PASSWORD = "admin", "mellon4711"
GUARD = "function(n,o,u){if(n.forbid)throw({forbidden:'sorry'})}"


def await_that(condition):
    """Waits until a condition holds."""
    end = time.monotonic() + BOUND
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


def captured(name, body=None):
    """The status, the header fields and the body of a captured response."""
    head, _, text = (CAPTURES / f"{name}.resp").read_bytes().partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    fields = [line.split(": ", 1) for line in lines if line.split(":")[0] not in ("Content-Length", "Connection")]
    return int(status.split()[1]), fields, text if body is None else json.dumps(body).encode() + b"\n"


def answer(status, body):
    """A response in the form of the captured ones."""
    return (status, *captured("01-create-db", body)[1:])


class Couch:
    """A CouchDB by its URL; every test has databases of its own."""

    def __init__(self, url, credentials):
        self.url = url.rstrip("/")
        self.credentials = credentials
        self.names = []

    def request(self, method, path, body=None):
        request = urllib.request.Request(f"{self.url}/{path}", method=method)
        request.add_header("Authorization", "Basic " + base64.b64encode(self.credentials.encode()).decode())
        request.add_header("Content-Type", "application/json")
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(request, data, timeout=BOUND) as response:
            return json.load(response)

    def database(self, is_made=True):
        """The URL of a new database."""
        name = f"refreshd-{uuid.uuid4().hex}"
        if is_made:
            self.request("PUT", name)
        self.names.append(name)
        return f"{self.url}/{name}"

    def write(self, database, **documents):
        """Writes documents, by their ids."""
        docs = [{"_id": name, **document} for name, document in documents.items()]
        self.request("POST", f"{name_of(database)}/_bulk_docs", {"docs": docs})

    def guard(self, database):
        """Makes a database refuse each document with a member `forbid`."""
        self.request("PUT", f"{name_of(database)}/_design/v", {"validate_doc_update": GUARD})

    def hold(self):
        """Has the next jobs wait before they begin, as a real CouchDB does by itself (`startup_jitter`)."""

    def release(self):
        """Lets the jobs begin."""

    def jobs_of(self, database):
        """The jobs that write a database."""
        jobs = self.request("GET", "_scheduler/jobs")["jobs"]
        return [job for job in jobs if job["target"].strip("/") == database]

    def replicate_as_another(self, source, target, **members):
        """Asks for a replication as another client with the same login does; returns the answer, nil for not found."""
        name, password = self.credentials.split(":", 1)
        ends = {
            end: {"url": url, "auth": {"basic": {"username": name, "password": password}}}
            for end, url in (("source", source), ("target", target))
        }
        try:
            return self.request("POST", "_replicate", {**ends, **members})
        except urllib.error.HTTPError as error:
            assert error.code == 404
            return None

    def ids(self, database):
        rows = self.request("GET", f"{name_of(database)}/_all_docs")["rows"]
        return {row["id"] for row in rows if not row["id"].startswith("_design/")}

    def close(self):
        for name in self.names:
            try:
                self.request("DELETE", name)
            except urllib.error.HTTPError:
                # The test did not have it made.
                continue


def name_of(url):
    return urllib.parse.urlsplit(url).path.strip("/")


class Database:
    def __init__(self):
        # The changes in their order, as ids and documents.
        self.changes = []
        self.is_guarded = False
        # The checkpoints by their ids.
        self.checkpoints = {}

    @property
    def documents(self):
        return dict(self.changes)


class Job:
    """A job of the replicator, from the request that adds it until its end."""

    def __init__(self, name, body):
        self.name = name
        self.source, self.target = (f"{body[end]['url']}/" for end in ("source", "target"))
        self.selector = body.get("selector") or {}
        self.session = uuid.uuid4().hex
        # The counts in the list of jobs; nothing before the first document.
        self.info = None
        # The response for all who wait; nil if another has ended the job, for CouchDB then answers nobody.
        self.response = None
        self.is_stopped = threading.Event()
        self.has_ended = threading.Event()

    def wait_for(self, event):
        """Waits for an event, or for a cancel."""
        while not event.wait(0.02) and not self.is_stopped.is_set():
            pass

    @property
    def shown(self):
        return {
            "database": None, "id": self.name, "pid": "<0.3279.0>", "source": self.source, "target": self.target,
            "user": USER, "doc_id": None, "info": self.info, "history": [], "node": "couchdb@127.0.0.1",
            "start_time": "2026-11-28T13:02:47Z",
        }  # fmt: skip


class StandIn(Couch):
    """A server with the part of CouchDB that a one-shot replication shows."""

    # The servers by host and port: a replication may read or write the databases of another.
    all = {}

    def __init__(self):
        self.databases = {}
        # The requests with what was sent, in their order.
        self.requests = []
        # The number of documents after which a job waits for `let_go`; nil for none.
        self.stop_after = None
        self.gate = threading.Event()
        # Set unless a job must not begin, as during CouchDB's startup_jitter.
        self.begins = threading.Event()
        self.begins.set()
        # Set unless the end of a job takes its time, as while it writes a checkpoint to a slow server.
        self.ends = threading.Event()
        self.ends.set()
        # Set unless the server is frozen, which accepts connections and answers nothing.
        self.is_awake = threading.Event()
        self.is_awake.set()
        self.is_closed = threading.Event()
        # The changes to come as CouchDB counts them every 30 s, and shows them until the next time.
        self.changes_pending = None
        self.jobs = {}
        # Adds and removes jobs one at a time, so the end of one holds up all others.
        self.scheduler = threading.Lock()
        self.fixed = {}
        # Released by each look at the jobs.
        self.looks = threading.Semaphore(0)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.all[self.host] = self
        super().__init__(f"http://{self.host}", f"{USER}:{PASSWORD}")

    def answers(self, path, status, body, kind="application/json", **fields):
        """Sets the answer of a path to any request. A cut body declares one byte more than it has."""
        self.fixed[path] = (status, [("Content-Type", kind), *fields.items()], body)

    def is_silent(self, path):
        self.fixed[path] = None

    def hangs_up(self, path):
        self.fixed[path] = ()

    def of(self, path):
        """The bodies that were sent to a path."""
        return [body for asked, body in self.requests if asked == path]

    def let_go(self):
        self.gate.set()

    def hold(self):
        self.begins.clear()

    def release(self):
        self.begins.set()

    def close(self):
        for event in (self.is_closed, self.gate, self.begins, self.ends, self.is_awake):
            event.set()
        del self.all[self.host]
        self.server.shutdown()
        self.server.server_close()

    # Requests.

    def respond(self, method, path, body, is_known):
        path, _, _ = path.partition("?")
        self.requests.append((path, body))
        self.is_awake.wait()
        if not is_known:
            return captured("35-unauth")
        name, _, rest = path.strip("/").partition("/")
        if path == "/_replicate":
            return self.cancel(body) if body.get("cancel") else self.replicate(body)
        if name == "_scheduler":
            return self.scheduled(rest.removeprefix("jobs").strip("/"))
        return self.respond_of(method, name, rest, body)

    def respond_of(self, method, name, rest, body):
        if method == "PUT" and not rest:
            if name in self.databases:
                return captured("02-create-db-exists")
            self.databases[name] = Database()
            return captured("01-create-db")
        database = self.databases.get(name)
        if database is None:
            return captured("05-get-missing-db")
        if rest == "_design/v":
            database.is_guarded = True
            return captured("33-ddoc-validate")
        if rest == "_all_docs":
            return answer(200, {"rows": [{"id": name} for name in database.documents]})
        if rest == "_bulk_docs":
            database.changes += [(document["_id"], document) for document in body["docs"]]
            return answer(201, [])
        if rest.startswith("_local/"):
            checkpoint = database.checkpoints.get(rest.removeprefix("_local/"))
            return answer(200, checkpoint) if checkpoint else answer(404, MISSING)
        if method == "DELETE":
            del self.databases[name]
        return answer(200, {"ok": True})

    # The replicator.

    def scheduled(self, name):
        jobs = dict(self.jobs)
        if not name:
            return answer(200, {"total_rows": len(jobs), "offset": 0, "jobs": [job.shown for job in jobs.values()]})
        job = jobs.get(urllib.parse.unquote(name))
        return answer(200, job.shown) if job else answer(404, MISSING)

    def end(self, endpoint, makes=False):
        """The database of an endpoint; raises a response if it refuses."""
        url, login = endpoint["url"], endpoint.get("auth", {}).get("basic", {})
        parts, user = urllib.parse.urlsplit(url), login.get("username")
        server = self.all.get(parts.netloc)
        if server is None:
            raise Refused(auth_error(
                f'{{session_request_failed,"{parts.scheme}://{parts.netloc}/_session","{user}",\n'
                f"{' ' * 24}{{conn_failed,{{error,econnrefused}}}}}}"
            ))  # fmt: skip
        if (user, login.get("password")) != (USER, PASSWORD):
            if user:
                raise Refused(auth_error(f'{{session_request_unauthorized,"{server.url}/_session","{user}"}}'))
            reason = f"unauthorized to access or create database {url}/"
            raise Refused(answer(401, {"error": "unauthorized", "reason": reason}))
        name = name_of(url)
        if makes:
            server.databases.setdefault(name, Database())
        if name not in server.databases:
            raise Refused(answer(500, {"error": "db_not_found", "reason": f"could not open {url}/"}))
        return server.databases[name]

    def replicate(self, body):
        operators = [key for value in (body.get("selector") or {}).values() if isinstance(value, dict) for key in value]
        if unknown := [operator for operator in operators if operator not in ("$eq", "$gt")]:
            reason = f'{{mango_error,mango_selector,{{invalid_operator,<<"{unknown[0]}">>}}}}'
            return answer(500, {"error": "case_clause", "reason": reason, "ref": 3861461476})
        name = name_of_job(body)
        job = self.jobs.get(name)
        if job is None:
            with self.scheduler:
                job = self.jobs[name] = Job(name, body)
                threading.Thread(target=self.perform, args=[job, body], daemon=True).start()
        job.has_ended.wait()
        if job.response is None:
            self.is_closed.wait()
            return captured("05-get-missing-db")
        return job.response

    def perform(self, job, body):
        job.wait_for(self.begins)
        try:
            job.response = self.result(job, body)
        except Refused as refused:
            job.response = refused.response
        if not job.is_stopped.is_set():
            self.jobs.pop(job.name, None)
        job.has_ended.set()

    def result(self, job, body):
        source, target = self.end(body["source"]), self.end(body["target"], body.get("create_target"))
        name = job.name.partition("+")[0]
        logs = [database.checkpoints.get(name) for database in (source, target)]
        log = logs[0] if logs[0] == logs[1] and logs[0] else {"history": [], "source_last_seq": 0}
        start, history = log["source_last_seq"], log["history"]
        if start == len(source.changes):
            return answer(200, {"ok": True, "no_changes": True, **(log if history else {})})
        before = history[0] if history else {"docs_written": 0, "doc_write_failures": 0, "missing_checked": 0}
        job.info = info = {
            "revisions_checked": before["missing_checked"], "docs_written": before["docs_written"],
            "doc_write_failures": before["doc_write_failures"], "changes_pending": self.changes_pending,
        }  # fmt: skip
        done = start
        for done, (key, document) in enumerate(source.changes[start:], start):
            if self.stop_after is not None and done - start == self.stop_after:
                job.wait_for(self.gate)
            if job.is_stopped.is_set():
                break
            info["revisions_checked"] += 1
            if any(document.get(member) != value for member, value in job.selector.items()):
                continue
            if target.is_guarded and document.get("forbid"):
                info["doc_write_failures"] += 1
                continue
            target.changes.append((key, document))
            info["docs_written"] += 1
        else:
            done = len(source.changes)
        self.stop_after = None
        if done == start:
            return None
        # The checkpoint is written on both sides.
        for end in ("source", "target"):
            self.all[urllib.parse.urlsplit(body[end]["url"]).netloc].is_awake.wait()
        self.ends.wait()
        counts = {"docs_written": info["docs_written"], "doc_write_failures": info["doc_write_failures"]}
        entry = {"session_id": job.session, "missing_checked": info["revisions_checked"], **counts}
        log = {
            "session_id": job.session, "source_last_seq": done, "replication_id_version": 4, "history": [entry, *history],
        }  # fmt: skip
        source.checkpoints[name] = target.checkpoints[name] = log
        return None if job.is_stopped.is_set() else answer(200, {"ok": True, **log})

    def cancel(self, body):
        job = self.jobs.get(name_of_job(body))
        if job is None:
            return answer(404, MISSING)
        with self.scheduler:
            job.is_stopped.set()
            job.has_ended.wait()
            self.jobs.pop(job.name, None)
        return answer(200, {"ok": True, "_local_id": job.name})


MISSING = {"error": "not_found", "reason": "missing"}


def auth_error(reason):
    return answer(500, {"error": "replication_auth_error", "reason": reason})


def name_of_job(body):
    """The id of the job, which depends on the databases and the selector, and not on passwords."""
    parts = [body["source"]["url"], body["target"]["url"], body.get("selector")]
    name = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(parts, sort_keys=True)).hex
    return name + ("+create_target" if body.get("create_target") else "")


class Refused(Exception):
    def __init__(self, response):
        self.response = response


def handler(couch):
    login = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self):
            text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.loads(text) if text else None
            path = self.path.partition("?")[0]
            if path.startswith("/_scheduler"):
                couch.looks.release()
            if path in couch.fixed:
                couch.requests.append((path, body))
                if couch.fixed[path] is None:
                    couch.is_closed.wait()
                if not couch.fixed[path]:
                    self.close_connection = True
                    return
                response = couch.fixed[path]
            else:
                response = couch.respond(self.command, self.path, body, self.headers.get("Authorization") == login)
            status, fields, body = response
            self.send_response_only(status)
            for name, value in fields:
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = do_POST = do_DELETE = handle_any

        def log_message(self, *arguments):
            pass

    return Handler


def make():
    """The real CouchDB of REFRESHD_COUCHDB_URL, `http://user:password@host:port`, else a stand-in."""
    url = os.environ.get("REFRESHD_COUCHDB_URL")
    if not url:
        return StandIn()
    parts = urllib.parse.urlsplit(url)
    credentials = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password)}"
    return Couch(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}", credentials)
