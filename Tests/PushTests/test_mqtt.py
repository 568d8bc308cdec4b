"""Apps with messages from an MQTT broker: a real mosquitto with TLS and a password, and a small broker for behaviour
that mosquitto cannot be configured to have."""

import os
import select
import signal
import subprocess

import pytest

from bridge import App, push
from daemon import MAIL, TODO
from servers.broker import Broker, PASSWORD, USER
from servers.mqtt import V311, V5, SmallBroker
from servers.relay import Relay

TOPIC = f"test/{TODO}"


@pytest.fixture
def running(daemon, app, bridge, broker):
    """The daemon and a bridge with the broker as source."""
    daemon.start()
    bridge.configure(mqtt=broker.source())
    bridge.start()
    bridge.wait_until_connected("broker")
    return bridge


@pytest.fixture
def small(request):
    broker = SmallBroker(**getattr(request, "param", {}))
    yield broker
    broker.close()


@pytest.fixture
def running_small(daemon, app, bridge, small):
    """The daemon and a bridge with the small broker as source."""
    daemon.start()
    bridge.configure(mqtt=small.source())
    bridge.start()
    bridge.wait_until_connected("broker")
    return bridge


@pytest.fixture
def line(broker):
    """A connection to the broker that a test can break."""
    line = Relay(broker.port)
    yield line
    line.close()


# Messages.


def test_the_topic_says_for_which_app_a_message_is(daemon, app, bridge, broker):
    mail = App(daemon, MAIL)
    daemon.start()
    bridge.configure(mqtt=broker.source())
    bridge.start()
    bridge.wait_until_connected("broker")
    payload = push(42, news="3 new")
    broker.publish(TOPIC, payload)
    broker.publish(f"test/{MAIL}", push("a"))
    assert app.delivered() == [payload]
    assert mail.ids() == ["a"]
    assert bridge.source("broker")["kind"] == "mqtt"


def test_the_machine_in_the_topic_is_the_one_that_systemd_prints(daemon, app, bridge, broker):
    use = "664f30f6843842368c6bd98e13dd28ba"
    machine = subprocess.run(
        ["systemd-id128", "machine-id", f"--app-specific={use}"], check=True, capture_output=True, text=True
    ).stdout.strip()
    keys = broker.source()
    del keys["topic"]
    daemon.start()
    bridge.configure(mqtt=keys)
    bridge.start()
    bridge.wait_until_connected("broker")
    broker.publish(f"refreshd/{machine}/{TODO}", push(1))
    assert app.ids() == ["1"]


@pytest.mark.parametrize("word, urgency", [("very-low", "very_low"), ("high", "high"), ("nonsense", "normal")])
def test_a_user_property_of_the_message_is_the_urgency_of_the_push(daemon, running, broker, word, urgency):
    daemon.tell("logout")
    stream = daemon.client.stream("Manager.Watch")
    properties = ["-V", "5", "-D", "publish", "user-property", "colour", "red"]
    properties += ["-D", "publish", "user-property", "urgency", word]
    broker.publish(TOPIC, push(1), options=properties)
    next(answer for answer in iter(stream) if answer["event"]["kind"] == "push")
    stream.close()
    [waiting] = daemon.call("Manager.Why", app=TODO)["why"]["pushes"]
    assert waiting["urgency"] == urgency


@pytest.mark.parametrize("body", ["not JSON", '{"aps":{"content-available":2}}'], ids=["text", "wrong"])
def test_what_is_no_payload_is_refused_counted_and_not_sent_again(running, broker, app, body):
    broker.publish(TOPIC, body)
    broker.publish("test/org.example.nobody", push(1))
    broker.publish(TOPIC, push(2))
    assert app.ids() == ["2"]
    source = running.wait_for("broker", "refusing", lambda source: source["refused"] == 2)
    assert source["received"] == 3
    broker.wait_for_acknowledgement(3)
    running.restart()
    broker.publish(TOPIC, push(3))
    assert app.ids() == ["3"]
    assert running.source("broker")["refused"] == 0
    app.no_more()


