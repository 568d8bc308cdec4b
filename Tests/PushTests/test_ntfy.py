"""Apps with messages from an ntfy server."""

import base64
import signal

import pytest

from bridge import App, push
from daemon import MAIL, TODO
from processes import status

TOPICS = {TODO: "upTodo0123456", MAIL: "upMail0123456"}
TOKEN = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"


def source(ntfy, **keys):
    return {"name": "home", "url": ntfy.url, "topics": TOPICS, "ca_file": str(ntfy.certificates.authority), **keys}


@pytest.fixture
def mail(daemon, app):
    """A second app."""
    return App(daemon, MAIL)


@pytest.fixture
def running(daemon, app, mail, bridge, ntfy):
    """The daemon and a bridge with the topics of both apps."""
    daemon.start()
    bridge.configure(ntfy=source(ntfy))
    bridge.start()
    ntfy.wait_for_subscriber()
    bridge.wait_until_connected("home")
    return bridge


def test_one_connection_has_the_messages_of_all_apps(running, ntfy, app, mail):
    payload = push(42, news="3 new")
    ntfy.publish(TOPICS[TODO], payload)
    ntfy.publish(TOPICS[MAIL], push("a"))
    assert app.delivered() == [payload]
    assert mail.ids() == ["a"]
    [asked] = ntfy.asked
    assert sorted(asked.topics) == sorted(TOPICS.values())
    running.wait_for_count("home", received=2)


def test_a_message_of_a_topic_that_no_app_has_wakes_nobody(running, ntfy, app):
    ntfy.publish("upOther012345", push(1))
    ntfy.publish(TOPICS[TODO], push(2))
    assert app.ids() == ["2"]


def test_messages_of_before_the_first_start_are_of_the_past(daemon, app, bridge, ntfy):
    ntfy.publish(TOPICS[TODO], push("old"))
    daemon.start()
    bridge.configure(ntfy=source(ntfy))
    bridge.start()
    bridge.wait_until_connected("home")
    ntfy.publish(TOPICS[TODO], push("new"))
    assert app.ids() == ["new"]
    app.no_more()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_what_came_while_the_bridge_was_away_comes_when_it_is_back(running, ntfy, app, end):
    ntfy.publish(TOPICS[TODO], push(1))
    assert app.ids() == ["1"]
    getattr(running, end)()
    for number in range(2, 6):
        ntfy.publish(TOPICS[TODO], push(number))
    running.start()
    assert app.ids(4) == ["2", "3", "4", "5"]
    assert int(ntfy.wait_for_subscriber(2).since) <= ntfy.messages[0]["time"]
    app.no_more()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_what_came_while_the_daemon_was_away_comes_when_it_is_back(daemon, running, ntfy, app, end):
    ntfy.publish(TOPICS[TODO], push(1))
    assert app.ids() == ["1"]
    daemon.wait_for_output("finished")
    daemon.settle()
    getattr(daemon, end)()
    for number in range(2, 6):
        ntfy.publish(TOPICS[TODO], push(number))
    daemon.start()
    assert app.ids(4) == ["2", "3", "4", "5"]
    app.no_more()


def test_what_came_while_the_server_was_unreachable_comes_when_it_is_back(running, ntfy, app):
    ntfy.publish(TOPICS[TODO], push(1))
    assert app.ids() == ["1"]
    ntfy.stop()
    running.wait_until_retrying("home")
    for number in range(2, 6):
        ntfy.publish(TOPICS[TODO], push(number))
    ntfy.start()
    assert app.ids(4) == ["2", "3", "4", "5"]
    app.no_more()


def test_everything_is_killed_at_once_and_nothing_is_lost(daemon, running, ntfy, app):
    ntfy.publish(TOPICS[TODO], push(1))
    assert app.ids() == ["1"]
    daemon.wait_for_output("finished")
    daemon.settle()
    running.kill()
    daemon.kill()
    ntfy.stop()
    ntfy.publish(TOPICS[TODO], push(2))
    ntfy.start()
    running.start()
    daemon.start()
    assert app.ids() == ["2"]
    app.no_more()


