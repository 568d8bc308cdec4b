"""The words of refreshctl's views about one app, and whether they agree: on its holds, its next start, and its past."""

import dataclasses
import re
import subprocess

# The views, each by a name and the words that ask for it; `{}` stands for the id of the app.
VIEWS = {
    "why": "why {}", "status of the app": "status {}", "list": "list", "status": "status", "forecast": "forecast {}",
    "history": "history {}",
}

# The names of the holds, by the words with which the headline of `why` names them.
HEADLINE = {
    "paused": r"the pause of all apps|all apps are paused",
    "quiet": r"the end of its quiet hours",
    "disabled": r"is disabled",
    "never": r"interval is never",
    "logged-out": r"until `refreshctl login",
    "network": r"waits? (.* )?for (an unmetered network|a network|Wi-Fi)",
    "power": r"for mains power",
    "idle": r"for an idle user",
    "mounted": r"for a file system on",
    "present": r"for the device",
    "reachable": r"to answer \(",
    "when": r"to succeed \(",
    "settling": r"for the machine to settle",
    "app": r"for the app: no process",
}
# The triggers, by the reasons that `why` gives for a refresh.
REASONS = {
    "interval": r"because its \S+ interval is|because the refresh before it is skipped",
    "manual": r"because somebody asked for it",
    "push": r"its limit lets the next push through",
    "retry": r"because the last one (failed and is retried|did not come to its end)",
}
CLOCK = re.compile(r"(?:today|tomorrow|yesterday|\w{3} \d\d?(?: \d{4})?) \d\d:\d\d(?::\d\d)?")


@dataclasses.dataclass
class Said:
    """The words of one view; None where it is silent."""

    holds: set | None = None
    # Whether it starts by itself, as far as the view knows, and when.
    starts: bool | None = None
    clock: str | None = None
    trigger: str | None = None
    # The last refresh: `new data`, `failed`, `stopped`.
    last: str | None = None


def ask(command, app, environment=None):
    """The text of each view, by its name; `command` is refreshctl with its options."""
    def text(words):
        words = [command[0], *words.format(app).split(), *command[1:]]
        return subprocess.run(words, check=True, capture_output=True, text=True, timeout=60, env=environment).stdout

    return {view: text(words) for view, words in VIEWS.items()}


def disagreements(views, app):
    """A sentence for each thing that two views tell differently."""
    said = {view: READERS[view](text, app) for view, text in views.items()}
    said["the counts of status"] = Said(holds=read_counts(views["status"]))
    words, why = headline(views["why"]), said["why"]
    found = [*of_holds(said, why), *of_facts(views["why"], why)]
    for what in ("starts", "trigger", "last"):
        told = {view: value for view, one in said.items() if (value := getattr(one, what)) is not None}
        if len(set(told.values())) > 1:
            found.append(f"{what}: {told}")
    for view, one in said.items():
        # A command that is asked may say yes at any moment, so that no time is promised; and a forecast is of what
        # comes after the refresh that is running.
        is_promised = not re.search(f"{HEADLINE['when']}|is being refreshed", words)
        if one.clock and one.clock not in words and is_promised:
            found.append(f"clock: {view} says {one.clock}, and why says: {words}")
    return found


def of_holds(said, why):
    for view, one in said.items():
        # A forecast names the holds at its end, when some may have passed.
        is_same = one.holds is None or (one.holds <= why.holds if view == "forecast" else one.holds == why.holds)
        if not is_same:
            yield f"holds: {view} names {sorted(one.holds)}, and why names {sorted(why.holds)}"


def of_facts(text, why):
    """The facts below the headline of `why`."""
    switches = {"paused": "all apps paused", "disabled": "disabled"}
    for hold in sorted(why.holds & {*switches, "network", "power", "idle", "mounted", "present"}):
        fact = facts(text).get("switch" if hold in switches else hold, "")
        if switches.get(hold, "not met") not in fact:
            yield f"facts: why names {hold}, and below it is said: {fact}"


# Readers of each view.


def flat(text):
    return " ".join(text.split())


def headline(text):
    return flat(text.split("\n\n")[0])


def facts(text):
    """The facts below a headline, each on one line, by their names."""
    found = {}
    for line in text.split("\n\n")[1].splitlines():
        if (match := re.match(r"  (\S+(?: \S+)?)  +(.*)", line)) and not line.startswith("    "):
            name = match[1]
            found[name] = match[2]
        else:
            found[name] += " " + line.strip()
    return found


def table(text):
    """The rows of a table, each by its titles."""
    titles, *rows = text.split("\n\n")[0].splitlines()
    places = [(match[0], match.start()) for match in re.finditer(r"\S+(?: \S+)*", titles)]
    ends = [begin for _, begin in places[1:]] + [None]
    return [{title: row[begin:end].strip() for (title, begin), end in zip(places, ends)} for row in rows]


def names(text):
    """The names of holds in a list of them, without their remedies."""
    return {name.strip() for name in re.sub(r"\([^()]*\)", "", text).split(",")}


def outcome(words):
    """The outcome at the beginning of a result."""
    found = re.match(r"new data|no data|failed|stopped|never", words)
    return found and found[0]


def read_why(text, _):
    words = headline(text)
    holds = {hold for hold, said in HEADLINE.items() if re.search(said, words)}
    trigger = next((trigger for trigger, said in REASONS.items() if re.search(said, words)), None)
    last = facts(text).get("last refresh", "").partition(", ")[2]
    starts = True if "It will be refreshed" in words else None
    return Said(holds=holds, trigger=trigger, last=last and outcome(last), starts=starts)


def read_show(text, _):
    found = facts(text)
    held = re.search(r"held: (.*)", found["next"])
    last = found.get("last refresh", "").partition(", ")[2]
    return Said(holds=names(held[1]) if held else set(), last=last and outcome(last))


def read_list(text, app):
    (row,) = [row for row in table(text) if row["APP"] == app]
    held = re.sub(r"^(until )?then |;? ?push: .*", "", row.get("HELD BY", ""))
    starts = True if row["NEXT"].startswith(("in ", "now")) else False if row["NEXT"].startswith("due") else None
    last = outcome(row["LAST"])
    return Said(holds=names(held) if held else set(), starts=starts, last=None if last == "never" else last)


def read_status(text, app):
    found = facts(text)
    if not re.match(rf"(none: )?{re.escape(app)}[, ]", found["next"]):
        return Said()
    held = re.search(r"held: ([^()]*)", found["next"])
    starts = not found["next"].startswith("none: ")
    holds = names(held[1]) if held else set()
    clock = CLOCK.search(found["next"])
    return Said(holds=holds, starts=starts, clock=clock[0] if starts and clock else None)


def read_counts(text):
    """The present holds of the only app; None without holds."""
    held = facts(text).get("held")
    return {part.rsplit(" ", 1)[0] for part in held.split(", ")} if held else None


def read_forecast(text, app):
    rows = [row for part in text.split("\n\n") if part.startswith("WHEN") for row in table(part) if row["APP"] == app]
    if rows:
        return Said(starts=True, clock=rows[0]["WHEN"], trigger=rows[0]["TRIGGER"])
    rest = re.search(rf"(?m)^  {re.escape(app)} +(.*)$", text)
    held = re.match(r"held: (.*)", rest[1]) if rest else None
    return Said(starts=False, holds=names(held[1]) if held else None)


def read_history(text, _):
    return Said(last=table(text)[0]["OUTCOME"]) if text.startswith("STARTED") else Said()


READERS = {
    "why": read_why, "status of the app": read_show, "list": read_list, "status": read_status, "forecast": read_forecast,
    "history": read_history,
}
