"""For any reply of a server, a download ends with the right file, or with no file and a reason. test_servers.py shows
the result of curl for the same servers: files that are wrong."""

import email.utils
import hashlib
import time

import pytest

from servers.body import Body
from servers.misbehaving import Misbehaving

SIZE = 1_000_000
HALF = SIZE // 2
OLD = email.utils.formatdate(1_700_000_000, usegmt=True)


def starts(server, mode):
    """The first byte of each request for a file."""
    return [asked.start for asked in server.of(mode)]


@pytest.mark.parametrize(
    "mode, settings, requests",
    [
        ("plain", {}, [None]),
        ("chunked", {}, [None]),
        ("cut", {"every": 400_000}, [None, 400_000, 800_000]),
        ("cutclose", {"every": 400_000}, [None, 400_000, 800_000]),
        # A server that ignores Range, or has another file, sends the whole file in the same reply.
        ("ignore", {}, [None, HALF]),
        # If a server sends another range than requested, the worker requests the whole file.
        ("wrongstart", {}, [None, HALF, None]),
        ("416", {}, [None, HALF, None]),
        # The worker keeps a range that is too short, and requests the rest.
        ("short206", {"at": 999_000}, [None, 999_000, 999_500, 999_750]),
        # Also if the length of the file becomes known only then.
        ("short206", {"at": 999_000, "framing": "chunked"}, [None, 999_000, 999_500, 999_750]),
        ("unasked206", {}, [None, None]),
        ("stall", {}, [None, HALF]),
        ("badchunk", {}, [None, HALF]),
        ("complete416", {}, [None, SIZE]),
        ("flaky", {"after": 1}, [None, None, None]),
        ("flaky", {"after": "date", "times": 1}, [None, None]),
        ("flaky", {"status": 429, "times": 1}, [None, None]),
        ("hello", {}, [None, None]),
        ("twolengths", {}, [None, None]),
        ("hexlength", {}, [None, None]),
        ("longline", {}, [None, None]),
        # A part that was compressed, under the validator of the plain file.
        ("zipped206", {}, [None, HALF, None]),
    ],
)
def test_a_file_arrives_whole(running, misbehaving, mode, settings, requests):
    id = running.download(misbehaving.url(mode, SIZE, **settings))
    ended = running.done(id)
    assert Body(SIZE).is_in(running.target())
    assert not running.part().exists()
    assert starts(misbehaving, mode)[: len(requests)] == requests
    assert (ended["bytes"], ended["total"]) == (SIZE, SIZE)
    for asked in misbehaving.of(mode):
        assert asked.headers["Accept-Encoding"] == "identity"
        assert asked.headers.get("If-Range") == (None if asked.start is None else f'"{SIZE}-1"')


