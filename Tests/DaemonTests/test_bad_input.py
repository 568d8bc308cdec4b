"""Input that no client should send: a typed error or the end of the connection, and no effect on other clients."""

import contextlib
import resource
import socket

import pytest

from client import answers, message
from daemon import TODO
from processes import status
from waiting import Bound

MANAGER = "org.refreshd.Manager"
SHOW = f"{MANAGER}.Show"
MEGABYTE = 1 << 20


@pytest.fixture
def served(daemon):
    """A daemon that replies within a second before and after the test, and has not grown."""
    daemon.app("exit 100")
    daemon.start()
    daemon.refresh()
    before = status(daemon.pid, "VmRSS")
    yield daemon
    assert is_served(daemon)
    grown = status(daemon.pid, "VmRSS") - before
    assert grown < 48 * 1024, f"grew by {grown} kB"


def is_served(daemon):
    """Whether another client gets its reply within ten seconds, also on a busy machine."""
    bound, reply = Bound(10), []
    # The daemon may still have the connections of the test among this user's, and then has no room for one more.
    while not reply and bound.left:
        with contextlib.closing(daemon.client.connect()) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(message("org.refreshd.Manager.Version"))
                reply = answers(connection)
    return bool(bound.left) and [answer["parameters"]["start"] for answer in reply] == [1]


def ends(connection):
    """Whether the other end closes the connection, with one error or none."""
    try:
        reply = connection.recv(65536)
        return reply == b"" or b'"org.varlink.service.InvalidParameter"' in reply and connection.recv(65536) == b""
    except ConnectionError:
        return True