def test_topics_payloads_and_passwords_are_in_no_log_and_no_status(daemon, running, broker, app):
    broker.publish(TOPIC, push(1, secret="hunter3"))
    broker.publish(TOPIC, "hunter3")
    broker.publish(TOPIC, push(2))
    app.delivered(2)
    command = open(f"/proc/{running.pid}/cmdline").read()
    shown = [str(daemon.call(f"Manager.{method}", **more)) for method, more in [
        ("Status", {}), ("Why", {"app": TODO}), ("History", {"app": TODO}), ("Metrics", {})]]  # fmt: skip
    for secret in ["hunter3", PASSWORD, TOPIC]:
        assert secret not in "\n".join([command, *shown, *running.written(), *daemon.written()])


# Repeated messages.


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_what_came_while_the_bridge_was_away_comes_when_it_is_back(running, broker, app, end):
    broker.publish(TOPIC, push(1))
    assert app.ids() == ["1"]
    broker.wait_for_acknowledgement()
    getattr(running, end)()
    for number in range(2, 6):
        broker.publish(TOPIC, push(number))
    running.start()
    assert app.ids(4) == ["2", "3", "4", "5"]
    app.no_more()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_what_came_while_the_daemon_was_away_comes_when_it_is_back(daemon, running, broker, app, end):
    broker.publish(TOPIC, push(1))
    assert app.ids() == ["1"]
    app.no_more()
    getattr(daemon, end)()
    for number in range(2, 6):
        broker.publish(TOPIC, push(number))
    daemon.start()
    assert app.ids(4) == ["2", "3", "4", "5"]
    app.no_more()


def test_what_waits_at_the_broker_outlives_it(running, broker, app):
    broker.publish(TOPIC, push(1))
    assert app.ids() == ["1"]
    broker.wait_for_acknowledgement()
    running.stop()
    for number in range(2, 6):
        broker.publish(TOPIC, push(number))
    broker.restart()
    running.start()
    assert app.ids(4) == ["2", "3", "4", "5"]
    app.no_more()


def test_a_broker_that_was_away_is_connected_to_again(running, broker, app):
    broker.publish(TOPIC, push(1))
    assert app.ids() == ["1"]
    broker.stop()
    running.wait_until_retrying("broker")
    broker.start()
    broker.publish(TOPIC, push(2))
    assert app.ids() == ["2"]
    app.no_more()


def test_a_message_that_is_not_stored_is_not_acknowledged(daemon, running, broker, app):
    """The bridge has the message, the daemon does not answer, and both are killed: the broker sends it again."""
    daemon.signal(signal.SIGSTOP)
    for number in range(1, 4):
        broker.publish(TOPIC, push(number))
    broker.wait_for_output("Sending PUBLISH to refreshd-", 3)
    daemon.kill()
    running.kill()
    assert not any("PUBACK from refreshd-" in line for line in broker.written())
    daemon.start()
    running.start()
    assert app.ids(3) == ["1", "2", "3"]
    broker.wait_for_acknowledgement(3)
    app.no_more()


def test_a_message_that_is_stored_and_not_acknowledged_comes_once(daemon, running_small, small, app):
    """The connection ends before the acknowledgement: the broker repeats the message, marked as repeated."""
    daemon.signal(signal.SIGSTOP)
    small.send(TOPIC, push(1), 1)
    # The call waits at the daemon.
    assert lives_on(running_small, 1)
    small.hang_up()
    small.wait_for_client()
    daemon.signal(signal.SIGCONT)
    small.send(TOPIC, push(1), 1, repeated=True)
    assert app.ids() == ["1"]
    small.wait_for_acknowledgement()
    app.no_more()
    running_small.wait_for_output("before refreshd had stored its messages")


@pytest.mark.parametrize("restarts", [False, True])
def test_after_the_acknowledgement_the_same_number_is_another_message_even_if_it_is_marked_as_repeated(
    running_small, small, app, restarts
):
    """MQTT-4.3.2-5, on NATS and mochi: its first arrival was lost on the line. NATS gives most messages the number 1."""
    small.send(TOPIC, push(1), 1)
    assert app.ids() == ["1"]
    small.wait_for_acknowledgement()
    if restarts:
        running_small.restart()
    else:
        small.hang_up()
    small.wait_for_connects(2)
    small.send(TOPIC, push(1), 1, repeated=True)
    assert app.ids() == ["1"]
    small.wait_for_acknowledgement(2)
    app.no_more()


