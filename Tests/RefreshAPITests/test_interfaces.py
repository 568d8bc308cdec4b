"""Holds messages.json, which the Swift tests hold the types against, against the interface files.

The files are read by an implementation of Varlink that is not ours: the PyPI package `varlink`.
"""

import json
import pathlib

import pytest
import varlink
from varlink import scanner

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent.parent / "Sources" / "RefreshAPI"
MESSAGES = json.loads((HERE / "messages.json").read_text())
INTERFACES = {
    path.stem: varlink.Interface(path.read_text()) for path in sorted(SOURCES.glob("*.varlink"))
}


def declared():
    """Every name that messages.json must have, with its interface and the type that the file gives it."""
    for interface in INTERFACES.values():
        for name, member in interface.members.items():
            whole = f"{interface.name}.{name}"
            if isinstance(member, scanner._Method):
                yield f"{whole}.Parameters", interface, member.in_type
                yield f"{whole}.Reply", interface, member.out_type
            else:
                yield whole, interface, member.type


def mistakes(value, kind, interface, place, whole):
    """What is wrong with a value, by the file. `whole`: optional fields must be there as well."""
    if isinstance(kind, scanner._Maybe):
        yield from mistakes(value, kind.element_type, interface, place, whole)
    elif isinstance(kind, scanner._CustomType):
        yield from mistakes(value, interface.members[kind.name].type, interface, place, False)
    elif isinstance(kind, scanner._Array):
        for index, element in enumerate(value):
            yield from mistakes(element, kind.element_type, interface, f"{place}[{index}]", whole)
    elif isinstance(kind, scanner._Enum):
        if value not in kind.fields:
            yield f"{place}: no member {value}"
    elif isinstance(kind, scanner._Struct):
        for key in value.keys() - kind.fields.keys():
            yield f"{place}: no field {key}"
        for key, field in kind.fields.items():
            if key in value:
                yield from mistakes(value[key], field, interface, f"{place}.{key}", whole)
            elif whole or not isinstance(field, scanner._Maybe):
                yield f"{place}: field {key} is missing"
    elif type(value) is not type(kind):
        yield f"{place}: {value!r} is no {type(kind).__name__}"


def test_every_declaration_has_a_message_and_no_other():
    assert {name for name, _, _ in declared()} == set(MESSAGES)


@pytest.mark.parametrize("name, interface, kind", list(declared()))
def test_message_is_as_declared(name, interface, kind):
    message = MESSAGES[name]
    if isinstance(kind, scanner._Enum):
        assert message == list(kind.fields)
        return
    # A type with alternatives has one message for each; together they have every field.
    alternatives = message if isinstance(message, list) else [message]
    found = [
        mistake
        for alternative in alternatives
        for mistake in mistakes(alternative, kind, interface, name, len(alternatives) == 1)
    ]
    assert not found
    assert {key for alternative in alternatives for key in alternative} == set(kind.fields)


@pytest.mark.parametrize("interface", INTERFACES.values(), ids=INTERFACES.keys())
def test_every_member_is_explained(interface):
    assert not [name for name, member in interface.members.items() if not member.doc.strip()]
