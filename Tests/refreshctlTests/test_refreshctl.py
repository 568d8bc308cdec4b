"""Runs the built refreshctl against a small fake daemon, which replies with answers.json.

The program is $REFRESHCTL, by default the debug build.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import queue
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
from xml.etree import ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
REFRESHCTL = os.environ.get("REFRESHCTL", str(ROOT / ".build" / "debug" / "refreshctl"))
MESSAGES = json.loads((ROOT / "Tests" / "refreshctlTests" / "answers.json").read_text())
APP = "org.example.todo"
PATIENCE = 20  # seconds; for an event that is due at once on a machine that is not overloaded
HANG_UP = object()


class Daemon:
    """Replies to each call from `answers`, else with the example of the method's reply."""

    def __init__(self, path):
        self.path = path
        self.answers = {}
        self.calls = queue.Queue()
        self.ended = queue.Queue()
        self.connections = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        try:
            self.converse(connection)
        except OSError:
            pass  # The client has closed the connection.
        connection.close()
        self.ended.put(True)

    def converse(self, connection):
        received = b""
        while chunk := connection.recv(4096):
            received += chunk
            while b"\0" in received:
                message, _, received = received.partition(b"\0")
                call = json.loads(message)
                self.calls.put(call)
                for answer in self.answers.get(call["method"]) or [self.example(call)]:
                    if answer is HANG_UP:
                        return
                    connection.sendall(json.dumps(answer).encode() + b"\0")

    def example(self, call):
        return {"parameters": MESSAGES[call["method"] + ".Reply"]}

    def drop_connections(self):
        for connection in self.connections:
            connection.shutdown(socket.SHUT_RDWR)

    def stop(self):
        self.listener.close()


@pytest.fixture
def daemon(tmp_path):
    daemon = Daemon(tmp_path / "socket")
    yield daemon
    daemon.stop()


def refreshctl(*arguments, path=None, text=None, **environment):
    """Runs refreshctl with `text` on standard input; a byte that is not UTF-8 is written as a surrogate."""
    return subprocess.run(
        [REFRESHCTL, *arguments],
        env={
            "PATH": os.environ["PATH"], "TZ": "UTC", "LC_ALL": "C.UTF-8", "REFRESH_SOCKET": str(path or ""),
            **environment,
        },
        input=text,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=PATIENCE,
    )


APP_INTERFACE, MANAGER = "org.refreshd.App.", "org.refreshd.Manager."
TRANSFERS = "org.refreshd.Transfers."
SHARED = "org.refreshd."
URL = "https://example.org/a/b.iso"
HERE = os.path.realpath(__file__)
PUSH = '{"aps":{"content-available":1},"content-id":42}'
CALLS = [
    (["list"], MANAGER + "List", {}),
    (["status"], MANAGER + "Status", {}),
    (["status", APP], MANAGER + "Show", {"app": APP}),
    (["history", APP], MANAGER + "History", {"app": APP, "limit": 20}),
    (["history", APP, "--limit", "3"], MANAGER + "History", {"app": APP, "limit": 3}),
    (["forecast"], MANAGER + "Forecast", {"hours": 24}),
    (["forecast", APP, "--hours", "48"], MANAGER + "Forecast", {"hours": 48, "app": APP}),
    (["set", APP, "org.x.y", "--background", "1h 30min"], MANAGER + "Set",
     {"apps": [APP, "org.x.y"], "background_interval": "1h 30min"}),
    (["set", APP, "--foreground", "never", "--background", "auto"], MANAGER + "Set",
     {"apps": [APP], "foreground_interval": "never", "background_interval": "auto"}),
    (["reset", APP], MANAGER + "Reset", {"apps": [APP]}),
    (["reload"], MANAGER + "Reload", {}),
    (["version"], MANAGER + "Version", {}),
    (["complete", "no-data", "--message", "none"], APP_INTERFACE + "Complete",
     {"token": "t", "outcome": "no_data", "message": "none"}),
    (["synced", APP], APP_INTERFACE + "Synced", {"app": APP, "new_data": False}),
    (["synced", APP, "--new-data"], APP_INTERFACE + "Synced", {"app": APP, "new_data": True}),
    (["download", APP, URL, "--to", "/usr/b.iso"], TRANSFERS + "Enqueue",
     {"app": APP, "transfers": [{"url": URL, "path": "/usr/b.iso", "direction": "download"}]}),
    (["download", APP, URL, "--to", "/usr", "--session", "s", "--sha256", "00", "--length", "5", "--description", "d",
      "--network", "any", "--priority", "-5", "--max-rate", "1.5MB", "--headers-file", HERE, "--netrc", "--notify", "n"],
     TRANSFERS + "Enqueue",
     {"app": APP, "transfers": [{
         "url": URL, "path": "/usr/b.iso", "direction": "download", "session": "s", "sha256": "00", "length": 5,
         "description": "d", "network": "any", "priority": -5, "max_rate": 1_500_000, "headers_file": HERE,
         "netrc": True, "notify": "n"}]}),
    (["upload", APP, HERE, URL, "--tus", "--credential-file", HERE], TRANSFERS + "Enqueue",
     {"app": APP, "transfers": [
         {"url": URL, "path": HERE, "direction": "upload", "tus": True, "credential_file": HERE}]}),
    (["upload", APP, HERE, URL, "--post"], TRANSFERS + "Enqueue",
     {"app": APP, "transfers": [{"url": URL, "path": HERE, "direction": "upload", "method": "POST"}]}),
    (["transfers"], TRANSFERS + "List", {}),
    (["transfers", APP, "--session", "s"], TRANSFERS + "List", {"app": APP, "session": "s"}),
    (["pause-transfer", "17", "18"], TRANSFERS + "Pause", {"ids": [17, 18]}),
    (["resume-transfer", "17"], TRANSFERS + "Resume", {"ids": [17]}),
    (["cancel-transfer", "17"], TRANSFERS + "Cancel", {"ids": [17]}),
    (["prioritize-transfer", "17", "--to", "-5"], TRANSFERS + "SetPriority", {"ids": [17], "priority": -5}),
    (["push", APP, PUSH], APP_INTERFACE + "Push", {"app": APP, "payload": PUSH}),
    (["push", APP, PUSH, "--urgency", "very-low", "--id", "a/1"], APP_INTERFACE + "Push",
     {"app": APP, "payload": PUSH, "urgency": "very_low", "id": "a/1"}),
    *(
        ([name, APP], APP_INTERFACE + "Signal", {"app": APP, "signal": name})
        for name in ["launched", "foreground", "background", "terminated", "login", "logout"]
    ),
]