def test_what_a_broker_sends_again_because_acknowledgements_were_lost_on_the_line_is_not_lost(
    daemon, app, bridge, broker, line
):
    """To the bridge they are new: it cannot know that the broker has not had its acknowledgements."""
    keys = broker.source(port=line.port, tls=False)
    del keys["ca_file"]
    daemon.start()
    bridge.configure(mqtt=keys)
    bridge.start()
    bridge.wait_until_connected("broker")
    line.is_losing = True
    for number in range(10):
        broker.publish(TOPIC, push(number))
    assert app.ids(10) == [str(number) for number in range(10)]
    line.is_losing = False
    line.cut()
    broker.wait_for_acknowledgement(10)
    assert app.ids(10) == [str(number) for number in range(10)]
    app.no_more()


def test_a_broker_that_was_killed_has_lost_the_session_and_the_same_words_are_another_message(running, broker, app):
    broker.publish(TOPIC, push(1))
    assert app.ids() == ["1"]
    broker.kill()
    running.wait_until_lost("broker")
    broker.start()
    running.wait_until_connected("broker")
    broker.publish(TOPIC, push(1))
    assert app.ids() == ["1"]
    app.no_more()


@pytest.mark.parametrize("small", [{"versions": [V311]}, {}], indirect=True, ids=["3.1.1", "5"])
def test_a_number_that_the_broker_uses_again_is_another_message(running_small, small, app):
    """The DUP flag distinguishes the message from a repeated one."""
    for count in (1, 2):
        small.send(TOPIC, push(1), 1)
        assert app.ids() == ["1"]
        small.wait_for_acknowledgement(count)


def test_a_number_that_is_used_again_is_another_message_for_a_daemon_that_was_killed_with_it(
    daemon, running_small, small, app
):
    small.send(TOPIC, push(1), 1)
    assert app.ids() == ["1"]
    small.wait_for_acknowledgement()
    app.no_more()
    daemon.signal(signal.SIGSTOP)
    small.send(TOPIC, push(1), 1)
    # The daemon ends with the call unread.
    assert lives_on(running_small, 1)
    daemon.kill()
    daemon.start()
    assert app.ids() == ["1"]
    small.wait_for_acknowledgement(2)
    app.no_more()


def test_the_same_words_in_a_new_session_are_another_message(running_small, small, app):
    """The broker has lost its sessions and numbers packets from 1 again. It marks messages from the outage as repeated, as
    mosquitto does."""
    small.send(TOPIC, push(1), 1)
    assert app.ids() == ["1"]
    small.wait_for_acknowledgement()
    small.sessions.clear()
    small.hang_up()
    small.wait_for_client()
    small.hang_up()
    small.send(TOPIC, push(1), 1, repeated=True)
    assert app.ids() == ["1"]


def test_everything_is_killed_at_once_and_nothing_is_lost(daemon, running, broker, app):
    broker.publish(TOPIC, push(1))
    assert app.ids() == ["1"]
    broker.wait_for_acknowledgement()
    app.no_more()
    running.kill()
    daemon.kill()
    broker.publish(TOPIC, push(2))
    broker.restart()
    running.start()
    daemon.start()
    assert app.ids() == ["2"]
    app.no_more()


@pytest.mark.parametrize("small", [{"versions": [V311]}, {}], indirect=True, ids=["3.1.1", "5"])
def test_each_connection_asks_for_the_topic(running_small, small, app):
    small.hang_up()
    small.send(TOPIC, push(1), 1)
    assert app.ids() == ["1"]
    small.wait(lambda: small.subscriptions == ["test/+"] * 2, "another subscription")


def test_a_broker_that_is_back_with_an_older_session_is_asked_for_the_topic_again(daemon, app, bridge, broker):
    daemon.start()
    bridge.configure(mqtt=broker.source(topic="old/{app}"))
    bridge.start()
    bridge.wait_until_connected("broker")
    bridge.stop()
    # mosquitto writes its sessions to disk at a stop, not at a kill.
    broker.restart()
    bridge.configure(mqtt=broker.source())
    bridge.start()
    bridge.wait_until_connected("broker")
    broker.publish(TOPIC, push(1))
    assert app.ids() == ["1"]
    broker.kill()
    bridge.wait_until_lost("broker")
    broker.start()
    broker.wait_for_output("test/+ (QoS 1)", times=2)
    broker.publish(TOPIC, push(2))
    assert app.ids() == ["2"]
    app.no_more()


