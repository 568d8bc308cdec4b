"""The interfaces as their files describe them: calls that fit them more or less, and whether an answer fits."""

import pathlib

import varlink
from varlink import scanner

import hostile

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "Sources"
INTERFACES = [varlink.Interface(path.read_text()) for path in sorted((SOURCES / "RefreshAPI").glob("*.varlink"))]
METHODS = [
    (interface, member)
    for interface in INTERFACES
    for member in interface.members.values()
    if isinstance(member, scanner._Method)
]
ERRORS = {
    f"{interface.name}.{member.name}"
    for interface in INTERFACES
    for member in interface.members.values()
    if isinstance(member, scanner._Error)
}


class Maker:
    """Makes values of types. `known` gives values that mean something to the daemon, by the name of the field."""

    def __init__(self, random, interface, known):
        self.random = random
        self.interface = interface
        self.known = known
        # Most calls are good ones, or nearly so: others do not get far.
        self.wildness = random.choice([0, 0, 0.02, 0.3])

    def make(self, kind, name=""):
        random = self.random
        if random.random() < self.wildness / 3:
            return hostile.value(random)
        if isinstance(kind, scanner._Maybe):
            return None if random.random() < 0.7 else self.make(kind.element_type, name)
        if isinstance(kind, scanner._CustomType):
            return self.make(self.interface.members[kind.name].type, name)
        if isinstance(kind, scanner._Enum):
            return random.choice(list(kind.fields))
        if isinstance(kind, scanner._Array):
            count = random.choice([0, 50, 1001]) if random.random() < self.wildness else random.choice([1, 1, 2, 5])
            return [self.make(kind.element_type, name) for _ in range(count)]
        if isinstance(kind, scanner._Dict):
            return {hostile.text(random)[:50]: self.make(kind.element_type) for _ in range(random.randint(0, 3))}
        if isinstance(kind, scanner._Struct):
            return self.fields(kind)
        if name in self.known and random.random() >= self.wildness:
            return random.choice(self.known[name])
        if isinstance(kind, bool):
            return random.random() < 0.5
        if isinstance(kind, int):
            return hostile.number(random)
        if isinstance(kind, float):
            return random.choice([0.0, -1.5, 1e300])
        return hostile.value(random) if isinstance(kind, scanner._Object) else safe(name, hostile.text(random))

    def fields(self, kind):
        made = {field: self.make(inner, field) for field, inner in kind.fields.items()}
        if self.random.random() < self.wildness:
            made[hostile.text(self.random)[:50]] = hostile.value(self.random)
        keeps = self.random.random() < 0.1
        return {field: value for field, value in made.items() if value is not None or keeps}


def safe(name, text):
    """A text that names no file of this machine: the daemon of a root runs in earnest."""
    is_file = name in ("path", "headers_file", "credential_file", "to")
    return text.replace("/", "_") if is_file else text


def misfit(interface, kind, value, place="answer"):
    """Where an answer does not have its type; None if it has."""
    if isinstance(kind, scanner._Maybe):
        return None if value is None else misfit(interface, kind.element_type, value, place)
    if isinstance(kind, scanner._CustomType):
        return misfit(interface, interface.members[kind.name].type, value, place)
    if isinstance(kind, scanner._Enum):
        return None if value in kind.fields else f"{place}: {value!r}"
    if isinstance(kind, scanner._Array):
        if not isinstance(value, list):
            return f"{place}: no array"
        return next(filter(None, (misfit(interface, kind.element_type, one, f"{place}[]") for one in value)), None)
    if isinstance(kind, scanner._Struct):
        if not isinstance(value, dict) or set(value) - set(kind.fields):
            return f"{place}: {value!r}"[:300]
        fields = ((inner, value.get(field), f"{place}.{field}") for field, inner in kind.fields.items())
        return next(filter(None, (misfit(interface, *field) for field in fields)), None)
    if isinstance(kind, bool):
        return None if isinstance(value, bool) else f"{place}: {value!r}"
    if isinstance(kind, int):
        return None if type(value) is int and -(2**63) <= value < 2**63 else f"{place}: {value!r}"
    if isinstance(kind, float):
        return None if type(value) in (int, float) else f"{place}: {value!r}"
    if isinstance(kind, str):
        return None if isinstance(value, str) else f"{place}: {value!r}"
    return None
