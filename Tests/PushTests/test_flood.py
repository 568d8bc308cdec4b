"""10,000 messages to 100 apps while bridge and daemon are killed repeatedly. No message is lost; only a refresh that a
kill interrupted, or a lost acknowledgement of MQTT, repeats one. No app exceeds its limit of wakes, and all counts add up."""

import collections
import contextlib
import json
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client.openmetrics import parser

from bridge import UNLIMITED, App, push
from waiting import Bound

APPS = [f"org.example.app{number:02}" for number in range(100)]
MESSAGES, BATCHES = 100, 5
# Ten apps get a hundred contents, more than the queue holds; the others get ten contents, ten times each.
VARIOUS = APPS[::10]
BURST, WAITING = 5, 64
# A killed bridge may take acknowledgements with it, and the broker sends those messages again.
KILLS, IN_FLIGHT = 2 * BATCHES, 20


def by_mqtt(app):
    """Half of the apps get their messages from the broker, the other half from the ntfy server."""
    return APPS.index(app) % 2 == 1


def content(app, number):
    return number if app in VARIOUS else number % 10


class Flood:
    def __init__(self, daemon, bridge, broker, ntfy):
        self.daemon, self.bridge, self.broker, self.ntfy = daemon, bridge, broker, ntfy
        self.delivered = daemon.directory / "told"
        self.delivered.mkdir()
        self.delivered.chmod(0o777)
        for app in APPS:
            daemon.app(f"printf '%s\\n' \"$(cat)\" >> {self.delivered}/$REFRESH_APP", id=app)
        self.last = [App(daemon, f"org.example.last{number}") for number in range(2)]
        daemon.start()
        topics = {app: f"upApp{number:08}" for number, app in enumerate(APPS) if not by_mqtt(app)}
        topics[self.last[0].id] = "upLast0123456"
        self.topics = topics
        authority = str(ntfy.certificates.authority)
        bridge.configure(
            ntfy={"name": "home", "url": ntfy.url, "topics": topics, "ca_file": authority}, mqtt=broker.source()
        )
        bridge.start()
        broker.wait_for_bridge()
        bridge.wait_until_connected("home")
        bridge.wait_until_connected("broker")

    def publish(self, batch):
        """Sends each app its share of one batch."""
        share = MESSAGES // BATCHES
        numbers = range(batch * share, (batch + 1) * share)
        with ThreadPoolExecutor(4) as senders:
            for app in APPS:
                payloads = [push(content(app, number), number=number) for number in numbers]
                if by_mqtt(app):
                    senders.submit(self.broker.publish, f"test/{app}", *payloads)
                else:
                    for payload in payloads:
                        self.ntfy.publish(self.topics[app], payload)

    def finish(self):
        """Waits until the last message of each source is delivered, and so all messages before it."""
        self.ntfy.publish("upLast0123456", push("last"))
        self.broker.publish(f"test/{self.last[1].id}", push("last"))
        for app in self.last:
            assert app.wakes.line(within=60).startswith("push last ")

    def waiting(self):
        """The pushes that the next daemon finds in the store, which no process has open for writing.

        A killed daemon may have stored pushes that it had not merged yet; the next one merges them when it starts.
        """
        store = next(self.daemon.state.glob("*.sqlite"))
        with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT count(*) FROM (SELECT DISTINCT app, content_id FROM push)")
            return rows.fetchone()[0]

    def settle(self, is_settled, what):
        """Waits until the condition holds for every app, and returns its waiting and dropped pushes and refreshes."""
        bound = Bound(60)
        for app in APPS:
            while True:
                why = self.daemon.call("Manager.Why", app=app)["why"]
                if is_settled(why) and "running" not in self.daemon.show(app):
                    break
                assert bound.left, f"{app} is not {what}: {why['push_limit']}, {len(why['pushes'])} waiting"
                self.daemon.settle(app)

    def account(self, app):
        """The numbers of waiting, dropped and delivered messages, and of those that an interrupted refresh had."""
        count = collections.Counter()
        for waiting in self.daemon.call("Manager.Why", app=app)["why"]["pushes"]:
            count["waiting"] += 1 + waiting["merged"]
        answer = self.daemon.call("Manager.History", app=app)
        for dropped in answer["pushes_dropped"]:
            count["dropped"] += 1 + dropped["merged"]
        for refresh in answer["refreshes"]:
            assert refresh["trigger"] in ("push", "retry"), refresh
            if refresh["outcome"] == "new_data":
                count["delivered"] += 1 + refresh["merged"]
                count["wakes"] += 1
            else:
                assert refresh["cause"]["kind"] == "daemon_crashed", refresh
                count["cut short"] += 1
        return count, answer

    def payloads(self, app):
        """The number of deliveries of each message to the app."""
        file = self.delivered / app
        lines = file.read_text().splitlines() if file.exists() else []
        return collections.Counter(json.loads(line)["number"] for line in lines)