def test_a_retained_message_comes_once(running, broker, app):
    broker.publish(TOPIC, push(1), options=["-r"])
    assert app.ids() == ["1"]
    broker.wait_for_acknowledgement()
    for _ in range(2):
        running.restart()
        running.wait_until_connected("broker")
    app.no_more()


def test_a_retained_message_of_before_the_first_start_comes_once(daemon, app, bridge, broker):
    broker.publish(TOPIC, push(1), options=["-r"])
    daemon.start()
    bridge.configure(mqtt=broker.source())
    bridge.start()
    assert app.ids() == ["1"]
    broker.wait_for_acknowledgement()
    bridge.restart()
    bridge.wait_until_connected("broker")
    app.no_more()


@pytest.mark.parametrize("small", [{"versions": [V311]}], indirect=True)
def test_a_retained_message_comes_once_in_a_session_and_again_in_the_next(running_small, small, app):
    """MQTT 3.1.1 sends it at every subscription, with another number."""
    small.send(TOPIC, push("kept"), 1, retained=True)
    small.send(TOPIC, push("live"), 2)
    assert app.ids(2) == ["kept", "live"]
    small.wait_for_acknowledgement(2)
    small.hang_up()
    small.send(TOPIC, push("kept"), 3, retained=True)
    small.wait_for_acknowledgement(3)
    app.no_more()
    small.sessions.clear()
    small.hang_up()
    small.send(TOPIC, push("kept"), 4, retained=True)
    assert app.ids() == ["kept"]
    app.no_more()


def test_a_table_has_the_topic_of_each_app_also_where_the_broker_takes_dots_for_slashes(daemon, app, bridge, small):
    """As RabbitMQ does: there the topic `refreshd/{machine}/{app}` never matches."""
    mail = App(daemon, MAIL)
    keys = small.source(topics={TODO: "home.one/todo", MAIL: "mail"})
    del keys["topic"]
    small.takes_dots_for_slashes = True
    daemon.start()
    bridge.configure(mqtt=keys)
    bridge.start()
    bridge.wait_until_connected("broker")
    assert small.subscriptions == ["home.one/todo", "mail"]
    small.send("home.one/todo", push(1), 1)
    small.send("mail", push(2), 2)
    assert (app.ids(), mail.ids()) == (["1"], ["2"])


def test_a_topic_that_the_broker_refuses_costs_only_its_app(daemon, app, bridge, small):
    keys = small.source(topics={TODO: "todo", MAIL: "mail"})
    del keys["topic"]
    small.refused_topics.add("mail")
    daemon.start()
    bridge.configure(mqtt=keys)
    bridge.start()
    source = bridge.wait_for("broker", "limited", lambda source: source["is_connected"] and source.get("problem"))
    assert MAIL in source["problem"] and "not authorized" in source["problem"] and TODO not in source["problem"]
    small.send("todo", push(1), 1)
    assert app.ids() == ["1"]


def test_another_topic_takes_the_place_of_the_one_that_was_there(running, broker, app):
    running.configure(mqtt=broker.source(topic="other/{app}"))
    running.restart()
    running.wait_until_connected("broker")
    broker.publish(TOPIC, push(1))
    broker.publish(f"other/{TODO}", push(2))
    assert app.ids() == ["2"]
    source = running.wait_for("broker", "counting", lambda source: source["received"])
    assert (source["received"], source["refused"]) == (1, 0)
    app.no_more()


# Logins and mistakes.


def problem(daemon, bridge, **keys):
    """Starts the bridge with these keys and returns the problem."""
    daemon.start()
    bridge.configure(mqtt=keys)
    bridge.start()
    return bridge.wait_until_lost("broker")["problem"]


def test_a_broker_with_a_certificate_of_nobody_is_a_problem(daemon, app, bridge, broker):
    keys = broker.source()
    del keys["ca_file"]
    shown = problem(daemon, bridge, **keys)
    assert "certificate" in shown and "ca_file" in shown
    assert not any(" as refreshd-" in line for line in broker.written())