@pytest.mark.parametrize("arguments, method, parameters", CALLS)
def test_a_command_calls_its_method_and_prints_the_answer(daemon, arguments, method, parameters):
    result = refreshctl(*arguments, "--json", path=daemon.path, REFRESH_TOKEN="t")
    call = daemon.calls.get(timeout=PATIENCE)
    assert (call["method"], call.get("parameters", {})) == (method, parameters)
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout) == MESSAGES[method + ".Reply"]


@pytest.mark.parametrize("arguments", [call[0] for call in CALLS])
def test_a_person_is_answered_in_words(daemon, arguments):
    result = refreshctl(*arguments, path=daemon.path, REFRESH_TOKEN="t")
    assert (result.returncode, result.stderr) == (0, "")
    assert "_" not in result.stdout and "\x1b" not in result.stdout
    assert bool(result.stdout) == (arguments[0] != "complete")


ERRORS = [
    (["status", APP], MANAGER + "Show", SHARED + "NoSuchApp", 66, APP),
    (["foreground", APP], APP_INTERFACE + "Signal", SHARED + "NoSuchApp", 66, APP),
    (["logout", APP], APP_INTERFACE + "Signal", SHARED + "NotAllowed", 77, "member of the group refreshd"),
    (["reload"], MANAGER + "Reload", SHARED + "NotAllowed", 77, "member of the group refreshd"),
    (["run", APP], MANAGER + "Run", MANAGER + "Held", 75, "logged-out"),
    (["set", APP, "--background", "x"], MANAGER + "Set", MANAGER + "InvalidInterval", 65, "5 fortnights"),
    (["set", APP, "--background", "1h"], MANAGER + "Set", SHARED + "NotStored", 75, "no space left"),
    (["reload"], MANAGER + "Reload", MANAGER + "BadConfiguration", 1, "org.example.todo.toml:7:13: deadline: cannot"),
    (["complete", "failed"], APP_INTERFACE + "Complete", SHARED + "NoSuchToken", 66, "has ended"),
    (["complete", "failed"], APP_INTERFACE + "Complete", APP_INTERFACE + "AlreadyCompleted", 1, "second time"),
    (["list"], MANAGER + "List", "org.varlink.service.MethodNotFound", 70, "MethodNotFound"),
    (["download", APP, URL, "--to", "/b"], TRANSFERS + "Enqueue", TRANSFERS + "InvalidRequest", 64, "ftp (url); write"),
    (["download", APP, URL, "--to", "/b"], TRANSFERS + "Enqueue", SHARED + "NoSuchApp", 66, APP),
    (["download", APP, URL, "--to", "/b"], TRANSFERS + "Enqueue", SHARED + "NotAllowed", 77, "not allowed"),
    (["download", APP, URL, "--to", "/b"], TRANSFERS + "Enqueue", SHARED + "NotStored", 75, "nothing is changed"),
    (["download", APP, URL, "--to", "/b"], TRANSFERS + "Enqueue", TRANSFERS + "QueueFull", 75, "cannot queue more than"),
    (["push", APP, "[]"], APP_INTERFACE + "Push", APP_INTERFACE + "InvalidPayload", 65, "as JSON. Send one JSON"),
    (["push", APP, PUSH], APP_INTERFACE + "Push", SHARED + "NoSuchApp", 66, APP),
    (["push", APP, PUSH], APP_INTERFACE + "Push", SHARED + "NotStored", 75, "nothing is changed"),
    (["cancel-transfer", "17"], TRANSFERS + "Cancel", TRANSFERS + "NoSuchTransfer", 66, "cannot find transfer 17"),
    (["pause-transfer", "17"], TRANSFERS + "Pause", TRANSFERS + "AlreadyEnded", 1, "it has ended (done)"),
]


