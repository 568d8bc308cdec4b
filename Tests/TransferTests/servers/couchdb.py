"""CouchDB for the tests of the task kind `replicate`: a stand-in, or a real one at REFRESHD_COUCHDB_URL.

The stand-in's answers about databases and documents are those of captures/, which were taken from CouchDB 3.4.3. The
ones of _replicate and _active_tasks follow the documentation of CouchDB 3.4 (replication/protocol, api/server/common). A test works
with both through HTTP only; what a real server does not do on demand (`stand_in`) is tested with the stand-in alone.
"""

import base64
import http.server
import json
import os
import pathlib
import threading
import urllib.parse
import urllib.request
import uuid

CAPTURES = pathlib.Path(__file__).with_name("captures")
# How long a test waits for an expected event.
BOUND = 15
USER, PASSWORD = "admin", "mellon4711"
GUARD = "function(n,o,u){if(n.forbid)throw({forbidden:'sorry'})}"


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

    @property
    def documents(self):
        return dict(self.changes)


class StandIn(Couch):
    """A server with the part of CouchDB that a one-shot replication shows."""

    def __init__(self):
        self.databases = {}
        self.checkpoints = {}
        # The requests with what was sent, in their order.
        self.requests = []
        # The number of documents after which a replication waits for `let_go`; nil for none.
        self.stop_after = None
        self.gate = threading.Event()
        self.is_cancelled = threading.Event()
        self.has_stopped = threading.Event()
        self.active = []
        self.fixed = {}
        # Released by each request for the list of tasks.
        self.looks = threading.Semaphore(0)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        super().__init__(f"http://127.0.0.1:{self.server.server_port}", f"{USER}:{PASSWORD}")

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

    def close(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()

    # Requests.

    def respond(self, method, path, body, is_known):
        self.requests.append((path, body))
        if not is_known:
            return captured("35-unauth")
        name, _, rest = path.strip("/").partition("/")
        if path == "/_replicate":
            return self.cancel(body) if body.get("cancel") else self.replicate(body)
        if path == "/_active_tasks":
            return answer(200, self.active)
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
        if method == "DELETE":
            del self.databases[name]
        return answer(200, {"ok": True})

    # The replicator.

    def end(self, endpoint, makes=False):
        """The database of an endpoint; raises a response if it refuses."""
        url, login = endpoint["url"], endpoint.get("auth", {}).get("basic", {})
        name = name_of(url)
        if (login.get("username"), login.get("password")) != (USER, PASSWORD):
            reason = f"unauthorized to access or create database {url}/"
            raise Refused(answer(401, {"error": "unauthorized", "reason": reason}))
        if makes:
            self.databases.setdefault(name, Database())
        if name not in self.databases:
            raise Refused(answer(404, {"error": "db_not_found", "reason": f"could not open {url}/"}))
        return self.databases[name]

    def replicate(self, body):
        try:
            source = self.end(body["source"])
            target = self.end(body["target"], body.get("create_target"))
        except Refused as refused:
            return refused.response
        pair = json.dumps(body, sort_keys=True)
        start = self.checkpoints.get(pair, 0)
        if start == len(source.changes):
            session = {"session_id": "0" * 32, "source_last_seq": f"{start}-g1", "history": []}
            return answer(200, {"ok": True, "no_changes": True, "replication_id_version": 4, **session})
        task = {
            "type": "replication", "source": body["source"]["url"] + "/", "target": body["target"]["url"] + "/",
            "docs_written": 0, "doc_write_failures": 0, "changes_pending": len(source.changes) - start,
            "continuous": False,
        }  # fmt: skip
        self.active = [{"type": "indexer"}, task]
        run = self.copy(source, target, start, task, body.get("selector") or {})
        self.active = []
        self.checkpoints[pair] = run["recorded_seq"]
        if self.is_cancelled.is_set():
            self.is_cancelled.clear()
            self.has_stopped.set()
            return answer(200, {"ok": "stopped"})
        session = uuid.uuid4().hex
        history = [{"session_id": session, **run}, {"session_id": "1" * 32, "docs_written": 77, "doc_write_failures": 7}]
        return answer(
            200,
            {"ok": True, "session_id": session, "source_last_seq": f"{run['recorded_seq']}-g1",
             "replication_id_version": 4, "history": history},
        )  # fmt: skip

    def copy(self, source, target, start, task, selector):
        for done, (name, document) in enumerate(source.changes[start:]):
            if self.stop_after is not None and done == self.stop_after:
                self.gate.wait(BOUND)
            if self.is_cancelled.is_set():
                break
            if any(document.get(key) != value for key, value in selector.items()):
                continue
            if target.is_guarded and document.get("forbid"):
                task["doc_write_failures"] += 1
                continue
            target.changes.append((name, document))
            task["docs_written"] += 1
            task["changes_pending"] -= 1
        else:
            done = len(source.changes) - start
        self.stop_after = None
        return {
            "start_last_seq": start, "recorded_seq": start + done, "docs_read": task["docs_written"],
            "docs_written": task["docs_written"], "doc_write_failures": task["doc_write_failures"],
        }  # fmt: skip

    def cancel(self, body):
        rest = {key: value for key, value in body.items() if key != "cancel"}
        if rest not in [asked for path, asked in self.requests if path == "/_replicate"] or not self.active:
            return answer(404, {"error": "not_found", "reason": "missing"})
        self.is_cancelled.set()
        self.gate.set()
        assert self.has_stopped.wait(BOUND)
        return answer(200, {"ok": True, "_local_id": "0a81b645497e6270611ec3419767a584"})


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
            if self.path == "/_active_tasks":
                couch.looks.release()
            if self.path in couch.fixed:
                couch.requests.append((self.path, body))
                if couch.fixed[self.path] is None:
                    couch.gate.wait(60)
                if not couch.fixed[self.path]:
                    self.close_connection = True
                    return
                response = couch.fixed[self.path]
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
