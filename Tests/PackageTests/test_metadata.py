"""The descriptions of the packages: they are well formed, and they say one version."""

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from daemon import REFRESHD

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "packaging/rpm/refreshd.spec"
METAINFO = ROOT / "packaging/org.refreshd.refreshd.metainfo.xml"
PROGRAMS = re.search(r"^PROGRAMS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
VERSION = re.search(r'refreshdVersion = "(.*)"', (ROOT / "Sources/RefreshAPI/Version.swift").read_text())[1]


def test_the_metainfo_of_appstream_is_valid():
    checked = subprocess.run(["appstreamcli", "validate", "--no-net", METAINFO], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


# systemd-rpm-macros has these; Debian has not, so the macros of the scriptlets stay as they are.
FOLDERS = {
    "_unitdir": "/usr/lib/systemd/system", "_userunitdir": "/usr/lib/systemd/user", "_docdir": "/usr/share/doc",
    "_presetdir": "/usr/lib/systemd/system-preset", "_userpresetdir": "/usr/lib/systemd/user-preset",
    "_sysusersdir": "/usr/lib/sysusers.d", "_libexecdir": "/usr/libexec",
}  # fmt: skip


@pytest.mark.bound(240)
def test_the_rpm_packages_are_built_and_have_their_files(tmp_path):
    """From the spec and the programs under test. rpmbuild refuses a file without a package, and a missing file."""
    pages = tmp_path / "pages"
    pages.mkdir()
    for name in re.findall(r"man/man\d/(\S+\.\d)", (ROOT / "Makefile").read_text()):
        (pages / name.replace("*", "-run")).touch()
    # Nothing is compressed, and no strings of debug programs are searched, for time's sake.
    values = {
        **FOLDERS, "_topdir": tmp_path / "rpm", "programs": REFRESHD.parent, "pages": pages, "_binary_payload": "w0.ufdio",
        "__check_buildroot": "%{nil}",
    }  # fmt: skip
    macros = [word for name, value in values.items() for word in ("--define", f"{name} {value}")]
    built = subprocess.run(
        ["rpmbuild", "-bb", "--build-in-place", "--nodeps", *macros, SPEC], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    packages = {path.name.split("-0.")[0]: path for path in (tmp_path / "rpm/RPMS").rglob("*.rpm")}
    assert packages.keys() == {"refreshd", "refresh-push", "refresh-session"}
    root = tmp_path / "root"
    install = ["rpm", "--root", root, "--nodeps", "--noscripts", "--nosignature", "--install", *packages.values()]
    installed = subprocess.run(install, capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    for program in PROGRAMS:
        version = subprocess.run([root / "usr/bin" / program, "--version"], check=True, capture_output=True, text=True)
        assert version.stdout.split()[-1] == VERSION, program
    assert list((root / "etc/refreshd/apps.d").iterdir()) == []
    listed = subprocess.run(["rpm", "-qpc", packages["refreshd"]], check=True, capture_output=True, text=True)
    assert listed.stdout.split() == ["/etc/refreshd/refreshd.toml"]


def test_all_descriptions_have_the_version_of_the_programs():
    assert re.search(r"^Version: *(.*)$", SPEC.read_text(), re.MULTILINE)[1] == VERSION
    assert re.match(r"refreshd \((.*)\)", (ROOT / "debian/changelog").read_text())[1] == VERSION
    assert ElementTree.parse(METAINFO).find("releases/release").get("version") == VERSION