@pytest.mark.parametrize("arguments, method, error, status, text", ERRORS)
def test_an_error_is_told_and_has_its_exit_status(daemon, arguments, method, error, status, text):
    daemon.answers[method] = [{"error": error, "parameters": MESSAGES.get(error, {"method": method})}]
    result = refreshctl(*arguments, path=daemon.path, REFRESH_TOKEN="t")
    assert (result.returncode, result.stdout) == (status, "")
    assert result.stderr.startswith("refreshctl: cannot ") and text in result.stderr


def test_a_part_of_an_id_is_looked_up_and_said(daemon):
    daemon.answers[MANAGER + "Disable"] = [{"error": SHARED + "NoSuchApp", "parameters": {"app": "todo"}}]
    result = refreshctl("disable", "todo", path=daemon.path)
    calls = [daemon.calls.get(timeout=PATIENCE) for _ in range(3)]
    assert [call["method"].removeprefix(MANAGER) for call in calls] == ["Disable", "List", "Disable"]
    assert [calls[0]["parameters"], calls[2]["parameters"]] == [{"apps": ["todo"]}, {"apps": [APP]}]
    assert f"refreshctl: taking todo for {APP}" in result.stderr


def test_an_empty_id_is_no_part_of_the_only_one(daemon):
    """A script whose variable is not set must not switch off an app."""
    daemon.answers[MANAGER + "Disable"] = [{"error": SHARED + "NoSuchApp", "parameters": {"app": ""}}]
    result = refreshctl("disable", "", path=daemon.path)
    calls = [daemon.calls.get(timeout=PATIENCE) for _ in range(2)]
    assert [call["method"].removeprefix(MANAGER) for call in calls] == ["Disable", "List"]
    assert daemon.calls.empty() and result.returncode == 66
    assert result.stderr == "refreshctl: cannot find an app whose id is empty; `refreshctl list` shows the apps\n"


@pytest.mark.parametrize("text, said", [
    ("mail", "cannot choose an app for mail: Mail (com.example.mail), Mail (org.example.mail); write more of the id"),
    ("tood", "cannot find the app tood; did you mean org.example.todo? `refreshctl list` shows the apps"),
    ("backup", "cannot find the app backup: no configuration file defines it; `refreshctl list` shows the apps"),
])
def test_an_id_that_is_not_clear_is_asked_back(daemon, text, said):
    row = MESSAGES[MANAGER + "List.Reply"]["apps"][0]
    apps = [("com.example.mail", "Mail"), ("org.example.mail", "Mail"), (APP, "To do")]
    daemon.answers[MANAGER + "List"] = [{"parameters": {"apps": [{**row, "id": id, "name": name} for id, name in apps]}}]
    daemon.answers[MANAGER + "Why"] = [{"error": SHARED + "NoSuchApp", "parameters": {"app": text}}]
    result = refreshctl("why", text, path=daemon.path)
    assert (result.returncode, result.stdout, result.stderr) == (66, "", f"refreshctl: {said}\n")


