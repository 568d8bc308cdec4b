"""The page docs/answers.md: what users ask of background work, and what refreshctl answers, word by word."""

import os
import pathlib
import re
import textwrap

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/answers.md"
# Set to write the page anew from what the programs say.
WRITES = "REFRESHD_WRITE_ANSWERS"


def plain(text):
    """The text on one line, its times as TIME, its spans as SPAN and its sizes as SIZE."""
    text = " ".join(text.split())
    text = re.sub(r"(today|tomorrow|yesterday|\w{3} \d\d?(?: \d{4})?|\d{4}-\d\d-\d\d) \d\d:\d\d(:\d\d)?", "TIME", text)
    text = re.sub(r"\b\d+(\.\d+)? (ms|s|min|h|d)( \d+ (s|min|h))?\b", "SPAN", text)
    # It depends on the machine whether a second has passed.
    text = text.replace("started SPAN ago", "started now")
    return re.sub(r"\b\d+(\.\d+)? (B|kB|MB)\b", "SIZE", text)


def headline(why):
    """The sentences of `refreshctl why` above its facts."""
    return plain(why.split("\n\n")[0])


def fact(why, name):
    """A line of the facts of `refreshctl why`."""
    lines = textwrap.dedent("\n".join(why.split("\n\n")[1].splitlines())).splitlines()
    found = [index for index, line in enumerate(lines) if line.startswith(f"{name} ")]
    assert found, f"no fact {name} in\n{why}"
    words = [lines[found[0]]]
    for line in lines[found[0] + 1 :]:
        if not line.startswith(" "):
            break
        words.append(line)
    return plain(" ".join(words))


def past(why, what):
    """The newest line of the past that begins with `what`, without its time."""
    rows = [plain(line).removeprefix("TIME ") for line in why.split("\n\n")[2].splitlines()[1:]]
    found = [row for row in rows if row.startswith(what)]
    assert found, f"no {what} in the past of\n{why}"
    return found[0]


class Answers:
    """A section of the page: a demand, and the answers to it in the order in which they were given."""

    def __init__(self, number):
        self.number = number
        self.given = []

    def add(self, when, text):
        self.given.append((when, text))

    def check(self):
        """Compares the section with the page, or writes it there."""
        said = "\n\n".join(f"{when}:\n\n" + textwrap.fill(text, 110, initial_indent="> ", subsequent_indent="> ",
            break_long_words=False, break_on_hyphens=False) for when, text in self.given)  # fmt: skip
        page = PAGE.read_text()
        head, body = re.search(rf"(?ms)^(## {self.number}\. .*?)(?=^## |\Z)", page)[1].split("\n\n", 1)
        about = body.split("\n\n", 1)[0].rstrip()
        section = f"{head}\n\n{about}\n\n{said}\n"
        if os.environ.get(WRITES):
            old = f"{head}\n\n{body}"
            PAGE.write_text(page.replace(old, section + ("\n" if not page.endswith(old) else "")))
            return
        assert f"{head}\n\n{body}".strip() == section.strip()
