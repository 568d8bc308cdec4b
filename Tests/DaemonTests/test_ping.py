"""Pings of a dead man's switch: a real server gets the start, the success and the failure of refreshes."""

import http.server
import os
import pathlib
import queue
import socket
import subprocess
import threading

import pytest

from daemon import MAIL, REFRESHD, TODO
from waiting import BOUND, Bound

SECRET = "5e0f8a4c-secret"


class Switch:
    """A server that keeps the paths it is asked for, and answers as the test says."""

    def __init__(self):
        self.asked = queue.Queue()
        self.answers = {}
        self.release = threading.Event()
        switch = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                switch.asked.put(self.path)
                answer = switch.answers.get(self.path, switch.answers.get("", 200))
                if answer == "hang":
                    switch.release.wait(BOUND)
                    return self.connection.close()
                if answer == "close":
                    return self.connection.close()
                if answer == "endless":
                    self.send_response(200)
                    self.end_headers()
                    try:
                        while not switch.release.is_set():
                            self.wfile.write(b"x" * 65536)
                    except OSError:
                        return None
                if isinstance(answer, str):
                    self.send_response(302)
                    self.send_header("Location", answer)
                else:
                    self.send_response(answer)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, rest=""):
        return f"http://{self.host}/{SECRET}{rest}"

    def next(self):
        """The next path that is asked for, without the secret."""
        path = self.asked.get(timeout=BOUND)
        assert path.startswith(f"/{SECRET}") or path.startswith("/elsewhere"), path
        return path.removeprefix(f"/{SECRET}")

    def close(self):
        self.release.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def switch():
    switch = Switch()
    yield switch
    switch.close()


def why(daemon, app=TODO):
    return daemon.call("Manager.Why", app=app)["why"]


def problem(daemon, app=TODO):
    """Waits until a ping has failed, and gives the reason."""
    bound = Bound()
    while not (found := why(daemon, app).get("ping_problem")):
        assert bound.left, "no ping failed"
        daemon.wait_for_output("cannot ping")
    return found["problem"]


def test_a_server_is_told_of_each_refresh(daemon, switch):
    daemon.app(f"exit $(cat {daemon.directory}/code)", ping=switch.url())
    daemon.start()
    for code, path in ((0, ""), (100, ""), (1, "/fail")):
        (daemon.directory / "code").write_text(str(code))
        daemon.refresh()
        asked = [switch.next()]
        # A refresh that ends before its start ping sends only the end ping.
        if asked == ["/start"]:
            asked.append(switch.next())
        assert asked[-1] == path
    assert why(daemon)["ping"] == switch.host


def test_the_beginning_is_told_before_the_end(daemon, switch):
    up, go = daemon.pipe("up"), daemon.pipe("go")
    daemon.app(f"echo up > {up}; read _ < {go}", ping=switch.url("/?create=1"))
    daemon.start()
    daemon.run()
    up.line()
    assert switch.next() == "/start?create=1"
    go.let_go()
    assert switch.next() == "/?create=1"


def test_a_redirect_is_followed(daemon, switch):
    switch.answers[f"/{SECRET}/fail"] = "/elsewhere"
    daemon.app("exit 1", ping=switch.url())
    daemon.start()
    daemon.refresh()
    while switch.next() != "/elsewhere":
        pass
    switch.answers["/elsewhere"] = "/elsewhere"
    daemon.refresh()
    assert problem(daemon) == f"cannot follow {switch.host}: it redirects more than 20 times"


@pytest.mark.parametrize(
    "answer, reason",
    [
        (404, "{host} answers HTTP status 404"),
        (500, "{host} answers HTTP status 500"),
        ("close", "the connection to {host} broke"),
        ("ftp://127.0.0.1/", "only http and https are supported"),
    ],
)
def test_a_ping_that_fails_is_named_and_no_failure_of_the_refresh(daemon, switch, answer, reason):
    switch.answers[""] = answer
    daemon.app("exit 0", ping=switch.url(), failures_before_notice=1)
    daemon.start()
    assert daemon.refresh()["outcome"] == "new_data"
    assert reason.format(host=switch.host) in problem(daemon)
    daemon.wait_for_output(f"{TODO}: cannot ping: ")
    [status] = daemon.status()["pings"]
    assert (status["app"], status["problem"]) == (TODO, why(daemon)["ping_problem"]["problem"])
    assert "failures_in_row" not in why(daemon)
    shown = subprocess.run(
        [REFRESHD.with_name("refreshctl"), "why", TODO, "--socket", daemon.socket], check=True, capture_output=True, text=True
    ).stdout
    assert "could not be pinged" in shown and SECRET not in shown
    switch.answers[""] = 200
    daemon.refresh()
    daemon.wait_for_output("its ping works again")
    assert "ping_problem" not in why(daemon) and "pings" not in daemon.status()
    assert SECRET not in "\n".join(daemon.written())