def test_of_many_apps_that_an_id_may_mean_five_are_named(daemon):
    row = MESSAGES[MANAGER + "List.Reply"]["apps"][0]
    apps = [{**row, "id": f"org.example.feed{number}", "name": f"Feed {number}"} for number in range(100)]
    daemon.answers[MANAGER + "List"] = [{"parameters": {"apps": apps}}]
    daemon.answers[MANAGER + "Why"] = [{"error": SHARED + "NoSuchApp", "parameters": {"app": "feed"}}]
    said = refreshctl("why", "feed", path=daemon.path).stderr
    assert said.count("org.example.feed") == 5
    assert said.endswith("Feed 4 (org.example.feed4), and 95 more; write more of the id\n")


def test_a_mistyped_app_among_several_changes_none(daemon):
    result = refreshctl("background", APP, "nothing-like-it", path=daemon.path)
    assert result.returncode == 66
    assert [daemon.calls.get(timeout=PATIENCE)["method"]] == [MANAGER + "List"] and daemon.calls.empty()
    rows = [{**MESSAGES[MANAGER + "List.Reply"]["apps"][0], "id": id} for id in (APP, "org.example.mail")]
    daemon.answers[MANAGER + "List"] = [{"parameters": {"apps": rows}}]
    result = refreshctl("background", APP, "org.example.mail", path=daemon.path)
    assert (result.returncode, len(result.stdout.splitlines())) == (0, 2)


def test_a_quit_app_is_said_to_be_quit(daemon):
    daemon.answers[APP_INTERFACE + "Signal"] = [{"parameters": {"phase": "background"}}]
    result = refreshctl("terminated", APP, path=daemon.path)
    assert result.stdout == f"{APP} is marked as quit by the user; its pushes wait until its next start.\n"


@pytest.mark.parametrize("arguments", [
    ["why"], ["no-such-command"], ["pause", "--for", "0s"], ["run", APP, "--hurry"], ["foreground", APP, "--while"],
    ["push", APP, "{}", "--id", ""],
])
def test_a_wrong_command_line_is_told_in_one_line_like_every_error(daemon, arguments):
    result = refreshctl(*arguments, path=daemon.path)
    assert (result.returncode, result.stdout) == (64, "")
    assert result.stderr.startswith("refreshctl: cannot ") and len(result.stderr.splitlines()) == 1


def test_without_utf_8_only_ascii_is_printed(daemon):
    for arguments in (["transfers"], ["usage", APP], ["timeline"], ["why", APP], ["status", APP]):
        result = refreshctl(*arguments, path=daemon.path, LC_ALL="C")
        assert result.returncode == 0 and result.stdout.isascii(), result.stdout
    # A locale that is not installed names its encoding all the same.
    assert not refreshctl("transfers", path=daemon.path, LC_ALL="xx_YY.UTF-8").stdout.isascii()


HELD = {"kind": "held", "holds": [{"name": "network", "remedy": "refreshctl why says which"}]}


def test_a_held_run_names_what_it_has_and_needs_and_need_not_wait(daemon):
    daemon.answers[MANAGER + "Run"] = [{"parameters": {"event": HELD}, "continues": True}]
    why = MESSAGES[MANAGER + "Why.Reply"]["why"]
    term = {**why["terms"][0], "constraint": "network", "waits_for": "an unmetered network", "has": "wlan0, metered",
            "source": "NetworkManager", "is_met": False}
    term.pop("relaxed_us", None)
    daemon.answers[MANAGER + "Why"] = [{"parameters": {"why": {**why, "terms": [term]}}}]
    result = refreshctl("run", APP, "--no-wait", path=daemon.path)
    assert (result.returncode, result.stdout) == (75, "")
    assert "network   needs an unmetered network; has wlan0, metered (NetworkManager)" in result.stderr
    assert f"`refreshctl run {APP} --anyway` refreshes it now" in " ".join(result.stderr.split())
    result = refreshctl("run", APP, "--no-wait", "--anyway", path=daemon.path)
    calls = [daemon.calls.get(timeout=PATIENCE) for _ in range(4)]
    assert calls[2]["parameters"] == {"app": APP, "anyway": True}
    assert "--anyway" not in result.stderr


@pytest.mark.parametrize("event, text", [
    ({"kind": "queued", "id": "12-344"}, "is being refreshed (12-344); another refresh follows when that has ended"),
    ({"kind": "started", "id": "12-345"}, "refresh 12-345 has started"),
])
def test_a_run_without_waiting_ends_when_it_is_known_what_becomes_of_it(daemon, event, text):
    daemon.answers[MANAGER + "Run"] = [{"parameters": {"event": event}, "continues": True}]
    result = refreshctl("run", APP, "--no-wait", path=daemon.path)
    assert result.returncode == 0 and text in result.stderr


