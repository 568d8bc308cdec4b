"""The permissions to push, and the messages between the push bridge and the daemon."""

import json
import os
import pwd
import signal

import pytest

from client import as_user, fails
from daemon import HURRY, MAIL, TODO
from pushing import counts, deliver, delivered, payload, push, start, why  # noqa: F401

NOBODY = pwd.getpwnam("nobody").pw_uid
STRANGER = 54321
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")

# Refused pushes.

REFUSED = {
    "no JSON": "hello",
    "half of it": '{"aps":',
    "an array": "[]",
    "a number": "42",
    "nothing": "",
    "too much": json.dumps({"text": "x" * 4096}),
    "aps that is text": '{"aps":"1"}',
    "a flag that is text": '{"aps":{"content-available":"1"}}',
    "a content id that is a list": '{"content-id":[42]}',
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_is_no_payload_is_refused_with_the_reason(daemon, delivered, text):
    start(daemon, delivered)
    with fails("org.refreshd.App.InvalidPayload") as refused:
        push(daemon, text)
    assert refused["problem"].startswith("cannot ") and refused["remedy"]
    (result,) = deliver(daemon, {"app": TODO, "payload": text})
    assert result == {"refusal": refused["problem"]}
    assert counts(daemon) == {"refused": 2}
    assert (daemon.history(), why(daemon)["pushes"]) == ([], [])


def test_a_delivery_is_taken_as_far_as_it_is_right(daemon, delivered):
    start(daemon, delivered)
    results = deliver(
        daemon,
        {"app": "org.example.nobody", "payload": payload(1)},
        {"app": TODO, "payload": payload(2)},
        {"app": TODO, "payload": payload(3), "id": "x" * 257},
        {"app": TODO, "payload": '{"title":"hello"}'},
    )
    assert [result.get("fate", "refused") for result in results] == ["refused", "queued", "refused", "told"]
    assert delivered.line().startswith("push 2")
    for count in (0, 257):
        with fails("org.varlink.service.InvalidParameter", parameter="deliveries"):
            deliver(daemon, *[{"app": TODO, "payload": payload()}] * count)


def test_the_most_that_a_call_may_hand_in_gets_through(daemon, delivered):
    """The longest payloads, in which every character must be escaped."""
    start(daemon, delivered, push_burst=1, push_per_hour=1)
    text = '{"aps":{"content-available":1},"content-id":"%03d","t":[' + ",".join(['""'] * 1347) + "]}"
    assert len(text % 0) > 4090
    assert len(deliver(daemon, *[{"app": TODO, "payload": text % number} for number in range(256)])) == 256


# Permissions.


@as_root
def test_an_owner_may_push_to_his_own_app_only(daemon):
    daemon.app("exit 100")
    daemon.app("exit 100", id=MAIL, owner="nobody", directory="/")
    daemon.start()
    daemon.status(), push(daemon, '{"t":1}')
    with as_user(NOBODY):
        assert push(daemon, payload(), MAIL)["fate"] == "queued"
        with fails("org.refreshd.NotAllowed", app=TODO):
            push(daemon, payload())
    with as_user(STRANGER), fails("org.refreshd.NotAllowed", app=MAIL):
        push(daemon, payload(), MAIL)
    with fails("org.refreshd.NoSuchApp", app="org.example.nobody"):
        push(daemon, payload(), "org.example.nobody")


@as_root
def test_the_bridges_user_may_hand_in_pushes_and_nothing_else(daemon):
    users = daemon.directory / "passwd"
    users.write_text(open("/etc/passwd").read() + "refresh-push:x:54323:54323::/:/usr/sbin/nologin\n")
    daemon.app("exit 100")
    daemon.start(prefix=["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', users])
    daemon.status(), push(daemon, '{"t":1}'), deliver(daemon, {"app": TODO, "payload": '{"t":1}'})
    with as_user(54323):
        assert deliver(daemon, {"app": TODO, "payload": payload()}) == [{"fate": "queued"}]
        daemon.call("Push.Report", sources=[])
        assert daemon.client.stream("Push.Watch").first["network"] is not None
        with fails("org.refreshd.NotAllowed"):
            push(daemon, payload())
        for method, parameters in {
            "Manager.Status": {}, "Manager.Metrics": {}, "Manager.Why": {"app": TODO}, "Manager.Reload": {},
            "Manager.Run": {"app": TODO}, "Manager.History": {"app": TODO},
        }.items():
            with fails("org.refreshd.NotAllowed"):
                daemon.call(method, **parameters)
        assert daemon.call("Manager.List")["apps"] == []
    with as_user(STRANGER):
        for method, parameters in {
            "Push.Deliver": {"deliveries": [{"app": TODO, "payload": payload()}]}, "Push.Report": {"sources": []},
            "Push.Watch": {},
        }.items():
            with fails("org.refreshd.NotAllowed") as refused:
                daemon.call(method, **parameters)
            assert "refresh-push" in refused["remedy"]


def test_the_status_says_that_a_bridge_is_missing(daemon):
    """Only while push.toml names sources and nobody who is connected reports any."""
    daemon.app("exit 100")
    daemon.start()
    assert "is_bridge_missing" not in daemon.status()
    sources = daemon.config / "push.toml"
    sources.touch(mode=0o600)
    sources.write_text('[[mqtt]]\nname = "home"\nhost = "broker.example.org"\n')
    daemon.call("Manager.Reload")
    assert daemon.status()["is_bridge_missing"]
    bridge = daemon.client.stream("Push.Watch")
    assert "is_bridge_missing" not in daemon.status()
    bridge.close()
    while "is_bridge_missing" not in daemon.status():
        pass
    sources.unlink()
    daemon.call("Manager.Reload")
    assert "is_bridge_missing" not in daemon.status()


# The bridge.

SOURCE = {"name": "home", "kind": "ntfy", "is_connected": True, "since_us": 1, "received": 3, "refused": 1}


def test_status_shows_what_the_bridge_reports_until_it_leaves(daemon):
    daemon.app("exit 100")
    daemon.start()
    assert "push" not in daemon.status()
    bridge = daemon.client.open("Push")
    bridge.Report(sources=[SOURCE])
    assert daemon.status()["push"]["sources"] == [SOURCE]
    bridge.Report(sources=[{**SOURCE, "is_connected": False, "problem": "cannot connect", "retry_us": 2}])
    (source,) = daemon.status()["push"]["sources"]
    assert (source["is_connected"], source["problem"], source["retry_us"]) == (False, "cannot connect", 2)
    bridge.Report(sources=[{**SOURCE, "problem": "x" * 100_000, "retry_us": 2**63 - 1, "since_us": -(2**63)}])
    (source,) = daemon.status()["push"]["sources"]
    assert len(source["problem"]) == 512 and source["retry_us"] < 2**62 and source["since_us"] == 0
    with fails("org.varlink.service.InvalidParameter", parameter="sources"):
        bridge.Report(sources=[SOURCE] * 193)
    bridge.close()
    while "push" in daemon.status():
        pass


def test_the_bridge_is_told_when_it_may_connect(daemon):
    """At once, and on every change. A stop of the daemon changes nothing: the bridge stays connected meanwhile."""
    started, go = daemon.pipe("started"), daemon.pipe("go")
    daemon.configure(HURRY + '[push]\nnetwork = "none"\n')
    daemon.app(f"echo > {started}; trap 'read _ < {go}; exit' TERM; read _ < {go}")
    daemon.start()
    with fails("org.varlink.service.ExpectedMore"):
        daemon.call("Push.Watch")
    stream = daemon.client.stream("Push.Watch")
    answer = stream.first
    # The first reading of the network arrives a moment later.
    while not answer["may_connect"]:
        answer = next(stream)
    assert daemon.status()["push"]["may_connect"] is True
    daemon.run()
    started.line()
    daemon.signal(signal.SIGTERM)
    go.let_go(2)
    assert daemon.wait() == 0
    with pytest.raises(BrokenPipeError):
        next(stream)
