"""Prints how the sources look beside the goals of the redesign: `make house`. A mirror, and no test."""

import re
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MACHINES = ("Running Visits Timetable Requests Switches Questions Mailbox Guarding Reports Transfers Planner Schedule "
            "Judge").split()
LONGEST, SHORTEST = 500, 40


def text(path: Path) -> str:
    return path.read_text(errors="replace")


def code(path: Path) -> str:
    """A file without its comments."""
    return re.sub(r"//.*", "", text(path))


SOURCES = {path: code(path) for path in sorted((ROOT / "Sources").rglob("*.swift"))}
LENGTHS = {path: len(text(path).splitlines()) for path in SOURCES}


def count(pattern: str, module: str = "") -> int:
    """How often a pattern occurs in the code of a module."""
    return sum(len(re.findall(pattern, body, re.M)) for path, body in SOURCES.items()
               if path.is_relative_to(ROOT / "Sources" / module))


def files(pattern: str, module: str = "") -> int:
    """How many files of a module have a pattern in their code."""
    return sum(bool(re.search(pattern, body, re.M)) for path, body in SOURCES.items()
               if path.is_relative_to(ROOT / "Sources" / module))


def stored(kind: str, keyword: str) -> int | None:
    """The stored properties of a type of the engine that others may write; None if the type is missing."""
    for path, body in SOURCES.items():
        found = re.search(rf"^(public )?(struct|final class) {kind}\b[^{{]*{{\n(.*?)^}}", body, re.M | re.S)
        if found and "RefreshEngine" in path.parts:
            declared = re.findall(rf"^  (?! |private |fileprivate |private\(set\) )[^\n(]*\b{keyword} (\w+)[^\n{{]*$", found[3], re.M)
            return len(declared)
    return None


def lists() -> int:
    """The types that list the changes of a turn themselves, in place of one value of `Changes`."""
    bodies = [found for body in SOURCES.values() for found in
              re.findall(r"\bstruct (?:\w*Changes|PendingCommit|Batch|Decision)\b[^{]*{\n(.*?)^}", body, re.M | re.S)]
    return sum("var changes = Changes()" not in body for body in bodies)


def walks() -> list[int]:
    """The files that each way of Sources/README.md passes through."""
    section = text(ROOT / "Sources/README.md").split("\n## Four ways through the code\n")[1]
    shared, *ways = re.split(r"\n\n(?=[A-Z][^\n]*:\n\n- \*\*)", section)
    steps = re.compile(r"- \*\*([\w-]+)\*\*(.*?)(?=\n- |\n\n|\Z)", re.S)
    names = [{(module, name) for module, step in steps.findall(way) for name in re.findall(r"`([^`]+)`", step)}
             for way in (shared, *ways)]
    return [len(names[0] | way) for way in names[1:]]


def tracked() -> int:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return sum((ROOT / name).read_bytes().count(b"\n") for name in names.split("\0") if (ROOT / name).is_file())


def main() -> None:
    lengths = sorted(LENGTHS.values())
    machines = {kind: stored(kind, "var") for kind in MACHINES}
    built = {kind: number for kind, number in machines.items() if number is not None}
    rows = [
        ("Swift files in Sources", len(lengths), "370 to 400"),
        ("their median length", int(statistics.median(lengths)), "120 or more"),
        ("their 90th percentile", lengths[len(lengths) * 9 // 10], "300 to 400"),
        ("the longest", lengths[-1], "500 at most"),
        ("files below 30 lines", sum(length < 30 for length in lengths), "7 at most"),
        ("lines of Swift in Sources", sum(lengths), "62,600 at most"),
        ("lines in the repository", tracked(), "10,000 fewer"),
        ("files with extension Engine", files(r"^(public )?extension Engine\b"), "10: the stories and the queries"),
        ("files with extension Daemon", files(r"^extension Daemon\b"), "12"),
        ("stored properties of Engine that are not private", stored("Engine", "var"), "5: the judge, planner, apps, transfers, schedule"),
        ("machines that are types of their own", f"{len(built)} of {len(MACHINES)}", "all"),
        ("their stored properties that are not private", sum(built.values()), "1: Judge.running"),
        ("declarations of the list of changes", lists(),
         "1"),
        ("closures with a default in RefreshDaemon", count(r"^\s+var \w+: [^=\n]*-> [^=\n]* = \{", "RefreshDaemon"), "0"),
        ("[unowned self] in RefreshDaemon", count(r"unowned self", "RefreshDaemon"), "70 at most"),
        ("files on the ways: signal, exit, message, network", ", ".join(map(str, walks())), "40, 35, 40, 28"),
    ]
    for name, now, goal in rows:
        print(f"{name:<52} {now if now is not None else '-':>16}   {goal}")
    for path, length in sorted(LENGTHS.items(), key=lambda item: -item[1]):
        if length > LONGEST or length < SHORTEST and path.name != "main.swift":
            print(f"{path.relative_to(ROOT)} has {length} lines; see whether it tells one story")


if __name__ == "__main__":
    main()