def metrics(daemon):
    text = daemon.call("Manager.Metrics")["text"]
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    return {
        sample.labels["fate"]: sample.value for sample in families["refreshd_pushes"].samples if "_total" in sample.name
    }


@pytest.mark.bound(240)
def test_nothing_is_lost_and_everything_is_accounted_for(daemon, bridge, broker, ntfy):
    flood = Flood(daemon, bridge, broker, ntfy)
    for batch in range(BATCHES):
        sending = threading.Thread(target=flood.publish, args=[batch])
        sending.start()
        if batch % 2 == 0:
            daemon.kill()
            daemon.start()
        bridge.kill()
        bridge.start()
        sending.join()
        bridge.kill()
        if batch == BATCHES - 1:
            daemon.kill()
            before = flood.waiting()
            daemon.start()
        bridge.start()
    flood.finish()

    # Each app was woken exactly as often as its limit allows.
    flood.settle(lambda why: why["push_limit"]["used"] == BURST - 1, "woken as often as it may be")
    twice = {}
    for app in APPS:
        count, answer = flood.account(app)
        # An interrupted refresh counts, and its repetition may still wait.
        assert 0 <= BURST - 1 - count["wakes"] <= count["cut short"], (app, count)
        twice[app] = count["waiting"] + count["dropped"] + count["delivered"] - MESSAGES
        assert 0 <= twice[app] <= (IN_FLIGHT * KILLS if by_mqtt(app) else 0), (app, count)
        if app in VARIOUS:
            # Some messages that were queued at the last drop were delivered later.
            assert WAITING - BURST <= count["waiting"] <= WAITING and answer["pushes_dropped"], (app, count)

    # Without the limit the waiting messages are delivered, and no others.
    for app in APPS:
        text = daemon.file(app).read_text()
        keys = "".join(f"{key} = {value}\n" for key, value in UNLIMITED.items())
        daemon.file(app).write_text(text.replace("[[task]]", f"{keys}[[task]]", 1))
    daemon.call("Manager.Reload")
    flood.settle(lambda why: why["pushes"] == [], "told of all that waited")
    wakes = drops = 0
    for app in APPS:
        count, answer = flood.account(app)
        assert count["dropped"] + count["delivered"] == MESSAGES + twice[app], (app, count)
        got = flood.payloads(app)
        # Only an interrupted refresh may have delivered a message twice, or a broker that has lost its acknowledgement.
        assert got.total() - len(got) <= count["cut short"] + twice[app], (app, got, count)
        assert len(got) >= count["wakes"]
        if app in VARIOUS:
            missing = {number for number in range(MESSAGES) if number not in got}
            assert missing <= {int(dropped["content_id"]) for dropped in answer["pushes_dropped"]}, app
        else:
            # The newest message of each content was delivered.
            assert {number for number in got if number >= MESSAGES - 10} == set(range(MESSAGES - 10, MESSAGES)), app
        start = answer["refreshes"][0]["id"].split("-")[0]
        wakes += sum(
            refresh["id"].startswith(f"{start}-") and refresh["outcome"] == "new_data" for refresh in answer["refreshes"]
        )
        drops += sum(dropped["dropped_us"] >= daemon.status()["since_us"] for dropped in answer["pushes_dropped"])
    fates = metrics(daemon)
    assert fates["delivered"] == wakes + len(flood.last)
    assert fates["dropped"] == drops
    # Every message is accounted for, and none is left.
    assert before + fates["queued"] == fates["delivered"] + fates["dropped"], fates