def test_a_wrong_password_is_a_problem(daemon, app, bridge, broker, scratch):
    file = scratch / "wrong"
    file.write_text(f"{USER}:hunter1\n")
    file.chmod(0o600)
    shown = problem(daemon, bridge, **broker.source(credential_file=str(file)))
    assert "credential_file" in shown and "hunter1" not in shown


def test_a_password_file_that_others_may_read_is_a_problem(daemon, app, bridge, broker):
    keys = broker.source()
    file = broker.configuration.parent / "credential"
    file.chmod(0o644)
    assert str(file) in problem(daemon, bridge, **keys)


@pytest.mark.parametrize("small", [{"grants": 0x87}, {"versions": [V311], "grants": 0x80}], indirect=True)
def test_a_topic_that_the_broker_refuses_is_a_problem(daemon, app, bridge, small):
    shown = problem(daemon, bridge, **small.source())
    assert "check topic" in shown and "test/" not in shown


@pytest.mark.parametrize("small", [{"grants": 0}], indirect=True)
def test_a_broker_that_may_lose_messages_is_a_problem(daemon, app, bridge, small):
    assert "quality of service 0" in problem(daemon, bridge, **small.source())


def test_a_host_that_has_no_address_is_a_problem(daemon, app, bridge, broker):
    assert "address of broker.invalid" in problem(daemon, bridge, **broker.source(host="broker.invalid"))


@pytest.mark.parametrize("tls, port", [(True, "port"), (False, "tls_port")], ids=["TLS at plain", "plain at TLS"])
def test_the_other_port_of_the_broker_is_a_problem(daemon, app, bridge, broker, tls, port):
    keys = broker.source(tls=tls, port=getattr(broker, port))
    if not tls:
        del keys["ca_file"]
    assert "check port" in problem(daemon, bridge, **keys)


def test_a_certificate_of_its_own_lets_the_bridge_in(daemon, app, bridge, scratch, certificates):
    broker = Broker(scratch / "strict", certificates, f"cafile {certificates.authority}\nrequire_certificate true\n")
    broker.start()
    try:
        key = scratch / "client.key"
        key.write_bytes(certificates.key.read_bytes())
        key.chmod(0o600)
        daemon.start()
        bridge.configure(mqtt=broker.source())
        bridge.start()
        assert bridge.wait_until_lost("broker")["problem"]
        own = {"certificate_file": str(certificates.certificate), "key_file": str(key)}
        bridge.configure(mqtt=broker.source(**own))
        bridge.restart()
        bridge.wait_until_connected("broker")
        broker.publish(TOPIC, push(1))
        assert app.ids() == ["1"]
    finally:
        broker.close()


# Other brokers.


@pytest.mark.parametrize("small", [{"versions": [V311]}], indirect=True)
def test_a_broker_of_3_1_1_is_asked_for_5_once(running_small, small, app):
    small.send(TOPIC, push(1), 1)
    assert app.ids() == ["1"]
    small.hang_up()
    small.send(TOPIC, push(2), 2)
    assert app.ids() == ["2"]
    assert [connect.version for connect in small.connects] == [V5, V311, V311]


@pytest.mark.parametrize("small", [{"versions": [V311], "says_no": False}], indirect=True)
def test_a_broker_that_hangs_up_on_5_is_asked_for_3_1_1(running_small, small, app):
    small.send(TOPIC, push(1), 1)
    assert app.ids() == ["1"]
    small.hang_up()
    small.send(TOPIC, push(2), 2)
    assert app.ids() == ["2"]
    assert [connect.version for connect in small.connects] == [V5, V311, V311]


@pytest.mark.parametrize("small", [{"versions": [], "says_no": False}], indirect=True)
def test_a_broker_that_hangs_up_on_every_version_is_a_problem(daemon, app, bridge, small):
    assert "closes the connection without an answer" in problem(daemon, bridge, **small.source())
    small.wait_for_connects(4)
    assert [connect.version for connect in small.connects[:4]] == [V5, V311] * 2


@pytest.mark.parametrize("small", [{"versions": [V311]}], indirect=True)
def test_a_packet_that_is_too_large_is_refused_where_the_broker_does_not_know_the_bound(running_small, small, app):
    small.send(TOPIC, push(1, filling="x" * 9000), 1)
    small.send(TOPIC, push(2), 2)
    assert app.ids() == ["2"]
    small.wait_for_acknowledgement(2)
    source = running_small.wait_for("broker", "counting", lambda source: source["received"] == 2)
    assert source["refused"] == 1