def test_old_messages_that_a_server_sends_again_wake_nobody_twice(running, ntfy, app):
    for number in range(1, 4):
        ntfy.publish(TOPICS[TODO], push(number))
    assert app.ids(3) == ["1", "2", "3"]
    running.stop()
    ntfy.publish(TOPICS[TODO], push(4))
    running.start()
    assert app.ids() == ["4"]
    app.no_more()


def test_a_scheduled_message_that_fell_due_while_the_bridge_was_away_comes_when_it_is_back(running, ntfy, app):
    """It arrived at the server before the last message that the bridge has."""
    scheduled = ntfy.publish(TOPICS[TODO], push("later"), is_scheduled=True)
    ntfy.publish(TOPICS[TODO], push(1))
    assert app.ids() == ["1"]
    running.stop()
    ntfy.fall_due(scheduled)
    running.start()
    assert app.ids() == ["later"]
    app.no_more()


def test_a_kill_between_old_messages_loses_none_of_them(daemon, bridge, ntfy):
    """Old messages of the same second come in any order. At most 64 pushes of an app wait, so many apps share them."""
    apps = [App(daemon, f"org.example.many{number}") for number in range(8)]
    topics = {app.id: f"upMany{number}" for number, app in enumerate(apps)}
    daemon.start()
    bridge.configure(ntfy=source(ntfy, topics=topics))
    bridge.start()
    bridge.wait_until_connected("home")
    bridge.wait_until_remembered("home")
    bridge.stop()
    for number in range(50):
        for topic in topics.values():
            ntfy.publish(topic, push(number))
    ntfy.stops_after, ntfy.mixes_seconds = 200, True
    bridge.start()
    bridge.wait_for_count("home", received=200)
    bridge.kill()
    ntfy.let_go()
    bridge.start()
    for app in apps:
        assert sorted(app.ids(50), key=int) == [str(number) for number in range(50)]
        app.no_more()


def test_a_message_that_comes_twice_wakes_once(running, ntfy, app):
    message = ntfy.publish(TOPICS[TODO], push(1))
    ntfy.repeat(message)
    ntfy.publish(TOPICS[TODO], push(2))
    assert app.ids(2) == ["1", "2"]
    app.no_more()


def test_two_messages_with_the_same_words_are_two(running, ntfy, app):
    for _ in range(2):
        ntfy.publish(TOPICS[TODO], push(1))
        assert app.ids() == ["1"]


def test_a_message_in_base64_is_read(running, ntfy, app):
    payload = push(42)
    message = ntfy.publish(TOPICS[MAIL], b"\xff", unified_push=True)
    ntfy.repeat({**message, "id": "x" * 12, "topic": TOPICS[TODO], "message": base64.b64encode(payload.encode()).decode()})
    assert app.delivered() == [payload]


@pytest.mark.parametrize(
    "body", [b"x" * 5000, b"\xff\xfe", b"not JSON", b'{"aps":{"content-available":2}}', b"[1]"],
    ids=["attachment", "binary", "text", "wrong", "array"],
)  # fmt: skip
def test_what_is_no_payload_is_refused_counted_and_shown_to_nobody(running, ntfy, app, body):
    ntfy.publish(TOPICS[TODO], body)
    ntfy.publish(TOPICS[TODO], push(1))
    assert app.ids() == ["1"]
    running.wait_for_count("home", received=2, refused=1)
    running.restart()
    ntfy.publish(TOPICS[TODO], push(2))
    assert app.ids() == ["2"]
    app.no_more()