@pytest.mark.parametrize("arguments, method", [(["watch"], MANAGER + "Watch"), (["transfers", "--watch"], TRANSFERS + "Watch")])
def test_a_watch_connects_again_when_the_daemon_comes_back(daemon, arguments, method):
    event = {"event": {"kind": "switch_changed", "at_us": 1764000000000000}}
    daemon.answers[method] = [going() if method == TRANSFERS + "Watch" else {"parameters": event, "continues": True}]
    process = subprocess.Popen(
        [REFRESHCTL, *arguments, "--socket", str(daemon.path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={"LC_ALL": "C.UTF-8"})
    assert daemon.calls.get(timeout=PATIENCE)["method"] == method
    assert process.stdout.readline()
    daemon.drop_connections()
    assert "connecting again" in process.stderr.readline()
    assert daemon.calls.get(timeout=PATIENCE)["method"] == method
    assert "answers again" in process.stderr.readline()
    process.kill()
    process.wait(PATIENCE)


def test_a_timeline_is_asked_for_app_by_app(daemon):
    result = refreshctl("timeline", "--hours", "12", "--json", path=daemon.path)
    assert (result.returncode, result.stderr) == (0, "")
    answers = json.loads(result.stdout)
    assert answers["forecast"] == MESSAGES[MANAGER + "Forecast.Reply"]
    assert [app["timeline"] for app in answers["apps"]] == [MESSAGES[MANAGER + "Timeline.Reply"]] * len(answers["apps"])
    calls = [daemon.calls.get(timeout=PATIENCE) for _ in range(3 * len(answers["apps"]) + 2)]
    assert [call["method"].removeprefix(MANAGER) for call in calls] == [
        "List", *["Timeline", "Why", "Openings"] * len(answers["apps"]), "Forecast",
    ]
    assert calls[1]["parameters"] == {"app": answers["apps"][0]["app"], "since_us": answers["since_us"]}
    assert calls[-1]["parameters"] == {"hours": 12}


def test_a_timeline_is_words_on_a_terminal_and_a_picture_in_a_file(daemon, tmp_path):
    result = refreshctl("timeline", APP, path=daemon.path)
    assert (result.returncode, result.stderr) == (0, "") and "now" in result.stdout
    picture = tmp_path / "timeline.svg"
    result = refreshctl("timeline", APP, "--svg", str(picture), path=daemon.path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    root = ElementTree.parse(picture).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and root.get("role") == "img"
    assert APP in root.find("{http://www.w3.org/2000/svg}desc").text


def test_a_picture_that_cannot_be_written_is_told(daemon, tmp_path):
    result = refreshctl("timeline", "--svg", str(tmp_path / "none" / "x.svg"), path=daemon.path)
    assert result.returncode == 1
    assert result.stderr.startswith("refreshctl: cannot write the picture") and "No such file" in result.stderr


def test_the_socket_may_be_named_before_the_subcommand(daemon):
    command = [REFRESHCTL, "--socket", daemon.path, "--json", "metrics"]
    result = subprocess.run(command, capture_output=True, text=True, env={}, timeout=PATIENCE)
    assert result.returncode == 0 and json.loads(result.stdout) == MESSAGES[MANAGER + "Metrics.Reply"]


def test_metrics_are_printed_as_they_are_and_end_with_their_end(daemon):
    result = refreshctl("metrics", path=daemon.path)
    assert (result.returncode, result.stdout) == (0, MESSAGES[MANAGER + "Metrics.Reply"]["text"])


def test_without_a_daemon_it_says_where_it_looked_and_how_to_start_one(tmp_path):
    result = refreshctl("list", path=tmp_path / "nothing")
    assert result.returncode == 69
    assert str(tmp_path / "nothing") in result.stderr and "refreshd --config DIR --socket" in result.stderr


def test_an_answer_that_cannot_be_read_is_told(daemon):
    daemon.answers[MANAGER + "List"] = [{"parameters": {}}]
    result = refreshctl("list", path=daemon.path)
    assert result.returncode == 70 and result.stderr.startswith("refreshctl: cannot read")


def test_a_daemon_that_hangs_up_is_no_daemon(daemon):
    daemon.answers[MANAGER + "Run"] = [{"parameters": {"event": {"kind": "queued"}}, "continues": True}, HANG_UP]
    result = refreshctl("run", APP, path=daemon.path)
    assert result.returncode == 69 and "closed the connection" in result.stderr


def test_check_prints_the_mistakes_and_fails(daemon):
    result = refreshctl("check", path=daemon.path)
    assert result.returncode == 1 and result.stdout.endswith("1 mistake in 1 file.\n")
    daemon.answers[MANAGER + "Check"] = [{"parameters": {"problems": []}}]
    assert refreshctl("check", path=daemon.path).returncode == 0


def test_check_reads_a_directory_without_a_daemon(tmp_path):
    (tmp_path / "refreshd.toml").write_text("no_such_key = 1\n")
    result = refreshctl("check", "--config", str(tmp_path), "--json", path=tmp_path / "nothing")
    assert result.returncode == 1
    assert json.loads(result.stdout)["problems"][0]["line"] == 1


def test_another_version_of_the_daemon_is_told(daemon):
    daemon.answers[MANAGER + "Version"] = [{"parameters": {"version": "9.9", "start": 1}}]
    result = refreshctl("version", path=daemon.path)
    assert result.returncode == 0 and "refreshd 9.9" in result.stdout and "9.9" in result.stderr


RUNS = [("new_data", {}, 0), ("no_data", {}, 100), ("failed", {}, 1), ("new_data", {"stop_reason": "deadline"}, 1)]


@pytest.mark.parametrize("outcome, stop, status", RUNS)
def test_run_passes_output_on_and_ends_as_the_refresh_did(daemon, outcome, stop, status):
    """A refresh that was stopped did not do its work, though one of its tasks brought new data."""
    events = [dict(event) for event in MESSAGES[MANAGER + "RunEvent"]]
    refresh = {key: value for key, value in events[-1]["refresh"].items() if key != "stop_reason"}
    events[-1]["refresh"] = {**refresh, "outcome": outcome, **stop}
    daemon.answers[MANAGER + "Run"] = [
        {"parameters": {"event": event}, "continues": event is not events[-1]} for event in events
    ]
    result = refreshctl("run", APP, "--trigger", "catch-up", path=daemon.path)
    call = daemon.calls.get(timeout=PATIENCE)
    assert call["more"] and call["parameters"] == {"app": APP, "trigger": "catch_up"}
    assert (result.returncode, result.stdout) == (status, "pull: 3 new items\n")
    result = refreshctl("run", APP, "--json", path=daemon.path)
    assert [json.loads(line)["event"] for line in result.stdout.splitlines()] == events


def test_paths_become_whole_and_lose_their_links(daemon, tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    for given, path in [("x", "x"), ("link/x", "real/x"), ("link", "real/b.iso"), ("link/../y", "y")]:
        assert refreshctl("download", APP, URL, "--to", given, path=daemon.path).returncode == 0
        call = daemon.calls.get(timeout=PATIENCE)
        assert call["parameters"]["transfers"][0]["path"] == os.path.realpath(tmp_path) + f"/{path}"
    result = refreshctl("download", APP, URL, "--to", "none/x", path=daemon.path)
    assert result.returncode == 66 and "cannot use none: No such file or directory" in result.stderr
    result = refreshctl("upload", APP, "none", URL, path=daemon.path)
    assert result.returncode == 66 and "cannot use none: No such file or directory" in result.stderr


def test_a_url_of_standard_input_is_on_no_command_line(daemon):
    result = refreshctl("download", APP, "-", "--to", "/usr", path=daemon.path, text=URL + "?token=secret\n")
    assert result.returncode == 0
    assert daemon.calls.get(timeout=PATIENCE)["parameters"]["transfers"][0] == {
        "url": URL + "?token=secret", "path": "/usr/b.iso", "direction": "download",
    }


def test_a_payload_of_standard_input_is_on_no_command_line(daemon):
    result = refreshctl("push", APP, "-", path=daemon.path, text=f"{PUSH}\n")
    assert (result.returncode, result.stderr) == (0, "")
    assert daemon.calls.get(timeout=PATIENCE)["parameters"] == {"app": APP, "payload": PUSH}


@pytest.mark.parametrize("text, problem", [
    ("\n", "it is empty"), ("\udcff", "it is not UTF-8"), (" " * 70_000, "it is longer than 65536 bytes"),
])
def test_what_is_no_payload_is_not_sent(daemon, text, problem):
    result = refreshctl("push", APP, "-", path=daemon.path, text=text)
    assert (result.returncode, result.stdout) == (65, "") and daemon.calls.empty()
    assert f"cannot read a payload from standard input: {problem}" in result.stderr


def test_a_push_is_a_success_also_when_nobody_says_what_becomes_of_it(daemon):
    daemon.answers[MANAGER + "Why"] = [{"error": SHARED + "NoSuchApp", "parameters": {"app": APP}}]
    daemon.answers[APP_INTERFACE + "Push"] = [{"parameters": {"fate": "queued", "waiting": 1}}]
    result = refreshctl("push", APP, PUSH, path=daemon.path)
    assert (result.returncode, result.stdout) == (0, f"{APP} is woken with content 42 now.\n")


def going(**changes):
    """A reply of Watch about one transfer."""
    transfer = {**MESSAGES[TRANSFERS + "Transfer"], "state": "transferring", **changes}
    for name in ("holds", "until_us", "message", "result", "ended_us"):
        if name not in changes:
            del transfer[name]
    return {"parameters": {"transfers": [transfer]}, "continues": True}


# The reply when the daemon has forgotten transfer 17.
FORGOTTEN = {"parameters": {"transfers": [], "forgotten": [17]}, "continues": True}


@pytest.mark.parametrize("outcome, status", [("done", 0), ("failed", 1), ("cancelled", 1)])
def test_a_download_that_is_waited_for_ends_as_the_transfer_did(daemon, outcome, status):
    daemon.answers[TRANSFERS + "Enqueue"] = [{"parameters": {"ids": [17]}}]
    other = going(id=16, state="ended", result="failed")
    daemon.answers[TRANSFERS + "Watch"] = [
        other, going(state="waiting"), going(bytes=1), going(bytes=2), going(state="ended", result=outcome)]
    result = refreshctl("download", APP, URL, "--to", "/b", "--wait", path=daemon.path)
    assert (result.returncode, result.stdout) == (status, "")
    lines = [line.split(": ")[1] for line in result.stderr.splitlines()]
    assert [line.split(" (")[0] for line in lines] == ["waiting for its turn", "transferring", outcome]
    result = refreshctl("download", APP, URL, "--to", "/b", "--wait", "--json", path=daemon.path)
    states = [json.loads(line)["transfers"][0]["state"] for line in result.stdout.splitlines()]
    assert (result.returncode, states) == (status, ["waiting", "transferring", "transferring", "ended"])


def test_a_download_that_is_forgotten_is_not_waited_for(daemon):
    daemon.answers[TRANSFERS + "Enqueue"] = [{"parameters": {"ids": [17]}}]
    daemon.answers[TRANSFERS + "Watch"] = [going(), FORGOTTEN]
    result = refreshctl("download", APP, URL, "--to", "/b", "--wait", path=daemon.path)
    assert result.returncode == 70 and "cannot find out how the transfer ended" in result.stderr


def watch_transfers_on_a_terminal(daemon, *answers, columns=80):
    """Runs `transfers --watch` on a terminal of `columns`; returns its output until the daemon hangs up."""
    daemon.answers[TRANSFERS + "Watch"] = [*answers, HANG_UP]
    own, others = os.openpty()
    fcntl.ioctl(others, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [REFRESHCTL, "transfers", "--watch", "--socket", str(daemon.path)],
        stdout=others, stderr=subprocess.PIPE, env={"NO_COLOR": "1", "LC_ALL": "C.UTF-8"}, text=True,
    )
    assert "connecting again" in process.stderr.readline()
    process.kill()
    process.wait(PATIENCE)
    os.close(others)
    shown = b""
    # A terminal passes on what was written in pieces, and fails once nobody has it open any more.
    with contextlib.suppress(OSError):
        while piece := os.read(own, 65536):
            shown += piece
    os.close(own)
    return shown.decode().replace("\r", "")


def test_a_transfer_that_is_forgotten_leaves_the_table(daemon):
    shown = watch_transfers_on_a_terminal(daemon, going(), going(id=18), FORGOTTEN)
    last = shown.split("\x1b[J")[-1]
    assert [line.split()[0] for line in last.splitlines()] == ["ID", "18"]


def test_a_table_of_transfers_is_kept_in_place_on_a_terminal(daemon):
    shown = watch_transfers_on_a_terminal(
        daemon, going(bytes=0, total=100), going(id=18, bytes=50, total=100), going(bytes=100, total=100))
    first, second, third = shown.split("\x1b[J")
    assert first.endswith("\x1b[2F") and second.endswith("\x1b[3F") and "\x1b" not in third
    assert [len(part.splitlines()) for part in (first, second, third)] == [3, 4, 3]
    assert "░░░░░░   0 %" in first and "████░░░░  50 %" in second and "████████ 100 %" in third
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_a_table_on_a_narrow_terminal_has_no_line_that_the_terminal_would_break(daemon):
    shown = watch_transfers_on_a_terminal(
        daemon, going(bytes=0, total=100), going(id=18, bytes=50, total=100, description="写真" * 20), columns=40)
    first, second = shown.split("\x1b[J")
    drawn = first.removesuffix(first[first.rindex("\x1b["):])
    assert first.endswith(f"\x1b[{len(drawn.splitlines())}F")
    for line in drawn.splitlines() + second.splitlines():
        assert sum(2 if ord(character) >= 0x3000 else 1 for character in line) <= 40, line


def start_lease(daemon, *command):
    """Starts `--while` with a lease that the daemon grants; returns the process after the daemon's reply."""
    daemon.answers[APP_INTERFACE + "Signal"] = [{"parameters": {"phase": "foreground"}, "continues": True}]
    process = subprocess.Popen(
        [REFRESHCTL, "foreground", APP, "--socket", str(daemon.path), "--while", "--", *command],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    assert daemon.calls.get(timeout=PATIENCE)["parameters"] == {"app": APP, "signal": "foreground", "lease": True}
    return process


def test_a_command_may_hold_the_leases_of_several_apps(daemon):
    rows = [{**MESSAGES[MANAGER + "List.Reply"]["apps"][0], "id": id} for id in (APP, "org.example.mail")]
    daemon.answers[MANAGER + "List"] = [{"parameters": {"apps": rows}}]
    daemon.answers[APP_INTERFACE + "Signal"] = [{"parameters": {"phase": "foreground"}, "continues": True}]
    process = subprocess.Popen(
        [REFRESHCTL, "foreground", APP, "org.example.mail", "--socket", str(daemon.path), "--while", "--", "cat"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    calls = [daemon.calls.get(timeout=PATIENCE) for _ in range(3)]
    asked = [call["parameters"]["app"] for call in calls if call["method"] == APP_INTERFACE + "Signal"]
    assert asked == [APP, "org.example.mail"]
    process.communicate("held\n", timeout=PATIENCE)
    assert process.returncode == 0
    assert daemon.ended.get(timeout=PATIENCE) and daemon.ended.get(timeout=PATIENCE)


@pytest.mark.parametrize("command, status", [
    (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], 137), (["/nothing"], 127), (["/"], 126),
])
def test_a_lease_ends_as_its_command_does(daemon, command, status):
    process = start_lease(daemon, *command)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == status
    assert daemon.ended.get(timeout=PATIENCE)


def test_a_lease_is_held_until_the_command_ends(daemon):
    process = start_lease(daemon, "sh", "-c", "echo ready; read line")
    assert process.stdout.readline() == "ready\n"
    assert daemon.ended.empty()
    process.kill()
    assert daemon.ended.get(timeout=PATIENCE)
    process.wait(PATIENCE)


def test_a_silent_daemon_is_reported_while_refreshctl_waits(tmp_path):
    """systemd owns the socket, so a call is accepted even while the daemon cannot start."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen()
        process = subprocess.Popen(
            [REFRESHCTL, "version", "--socket", tmp_path / "socket"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        assert process.stderr.readline() == "refreshctl: no answer from the daemon for 5 s; waiting 55 s more\n"
        connection, _ = listener.accept()
        method = json.loads(connection.recv(4096).rstrip(b"\0"))["method"]
        connection.sendall(json.dumps({"parameters": MESSAGES[method + ".Reply"]}).encode() + b"\0")
        output, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, errors) == (0, "") and "refreshd" in output
        connection.close()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_is_passed_on_to_the_command(daemon, name):
    script = f"import signal,sys,time\nsignal.signal(signal.{name}, lambda *_: sys.exit(9))\n" \
        "print('ready', flush=True)\nsignal.pause()"
    process = start_lease(daemon, sys.executable, "-c", script)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 9


def test_a_lease_is_taken_again_when_the_daemon_comes_back(daemon):
    process = start_lease(daemon, "sh", "-c", "echo ready; read line")
    assert process.stdout.readline() == "ready\n"
    daemon.drop_connections()
    assert daemon.calls.get(timeout=PATIENCE)["parameters"]["lease"]
    assert "lease" in process.stderr.readline()
    process.kill()
    process.wait(PATIENCE)