@pytest.mark.parametrize(
    "mode, requests, body",
    [("changed", [None, HALF], Body(SIZE, 2)), ("grown", [None, HALF, None], Body(SIZE + SIZE // 4, 2))],
)
def test_a_file_that_changes_meanwhile_is_never_spliced(running, misbehaving, mode, requests, body):
    id = running.download(misbehaving.url(mode, SIZE))
    running.done(id)
    assert body.is_in(running.target())
    assert starts(misbehaving, mode) == requests


@pytest.mark.parametrize(
    "validators, condition",
    [
        ({"etag": '"strong"', "modified": "none"}, '"strong"'),
        ({"etag": 'W/"weak"', "modified": OLD}, OLD),
        ({"etag": "none", "modified": OLD}, OLD),
        # A file that may have changed within the second, or has no validator, starts from byte 0.
        ({"etag": 'W/"weak"', "modified": "none"}, None),
        ({"etag": "none", "modified": "none"}, None),
        ({"etag": "none", "modified": "now"}, None),
        # A server whose bytes need no record here.
        ({"etag": f'"{"x" * 2000}"', "modified": "none"}, None),
    ],
)
def test_what_is_there_counts_only_with_a_strong_validator(running, misbehaving, validators, condition):
    if validators["modified"] == "now":
        validators["modified"] = email.utils.formatdate(time.time(), usegmt=True)
    running.done(running.download(misbehaving.url("cut", SIZE, **validators)))
    assert Body(SIZE).is_in(running.target())
    second = misbehaving.of("cut")[1]
    assert second.headers.get("If-Range") == condition
    assert second.start == (None if condition is None else HALF)


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("times", [1, 2])
def test_a_page_of_the_networks_own_is_not_taken_for_the_file(running, misbehaving, times, framing):
    """A captive portal replies to any request with 200 and a page."""
    id = running.download(misbehaving.url("html200", SIZE, times=times, framing=framing), length=SIZE)
    ended = end_after_tries(running, id)
    assert (ended["result"], ended["attempts"]) == ("done", times + 1)
    assert Body(SIZE).is_in(running.target())


def test_a_length_that_is_wrong_fails_the_sixth_time(running, misbehaving):
    id = running.download(misbehaving.url("plain", SIZE), length=SIZE + 1)
    waiting = running.wait(id, "at rest", lambda it: it.get("until_us"))
    # A minute, not a second.
    assert waiting["until_us"] / 1e6 - time.time() > 30
    assert fail_after_tries(running, id) == 6


def fail_after_tries(running, id):
    """Retries a transfer until it has failed for good; returns the number of tries."""
    ended = end_after_tries(running, id)
    assert ended["result"] == "failed", ended
    return ended["attempts"]


def end_after_tries(running, id):
    """Retries a transfer whenever it waits, until it has ended; returns it."""

    def is_at_rest(transfer):
        return transfer["state"] == "ended" or transfer["state"] == "waiting" and transfer.get("until_us")

    while (transfer := running.wait(id, "at rest", is_at_rest))["state"] != "ended":
        assert transfer["message"]
        running.resume(id)
    return transfer


def test_a_file_without_an_end_is_taken_only_if_it_can_be_checked(running, misbehaving):
    url = misbehaving.url("noclen", SIZE)
    id = running.download(url)
    tries = fail_after_tries(running, id)
    assert tries > 2
    ended = running.show(id)
    assert "SHA-256" in ended["message"] and "length" in ended["message"]
    assert not running.target().exists() and not running.part().exists()
    running.done(running.download(url, sha256=Body(SIZE).sha256))
    assert Body(SIZE).is_in(running.target())
    running.done(running.download(url, "other", length=SIZE))
    assert Body(SIZE).is_in(running.target("other"))


def test_a_page_of_the_networks_own_with_no_length_waits_for_the_file(running, misbehaving):
    """The page came whole and is not the file, by its checksum; later the file comes."""
    id = running.download(misbehaving.url("html200", SIZE, framing="chunked"), sha256=Body(SIZE).sha256)
    seen = running.wait(id, "waiting again", lambda it: it["state"] == "waiting" and it.get("message"))
    assert "SHA-256" in seen["message"]
    running.resume(id)
    running.done(id)
    assert Body(SIZE).is_in(running.target())


@pytest.mark.parametrize("mode", ["plain", "cut", "chunked"])
def test_a_file_of_another_checksum_is_not_kept(running, misbehaving, mode):
    running.target().write_text("before")
    id = running.download(misbehaving.url(mode, SIZE), sha256="0" * 64)
    assert fail_after_tries(running, id) > 2
    assert "SHA-256" in running.show(id)["message"]
    assert running.target().read_text() == "before" and not running.part().exists()


@pytest.mark.parametrize("mode", ["plain", "chunked"])
@pytest.mark.parametrize("length", [SIZE - 1, SIZE + 1])
def test_a_file_of_another_length_is_not_kept(running, misbehaving, mode, length):
    """The reply may be a captive portal's page, so the transfer is retried."""
    running.target().write_text("before")
    id = running.download(misbehaving.url(mode, SIZE), length=length)
    seen = running.wait(id, "waiting again", lambda it: it["state"] == "waiting" and it.get("message"))
    assert str(length) in seen["message"] or (mode == "chunked" and length < SIZE)
    running.cancel(id)
    running.end(id)
    assert running.target().read_text() == "before" and not running.part().exists()


def test_a_checksum_is_told_when_it_was_checked(running, misbehaving):
    sha256 = Body(SIZE).sha256
    assert running.done(running.download(misbehaving.url("cut", SIZE), sha256=sha256.upper()))["sha256"] == sha256
    assert "sha256" not in running.done(running.download(misbehaving.url("plain", SIZE), "other"))


def test_more_is_promised_than_there_is_and_the_transfer_goes_on_until_somebody_ends_it(running, misbehaving):
    id = running.download(misbehaving.url("wronglength", SIZE))
    waiting = running.wait(id, "waiting again", lambda it: it["state"] == "waiting" and it["attempts"] > 1)
    assert waiting["message"] and waiting["until_us"] > time.time() * 1e6
    assert not running.target().exists()
    running.cancel(id)
    assert running.end(id)["result"] == "cancelled"
    assert not running.part().exists()


@pytest.mark.parametrize(
    "path, words",
    [("s404", "HTTP status 404"), ("s403", "HTTP status 403"), ("loop", "redirect"), ("auth/x.bin", "HTTP status 401")],
)
def test_what_cannot_be_had_has_failed_at_once(running, nginx, path, words):
    nginx.file("x.bin", 1000)
    ended = running.failed(running.download(nginx.url(path)))
    assert words in ended["message"]
    assert ended["attempts"] == 1
    assert not running.target().exists() and not running.part().exists()


def test_a_server_says_when_to_come_again(running, nginx):
    id = running.download(nginx.url("s503"))
    waiting = running.wait(id, "waiting again", lambda it: it["state"] == "waiting" and it["attempts"] == 1)
    assert "503" in waiting["message"]
    assert waiting["until_us"] / 1e6 - time.time() < 4
    late = running.download(nginx.url("s429"), "late")
    waiting = running.wait(late, "waiting again", lambda it: it["state"] == "waiting" and it["attempts"] == 1)
    assert 3000 < waiting["until_us"] / 1e6 - time.time() < 3700


@pytest.mark.parametrize("path", ["files", "norange", "noetag", "gzip", "r301", "r302"])
def test_nginx_gives_its_files(running, nginx, path):
    body = nginx.file("file.bin", SIZE)
    running.done(running.download(nginx.url(f"{path}/file.bin"), sha256=body.sha256))
    assert body.is_in(running.target())


def test_apache_gives_its_files(running, apache):
    body = apache.file("file.txt", SIZE)
    running.done(running.download(apache.url("files/file.txt")))
    assert body.is_in(running.target())


def test_certificates_are_checked_and_http_2_is_spoken(transfers, nginx, certificates):
    body = nginx.file("file.bin", SIZE)
    transfers.daemon.app("cat", environment={"SSL_CERT_FILE": str(certificates.authority)})
    transfers.daemon.start()
    transfers.done(transfers.download(nginx.tls_url("files/file.bin")))
    assert body.is_in(transfers.target()) and nginx.request().protocol == "HTTP/2.0"
    transfers.daemon.app("cat")
    transfers.daemon.restart()
    id = transfers.download(nginx.tls_url("files/file.bin"), "other")
    waiting = transfers.wait(id, "refused", lambda it: it.get("message"))
    assert "certificate" in waiting["message"]
    assert not transfers.target("other").exists()


def test_a_redirect_does_not_leave_encryption(transfers, nginx, certificates):
    nginx.file("file.bin", SIZE)
    transfers.daemon.app("cat", environment={"SSL_CERT_FILE": str(certificates.authority)})
    transfers.daemon.start()
    ended = transfers.failed(transfers.download(nginx.tls_url("plain/file.bin")))
    assert ended["message"] and not transfers.target().exists()
    assert [seen.status for seen in nginx.requests()] == [302]


def test_credentials_go_to_their_origin_only_and_are_shown_nowhere(running, nginx, misbehaving):
    body = nginx.file("file.bin", SIZE)
    secret = running.folder / "secret"
    secret.write_text("ann:secret\n")
    secret.chmod(0o600)
    running.done(running.download(nginx.url("auth/file.bin"), credential_file=str(secret)))
    assert body.is_in(running.target())
    to = nginx.other_url("files/file.bin?token=hidden")
    url = misbehaving.url("redirect", needs="ann:secret", to=to).replace("//", "//ann:secret@", 1)
    id = running.download(url, "other")
    running.done(id)
    assert any(asked.headers["Authorization"] for asked in misbehaving.of("redirect"))
    assert nginx.requests()[-1].authorization is None
    assert running.show(id)["url"] == misbehaving.url("redirect") + "?…"
    third = running.download(nginx.url("s404?token=hidden", user="ann:secret@"), "third")
    shown = str(running.failed(third)) + str(running.wake()) + "\n".join(running.daemon.written())
    assert "secret" not in shown.replace(str(secret), "") and "hidden" not in shown


def test_secrets_in_a_file_that_others_read_are_refused(running, nginx):
    secret = running.folder / "secret"
    secret.write_text("ann:secret\n")
    secret.chmod(0o644)
    ended = running.failed(running.download(nginx.url("auth/x.bin"), credential_file=str(secret)))
    assert str(secret) in ended["message"] and "0600" in ended["message"]
    assert nginx.requests() == []


def test_a_netrc_that_others_read_is_refused(transfers, misbehaving):
    netrc = transfers.folder / ".netrc"
    netrc.write_text("machine 127.0.0.1 login ann password secret\n")
    netrc.chmod(0o644)
    transfers.daemon.app("cat", environment={"HOME": str(transfers.folder)})
    transfers.daemon.start()
    url = misbehaving.url("plain", SIZE, needs="ann:secret")
    ended = transfers.failed(transfers.download(url, netrc=True))
    assert ".netrc" in ended["message"] and "0600" in ended["message"] and misbehaving.requests == []
    netrc.chmod(0o600)
    transfers.done(transfers.download(url, netrc=True))


def test_a_connection_that_breaks_between_a_challenge_and_the_answer_is_tried_again(running, misbehaving):
    url = misbehaving.url("hello", SIZE, times=2, needs="ann:secret", header="Connection: close")
    running.done(running.download(url.replace("://", "://ann:secret@")))
    assert [asked.status for asked in misbehaving.of("hello")] == [401, 0, 401, 200]
    assert Body(SIZE).is_in(running.target())


def test_headers_come_from_a_file(running, misbehaving):
    headers = running.folder / "headers"
    headers.write_text("X-Key: abc\nX-Other: def\n")
    headers.chmod(0o600)
    running.done(running.download(misbehaving.url("cut", SIZE), headers_file=str(headers)))
    for asked in misbehaving.of("cut"):
        assert (asked.headers["X-Key"], asked.headers["X-Other"]) == ("abc", "def")


def test_what_is_in_the_file_of_headers_stays_with_its_origin(running, misbehaving):
    other = Misbehaving("127.0.0.2")
    try:
        headers = running.folder / "headers"
        headers.write_text("Private-Token: abc\nAuthorization: Bearer abc\nCookie: a=abc\n")
        headers.chmod(0o600)
        near = misbehaving.url("redirect", to=misbehaving.url("redirect", 1, to=other.url("cut", SIZE)))
        running.done(running.download(near, headers_file=str(headers)))
        assert Body(SIZE).is_in(running.target())
        assert all(asked.headers["Private-Token"] == "abc" for asked in misbehaving.requests)
        # Each attempt begins with the configured URL.
        assert len(misbehaving.requests) == 4 and len(other.requests) == 2
        assert "abc" not in "".join(str(asked.headers) for asked in other.requests)
    finally:
        other.close()


def test_a_login_of_the_url_goes_with_a_redirect_within_its_origin(running, misbehaving):
    to = misbehaving.url("plain", SIZE, needs="ann:secret")
    running.done(running.download(misbehaving.url("redirect", to=to).replace("//", "//ann:secret@", 1)))
    assert Body(SIZE).is_in(running.target())


def test_the_digest_of_bodies_is_that_of_their_bytes():
    """All tests here depend on it."""
    assert Body(SIZE).sha256 == hashlib.sha256(Body(SIZE).bytes()).hexdigest()
