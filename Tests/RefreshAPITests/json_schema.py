"""The schema of what each subcommand of refreshctl prints with --json (docs/refreshctl.schema.json).

Most subcommands print the daemon's reply as it is, so the schema is made from the interface files. `make json-schema`
writes it; a test holds the file against the interfaces, and another one real output against it.
"""

import json
import pathlib

import varlink
from varlink import scanner

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "refreshctl.schema.json"
SCALARS = {bool: "boolean", int: "integer", float: "number", str: "string"}


def replies(*names):
    """The replies of methods: one, or one of several."""
    kinds = [{"$ref": f"#/$defs/{name}.Reply"} for name in names]
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


def structure(strict, **members):
    """An object; a name that ends with an underscore may be absent."""
    names = {name.rstrip("_") if name.endswith("_") else name: kind for name, kind in members.items()}
    required = [name for name in members if not name.endswith("_")]
    kind = {"type": "object", "properties": names, "required": required}
    return {**kind, "additionalProperties": False} if strict else kind


def commands(strict):
    """The output of each subcommand: a document, or one of several documents."""
    number, text = {"type": "number"}, {"type": "string"}
    signal = replies("App.Signal")
    timeline = structure(
        strict,
        apps={"type": "array", "items": structure(
            strict, app=text, openings={"type": "array", "items": {"$ref": "#/$defs/Manager.OpeningSpan"}},
            openings_us={"type": "array", "items": {"type": "integer"}},
            timeline=replies("Manager.Timeline"), why_={"$ref": "#/$defs/Manager.Explanation"})},
        forecast=replies("Manager.Forecast"), left_out={"type": "integer"}, since_us={"type": "integer"})
    rehearsal = structure(
        strict, age_min=number, days=number, fresh=number, name=text, refreshes_per_app_and_day=number,
        wakes_per_day=number, waste=number)
    flag = {"type": "boolean"}
    adoption = structure(
        strict, adopted=flag, app=text, file=text, remarks={"type": "array", "items": structure(
            strict, lost=flag, meaning=text, setting=text)}, text=text, timer=text, unit=text)
    timers = structure(strict, timers={"type": "array", "items": structure(
        strict, active=flag, adopted=flag, gains={"type": "array", "items": text}, obstacle_=text, timer=text, unit=text)})
    schedule = structure(strict, app=text, refreshes={"type": "array", "items": number})
    version = structure(strict, version=text)
    new = structure(strict, app=text, file=text, is_in_force={"type": "boolean"}, text=text)
    return {
        "adopt": {"anyOf": [adoption, timers]},
        "background": signal,
        "cancel-transfer": replies("Transfers.Cancel"),
        "check": replies("Manager.Check"),
        "complete": replies("App.Complete"),
        "disable": replies("Manager.Disable"),
        "download": replies("Transfers.Enqueue", "Transfers.Watch"),
        "enable": replies("Manager.Enable"),
        "forecast": replies("Manager.Forecast"),
        "foreground": signal,
        "forget": replies("Manager.Erase"),
        "history": replies("Manager.History"),
        "expire": replies("Manager.Expire"),
        "launched": signal,
        "list": replies("Manager.List"),
        "login": signal,
        "logout": signal,
        "metrics": replies("Manager.Metrics"),
        "new": new,
        "pause": replies("Manager.Pause"),
        "pause-transfer": replies("Transfers.Pause"),
        "prioritize-transfer": replies("Transfers.SetPriority"),
        "push": replies("App.Push"),
        "rehearse": {"anyOf": [{"type": "array", "items": rehearsal}, schedule]},
        "reload": replies("Manager.Reload"),
        "reset": replies("Manager.Reset"),
        "resume": replies("Manager.Resume"),
        "resume-transfer": replies("Transfers.Resume"),
        "run": replies("Manager.Run", "Manager.Schedule"),
        "set": replies("Manager.Set"),
        "skip": replies("Manager.Skip"),
        "status": replies("Manager.Status", "Manager.Show"),
        "synced": replies("App.Synced"),
        "terminated": signal,
        "timeline": timeline,
        "transfers": replies("Transfers.List", "Transfers.Watch"),
        "unadopt": structure(strict, file=text, timer=text),
        "upload": replies("Transfers.Enqueue", "Transfers.Watch"),
        "usage": replies("Manager.Usage", "Manager.Forget"),
        "version": {"anyOf": [{"$ref": "#/$defs/Manager.Version.Reply"}, version]},
        "watch": {"$ref": "#/$defs/Manager.WatchEvent"},
        "why": replies("Manager.Why"),
    }


def kind(value, interface, strict):
    """The schema of a type of an interface."""
    # The package reads a scalar as an empty value of its Python type.
    if type(value) in SCALARS:
        return {"type": SCALARS[type(value)]}
    if isinstance(value, scanner._CustomType):
        return {"$ref": f"#/$defs/{interface}.{value.name}"}
    if isinstance(value, scanner._Maybe):
        return kind(value.element_type, interface, strict)
    if isinstance(value, scanner._Array):
        return {"type": "array", "items": kind(value.element_type, interface, strict)}
    if isinstance(value, scanner._Struct):
        required = [name for name, field in value.fields.items() if not isinstance(field, scanner._Maybe)]
        fields = {name: kind(field, interface, strict) for name, field in value.fields.items()}
        result = {"type": "object", "properties": fields, "required": required}
        return {**result, "additionalProperties": False} if strict else result
    if isinstance(value, scanner._Enum):
        return {"enum": sorted(value.fields)}
    raise TypeError(f"{interface}: no schema for {value!r}")


def schema(strict=False):
    """The schema. A strict one refuses members that it does not name; the file allows them, for a later refreshd."""
    types = {}
    for name in ("App", "Manager", "Transfers"):
        path = ROOT / "Sources" / "RefreshAPI" / f"org.refreshd.{name}.varlink"
        for member in varlink.Interface(path.read_text()).members.values():
            if isinstance(member, scanner._Alias):
                types[f"{name}.{member.name}"] = kind(member.type, name, strict)
            elif isinstance(member, scanner._Method):
                types[f"{name}.{member.name}.Reply"] = kind(member.out_type, name, strict)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The output of each subcommand of refreshctl with --json",
        "description": "#/$defs has each subcommand by its name, and the types of the interfaces of refreshd.",
        "$defs": {**commands(strict), **dict(sorted(types.items()))},
    }


def text():
    """The text of the file."""
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in schema()["$defs"].items()]
    head = {name: value for name, value in schema().items() if name != "$defs"}
    return json.dumps(head)[:-1] + ',\n"$defs": {\n' + ",\n".join(lines) + "\n}}\n"


if __name__ == "__main__":
    FILE.write_text(text())
