"""Brokers that speak otherwise than mosquitto: amqtt, and what mochi answers on a resumed session."""

import pytest

from bridge import push
from daemon import TODO
from servers.amqtt_broker import AmqttBroker
from servers.mqtt import V311, V5, SmallBroker

TOPIC = f"test/{TODO}"


@pytest.fixture
def amqtt():
    broker = AmqttBroker()
    yield broker
    broker.close()


@pytest.fixture
def small(request):
    broker = SmallBroker(**getattr(request, "param", {}))
    yield broker
    broker.close()


@pytest.mark.bound(90)
def test_a_broker_that_is_silent_on_5_is_spoken_to_in_3_1_1(daemon, app, bridge, amqtt):
    daemon.start()
    bridge.configure(mqtt=amqtt.source())
    bridge.start()
    bridge.wait_for("broker", "connected", lambda source: source["is_connected"], within=40)
    amqtt.publish(TOPIC, push(1))
    assert app.ids() == ["1"]


@pytest.mark.bound(90)
@pytest.mark.parametrize("small", [{"versions": [V311], "says_no": False, "hangs_up": False}], indirect=True)
def test_a_version_in_push_toml_is_the_only_one_that_is_tried(daemon, app, bridge, small):
    daemon.start()
    bridge.configure(mqtt=small.source(version="3.1.1"))
    bridge.start()
    small.send(TOPIC, push(1), 1)
    assert app.ids() == ["1"]
    assert [connect.version for connect in small.connects] == [V311]
    bridge.configure(mqtt=small.source(version="5"))
    bridge.restart()
    assert "does not answer" in bridge.wait_for(
        "broker", "lost", lambda source: source.get("problem"), within=45)["problem"]  # fmt: skip
    assert {connect.version for connect in small.connects[1:]} == {V5}


def test_a_session_that_is_there_needs_no_other_subscription(daemon, app, bridge, small):
    """mochi refuses a SUBSCRIBE with the number of a message in flight: 0x91, packet identifier in use."""
    daemon.start()
    bridge.configure(mqtt=small.source())
    bridge.start()
    bridge.wait_until_connected("broker")
    small.grants = 0x91
    small.hang_up()
    small.wait(lambda: len(small.subscriptions) == 2, "another subscription")
    for number in range(1, 6):
        small.send(TOPIC, push(number), number)
    small.wait_for_acknowledgement(5)
    assert app.ids(5) == ["1", "2", "3", "4", "5"]
    assert len(small.connects) == 2


def test_a_new_session_without_a_subscription_is_a_problem(daemon, app, bridge, small):
    small.grants = 0x91
    daemon.start()
    bridge.configure(mqtt=small.source())
    bridge.start()
    assert "packet identifier in use" in bridge.wait_until_lost("broker")["problem"]
