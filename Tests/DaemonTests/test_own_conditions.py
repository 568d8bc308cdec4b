"""Conditions of an app's own that a command answers: asked when the app is due, and again at growing distances."""

import os
import select
import socket
import subprocess

import pytest

from daemon import MAIL, REFRESHD, TODO


def why(daemon, app=TODO):
    return daemon.call("Manager.Why", app=app)["why"]


def term(daemon, name="when"):
    (term,) = [term for term in why(daemon)["terms"] if term["constraint"] == name]
    return term


def refreshctl(daemon, *arguments):
    """The text on one line."""
    command = [REFRESHD.with_name("refreshctl"), *arguments, "--socket", daemon.socket]
    return " ".join(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


class Answers:
    """The answers of commands, as a watcher hears them."""

    def __init__(self, daemon):
        self.events = daemon.client.stream("Manager.Watch")

    def next(self, condition="when"):
        while event := next(self.events)["event"]:
            if event["kind"] == "condition_changed" and event["condition"] == condition:
                return event["state"]["value"]


def ask(daemon, condition="when"):
    """Starts the daemon, asks for a refresh and returns the answer of the command."""
    daemon.start()
    answers = Answers(daemon)
    daemon.run()
    return answers.next(condition)


@pytest.fixture
def listener():
    """A server on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def server(listener):
    return f"127.0.0.1:{listener.getsockname()[1]}"


def test_a_refresh_waits_until_the_command_says_yes(daemon):
    """The answer may change at any time; a person who asks for a refresh has the command asked at once."""
    asked, sign = daemon.pipe("asked"), daemon.directory / "vpn-is-up"
    daemon.app("exit 0", when=["/bin/sh", "-c", f"echo $REFRESH_APP $HOME > {asked}; echo no VPN; test -e {sign}"])
    daemon.start()
    answers = Answers(daemon)
    daemon.run()
    assert asked.line().split()[0] == TODO
    assert answers.next() == "no VPN"
    assert [hold["name"] for hold in why(daemon)["holds"]] == ["when"]
    explained = term(daemon)
    assert not explained["is_met"] and explained["waits_for"].startswith("`/bin/sh -c ")
    question = explained["question"]
    assert not question["is_asked"] and 29e6 < question["next_us"] - question["answered_us"] < 31e6
    assert daemon.history() == []
    sign.touch()
    assert daemon.refresh()["outcome"] == "new_data"
    assert asked.line()


def test_a_command_that_never_ends_is_no_answer_and_is_ended(daemon):
    asked = daemon.pipe("asked")
    daemon.app("exit 0", when=["/bin/sh", "-c", f"trap '' TERM; echo $$ > {asked}; while :; do sleep 1; done"])
    daemon.start()
    answers = Answers(daemon)
    daemon.run()
    process = os.pidfd_open(int(asked.line()))
    assert term(daemon)["question"]["is_asked"]
    assert answers.next() == "no answer within 10 s"
    assert not term(daemon)["question"]["is_asked"]
    ended, _, _ = select.select([process], [], [], 15)
    os.close(process)
    assert ended


def test_a_stop_ends_a_command_that_is_asked(daemon):
    asked = daemon.pipe("asked")
    daemon.app("exit 0", when=["/bin/sh", "-c", f"echo $$ > {asked}; trap '' TERM; while :; do sleep 1; done"])
    daemon.start()
    daemon.run()
    process = int(asked.line())
    daemon.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_command_that_is_gone_says_so(daemon):
    program = daemon.directory / "ask"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    daemon.app("exit 0", when=[str(program)])
    daemon.start()
    program.unlink()
    answers = Answers(daemon)
    daemon.run()
    assert "No such file" in answers.next() and not term(daemon)["is_met"]


def test_few_commands_of_a_user_run_at_once(daemon):
    asked, go = daemon.pipe("asked"), daemon.pipe("go")
    apps = [f"org.example.app{number}" for number in range(6)]
    for app in apps:
        daemon.app("exit 0", id=app, when=["/bin/sh", "-c", f"echo $REFRESH_APP > {asked}; read line < {go}"])
    daemon.start()
    for app in apps:
        daemon.run(app)
    first = {asked.line() for _ in range(4)}
    daemon.settle(apps[0])
    assert len(first) == 4 and asked.lines_so_far() == []
    go.let_go(len(apps))
    assert first | {asked.line() for _ in range(2)} == set(apps)


def test_a_question_is_not_asked_any_more_when_its_app_was_disabled_meanwhile(daemon):
    asked, go = daemon.pipe("asked"), daemon.pipe("go")
    apps = [f"org.example.app{number}" for number in range(5)]
    for app in apps:
        daemon.app("exit 0", id=app, when=["/bin/sh", "-c", f"echo $REFRESH_APP > {asked}; read line < {go}"])
    daemon.start()
    answers = Answers(daemon)
    for app in apps:
        daemon.run(app)
    (last,) = set(apps) - {asked.line() for _ in range(4)}
    daemon.call("Manager.Disable", apps=[last])
    go.let_go(4)
    for _ in range(4):
        answers.next()
    daemon.settle(last)
    assert asked.lines_so_far() == []
    daemon.call("Manager.Enable", apps=[last])
    daemon.run(last)
    assert asked.line() == last
    go.let_go()


def test_a_server_that_answers_is_reachable(daemon, listener):
    daemon.app("exit 0", reachable=server(listener))
    daemon.start()
    assert daemon.refresh()["outcome"] == "new_data"
    assert term(daemon, "reachable")["has"] == "answers"


@pytest.mark.parametrize(
    "name, says",
    [
        ("nothing.invalid:22", "no address: "),
        ("[::1]:9", "connection refused"),
    ],
)
def test_a_server_that_is_not_there_holds_the_refresh(daemon, name, says):
    daemon.app("exit 0", reachable=name)
    assert ask(daemon, "reachable").startswith(says)
    (hold,) = why(daemon)["holds"]
    assert (hold["name"], daemon.history()) == ("reachable", [])


def test_a_server_of_ipv6_only_is_reachable(daemon):
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:
        daemon.app("exit 0", reachable=f"[::1]:{listener.getsockname()[1]}")
        daemon.start()
        assert daemon.refresh()["outcome"] == "new_data"


def test_a_host_that_drops_packets_is_no_answer(daemon):
    """The backlog of a listener that accepts nothing is full, so that the kernel drops what comes."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        waiting = []
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(deaf.getsockname())
            waiting.append(client)
        daemon.app("exit 0", reachable=server(deaf))
        assert ask(daemon, "reachable") == "no answer within 5 s"
        for client in waiting:
            client.close()


def test_a_watcher_hears_the_answers_of_its_own_apps(daemon):
    daemon.app("exit 0", when=["/bin/sh", "-c", "exit 3"])
    daemon.app("exit 0", id=MAIL)
    daemon.start()
    watch = daemon.client.stream("Manager.Watch")
    daemon.run()
    heard = next(event["event"] for event in watch if event["event"]["kind"] == "condition_changed")
    assert (heard["app"], heard["condition"], heard["state"]["value"]) == (TODO, "when", "exit code 3")


def test_the_answer_is_explained_in_words(daemon):
    daemon.app("exit 0", when=["/bin/sh", "-c", "echo no VPN; exit 1"])
    assert ask(daemon) == "no VPN"
    text = refreshctl(daemon, "why", TODO)
    assert "waits for `/bin/sh -c 'echo no VPN; exit 1'` to succeed (no VPN, today" in text
    assert "; asked again in " in text
    assert "when" in refreshctl(daemon, "list") and "when 1" in refreshctl(daemon, "status")
