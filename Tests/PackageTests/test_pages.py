"""The manual pages say what the programs and docs/ say, and man(1) and mandoc(1) find nothing wrong with them."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from daemon import REFRESHD

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "packaging/man"
sys.path.append(str(SOURCES))
from commands import EXAMPLES  # noqa: E402

PAGES = [
    "refreshd.8", "refresh-push.8", "refresh-session.8", "refreshd.toml.5", "refreshd-app.5", "push.toml.5", "refreshd.7",
]  # fmt: skip
OF_SCDOC = ("skipping paragraph macro: PP empty", "skipping paragraph macro: PP after S")
"""The warnings of mandoc about every page of scdoc, whose paragraphs are harmless to it."""


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    subprocess.run(["/usr/bin/python3", "-B", SOURCES / "pages.py", folder], check=True)
    for source in [*SOURCES.glob("*.scd"), *folder.glob("*.scd")]:
        made = subprocess.run(["scdoc"], check=True, stdin=source.open(), capture_output=True, text=True).stdout
        (folder / source.stem).write_text(made)
    return folder


def help_of(program):
    return subprocess.run([REFRESHD.with_name(program), "--help"], check=True, capture_output=True, text=True).stdout


def source(page):
    return (SOURCES / f"{page}.scd").read_text().replace("\\", "")


@pytest.mark.parametrize("page", PAGES)
def test_man_and_mandoc_find_nothing(pages, page):
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", pages / page], capture_output=True, text=True)
    assert [line for line in lint.stdout.splitlines() if not any(known in line for known in OF_SCDOC)] == []
    shown = subprocess.run(
        ["man", "--warnings", "-l", pages / page], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    )
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.parametrize("program", ["refreshd", "refresh-push", "refresh-session"])
def test_the_page_of_a_program_has_its_options_and_no_other(program):
    options = set(re.findall(r"(?<![\w-])--[a-z-]+", help_of(program)))
    page = source(f"{program}.8")
    described = set(re.findall(r"^\*(--[a-z-]+)\*", page, re.MULTILINE))
    assert described == options


@pytest.mark.parametrize("program", ["refreshd", "refresh-push", "refresh-session"])
def test_the_page_of_a_program_has_its_exit_codes(program):
    _, _, codes = help_of(program).partition("Exit codes:")
    status = source(f"{program}.8").partition("# EXIT STATUS")[2].partition("\n# ")[0]
    assert re.findall(r"^\*(\d+)\*$", status, re.MULTILINE) == re.findall(r"(\d+) [a-z]", codes)


@pytest.mark.parametrize(
    "program, folder",
    [("refreshd", "RefreshDaemon"), ("refresh-push", "refresh-push"), ("refresh-session", "refresh-session")],
)
def test_the_help_of_a_program_has_every_exit_code_of_its_code(program, folder):
    declared = (ROOT / "Sources/RefreshAPI/ServiceOptions.swift").read_text()
    numbers = dict(re.findall(r"^ +case (\w+) = (\d+)$", declared, re.MULTILINE))
    code = "".join(file.read_text() for file in (ROOT / "Sources" / folder).rglob("*.swift"))
    used = re.findall(rf"(?:ServiceError|self\.init)\(\s*\.({'|'.join(numbers)}),", code)
    assert len(set(used)) >= 2
    _, _, told = help_of(program).partition("Exit codes:")
    assert set(re.findall(r"(\d+) [a-z]", told)) == {"0", *(numbers[name] for name in used)}


def keys_of(text):
    """The keys of a commented configuration file: `# key = value` and `key = value`."""
    return set(re.findall(r"^#? ?([a-z_0-9]+) = ", text, re.MULTILINE))


def words_of(pages, page):
    shown = subprocess.run(["mandoc", "-T", "utf8", pages / page], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"[a-z_0-9]+", re.sub(r".\x08", "", shown)))


def test_the_pages_of_files_have_every_key_of_the_commented_files(pages):
    """refreshd.toml may have the keys of an app, too: as defaults."""
    apps = words_of(pages, "refreshd-app.5")
    assert keys_of((ROOT / "config/refreshd.toml").read_text()) - apps - words_of(pages, "refreshd.toml.5") == set()
    assert keys_of((ROOT / "config/push.toml").read_text()) - words_of(pages, "push.toml.5") == set()
    for example in (ROOT / "config/apps.d").iterdir():
        assert keys_of(example.read_text()) - apps == set(), example.name


def test_the_units_point_to_pages_that_exist():
    named = {
        name
        for unit in (ROOT / "systemd").glob("*/*.s*")
        for name in re.findall(r"^Documentation=man:(.*)$", unit.read_text(), re.MULTILINE)
    }
    assert named == {"refreshd(8)", "refresh-push(8)", "refresh-session(8)"}


@pytest.mark.parametrize("line", [line for found in EXAMPLES.values() for _, line in found])
def test_an_example_of_refreshctl_is_understood(line):
    """Without a daemon a good command line ends with 69 and a wrong one with 64."""
    for words in line.split(" && "):
        command = [REFRESHD.with_name("refreshctl"), *shlex.split(words)[1:]]
        result = subprocess.run(
            command, env={"REFRESH_SOCKET": "/nowhere"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
        assert result.returncode == 69, result.stderr
