"""The descriptions of the packages: they are well formed, and they say one version."""

import fnmatch
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


def test_the_rpm_packages_have_every_file_of_an_installation(tmp_path):
    """rpmbuild refuses an installation with a file that no package has."""
    programs = re.search(r"^PROGRAMS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    release, pages, root = tmp_path / "release", tmp_path / "pages", tmp_path / "root"
    release.mkdir()
    for program in [*programs, "refresh-worker"]:
        (release / program).write_text("#!/bin/sh\n")
        (release / program).chmod(0o755)
    names = re.findall(r"man/man\d/(\S+\.\d)", (ROOT / "Makefile").read_text())
    pages.mkdir()
    for name in names:
        (pages / name.replace("*", "-run")).touch()
    subprocess.run(
        ["make", "-s", "install-files", f"DESTDIR={root}", f"RELEASE={release}", f"PAGES={pages}", "STRIP=",
         "ZSH_FUNCTIONS=site-functions"], cwd=ROOT, check=True,
    )  # fmt: skip
    # systemd-rpm-macros has these; Debian has not.
    folders = {
        "_unitdir": "/usr/lib/systemd/system", "_userunitdir": "/usr/lib/systemd/user", "_docdir": "/usr/share/doc",
        "_presetdir": "/usr/lib/systemd/system-preset", "_sysusersdir": "/usr/lib/sysusers.d",
        "_libexecdir": "/usr/libexec",
    }  # fmt: skip
    macros = [word for name, path in folders.items() for word in ("--define", f"{name} {path}")]
    read = subprocess.run(["rpmspec", "-P", *macros, SPEC], capture_output=True, text=True, check=True)
    lines = read.stdout.partition("\n%files")[2].splitlines()
    globs = [line.split()[-1] for line in lines if not line.startswith("%dir") and "/" in line]
    files = [f"/{path.relative_to(root)}" for path in root.rglob("*") if path.is_file()]
    assert len(files) > 30
    for glob in globs:
        assert fnmatch.filter(files, glob) or fnmatch.filter(files, f"{glob}/*"), f"nothing is at {glob}"
    left = [file for file in files if not any(fnmatch.fnmatch(file, glob + end) for glob in globs for end in ("", "/*"))]
    assert not left


def test_all_descriptions_have_the_version_of_the_programs():
    version = re.search(r'refreshdVersion = "(.*)"', (ROOT / "Sources/RefreshAPI/Version.swift").read_text())[1]
    assert re.search(r"^Version: *(.*)$", SPEC.read_text(), re.MULTILINE)[1] == version
    assert re.match(r"refreshd \((.*)\)", (ROOT / "debian/changelog").read_text())[1] == version
    assert ElementTree.parse(METAINFO).find("releases/release").get("version") == version
