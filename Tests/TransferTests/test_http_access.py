"""The task kind `http`: passwords, certificates, proxies, and files that it must not touch."""

import contextlib
import json
import os
import pathlib
import shutil
import stat
import subprocess

import pytest

from fetching import fetch  # noqa: F401
from processes import alive

SIZE = 1000
ARRIVED = ("new_data", f"{SIZE} bytes")


@pytest.fixture
def secret(scratch):
    """A file with a secret, by its name."""

    def write(text, name="secret", mode=0o600):
        path = scratch / name
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    return write


def test_a_password_from_a_file(fetch, nginx, secret):  # noqa: F811
    nginx.file("feed", SIZE)
    fetch.start(nginx.url("auth/feed"))
    assert fetch.run() == ("failed", "HTTP status 401")
    fetch.again(nginx.url("auth/feed"), {"credential_file": secret("ann:secret\n")})
    assert fetch.run() == ARRIVED


def test_a_password_from_netrc_and_from_the_url(fetch, nginx, scratch, secret):  # noqa: F811
    nginx.file("feed", SIZE)
    secret("machine 127.0.0.1 login ann password secret\n", ".netrc")
    fetch.start(nginx.url("auth/feed"), {"netrc": True}, environment={"HOME": str(scratch)})
    assert fetch.run() == ARRIVED
    fetch.again(nginx.url("auth/feed", "ann:secret@"))
    assert fetch.run()[0] == "no_data"


def test_what_logs_in_stays_with_the_first_origin(fetch, nginx, misbehaving, secret):  # noqa: F811
    nginx.file("feed", SIZE)
    url = misbehaving.url("redirect", to=nginx.other_url("files/feed"))
    fetch.start(url, {"headers_file": secret("Authorization: Bearer secret\n")})
    assert fetch.run() == ARRIVED
    assert misbehaving.of("redirect")[0].headers["Authorization"] == "Bearer secret"
    assert nginx.request().authorization is None


def test_a_redirect_within_the_origin_keeps_the_header_fields(fetch, misbehaving, secret):  # noqa: F811
    fetch.start(misbehaving.url("redirect", to=f"/plain/{SIZE}"), {"headers_file": secret("X-Token: secret\n")})
    assert fetch.run() == ARRIVED
    assert misbehaving.of("plain")[0].headers["X-Token"] == "secret"


@pytest.mark.parametrize("key", ["credential_file", "headers_file", "netrc"])
def test_a_file_with_secrets_that_others_may_read_is_not_used(fetch, misbehaving, scratch, secret, key):  # noqa: F811
    file = secret("a:b\n", ".netrc", mode=0o644)
    fetch.start(
        misbehaving.url("plain", SIZE), {key: True if key == "netrc" else file}, environment={"HOME": str(scratch)}
    )
    outcome, said = fetch.run()
    assert outcome == "failed" and "mode 0600" in said
    assert misbehaving.requests == []


def test_secrets_are_shown_nowhere(daemon, fetch, misbehaving, scratch, secret):  # noqa: F811
    # No other test has these on a command line.
    words = ["mellon4711", "sesame4711", "cafe-token4711"]
    url = misbehaving.url("plain", SIZE, token="cafe-token4711", hold=10).replace("://", "://ann:mellon4711@")
    fetch.start(url, {"headers_file": secret("X-Key: sesame4711\n")})
    stream = daemon.run()
    misbehaving.wait_until_held("plain")
    arguments = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            arguments.append(pathlib.Path(f"/proc/{pid}/cmdline").read_text(errors="replace"))
    assert alive("refresh-worker", str(daemon.socket))
    misbehaving.let_go()
    assert [answer["event"] for answer in stream][-1]["refresh"]["outcome"] == "new_data"
    fetch.again(url.replace("/plain/", "/flaky/"))
    assert fetch.run()[0] == "failed"
    fetch.again(url.replace(str(misbehaving.port), "1"))
    assert fetch.run()[0] == "failed"
    seen = [*daemon.written(), *arguments, json.dumps([daemon.show(), daemon.history(), daemon.status()])]
    assert not [line for line in seen for word in words if word in line]
    task = daemon.show()["tasks"][0]
    assert task["fetch"] == {"url": f"http://127.0.0.1:1/plain/{SIZE}?…", "to": str(fetch.file)}
    assert all(stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 for file in (scratch / "state").iterdir())


