"""The examples of push.toml in docs/push.md and config/push.toml are valid."""

import pathlib
import re
import subprocess

import pytest

from bridge import REFRESH_PUSH

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def page():
    sources = re.findall(r"```toml\n(.*?)```", (REPOSITORY / "docs/push.md").read_text(), re.DOTALL)
    assert len(sources) == 4
    return "\n".join(sources)


def example():
    """The example with every key in use: lines that begin with # and no space."""
    return re.sub("^#(?! |$)", "", (REPOSITORY / "config/push.toml").read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("text", [page, example])
def test_it_is_taken_as_it_stands(scratch, text):
    file = scratch / "push.toml"
    file.write_text(text())
    file.chmod(0o600)
    command = [REFRESH_PUSH.with_name("refreshctl"), "check", "--config", scratch]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    file.write_text(text().replace("[[mqtt]]", '[[mqtt]]\ncolour = "blue"'))
    answer = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert answer.returncode != 0 and "colour" in answer.stdout + answer.stderr
