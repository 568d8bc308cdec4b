"""docs/refreshctl.schema.json is what the interface files say, and docs/json.md names every subcommand."""

import re

import jsonschema

import json_schema


def test_the_file_follows_from_the_interfaces():
    assert json_schema.FILE.read_text() == json_schema.text(), "run `make json-schema`"


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(json_schema.schema())


def test_every_reference_leads_somewhere():
    definitions = json_schema.schema()["$defs"]
    assert {name for name in re.findall(r'"#/\$defs/([^"]+)"', json_schema.text())} <= set(definitions)


def test_the_page_names_every_subcommand():
    page = (json_schema.ROOT / "docs" / "json.md").read_text()
    named = set(re.findall(r"`([a-z-]+)[ `]", "".join(line for line in page.splitlines(True) if line.startswith("|"))))
    assert set(json_schema.commands(False)) <= named