def test_https_with_an_authority_of_ones_own(fetch, nginx, certificates):  # noqa: F811
    nginx.file("feed", SIZE)
    fetch.start(nginx.tls_url("files/feed"))
    outcome, said = fetch.run()
    assert outcome == "failed" and "cannot trust the certificate" in said
    fetch.again(nginx.tls_url("files/feed"), environment={"SSL_CERT_FILE": str(certificates.authority)})
    assert fetch.run() == ARRIVED
    fetch.again(nginx.tls_url("plain/feed"), environment={"SSL_CERT_FILE": str(certificates.authority)})
    outcome, said = fetch.run()
    assert outcome == "failed" and "no redirect may leave https" in said


def test_through_a_proxy(fetch, nginx):  # noqa: F811
    nginx.file("feed", SIZE)
    fetch.start("http://nowhere.invalid/files/feed", environment={"http_proxy": nginx.url("")})
    assert fetch.run() == ARRIVED


def test_a_link_is_no_way_out(fetch, misbehaving, scratch):  # noqa: F811
    other = scratch / "other"
    other.write_text("not to be touched")
    fetch.file.symlink_to(other)
    fetch.start(misbehaving.url("plain", SIZE))
    outcome, said = fetch.run()
    assert outcome == "failed" and "symbolic link" in said
    assert fetch.file.is_symlink() and other.read_text() == "not to be touched"
    fetch.file.unlink()
    (scratch / "linked").symlink_to(fetch.folder)
    fetch.again(misbehaving.url("plain", SIZE), {"to": str(scratch / "linked" / "feed")})
    outcome, said = fetch.run()
    assert outcome == "failed" and f"{scratch}/linked is a symbolic link; give the real path" in said


def test_a_part_that_is_a_link_is_not_followed(fetch, misbehaving, scratch):  # noqa: F811
    other = scratch / "other"
    other.write_text("not to be touched")
    (fetch.folder / "feed.refreshd-part").symlink_to(other)
    fetch.start(misbehaving.url("plain", SIZE))
    assert fetch.run() == ARRIVED
    assert other.read_text() == "not to be touched"


def test_a_folder_that_the_owner_may_not_write(fetch, misbehaving):  # noqa: F811
    """Also as root, because the worker keeps no capability."""
    fetch.folder.chmod(0o555)
    fetch.start(misbehaving.url("plain", SIZE))
    outcome, said = fetch.run()
    assert outcome == "failed" and "let the app's owner write there" in said
    assert fetch.due()[0] is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may have apps of others")
def test_it_is_fetched_as_the_owner(fetch, nginx, secret):  # noqa: F811
    nginx.file("feed", SIZE)
    password = secret("ann:secret\n")
    fetch.start(nginx.url("auth/feed"), {"credential_file": password}, owner="nobody", directory="/")
    outcome, said = fetch.run()
    assert outcome == "failed" and f"cannot read {password}: Permission denied" in said
    shutil.chown(password, "nobody")
    outcome, said = fetch.run()
    assert outcome == "failed" and "let the app's owner write there" in said
    shutil.chown(fetch.folder, "nobody")
    assert fetch.run() == ARRIVED
    assert fetch.file.owner() == "nobody"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_keeps_what_is_there(fetch, misbehaving):  # noqa: F811
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "refreshd-test", fetch.folder], check=True)
    try:
        fetch.file.write_text("what was there")
        fetch.start(misbehaving.url("plain", 200_000))
        outcome, said = fetch.run()
        assert outcome == "failed" and "No space left on device" in said
        assert fetch.due()[0] == "retry"
        assert fetch.file.read_text() == "what was there"
    finally:
        subprocess.run(["umount", fetch.folder], check=True)


def test_a_folder_that_is_not_there(fetch, misbehaving, scratch):  # noqa: F811
    fetch.start(misbehaving.url("plain", SIZE), {"to": str(scratch / "none" / "feed")})
    outcome, said = fetch.run()
    assert outcome == "failed" and f"{scratch}/none: No such file or directory; create it first" in said


def test_the_mode_of_the_file_is_kept(fetch, misbehaving):  # noqa: F811
    fetch.file.write_text("private")
    fetch.file.chmod(0o600)
    fetch.start(misbehaving.url("plain", SIZE))
    assert fetch.run() == ARRIVED
    assert stat.S_IMODE(fetch.file.stat().st_mode) == 0o600
