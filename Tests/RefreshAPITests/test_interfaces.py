"""Has another implementation of Varlink, the PyPI package `varlink`, read the interface files.

The daemon's tests call every method through the same package, which checks what goes in and out against the files.
"""

import pathlib

import pytest
import varlink
from varlink import scanner

SOURCES = pathlib.Path(__file__).resolve().parent.parent.parent / "Sources"
FILES = sorted(SOURCES.glob("*/*.varlink"))
INTERFACES = {path.stem: varlink.Interface(path.read_text()) for path in FILES}


@pytest.mark.parametrize("name", INTERFACES)
def test_the_file_is_named_for_its_interface(name):
    assert INTERFACES[name].name == name


@pytest.mark.parametrize("name", INTERFACES)
def test_every_member_is_explained(name):
    assert not [member for member, value in INTERFACES[name].members.items() if not value.doc.strip()]


@pytest.mark.parametrize("name", INTERFACES)
def test_every_type_that_is_named_is_declared(name):
    """The package looks a type up only when it is used."""

    def named(kind):
        if isinstance(kind, scanner._CustomType):
            yield kind.name
        elif isinstance(kind, scanner._Struct):
            for field in kind.fields.values():
                yield from named(field)
        elif hasattr(kind, "element_type"):
            yield from named(kind.element_type)

    interface = INTERFACES[name]
    for member in interface.members.values():
        kinds = [member.in_type, member.out_type] if isinstance(member, scanner._Method) else [member.type]
        for kind in kinds:
            assert set(named(kind)) <= set(interface.members)