def test_a_packet_that_is_too_large_is_not_sent_by_a_broker_that_knows_the_bound(running, broker, app):
    broker.publish(TOPIC, push(1, filling="x" * 9000))
    broker.publish(TOPIC, push(2))
    assert app.ids() == ["2"]
    source = running.wait_for("broker", "counting", lambda source: source["received"])
    assert source["received"] == 1


# Connections that end or fail.


def lives_on(bridge, seconds):
    """Whether the bridge is still running after this time."""
    end = os.pidfd_open(bridge.pid)
    try:
        return not select.select([end], [], [], seconds)[0]
    finally:
        os.close(end)


def test_a_client_with_the_same_id_is_not_fought(running_small, small):
    small.dismiss(0x8E)
    source = running_small.wait_until_lost("broker")
    assert "client_id" in source["problem"]
    # The longest back-off is at least half of 5 min.
    assert source["retry_us"] - source["since_us"] > 140_000_000
    assert len(small.connects) == 1


def test_a_broker_that_closes_every_connection_without_a_word_is_left_alone(running_small, small):
    """As an MQTT 3.1.1 broker does if another client connects with the same id."""
    for _ in range(3):
        small.wait_for_client()
        small.hang_up()
    source = running_small.wait_for(
        "broker", "left alone", lambda source: source.get("retry_us", 0) - source["since_us"] > 140_000_000)
    assert "client_id" in source["problem"]
    assert len(small.connects) == 3


def test_a_broker_that_closes_connections_while_nothing_is_stored_is_connected_to_again(
    daemon, running_small, small, app
):
    daemon.signal(signal.SIGSTOP)
    for count in range(3):
        small.send(TOPIC, push(1), 1, repeated=count > 0)
        assert lives_on(running_small, 0.5)
        small.hang_up()
    small.wait_for_connects(4)
    daemon.signal(signal.SIGCONT)
    small.send(TOPIC, push(1), 1, repeated=True)
    small.wait_for_acknowledgement()
    assert app.ids() == ["1"]
    app.no_more()


@pytest.mark.bound(90)
def test_a_broker_that_falls_silent_is_lost_after_two_keep_alives(daemon, app, bridge, small):
    daemon.start()
    bridge.configure(mqtt=small.source(keep_alive="5s"))
    bridge.start()
    bridge.wait_until_connected("broker")
    small.is_silent = True
    source = bridge.wait_for("broker", "lost", lambda source: not source["is_connected"], within=30)
    assert "keep_alive" in source["problem"]
    assert bridge.cpu() < 1


@pytest.mark.bound(90)
def test_a_daemon_that_takes_longer_than_the_broker_waits_gets_each_message_once(daemon, app, bridge, broker):
    """Pings go out before the acknowledgements, so the broker does not end the connection."""
    daemon.start()
    bridge.configure(mqtt=broker.source(keep_alive="5s"))
    bridge.start()
    bridge.wait_until_connected("broker")
    daemon.signal(signal.SIGSTOP)
    for number in (1, 2):
        broker.publish(TOPIC, push(number))
    broker.wait_for_output("Received PINGREQ from refreshd-", 2)
    assert not any("PUBACK from refreshd-" in line for line in broker.written())
    daemon.signal(signal.SIGCONT)
    assert app.ids(2) == ["1", "2"]
    broker.publish(TOPIC, push(3))
    assert app.ids() == ["3"]
    assert not any("has exceeded timeout" in line for line in broker.written())
    app.no_more()


def test_an_idle_connection_costs_nothing(running, broker):
    before = running.cpu()
    assert lives_on(running, 3)
    assert running.cpu() - before <= 0.05


def test_a_broker_that_is_gone_is_asked_now_and_then(running, app, broker):
    """The back-off allows about five tries in the first seconds."""
    broker.stop()
    running.wait_until_lost("broker")
    before = running.cpu()
    assert lives_on(running, 5)
    assert running.cpu() - before < 0.2
    # Nothing changed, so there is no further report.
    assert sum("Broker broker is not connected" in line for line in running.written()) <= 2
