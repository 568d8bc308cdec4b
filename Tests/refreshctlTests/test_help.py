"""`refreshctl help TOPIC` in an installation: the page by man(1), by the reader's pager, or where it is."""

import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REFRESHCTL = os.environ.get("REFRESHCTL", str(ROOT / ".build/debug/refreshctl"))
# Of a machine with man(1), in a plain locale.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "TERM": "dumb"}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """The prefix of an installation with the program alone."""
    prefix = tmp_path_factory.mktemp("prefix")
    (prefix / "bin").mkdir()
    shutil.copy(REFRESHCTL, prefix / "bin/refreshctl")
    return prefix


@pytest.fixture
def share(prefix):
    folder = prefix / "share"
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def manual(share):
    """Installs a manual page of these topics."""

    def write(name, section):
        folder = share / f"man/man{section}"
        folder.mkdir(parents=True, exist_ok=True)
        text = f'.TH "{name}" "{section}"\n.SH NAME\n{name} \\- the installed page\n'
        (folder / f"{name}.{section}").write_text(text)
        return folder / f"{name}.{section}"

    return write


@pytest.fixture
def page(share):
    """Installs a page of the documentation."""

    def write(name):
        folder = share / "doc/refreshd/docs"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# The installed {name}\n")
        return folder / name

    return write


def help_on(prefix, *words, **environment):
    return subprocess.run(
        [prefix / "bin/refreshctl", "help", *words], capture_output=True, text=True, timeout=60, env={**ENVIRONMENT, **environment}
    )


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    "topic, name, section",
    [("refreshd.toml", "refreshd.toml", 5), ("app", "refreshd-app", 5), ("scheduling", "refreshd", 7), ("refreshd", "refreshd", 8)],
)
def test_man_opens_the_page_that_was_installed_with_the_program(prefix, manual, topic, name, section, compressed):
    file = manual(name, section)
    if compressed:
        subprocess.run(["gzip", file], check=True)
    shown = help_on(prefix, topic)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert f"{name} - the installed page" in shown.stdout


def test_the_page_is_named_where_man_is_missing(prefix, manual):
    file = manual("refreshd.toml", 5)
    shown = help_on(prefix, "refreshd.toml", PATH="/nowhere")
    assert shown.returncode == 66
    assert shown.stderr == (
        "refreshctl: cannot open refreshd.toml(5) with man: No such file or directory; install man-db, or read "
        f"{file}\n"
    )


def test_a_page_of_the_documentation_is_printed_and_paged_on_a_terminal(prefix, page):
    page("recipes.md")
    shown = help_on(prefix, "recipes")
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "# The installed recipes.md\n", "")
    assert "paged: # The installed recipes.md" in on_terminal(prefix, "recipes", PAGER="sed 's/^/paged: /'")


def on_terminal(prefix, *words, **environment):
    """Gives the help as a terminal shows it."""
    child, terminal = pty.fork()
    if child == 0:
        program = str(prefix / "bin/refreshctl")
        os.execve(program, [program, "help", *words], {**ENVIRONMENT, **environment})
    shown = b""
    try:
        while chunk := os.read(terminal, 4096):
            shown += chunk
    except OSError:
        pass  # The end of the child.
    os.close(terminal)
    os.waitpid(child, 0)
    return shown.decode()


def test_the_documentation_stands_in_for_a_manual_page_that_is_not_installed(prefix, page):
    file = page("configuration.md")
    shown = help_on(prefix, "push.toml")
    assert (shown.returncode, shown.stdout) == (0, "# The installed configuration.md\n")
    assert shown.stderr == f"refreshctl: push.toml(5) is not installed; this is {file}\n"


@pytest.mark.parametrize(
    "topic, said",
    [
        ("push.toml", "cannot open push.toml(5): it is not installed; docs/configuration.md in the sources of refreshd says the same"),
        ("refreshd", "cannot open refreshd(8): it is not installed; `refreshd --help` has its options"),
        ("recipes", "cannot open docs/recipes.md: it is not installed; it is in the sources of refreshd"),
    ],
)
def test_a_page_that_is_not_on_the_machine_is_named(prefix, topic, said):
    if Path("/usr/share/doc/refreshd").exists():
        pytest.skip("refreshd is installed on this machine")
    shown = help_on(prefix, topic)
    assert (shown.returncode, shown.stderr) == (66, f"refreshctl: {said}\n")


def test_an_unknown_topic_is_guessed(prefix):
    shown = help_on(prefix, "schedulling")
    assert (shown.returncode, shown.stdout) == (64, "")
    assert shown.stderr == (
        "refreshctl: cannot find help on schedulling; did you mean scheduling? `refreshctl help topics` lists the topics\n"
    )


def test_help_of_subcommands_goes_on(prefix):
    for words, wanted in [(["why"], "USAGE: refreshctl why"), (["apps"], "USAGE: refreshctl list"), ([], "USAGE: refreshctl <subcommand>")]:
        shown = help_on(prefix, *words)
        assert shown.returncode == 0 and wanted in shown.stdout, words


def test_the_topics_are_all_pages_there_are(prefix):
    shown = help_on(prefix, "topics")
    assert shown.returncode == 0
    listed = shown.stdout
    for file in sorted((ROOT / "docs").glob("*.md")):
        # The pages of the manual are made of some of these.
        made = {"configuration.md": "refreshd.toml(5)", "scheduling.md": "refreshd(7)", "push.md": "refresh-push(8)", "session.md": "refresh-session(8)"}
        assert f" {file.name} " in listed or made.get(file.name, "-") in listed, file.name
    makefile = (ROOT / "Makefile").read_text()
    for name, section in re.findall(r"man/man\d/([\w.-]+)\.(\d)", makefile):
        assert f"{name}({section})" in listed, name
