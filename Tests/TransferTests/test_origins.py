"""Passwords of .netrc go to no other server than the first, and validators to no other URL than their own."""

import http.server
import sqlite3
import threading

import pytest

from fetching import fetch  # noqa: F401
from servers.body import Body
from servers.misbehaving import Misbehaving

SIZE = 100_000


@pytest.fixture
def other():
    server = Misbehaving("127.0.0.2")
    yield server
    server.close()


@pytest.fixture
def home(scratch):
    """The home of an owner whose .netrc has a password for every server."""
    netrc = scratch / ".netrc"
    netrc.write_text("default login ann password secret\n")
    netrc.chmod(0o600)
    return {"HOME": str(scratch)}


@pytest.mark.parametrize("direction", ["download", "upload"])
def test_what_netrc_has_goes_to_the_first_origin_only(transfers, misbehaving, other, home, direction):
    transfers.daemon.app("cat > /dev/null", environment=home)
    transfers.daemon.start()
    mode = "plain" if direction == "download" else "put"
    to = other.url(mode, SIZE, needs="ann:secret")
    url = misbehaving.url("redirect", status=307, to=to, needs="ann:secret")
    if direction == "download":
        id = transfers.download(url, netrc=True)
    else:
        id = transfers.upload(Body(SIZE), url, netrc=True)
    assert "401" in transfers.failed(id)["message"]
    assert misbehaving.requests[-1].headers["Authorization"]
    assert other.requests and not [asked for asked in other.requests if asked.headers["Authorization"]]


class Latest(http.server.BaseHTTPRequestHandler):
    """`/latest` leads to a version; each version has a date of its own, and the second is older than the first."""

    DATES = {"/first": "Sat, 21 Nov 2026 20:00:00 GMT", "/second": "Fri, 20 Nov 2026 20:00:00 GMT"}
    protocol_version = "HTTP/1.1"
    leads_to = "/first"
    asked = []

    def do_GET(self):
        since = self.headers["If-Modified-Since"]
        self.asked.append((self.path, since))
        if self.path == "/latest":
            self.reply(302, {"Location": self.leads_to})
        else:
            # As servers do that compare dates; the days tell these apart.
            date = self.DATES[self.path]
            is_new = since is None or date[5:7] > since[5:7]
            self.reply(200 if is_new else 304, {"Last-Modified": date}, is_new)

    def reply(self, status, headers, has_body=False):
        body = self.path.encode() if has_body else b""
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def latest():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Latest)
    (Latest.leads_to, Latest.asked[:]) = ("/first", [])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/latest"
    server.shutdown()
    server.server_close()


def test_a_redirect_that_leads_elsewhere_brings_what_is_there(fetch, latest):  # noqa: F811
    """A version that is called back, and a login page that a network sent for once."""
    fetch.start(latest)
    assert fetch.run()[0] == "new_data" and fetch.file.read_text() == "/first"
    assert fetch.run() == ("no_data", "not modified")
    Latest.leads_to = "/second"
    assert fetch.run()[0] == "new_data" and fetch.file.read_text() == "/second"
    assert fetch.run() == ("no_data", "not modified")
    first, second = Latest.DATES.values()
    assert [since for path, since in Latest.asked if path == "/latest"] == [None] * 4
    assert [since for path, since in Latest.asked if path != "/latest"] == [None, first, None, second]


def test_what_an_earlier_release_remembers_is_sent_nowhere(fetch, latest):  # noqa: F811
    fetch.start(latest)
    assert fetch.run()[0] == "new_data"
    fetch.daemon.stop()
    with sqlite3.connect(fetch.daemon.state / "refreshd.sqlite") as store:
        store.execute("UPDATE validator SET final_url = NULL")
    fetch.daemon.start()
    assert fetch.run() == ("no_data", "the same content")
    assert fetch.run() == ("no_data", "not modified")


@pytest.mark.parametrize("name", ["none", "utf-8", "aws-chunked"])
def test_a_name_that_is_no_encoding_is_none(fetch, misbehaving, name):  # noqa: F811
    fetch.start(misbehaving.url("plain", SIZE, header=f"Content-Encoding: {name}"))
    assert fetch.run() == ("new_data", f"{SIZE} bytes")