# Bytes that are no message of the protocol.
MALFORMED = {
    "nothing": b"\0",
    "no JSON": b"hello\0",
    "half an object": b'{"method":\0',
    "an array": b"[]\0",
    "a number": b"42\0",
    "null": b"null\0",
    "no method": b'{"parameters":{}}\0',
    "a method that is a number": b'{"method":42}\0',
    "parameters that are an array": b'{"method":"org.refreshd.Manager.Show","parameters":[]}\0',
    "a flag that is text": b'{"method":"org.refreshd.Manager.List","more":"yes"}\0',
    "two objects": b'{"method":"org.refreshd.Manager.List"}{"method":"org.refreshd.Manager.List"}\0',
    "invalid UTF-8": b'{"method":"org.refreshd.Manager.\xff\xfe"}\0',
    "UTF-16": '{"method":"org.refreshd.Manager.List"}'.encode("utf-16") + b"\0",
    "a lone surrogate": b'{"method":"org.refreshd.Manager.Show","parameters":{"app":"\\ud800"}}\0',
    "deep arrays": b'{"method":"x.y.Z","parameters":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}\0",
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\0",
    "an endless number": b'{"method":"x.y.Z","parameters":{"a":' + b"9" * 100_000 + b"}}\0",
    "noise": bytes(range(1, 256)) * 100 + b"\0",
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_call_ends_the_connection(served, data):
    """The daemon may also reply with an error of the protocol; it never replies with a result."""
    with contextlib.closing(served.client.connect()) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(data)
        with contextlib.suppress(ConnectionError):
            for answer in answers(connection):
                assert answer.get("error", "").startswith(("org.varlink.service.", "org.refreshd.NoSuchApp")), answer


# The method, its parameters, and the unknown name in the error.
UNKNOWN = [
    ("org.example.Nothing.List", {}, "org.varlink.service.InterfaceNotFound", "interface", "org.example.Nothing"),
    (f"{MANAGER}.Nothing", {}, "org.varlink.service.MethodNotFound", "method", f"{MANAGER}.Nothing"),
    (f"{MANAGER}.list", {}, "org.varlink.service.MethodNotFound", "method", f"{MANAGER}.list"),
    *[
        (SHOW, {"app": app}, "org.refreshd.NoSuchApp", "app", app)
        for app in ["", "../../etc/passwd", "'; DROP TABLE app; --", "a\0b", "x" * 100_000]
    ],
]


@pytest.mark.parametrize("method, parameters, error, kind, name", UNKNOWN, ids=range(len(UNKNOWN)))
def test_an_unknown_name_is_answered_with_its_error(served, method, parameters, error, kind, name):
    assert first_of_two(served, method, parameters) == (error, {kind: name})


# The method, its parameters, and the parameter that is wrong.
WRONG = [
    (SHOW, {}, "app"),
    (SHOW, {"app": 42}, "app"),
    (SHOW, {"app": None}, "app"),
    (SHOW, {"app": ["a"]}, "app"),
    (f"{MANAGER}.Run", {"app": TODO, "trigger": "luck"}, "trigger"),
    (f"{MANAGER}.History", {"app": TODO, "limit": "all"}, "limit"),
    (f"{MANAGER}.Set", {"apps": TODO}, "apps"),
    (f"{MANAGER}.Set", {"apps": [TODO, 1]}, "apps[1]"),
    ("org.refreshd.App.Signal", {"app": TODO, "signal": "wave"}, "signal"),
    ("org.refreshd.App.Signal", {"app": TODO, "signal": "foreground", "lease": "yes"}, "lease"),
    ("org.refreshd.App.Complete", {"token": "x", "outcome": "luck"}, "outcome"),
]


@pytest.mark.parametrize("method, parameters, wrong", WRONG)
def test_a_wrong_parameter_is_named(served, method, parameters, wrong):
    assert first_of_two(served, method, parameters) == ("org.varlink.service.InvalidParameter", {"parameter": wrong})


def first_of_two(daemon, method, parameters):
    """The error of a call, on a connection that serves the next call."""
    with contextlib.closing(daemon.client.send((method, parameters), (f"{MANAGER}.List",))) as connection:
        mistaken, next_one = answers(connection, 2)
    assert next_one["parameters"]["apps"][0]["id"] == TODO
    return mistaken["error"], mistaken["parameters"]


def test_unknown_fields_are_passed_over(served):
    """Varlink asks for this, so that older daemons serve newer clients."""
    with contextlib.closing(served.client.send((SHOW, {"app": TODO, "colour": [{"deep": {}}]}))) as connection:
        (answer,) = answers(connection)
    assert answer["parameters"]["app"]["id"] == TODO


def test_a_megabyte_without_an_end_is_not_kept(served):
    with contextlib.closing(served.client.connect()) as connection:
        with contextlib.suppress(ConnectionError):
            for _ in range(64):
                connection.sendall(b"x" * MEGABYTE)
        assert ends(connection)


def test_many_unfinished_messages_are_not_kept(served):
    """The memory for one user is bounded, over any number of connections."""
    with contextlib.ExitStack() as stack:
        for _ in range(1000):
            connection = stack.enter_context(contextlib.closing(served.client.connect()))
            connection.setblocking(False)
            with contextlib.suppress(BlockingIOError, ConnectionError):
                connection.send(b'{"method":"' + b"x" * 150_000)
        assert is_served(served)


def test_ten_thousand_silent_connections(served):
    """Silent connections are closed in favour of new calls, and cost next to nothing."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 10_500
    assert limit[1] >= wanted or limit[1] == resource.RLIM_INFINITY, "cannot open 10,000 sockets: raise `ulimit -Hn`"
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit[0], wanted), limit[1]))
    try:
        with contextlib.ExitStack() as stack:
            for count in range(10_000):
                stack.enter_context(contextlib.closing(served.client.connect()))
                if count % 1000 == 999:
                    assert is_served(served)
            assert served.refresh()["outcome"] == "no_data"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def test_a_client_that_asks_and_does_not_read(served):
    """The queue of replies is bounded, and no other client waits."""
    with contextlib.closing(served.client.connect()) as connection:
        connection.settimeout(0.2)
        with contextlib.suppress(TimeoutError, ConnectionError):
            while True:
                connection.sendall(message("org.varlink.service.GetInterfaceDescription", {"interface": MANAGER}))
        assert is_served(served)


def test_a_watcher_that_does_not_read_costs_little(served):
    """A task prints without end and the watcher does not read; the refresh ends as usual, and what waits is bounded."""
    served.app({"run": ["/usr/bin/yes", "a line that nobody reads"]}, deadline="1s", grace="0")
    served.call("Manager.Reload")
    with contextlib.closing(served.client.connect()) as connection:
        connection.sendall(message("org.refreshd.Manager.Run", {"app": TODO}, more=True))
        assert is_served(served)
        served.wait_for_output("still running at its deadline")
        served.settle()
        assert served.history()[0]["stop_reason"] == "deadline"
        received = b""
        while b'"kind":"finished"' not in received:
            piece = connection.recv(MEGABYTE)
            assert piece, received[-200:]
            received += piece
        assert len(received) < MEGABYTE


def test_calls_that_want_no_answer_get_none(served):
    """Also for a oneway call that is malformed."""
    with contextlib.closing(served.client.connect()) as connection:
        for method in ["org.refreshd.Manager.List", "org.refreshd.Manager.Nothing", SHOW]:
            connection.sendall(message(method, oneway=True))
        connection.sendall(message("org.refreshd.Manager.Version"))
        (answer,) = answers(connection)
    assert "version" in answer["parameters"]


def test_a_message_in_pieces_is_one_message(served):
    with contextlib.closing(served.client.connect()) as connection:
        for byte in message(SHOW, {"app": TODO}):
            connection.sendall(bytes([byte]))
        (answer,) = answers(connection)
    assert answer["parameters"]["app"]["id"] == TODO


def test_many_calls_in_one_piece_are_answered_in_order(served):
    calls = [(SHOW, {"app": f"org.example.app{number}"}) for number in range(500)]
    with contextlib.closing(served.client.send(*calls)) as connection:
        replies = answers(connection, len(calls))
    assert [reply["parameters"]["app"] for reply in replies] == [parameters["app"] for _, parameters in calls]


def test_clients_that_leave_at_once(served):
    """A client leaves before, during and after a call."""
    for data in [b"", b"{", message(SHOW, {"app": TODO}), message(f"{MANAGER}.Run", {"app": TODO}, more=True)]:
        for _ in range(100):
            with contextlib.closing(served.client.connect()) as connection:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_RDWR)
    assert served.refresh()["outcome"] == "no_data"
