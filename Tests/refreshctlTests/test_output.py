"""Results that cannot be written, and the messages about names among several, with the fake daemon."""

import fcntl
import os
import struct
import subprocess
import termios

import pytest

from test_refreshctl import APP, MANAGER, MESSAGES, PATIENCE, REFRESHCTL, SHARED, daemon, refreshctl  # noqa: F401

ENVIRONMENT = {"PATH": os.environ["PATH"], "TZ": "UTC", "LC_ALL": "C.UTF-8"}


@pytest.mark.parametrize("arguments", [
    ["list"], ["list", "--json"], ["metrics"], ["check"], ["forecast"], ["why", APP], ["--help"], ["--version"],
    ["help", "topics"],
])
def test_results_that_cannot_be_written_are_an_error(daemon, arguments):  # noqa: F811
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [REFRESHCTL, *arguments], env={**ENVIRONMENT, "REFRESH_SOCKET": str(daemon.path)}, stdout=full,
            stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    assert result.stderr.startswith("refreshctl: cannot write all results to standard output")
    assert "No space left on device" in result.stderr or len(result.stderr) < 100


@pytest.mark.parametrize("restores", [True, False])
def test_a_reader_that_has_gone_is_no_error(daemon, restores):  # noqa: F811
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [REFRESHCTL, "list"], env={**ENVIRONMENT, "REFRESH_SOCKET": str(daemon.path)}, stdout=writer,
        stderr=subprocess.PIPE, text=True, restore_signals=restores)
    os.close(writer)
    assert result.stderr == ""


def rows(*ids):
    return [{**MESSAGES[MANAGER + "List.Reply"]["apps"][0], "id": id, "name": id.split(".")[-1]} for id in ids]


@pytest.mark.parametrize("error", ["NoSuchApp", "NotAllowed"])
def test_of_several_apps_the_wrong_one_is_named(daemon, error):  # noqa: F811
    daemon.answers[MANAGER + "List"] = [{"parameters": {"apps": rows(APP)}}]
    daemon.answers[MANAGER + "Disable"] = [
        {"error": SHARED + error, "parameters": {"app": "todo", "remedy": "Ask as its owner."}}]
    result = refreshctl("disable", "todo", "nosuch", path=daemon.path)
    assert result.returncode == 66
    assert result.stderr == "refreshctl: cannot find the app nosuch; `refreshctl list` shows the apps\n"


@pytest.mark.parametrize("text, status, said", [
    ("nbody", 66, "cannot find the app nbody; did you mean org.example.nobody? `refreshctl list` shows the apps"),
    ("backup", 66, "cannot find the app backup; `refreshctl list` shows the apps"),
    ("org.other.nbo", 77, "cannot do this for org.other.nbo: not allowed. Ask as its owner."),
])
def test_an_ordinary_user_is_asked_back_too(daemon, text, status, said):  # noqa: F811
    daemon.answers[MANAGER + "List"] = [{"parameters": {"apps": rows(APP, "org.example.nobody")}}]
    daemon.answers[MANAGER + "Why"] = [
        {"error": SHARED + "NotAllowed", "parameters": {"app": text, "remedy": "Ask as its owner."}}]
    result = refreshctl("why", text, path=daemon.path)
    assert (result.returncode, result.stderr) == (status, f"refreshctl: {said}\n")


def on_a_terminal(*arguments, keys=""):
    """The lines that refreshctl writes on a terminal of 80 columns until it ends."""
    own, others = os.openpty()
    fcntl.ioctl(others, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with subprocess.Popen(
        [REFRESHCTL, *arguments], env={**ENVIRONMENT, "NO_COLOR": "1", "HOME": "/"}, stdin=others, stdout=others,
        stderr=others, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    ) as process:  # fmt: skip
        os.close(others)
        os.write(own, keys.encode())
        shown = b""
        try:
            while part := os.read(own, 65536):
                shown += part
        except OSError:  # the last of its processes has closed it
            pass
        process.wait(PATIENCE)
    os.close(own)
    return shown.decode().splitlines()


def test_the_legend_of_a_rehearsal_fits_a_terminal(tmp_path):
    trace = tmp_path / "trace"
    trace.write_text('{"days": 30}\n{"app": "org.example.app", "updates": [100.5, 30], "opens": [200]}\n')
    lines = on_a_terminal("rehearse", "--trace", str(trace))
    assert max(map(len, lines)) <= 80 and "AGE MET is the mean age" in " ".join(lines), lines


def test_the_questions_for_a_new_app_fit_a_terminal(tmp_path):
    lines = on_a_terminal(
        "new", "org.example.mail", "--system", "--print", keys="no-such-command-at-all --with some --arguments\n\x04")
    assert any("install the program" in line for line in lines), lines
    # The keys were there before the question, and so was their newline.
    lines = [part for line in lines for part in line.split("`mbsync inbox`: ")]
    assert max(map(len, lines)) <= 80, lines
