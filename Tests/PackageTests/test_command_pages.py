"""The manual pages of refreshctl, and what docs/ and the pages say of its options, against the program's own description."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from daemon import REFRESHD

ROOT = Path(__file__).resolve().parents[2]
REFRESHCTL = REFRESHD.with_name("refreshctl")
COMMANDS = ROOT / "packaging/man/commands.py"
OF_SCDOC = ("skipping paragraph macro: PP empty", "skipping paragraph macro: PP after S")
"""The only remarks of mandoc, which all pages of scdoc have."""
HELP = {"--help", "-h", "--version"}


@pytest.fixture(scope="module")
def described():
    """The subcommands that the program describes, by name; the program itself has the name ""."""
    dump = subprocess.run([REFRESHCTL, "--experimental-dump-help"], check=True, capture_output=True).stdout
    root = json.loads(dump)["command"]
    return {"": root} | {command["commandName"]: command for command in root["subcommands"] if command["shouldDisplay"]}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    subprocess.run(["/usr/bin/python3", "-B", COMMANDS, REFRESHCTL, folder], check=True)
    for source in folder.glob("*.scd"):
        with source.open() as text, open(folder / source.stem, "w") as page:
            subprocess.run(["scdoc"], check=True, stdin=text, stdout=page)
    return sorted(folder.glob("*.1"))


def sections(page):
    """The text of a page by its headings, as a reader sees it."""
    shown = subprocess.run(["mandoc", "-T", "utf8", page], check=True, capture_output=True, text=True).stdout
    text = re.sub(r".\x08", "", shown)
    parts = re.split(r"^([A-Z][A-Z ]+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def command_of(page):
    return page.stem.removeprefix("refreshctl").removeprefix("-")


def names(argument):
    return {("-" if name["kind"] == "short" else "--") + name["name"] for name in argument.get("names", [])}


def visible(command):
    return [argument for argument in command.get("arguments", []) if argument["shouldDisplay"]]


def test_every_subcommand_has_a_page(pages, described):
    assert {command_of(page) for page in pages} == described.keys() - {"help"}


def test_man_and_mandoc_find_nothing(pages):
    for page in pages:
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
        assert [line for line in lint.stdout.splitlines() if not any(known in line for known in OF_SCDOC)] == []
        shown = subprocess.run(
            ["man", "--warnings", "-l", page], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        )
        assert (shown.returncode, shown.stderr) == (0, ""), page.name


def test_a_page_has_every_option_with_its_values_and_its_default_and_no_other(pages, described):
    for page in pages:
        name = command_of(page)
        options = sections(page)["OPTIONS"]
        tags = re.findall(r"^ {4,7}(-.*)$", options, re.MULTILINE)
        on_page = {word for tag in tags for word in re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", tag, re.IGNORECASE)}
        arguments = visible(described[name])
        assert on_page - HELP == set().union(*map(names, arguments)) - HELP, name
        words = " ".join(options.split())
        for argument in arguments:
            if default := argument.get("defaultValue"):
                assert f"Default: {default}." in words, (name, argument["valueName"])
            if values := argument.get("allValues"):
                assert f"Values: {', '.join(values)}." in words, (name, argument["valueName"])


def test_every_page_has_the_exit_statuses_of_the_help(pages):
    shown = subprocess.run([REFRESHCTL, "--help"], check=True, capture_output=True, text=True).stdout
    codes = re.findall(r"^ {2,}(\d+)  ", shown.partition("Exit status:")[2].partition("USAGE:")[0], re.MULTILINE)
    assert len(codes) >= 10
    for page in pages:
        assert re.findall(r"^ +(\d+)$", sections(page)["EXIT STATUS"], re.MULTILINE) == codes, page.name


def told():
    """Each command line of refreshctl that a page has: the file, the subcommand and its options."""
    files = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "packaging/man").glob("*.scd"), *(ROOT / "config").rglob("*.toml")]
    for file in files:
        for line in file.read_text().splitlines():
            for name, rest in re.findall(r"refreshctl ([a-z][a-z-]*)([^`|#;&]*)", line):
                # An option in a quoted command, or behind the words of another program, is not refreshctl's.
                own = re.sub(r"\"[^\"]*\"|'[^']*'", "", rest).partition(" -- ")[0].partition(" --while ")[0]
                for option in re.findall(r"(?<=[ \[])--[a-z0-9-]+", own):
                    yield file.name, name, option


def test_docs_name_no_option_that_a_subcommand_does_not_have(described):
    aliases = {alias: name for name, command in described.items() for alias in command.get("aliases") or []}
    found = list(told())
    assert len(found) > 30
    for file, name, option in found:
        assert aliases.get(name, name) in described, (file, name)
        options = set().union(*map(names, described[aliases.get(name, name)].get("arguments", [])))
        assert option in options, f"{file}: refreshctl {name} has no {option}"
