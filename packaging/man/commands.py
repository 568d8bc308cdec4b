#!/usr/bin/python3 -B
"""Makes the manual pages of refreshctl from its own help: `commands.py REFRESHCTL DIRECTORY`.

ArgumentParser's tool `generate-manual` reads the same description, but it writes that a command exits with 0 or above 0,
and the exit codes of refreshctl mean more. The result is the input of scdoc(1).
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from pages import escaped

EXAMPLES = {
    "": [
        ("Every app: phase, next refresh, last outcome, age of its data", "refreshctl list"),
        ("Why an app was refreshed, or was not", "refreshctl why org.example.mail"),
        ("Check the configuration files, then put them in force", "refreshctl check && refreshctl reload"),
    ],
    "new": [
        ("Write the file of an app, and put it in force",
         'refreshctl new org.example.mail --run "mbsync inbox" --every 1h --network unmetered'),
        ("Be asked for what the file needs", "refreshctl new"),
    ],
    "run": [("Refresh now, and wait for the result", "refreshctl run org.example.mail")],
    "set": [("Refresh every two hours, until `reset`", "refreshctl set org.example.mail --background 2h")],
    "pause": [("Refresh nothing for three hours", "refreshctl pause --for 3h")],
    "top": [("Print the apps and what happens to them, for a screen reader", "refreshctl top --plain")],
    "watch": [("Print what happens to one app", "refreshctl watch org.example.mail")],
    "forecast": [("The refreshes of the next day", "refreshctl forecast --hours 24")],
    "push": [("Wake an app", "refreshctl push org.example.mail '{\"aps\":{\"content-available\":1}}'")],
}
FILES = [
    ("/run/refreshd/org.refreshd", "The socket of the system's daemon."),
    ("$XDG_RUNTIME_DIR/refreshd/org.refreshd", "The socket of the user's own daemon, which comes first."),
]
SEE = "*refreshd*(8), *refreshd*(7), *refreshd-app*(5), *refreshd.toml*(5)"


def main(program: str, directory: Path) -> None:
    dump = subprocess.run([program, "--experimental-dump-help"], check=True, capture_output=True).stdout
    root = json.loads(dump)["command"]
    directory.mkdir(parents=True, exist_ok=True)
    commands = [command for command in root["subcommands"] if command["shouldDisplay"] and name_of(command) != "help"]
    (directory / "refreshctl.1.scd").write_text(of_root(root, commands))
    codes = exit_codes(root)
    for command in commands:
        (directory / f"refreshctl-{name_of(command)}.1.scd").write_text(of_command(command, codes))


def of_root(root, commands) -> str:
    about, _, _ = root["discussion"].partition("Exit status:")
    return joined(
        "refreshctl(1)", f"# NAME\n\nrefreshctl - {summary(root)}", "# SYNOPSIS\n\n*refreshctl* _command_ …",
        f"# DESCRIPTION\n\n{marked(about.strip())}", "# COMMANDS",
        *(entry(f"*{name_of(command)}*", f"{marked(command['abstract'])} See *refreshctl-{name_of(command)}*(1).")
          for command in commands),
        "# OPTIONS", options(root), exit_codes(root), "# ENVIRONMENT",
        entry("*REFRESH\\_SOCKET*", "The socket of the daemon, if *--socket* does not name it."),
        entry("*NO\\_COLOR*", "Print no colours."),
        entry("*TERM*", "With *dumb*, print no colours, and no screen with *top*."),
        "# FILES", *(entry(f"_{escaped(path)}_", escaped(about)) for path, about in FILES), examples(""),
        f"# SEE ALSO\n\n{SEE}",
    )  # fmt: skip


def of_command(command, codes) -> str:
    name = name_of(command)
    return joined(
        f"refreshctl-{name}(1)", f"# NAME\n\nrefreshctl-{name} - {summary(command)}", synopsis(command),
        f"# DESCRIPTION\n\n{marked(command['abstract'])}", marked(command.get("discussion", "")), "# OPTIONS",
        options(command), codes, examples(name), f"# SEE ALSO\n\n*refreshctl*(1), {SEE}",
    )  # fmt: skip


def joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def name_of(command) -> str:
    return command["commandName"]


def summary(command) -> str:
    """The abstract as apropos(1) wants it: no capital at its beginning, and no full stop."""
    text = re.split(r"[.:;] ", command["abstract"].rstrip(".") + " ")[0].strip()
    return escaped(text[:1].lower() + text[1:])


def shown(command):
    return [argument for argument in command.get("arguments", []) if argument["shouldDisplay"]]


def synopsis(command) -> str:
    words = [f"*refreshctl {name_of(command)}*"]
    for argument in shown(command):
        if argument.get("preferredName", {}).get("name") in ("help", "version"):
            continue
        word = flag(argument, first=True) + (" …" if argument["isRepeating"] else "")
        words.append(f"[{word}]" if argument["isOptional"] else word)
    return "# SYNOPSIS\n\n" + " ".join(words)


def flag(argument, first=False) -> str:
    """An argument as a person types it, with all its names or the first."""
    value = f"_{escaped(argument.get('valueName', ''))}_"
    if argument["kind"] == "positional":
        return value
    names = [argument["preferredName"]] if first else argument["names"]
    spelt = ", ".join(
        "*" + ("-" if name["kind"] == "short" else "--") + escaped(name["name"]) + "*" for name in names)
    return spelt if argument["kind"] == "flag" else f"{spelt} {value}"


def options(command) -> str:
    entries = []
    for argument in shown(command):
        about = [marked(argument.get("abstract", ""))]
        if values := argument.get("allValues"):
            about.append("Values: " + ", ".join(f"*{escaped(value)}*" for value in values) + ".")
        if default := argument.get("defaultValue"):
            about.append(f"Default: *{escaped(default)}*.")
        entries.append(entry(flag(argument), " ".join(about)))
    return joined(*entries).rstrip()


def exit_codes(root) -> str:
    _, _, codes = root["discussion"].partition("Exit status:")
    rows = re.findall(r"^\s*(\d+)\s+(.*)$", codes, re.MULTILINE)
    return joined("# EXIT STATUS", *(entry(f"*{code}*", marked(f"{text[:1].upper()}{text[1:]}.")) for code, text in rows))


def examples(name: str) -> str:
    found = EXAMPLES.get(name, [])
    return joined("# EXAMPLES", *(f"{marked(about)}:\n\n```\n{line}\n```" for about, line in found)) if found else ""


def entry(subject: str, text: str) -> str:
    return f"{subject}\n\t" + text.replace("\n", "\n\t")


def marked(text: str) -> str:
    """Text of a help: what stands between backquotes is bold, and a list stays a list."""
    parts = re.split(r"`([^`]*)`", re.sub(r"\n+", "\n\n", text))
    return "".join(f"*{escaped(part)}*" if odd % 2 else escaped(part) for odd, part in enumerate(parts))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