def test_a_message_without_the_flag_wakes_nobody_and_an_attached_app_hears_of_it(daemon, running, ntfy, mail):
    stream = daemon.client.stream("App.Attach", app=TODO, performs=False)
    ntfy.publish(TOPICS[TODO], '{"aps":{},"content-id":7}')
    event = next(answer["event"] for answer in iter(stream) if answer["event"]["kind"] == "push")
    assert (event["payload"], event["content_id"]) == ('{"aps":{},"content-id":7}', "7")
    stream.close()


@pytest.mark.parametrize("priority, urgency", [(1, "very_low"), (2, "low"), (3, "normal"), (4, "high"), (5, "high")])
def test_the_priority_of_a_message_is_the_urgency_of_the_push(daemon, running, ntfy, priority, urgency):
    """A push for a logged-out app waits, and the status shows its urgency."""
    daemon.tell("logout")
    stream = daemon.client.stream("Manager.Watch")
    ntfy.publish(TOPICS[TODO], push(1), priority=priority)
    next(answer for answer in iter(stream) if answer["event"]["kind"] == "push")
    stream.close()
    [waiting] = daemon.call("Manager.Why", app=TODO)["why"]["pushes"]
    assert waiting["urgency"] == urgency


@pytest.mark.parametrize("credential, header", [(TOKEN, f"Bearer {TOKEN}"), ("ann:secret", "Basic YW5uOnNlY3JldA==")])
def test_the_server_may_want_to_know_who_asks(daemon, scratch, app, bridge, ntfy, credential, header):
    ntfy.accounts.add(header)
    file = scratch / "credential"
    file.write_text(credential + "\n")
    file.chmod(0o600)
    daemon.start()
    bridge.configure(ntfy=source(ntfy, credential_file=str(file)))
    bridge.start()
    bridge.wait_until_connected("home")
    ntfy.publish(TOPICS[TODO], push(1))
    assert app.ids() == ["1"]


def test_a_bare_name_of_a_credential_is_the_service_managers(daemon, scratch, app, bridge, ntfy):
    ntfy.accounts.add(f"Bearer {TOKEN}")
    (scratch / "credentials").mkdir()
    file = scratch / "credentials" / "ntfy.token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o400)
    daemon.start()
    bridge.configure(ntfy=source(ntfy, credential_file="ntfy.token"))
    bridge.start(environment={"CREDENTIALS_DIRECTORY": str(file.parent)})
    bridge.wait_until_connected("home")


def test_a_server_that_knows_nobody_is_a_problem_without_the_secrets(daemon, app, bridge, ntfy):
    ntfy.accounts.add(f"Bearer {TOKEN}")
    daemon.start()
    bridge.configure(ntfy=source(ntfy))
    bridge.start()
    problem = bridge.wait_until_lost("home")["problem"]
    assert "403" in problem and "credential_file" in problem
    for secret in TOPICS.values():
        assert secret not in problem + "\n".join(bridge.written() + daemon.written())


def test_a_topic_that_must_not_be_read_costs_only_its_app(daemon, running, ntfy, app):
    ntfy.forbidden.add(TOPICS[MAIL])
    ntfy.hang_up()
    source = running.wait_for("home", "limited", lambda source: source["is_connected"] and source.get("problem"))
    assert MAIL in source["problem"] and "403" in source["problem"] and TODO not in source["problem"]
    assert not set(TOPICS.values()) & set(source["problem"].split())
    ntfy.publish(TOPICS[TODO], push(1))
    assert app.ids() == ["1"]
    # The next connection asks again.
    ntfy.forbidden.clear()
    ntfy.hang_up()
    running.wait_for("home", "whole", lambda source: source["is_connected"] and not source.get("problem"))


def test_a_payload_full_of_signs_that_the_server_escapes_is_taken(running, ntfy, app):
    payload = push(1, text="<" * 3900)
    ntfy.publish(TOPICS[TODO], payload)
    assert app.delivered() == [payload]


