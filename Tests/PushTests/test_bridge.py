"""The bridge itself: the use of secrets, a hanging daemon, and the command line."""

import http.server
import pathlib
import signal
import subprocess
import threading

import pytest

from bridge import REFRESH_PUSH, push
from daemon import TODO
from servers.mqtt import SmallBroker
from servers.ntfy import Ntfy
from waiting import Bound

TOPIC = "upTodo0123456"
TOKEN = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"


def source(ntfy, **keys):
    return {"name": "home", "url": ntfy.url, "topics": {TODO: TOPIC}, "ca_file": str(ntfy.certificates.authority), **keys}


@pytest.fixture
def credential(scratch):
    file = scratch / "credential"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    return file


def test_a_redirect_is_followed_and_secrets_stay_with_the_first_server(
    daemon, app, bridge, ntfy, certificates, credential
):
    other = Ntfy(certificates)
    try:
        daemon.start()
        bridge.configure(ntfy=source(ntfy, credential_file=str(credential)))
        ntfy.refuse((307, {"Location": f"{other.url}/{TOPIC}/json"}), (307, {"Location": f"/{TOPIC}/json"}))
        bridge.start()
        bridge.wait_until_connected("home")
        other.publish(TOPIC, push(1))
        assert app.ids() == ["1"]
        assert [asked.authorization for asked in ntfy.asked] == [f"Bearer {TOKEN}"]
        assert [asked.authorization for asked in other.asked] == [None]
        # The next try starts at the first server again, which now redirects to itself.
        other.stop()
        ntfy.wait_for_subscriber()
        assert [asked.authorization for asked in ntfy.asked] == [f"Bearer {TOKEN}"] * 3
        ntfy.publish(TOPIC, push(2))
        assert app.ids() == ["2"]
    finally:
        other.close()


def test_nobody_is_led_from_https_to_http(daemon, app, bridge, ntfy):
    other = Ntfy()
    try:
        daemon.start()
        bridge.configure(ntfy=source(ntfy))
        ntfy.refuse((307, {"Location": f"{other.url}/{TOPIC}/json"}))
        bridge.start()
        problem = bridge.wait_until_lost("home")["problem"]
        assert "no redirect may leave https" in problem and TOPIC not in problem
        assert other.asked == []
    finally:
        other.close()


