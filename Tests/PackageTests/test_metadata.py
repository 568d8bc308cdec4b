"""The descriptions of the packages: they are well formed, and they say one version."""

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "packaging/rpm/refreshd.spec"
METAINFO = ROOT / "packaging/org.refreshd.refreshd.metainfo.xml"


def test_the_metainfo_of_appstream_is_valid():
    checked = subprocess.run(["appstreamcli", "validate", "--no-net", METAINFO], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_rpm_spec_can_be_read_and_has_every_program():
    """On Debian, which has no systemd-rpm-macros, it cannot be built into a package that installs."""
    read = subprocess.run(["rpmspec", "-P", SPEC], capture_output=True, text=True)
    assert read.returncode == 0, read.stderr
    programs = re.search(r"^PROGRAMS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    files = read.stdout.partition("\n%files")[2].split()
    assert {f"/usr/bin/{program}" for program in programs} <= set(files)


def test_all_descriptions_have_the_version_of_the_programs():
    version = re.search(r'refreshdVersion = "(.*)"', (ROOT / "Sources/RefreshAPI/Version.swift").read_text())[1]
    assert re.search(r"^Version: *(.*)$", SPEC.read_text(), re.MULTILINE)[1] == version
    assert re.match(r"refreshd \((.*)\)", (ROOT / "debian/changelog").read_text())[1] == version
    assert ElementTree.parse(METAINFO).find("releases/release").get("version") == version
