"""The JSON of every subcommand of refreshctl, on a real daemon, against docs/refreshctl.schema.json."""

import json
import os
import subprocess
import sys

import jsonschema
import pytest

from daemon import MAIL, REPOSITORY, TODO

sys.path.append(str(REPOSITORY / "Tests" / "RefreshAPITests"))
import json_schema  # noqa: E402

REFRESHCTL = os.environ.get("REFRESHCTL", REPOSITORY / ".build/debug/refreshctl")
# A strict schema: a member that the page does not name is a mistake here.
DEFINITIONS = json_schema.schema(strict=True)["$defs"]
PUSH = '{"aps":{"content-available":1},"content-id":42}'
GONE = "org.example.gone"
SLOW = "org.example.slow"
URL = "http://127.0.0.1:9/file"
# The calls in their order; each leaves something that the next ones show.
CALLS = [
    ["list"], ["status"], ["status", TODO], ["why", TODO], ["usage", TODO], ["usage", TODO, "--forget"],
    ["foreground", TODO], ["background", TODO, MAIL], ["launched", TODO], ["terminated", TODO], ["logout", TODO],
    ["login", TODO], ["push", TODO, PUSH], ["run", TODO], ["run", TODO, "--after", "1h", "--reason", "x"],
    ["run", TODO, "--no-wait", "--anyway"], ["history", TODO], ["download", TODO, URL, "--to", "{}/file"],
    ["upload", TODO, "{}/config/refreshd.toml", URL], ["transfers"], ["pause-transfer", "1"], ["resume-transfer", "1"],
    ["prioritize-transfer", "1", "--to", "5"], ["cancel-transfer", "1"], ["transfers", TODO],
    ["synced", TODO, "--new-data"], ["disable", TODO, MAIL], ["list"], ["why", MAIL], ["enable", TODO, MAIL], ["skip", TODO], ["pause"], ["status"],
    ["pause", "--for", "1h"], ["resume"], ["set", TODO, "--background", "2h"], ["reset", TODO], ["check"], ["reload"],
    ["forget", GONE], ["forecast"], ["forecast", TODO, "--hours", "3"], ["timeline", "--hours", "3"], ["metrics"],
    ["version"], ["version", "--client"], ["new", "org.example.new", "--run", "true"], ["rehearse", "--profile", "fresh", "--days", "1"],
    ["run", SLOW, "--no-wait"], ["expire", SLOW],
]


def documents(text):
    """The documents of an output, one after the other."""
    decoder, at = json.JSONDecoder(), 0
    text = text.strip()
    while at < len(text):
        document, end = decoder.raw_decode(text, at)
        at = end + len(text[end:]) - len(text[end:].lstrip())
        yield document


def check(command, text):
    """Holds an output against the schema of its subcommand; returns how many documents it has."""
    # Without another check of the schema itself, which RefreshAPITests have, and which takes longer than all calls.
    validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{command}", "$defs": DEFINITIONS})
    found = list(documents(text))
    for document in found:
        validator.validate(document)
    return len(found)


def refreshctl(daemon, *arguments):
    return subprocess.run(
        [REFRESHCTL, *arguments, "--json"], env={**os.environ, "REFRESH_SOCKET": str(daemon.socket)},
        capture_output=True, text=True, timeout=60,
    )


def subcommands():
    """All subcommands of the program, with whether they take --json."""
    help = json.loads(subprocess.run([REFRESHCTL, "--experimental-dump-help"], capture_output=True, check=True).stdout)
    return {
        command["commandName"]: any(
            name.get("name") == "json" for argument in command.get("arguments", []) for name in argument.get("names", []))
        for command in help["command"]["subcommands"] if command["commandName"] != "help"
    }


@pytest.fixture
def two(daemon):
    daemon.app(
        f"{REFRESHCTL} complete new-data --json > {daemon.directory}/complete", background_interval="auto", background_floor="1h")
    daemon.app("echo out; exit 3", id=MAIL, background_interval="2h", network="unmetered", quiet="01:00-02:00")
    daemon.app("exit 100", id=GONE)
    daemon.app("sleep 600", id=SLOW, deadline="10min")
    daemon.start()
    daemon.refresh(GONE)
    daemon.file(GONE).unlink()
    daemon.call("Manager.Reload")
    return daemon


def test_every_subcommand_has_a_schema():
    taking = {name for name, takes_json in subcommands().items() if takes_json}
    assert taking == set(json_schema.commands(strict=True))
    # A live screen is for people.
    assert set(subcommands()) - taking == {"top"}


@pytest.mark.bound(180)
def test_the_output_of_every_subcommand_follows_the_schema(two):
    # ServiceTests/test_adopt.py has the last two, which need systemd.
    seen = {"watch", "complete", "adopt", "unadopt"}
    watch = subprocess.Popen(
        [REFRESHCTL, "watch", "--json"], env={**os.environ, "REFRESH_SOCKET": str(two.socket)},
        stdout=subprocess.PIPE, text=True,
    )
    lines = [watch.stdout.readline()]
    assert json.loads(lines[0])["kind"] == "watching"
    for call in CALLS:
        result = refreshctl(two, *(argument.replace("{}", str(two.directory)) for argument in call))
        assert result.returncode in (0, 100), (call, result.stderr)
        assert check(call[0], result.stdout) > 0, call
        seen.add(call[0])
    # The pause of all apps that was ended is among the last events.
    while json.loads(lines[-1])["kind"] != "switch_changed" or "pause" in lines[-1] or "app" in lines[-1]:
        lines.append(watch.stdout.readline())
    watch.kill()
    watch.wait()
    assert check("watch", "".join(lines)) > 5
    assert check("complete", (two.directory / "complete").read_text()) == 1
    assert seen == set(json_schema.commands(strict=True))


def test_a_member_that_no_schema_names_is_found(two):
    text = refreshctl(two, "list").stdout
    check("list", text)
    with pytest.raises(jsonschema.ValidationError):
        check("list", text.replace('"phase"', '"phrase"', 1))