def test_a_page_that_asks_for_a_login_is_no_ntfy_server(daemon, app, bridge):
    class Portal(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html>\nWelcome to our cafe.\n</html>\n")

        def log_message(self, *words):
            pass

    portal = http.server.HTTPServer(("127.0.0.1", 0), Portal)
    thread = threading.Thread(target=portal.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{portal.server_address[1]}"
        daemon.start()
        bridge.configure(
            ntfy={"name": "home", "url": url, "topics": {TODO: TOPIC}}, sse={"name": "news", "url": url, "app": TODO}
        )
        bridge.start()
        assert "not an ntfy server" in bridge.wait_until_lost("home")["problem"]
        assert "not send an event stream" in bridge.wait_until_lost("news")["problem"]
    finally:
        portal.shutdown()
        thread.join()
        portal.server_close()


def test_a_credential_that_others_may_read_is_not_used(daemon, app, bridge, ntfy, credential):
    credential.chmod(0o644)
    daemon.start()
    bridge.configure(ntfy=source(ntfy, credential_file=str(credential)))
    bridge.start()
    problem = bridge.wait_until_lost("home")["problem"]
    assert str(credential) in problem and "0600" in problem
    assert TOKEN not in problem + "\n".join(bridge.written())
    assert ntfy.asked == []


def test_a_daemon_that_hangs_holds_nobody_up(daemon, app, bridge, ntfy):
    daemon.start()
    bridge.configure(ntfy=source(ntfy))
    bridge.start()
    bridge.wait_until_connected("home")
    daemon.signal(signal.SIGSTOP)
    # More messages than the bridge accepts while they wait for the daemon.
    for number in range(1, 61):
        ntfy.publish(TOPIC, push(number, filling="x" * 3900))
    # The bridge handles the signal, and ends at once.
    bridge.configure(ntfy=source(ntfy), sse={"name": "news", "colour": 1})
    bridge.signal(signal.SIGHUP)
    bridge.wait_for_output("colour")
    bridge.configure(ntfy=source(ntfy))
    assert bridge.stop() == 0
    daemon.signal(signal.SIGCONT)
    bridge.start()
    assert app.ids(60) == [str(number) for number in range(1, 61)]
    app.no_more()


def test_a_daemon_that_is_away_costs_nothing_while_messages_wait(daemon, app, bridge, ntfy):
    daemon.start()
    bridge.configure(ntfy=source(ntfy))
    bridge.start()
    bridge.wait_until_connected("home")
    daemon.kill()
    # More messages than the bridge accepts.
    for number in range(1, 201):
        ntfy.publish(TOPIC, push(number, filling="x" * 3900))
    bridge.wait_for_output("messages wait")
    spent = bridge.cpu()
    assert not ntfy.is_asked_within(4)
    assert bridge.cpu() - spent < 0.2
    daemon.start()
    # At most 64 wait, so it depends on the machine's speed how many of the next ones are dropped.
    assert app.ids() == ["1"]


def test_two_bridges_do_not_work_on_one_state(daemon, bridge, ntfy):
    daemon.start()
    bridge.configure(ntfy=source(ntfy))
    bridge.start()
    ended = subprocess.run(bridge.command, capture_output=True, text=True, timeout=30)
    assert ended.returncode == 75
    assert "another refresh-push" in ended.stderr


@pytest.mark.parametrize(
    "words, code, message",
    [
        (["--help"], 0, "Usage: refresh-push"),
        (["--version"], 0, "refresh-push 0."),
        (["--colour"], 64, "cannot use the argument --colour"),
        (["--config"], 64, "cannot use --config without a value"),
        (["--config", "/nowhere", "--state", "/proc/nowhere"], 73, "--state"),
    ],
)
def test_the_command_line(words, code, message):
    ended = subprocess.run([REFRESH_PUSH, *words], capture_output=True, text=True, timeout=30)
    assert (ended.returncode, message in ended.stdout + ended.stderr) == (code, True), ended


def test_a_damaged_memory_is_for_a_person_to_look_at(daemon, bridge, ntfy):
    bridge.configure(ntfy=source(ntfy))
    bridge.state.mkdir()
    (bridge.state / "sources.json").write_text("[1, 2")
    ended = subprocess.run(bridge.command, capture_output=True, text=True, timeout=30)
    assert (ended.returncode, "remove it" in ended.stderr) == (65, True), ended
    units = pathlib.Path(__file__).resolve().parents[2] / "systemd"
    for manager in ["system", "user"]:
        unit = (units / manager / "refresh-push.service").read_text()
        assert "RestartPreventExitStatus=64 65 78\n" in unit


def test_what_a_topic_names_is_told_only_if_it_is_an_app(daemon, app, bridge):
    small = SmallBroker()
    try:
        daemon.start()
        bridge.configure(mqtt=small.source())
        bridge.start()
        bridge.wait_until_connected("broker")
        small.wait_for_client()
        small.send("test/" + "word " * 100, push(1), 1)
        bridge.wait_for_output("had a message that is refused")
        assert "word word" not in "\n".join(bridge.written())
    finally:
        small.close()


def test_a_wrong_file_ends_it_with_every_mistake(daemon, bridge):
    bridge.configure(ntfy={"name": "Home", "topics": {}})
    ended = subprocess.run(bridge.command, capture_output=True, text=True, timeout=30)
    assert ended.returncode == 78
    for part in ["push.toml:2: ntfy.name", "ntfy.url", "push.toml:3: ntfy.topics"]:
        assert part in ended.stderr


def test_without_a_source_it_says_so_and_waits_for_one(daemon, app, bridge, ntfy):
    daemon.start()
    bridge.configure()
    bridge.start()
    bridge.wait_for_output("No source is configured")
    assert daemon.status().get("push") is None
    bridge.configure(ntfy=source(ntfy))
    bridge.signal(signal.SIGHUP)
    bridge.wait_until_connected("home")
    ntfy.publish(TOPIC, push(1))
    assert app.ids() == ["1"]
    # The first configuration again.
    bridge.configure()
    bridge.signal(signal.SIGHUP)
    bridge.wait_for_output("No source is configured", times=2)
    bound = Bound(15)
    while daemon.status().get("push"):
        assert bound.left, "the bridge stays with the daemon without a source"
        daemon.settle()