def test_a_temporary_failure_is_tried_once_more(daemon, switch):
    switch.answers[f"/{SECRET}/fail"] = 503
    daemon.app("exit 1", ping=switch.url())
    daemon.start()
    daemon.refresh()
    while switch.next() != "/fail":
        pass
    assert switch.next() == "/fail"
    assert problem(daemon) == f"{switch.host} answers HTTP status 503"


def test_a_server_that_is_not_there_is_named(daemon):
    with socket.create_server(("127.0.0.1", 0)) as server:
        host = f"127.0.0.1:{server.getsockname()[1]}"
    daemon.app("exit 0", ping=f"http://{host}/{SECRET}")
    daemon.start()
    assert daemon.refresh()["outcome"] == "new_data"
    assert problem(daemon) == f"cannot connect to {host}"


@pytest.mark.bound(120)
@pytest.mark.parametrize("answer", ["hang", "endless"])
def test_a_server_that_does_not_come_to_its_end_delays_no_refresh(daemon, switch, answer):
    """The answer's head is enough, and a server that is silent has its bound; only the newest end waits for its turn."""
    switch.answers[""] = answer
    daemon.app("exit 0", ping=switch.url())
    daemon.start()
    for _ in range(20):
        assert daemon.refresh()["outcome"] == "new_data"
    first = switch.next()
    assert first == "/start"
    if answer == "hang":
        assert problem(daemon) in (f"nothing came from {switch.host} for 5 s", f"no answer of {switch.host} in time")
        # Of 20 refreshes only the newest end has waited; the pings of an app come one after the other.
        switch.answers[""] = 200
        daemon.app("exit 0", ping=switch.url("/last"))
        daemon.call("Manager.Reload")
        daemon.refresh()
        paths = []
        while (path := switch.next()) != "/last":
            paths.append(path)
        assert len([path for path in paths if "last" not in path]) <= 3, paths
    else:
        while switch.next():
            pass
        daemon.settle()
        assert "ping_problem" not in why(daemon)


def test_a_run_that_is_stopped_has_no_end_for_the_server(daemon, switch):
    up = daemon.pipe("up")
    daemon.app(f"echo up > {up}; exec sleep 1000", ping=switch.url())
    daemon.app("exit 0", id=MAIL, ping=switch.url("/mail"))
    daemon.start()
    daemon.run()
    up.line()
    assert switch.next() == "/start"
    daemon.call("Manager.Disable", apps=[TODO])
    daemon.wait_for_output("ended after")
    daemon.refresh(MAIL)
    while (path := switch.next()) != "/mail":
        assert path == "/mail/start"


def test_a_daemon_that_stops_does_not_wait_for_a_server(daemon, switch):
    switch.answers[""] = "hang"
    daemon.app("exit 0", ping=switch.url())
    daemon.start()
    daemon.refresh()
    switch.next()
    assert daemon.stop() == 0


def test_check_warns_of_a_secret_that_goes_by_http(daemon):
    daemon.app("exit 0", ping=f"http://hc.example.org/{SECRET}")
    daemon.app("exit 0", id=MAIL, ping=f"http://127.0.0.1/{SECRET}")
    daemon.start()
    [problem] = daemon.call("Manager.Check")["problems"]
    assert problem["is_warning"] and problem["key"] == "ping"
    assert problem["message"] == (
        "cannot protect the URL of the ping, which is a secret, on the way to hc.example.org: http:// is not encrypted")
    assert SECRET not in str(problem)


@pytest.mark.parametrize("url", ["ftp://example.org/a", "example.org", "https://", "https://example.org/a b"])
def test_a_url_that_cannot_be_is_a_mistake(daemon, url):
    daemon.app("exit 0", ping=url)
    daemon.start()
    [problem] = daemon.call("Manager.Check")["problems"]
    assert problem["key"] == "ping" and "is_warning" not in problem


def test_the_url_is_on_no_command_line(daemon, switch):
    switch.answers[""] = "hang"
    daemon.app("exit 0", ping=switch.url())
    daemon.start()
    daemon.refresh()
    switch.next()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if process.name != str(os.getpid()):
            assert SECRET.encode() not in words
