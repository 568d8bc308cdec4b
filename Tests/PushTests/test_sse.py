"""Apps with messages from an event stream: nginx with nchan."""

import signal
import socket
import time

import pytest

from bridge import push


def source(nchan, **keys):
    return {"name": "news", "url": nchan.url("events/todo"), "app": "org.example.todo", **keys}


@pytest.fixture
def running(daemon, app, bridge, nchan):
    daemon.start()
    bridge.configure(sse=source(nchan))
    bridge.start()
    bridge.wait_until_connected("news")
    return bridge


def test_an_event_wakes_the_app(running, nchan, app):
    payload = push(42, news="3 new")
    nchan.publish("todo", payload)
    assert app.delivered() == [payload]
    running.wait_for_count("news", received=1)


def test_a_payload_of_several_lines_comes_as_it_is(running, nchan, app):
    nchan.publish("todo", '{"aps":{"content-available":1},\n "content-id":42}')
    assert app.wakes.lines(2) == ['push 42 {"aps":{"content-available":1},', ' "content-id":42}']


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_what_came_while_the_bridge_was_away_comes_when_it_is_back(running, nchan, app, end):
    nchan.publish("todo", push(1))
    assert app.ids() == ["1"]
    running.wait_until_remembered("news")
    getattr(running, end)()
    for number in range(2, 6):
        nchan.publish("todo", push(number))
    running.start()
    assert app.ids(4) == ["2", "3", "4", "5"]
    app.no_more()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_what_came_while_the_daemon_was_away_comes_when_it_is_back(daemon, running, nchan, app, end):
    nchan.publish("todo", push(1))
    assert app.ids() == ["1"]
    daemon.wait_for_output("finished")
    daemon.settle()
    getattr(daemon, end)()
    for number in range(2, 6):
        nchan.publish("todo", push(number))
    daemon.start()
    assert app.ids(4) == ["2", "3", "4", "5"]
    app.no_more()


def test_a_server_that_was_restarted_is_listened_to_again(running, nchan, app):
    nchan.publish("todo", push(1))
    assert app.ids() == ["1"]
    running.wait_until_remembered("news")
    # Ids of nchan are seconds, and a deleted channel may use an id again.
    second = int(time.time())
    nchan.restart()
    while int(time.time()) == second:
        running.turn()
    nchan.publish("todo", push(2))
    assert app.ids() == ["2"]
    app.no_more()


def test_with_tls_and_a_password_after_a_redirect(daemon, scratch, app, bridge, nchan):
    credential = scratch / "credential"
    credential.write_text("ann:secret\n")
    credential.chmod(0o600)
    ca = {"ca_file": str(nchan.certificates.authority)}
    daemon.start()
    bridge.configure(
        sse=[
            source(nchan, url=nchan.tls_url("private/todo"), credential_file=str(credential), **ca),
            source(nchan, name="moved", url=nchan.tls_url("moved/other"), **ca),
        ]
    )
    bridge.start()
    bridge.wait_until_connected("news")
    bridge.wait_until_connected("moved")
    nchan.publish("todo", push(1))
    assert app.ids() == ["1"]
    nchan.publish("other", push(2))
    assert app.ids() == ["2"]


def test_a_stream_that_says_no_more_is_not_asked_again(daemon, app, bridge, nchan):
    """The standard of event streams asks for this after status 204."""
    daemon.start()
    bridge.configure(sse=source(nchan, url=nchan.url("none")))
    bridge.start()
    lost = bridge.wait_until_lost("news")
    assert "204" in lost["problem"] and "retry_us" not in lost


def test_a_wrong_password_is_a_problem(daemon, app, bridge, nchan):
    daemon.start()
    bridge.configure(sse=source(nchan, url=nchan.url("private/todo")))
    bridge.start()
    assert "401" in bridge.wait_until_lost("news")["problem"]


def test_a_stream_that_says_nothing_yet_is_connected_and_a_long_id_is_not_sent_back(daemon, app, bridge):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        daemon.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/events"
        bridge.configure(sse={"name": "news", "url": url, "app": "org.example.todo"})
        bridge.start()
        for number, id in enumerate(["short", "long" * 300, "short"]):
            with listener.accept()[0] as stream:
                asked = stream.recv(8192).decode()
                assert ("Last-Event-ID: short\r\n" in asked) == (number > 0), asked
                stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
                bridge.wait_until_connected("news")
                stream.sendall(f"id: {id}\ndata: {push(number)}\n\n".encode())
                if number < 2:
                    assert app.ids() == [str(number)]
                bridge.wait_until_remembered("news")


@pytest.fixture
def server():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        yield listener


def events(listener, *, app="org.example.todo"):
    return {"name": "news", "url": f"http://127.0.0.1:{listener.getsockname()[1]}/events", "app": app}


def answer(listener, bridge, id, payload):
    """Sends one event to the next client, and returns what the client asked for."""
    with listener.accept()[0] as stream:
        asked = stream.recv(8192).decode()
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        stream.sendall(f"id: {id}\ndata: {payload}\n\n".encode())
        bridge.wait_until_remembered("news")
    return asked


def test_a_server_that_counts_from_one_again_loses_no_event(daemon, app, bridge, server):
    daemon.start()
    bridge.configure(sse=events(server))
    bridge.start()
    answer(server, bridge, 1, push("before"))
    assert app.ids() == ["before"]
    assert "Last-Event-ID: 1\r\n" in answer(server, bridge, 1, push("after"))
    assert app.ids() == ["after"]
    # The same event again is known.
    answer(server, bridge, 1, push("after"))
    answer(server, bridge, 2, push("last"))
    assert app.ids() == ["last"]


def test_the_position_on_one_server_is_not_sent_to_another(daemon, app, bridge, server):
    daemon.start()
    bridge.configure(sse=events(server))
    bridge.start()
    answer(server, bridge, 7, push("one"))
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(30)
        bridge.configure(sse=events(other))
        bridge.signal(signal.SIGHUP)
        assert "Last-Event-ID" not in answer(other, bridge, 3, push("two"))
        bridge.configure(ntfy={
            "name": "news", "url": f"http://127.0.0.1:{other.getsockname()[1]}",
            "topics": {"org.example.todo": "up"},
        })
        bridge.signal(signal.SIGHUP)
        with other.accept()[0] as stream:
            assert stream.recv(8192).startswith(b"GET /up/json HTTP/1.1\r\n")


def test_what_is_no_stream_is_not_waited_for(daemon, app, bridge):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        daemon.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/events"
        bridge.configure(sse={"name": "news", "url": url, "app": "org.example.todo"})
        bridge.start()
        with listener.accept()[0] as page:
            page.recv(8192)
            page.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
            assert "not send an event stream" in bridge.wait_until_lost("news")["problem"]


def test_an_encoding_that_nobody_asked_for_is_a_problem(daemon, app, bridge, server):
    daemon.start()
    bridge.configure(sse=events(server))
    bridge.start()
    with server.accept()[0] as stream:
        assert "Accept-Encoding: identity\r\n" in stream.recv(8192).decode()
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n")
        assert "the encoding gzip" in bridge.wait_until_lost("news")["problem"]


def test_streams_that_bring_something_are_asked_for_soon_again_however_short_they_are(daemon, app, bridge, server):
    """Without it, the waits of eight streams in a row add up to two minutes on average."""
    daemon.start()
    bridge.configure(sse=events(server))
    bridge.start()
    for number in range(8):
        answer(server, bridge, number, push(number))
        assert app.ids() == [str(number)]