def test_a_server_with_a_certificate_of_nobody_is_a_problem(daemon, app, bridge, ntfy):
    keys = source(ntfy)
    del keys["ca_file"]
    daemon.start()
    bridge.configure(ntfy=keys)
    bridge.start()
    assert "certificate" in bridge.wait_until_lost("home")["problem"]
    assert ntfy.asked == []


def test_a_server_that_is_asked_too_often_is_left_alone_for_as_long_as_it_says(daemon, app, bridge, ntfy):
    ntfy.refuse((429, {"Retry-After": 3}))
    daemon.start()
    bridge.configure(ntfy=source(ntfy))
    bridge.start()
    ntfy.wait_for_subscriber()
    refused, taken = ntfy.asked
    assert (refused.status, taken.status) == (429, 200)
    assert taken.at - refused.at >= 3


def test_a_stream_that_a_proxy_ends_is_opened_again(running, ntfy, app):
    ntfy.publish(TOPICS[TODO], push(1))
    assert app.ids() == ["1"]
    ntfy.hang_up()
    ntfy.publish(TOPICS[TODO], push(2))
    assert app.ids() == ["2"]
    assert int(ntfy.wait_for_subscriber(2).since) <= ntfy.messages[0]["time"]
    app.no_more()


def test_a_server_that_falls_silent_is_asked_again_and_one_that_says_that_it_is_alive_is_not(daemon, app, bridge, ntfy):
    ntfy.keepalive = 0.2
    daemon.start()
    bridge.configure(ntfy=source(ntfy, silence="3s"))
    bridge.start()
    ntfy.wait_for_subscriber()
    assert not ntfy.is_asked_within(6)
    ntfy.be_silent()
    ntfy.wait_for_subscriber(2)
    ntfy.be_silent(False)
    ntfy.publish(TOPICS[TODO], push(1))
    assert app.ids() == ["1"]


def test_other_sources_are_in_force_after_a_reload_and_a_wrong_file_changes_nothing(running, ntfy, app, mail):
    other = source(ntfy, topics={TODO: "upOther012345"})
    running.configure(ntfy=other)
    running.signal(signal.SIGHUP)
    ntfy.wait(
        "the other topic", lambda asked: any(one.topics == ["upOther012345"] and one.status == 200 for one in asked)
    )
    running.wait_until_connected("home")
    ntfy.publish("upOther012345", push(1))
    assert app.ids() == ["1"]
    running.configure(ntfy={**other, "colour": "blue"})
    running.signal(signal.SIGHUP)
    running.wait_for_output("colour")
    ntfy.publish("upOther012345", push(2))
    assert app.ids() == ["2"]


def test_topics_and_payloads_are_in_no_log_and_no_status(daemon, running, ntfy, app):
    ntfy.publish(TOPICS[TODO], push(1, secret="hunter2"))
    ntfy.publish(TOPICS[TODO], "hunter2")
    ntfy.publish(TOPICS[TODO], push(2))
    app.delivered(2)
    command = open(f"/proc/{running.pid}/cmdline").read()
    shown = [str(daemon.call(f"Manager.{method}", **more)) for method, more in [
        ("Status", {}), ("Why", {"app": TODO}), ("History", {"app": TODO}), ("Metrics", {})]]  # fmt: skip
    for secret in ["hunter2", *TOPICS.values()]:
        assert secret not in "\n".join([command, *shown, *running.written(), *daemon.written()])


def test_its_memory_is_bounded_while_the_daemon_is_away(daemon, running, ntfy, app):
    ntfy.publish(TOPICS[TODO], push(1))
    assert app.ids() == ["1"]
    before = status(running.pid, "VmRSS")
    daemon.wait_for_output("finished")
    daemon.settle()
    daemon.kill()
    # 40 MB: the memory of a bridge without flow control.
    for number in range(2, 10_002):
        ntfy.publish(TOPICS[TODO], push(number, filling="x" * 3900))
    daemon.start()
    app.delivered(1)
    assert status(running.pid, "VmHWM") - before < 8192
