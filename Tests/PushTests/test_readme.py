"""The examples of push.toml in README.md and config/push.toml are valid."""

import pathlib
import re
import subprocess

import pytest

from bridge import REFRESH_PUSH

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def readme():
    section = (REPOSITORY / "README.md").read_text().split("\n## Push from a server\n")[1].split("\n## ")[0]
    sources = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    assert len(sources) == 3
    return "\n".join(sources)


def example():
    """The example with every key in use: lines that begin with # and no space."""
    return re.sub("^#(?! |$)", "", (REPOSITORY / "config/push.toml").read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("text", [readme, example])
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
