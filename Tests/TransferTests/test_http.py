"""The task kind `http` with real servers: new data, no data, and failures."""

import pytest

from fetching import fetch  # noqa: F401
from servers.body import Body

SIZE = 300_000
UNCHANGED = ("no_data", "not modified")
ARRIVED = ("new_data", f"{SIZE} bytes")


@pytest.mark.parametrize("place", ["files", "gzip", "noetag", "r301"])
def test_nginx_is_asked_for_changes_only(fetch, nginx, place):  # noqa: F811
    """With a strong ETag, a weak ETag of a compressed reply, Last-Modified alone, and behind a redirect."""
    body = nginx.file("feed", SIZE)
    fetch.start(nginx.url(f"{place}/feed"))
    assert fetch.run() == ARRIVED and body.is_in(fetch.file)
    assert fetch.run() == UNCHANGED
    body = nginx.file("feed", SIZE, version=2, age=3600)
    assert fetch.run() == ARRIVED and body.is_in(fetch.file)
    assert fetch.run() == UNCHANGED


def test_apache_is_asked_for_changes_only(fetch, apache):  # noqa: F811
    body = apache.file("feed", SIZE)
    fetch.start(apache.url("files/feed"))
    assert fetch.run() == ARRIVED and body.is_in(fetch.file)
    assert fetch.run() == UNCHANGED


def test_without_validators_the_content_is_compared(fetch, misbehaving):  # noqa: F811
    fetch.start(misbehaving.url("plain", SIZE, etag="none", modified="none"))
    assert fetch.run() == ARRIVED
    assert fetch.run() == ("no_data", "the same content")
    assert [asked.sent for asked in misbehaving.of("plain")] == [SIZE, SIZE]


def test_what_comes_compressed_is_kept_as_it_was(fetch, nginx):  # noqa: F811
    (nginx.files / "text.txt").write_text("much the same\n" * 10000)
    fetch.start(nginx.url("gzip/text.txt"))
    nginx.requests()
    assert fetch.run()[0] == "new_data" and nginx.request().sent < 10000
    assert fetch.file.read_text() == "much the same\n" * 10000


def test_a_file_that_is_not_as_it_came_is_fetched_anew(fetch, misbehaving):  # noqa: F811
    fetch.start(misbehaving.url("plain", SIZE))
    assert fetch.run() == ARRIVED
    fetch.file.write_text("somebody else's")
    assert fetch.run() == ARRIVED
    fetch.file.unlink()
    assert fetch.run() == ARRIVED
    assert fetch.run() == UNCHANGED


@pytest.mark.parametrize(
    "path, message, trigger, after",
    [
        ("s404", "HTTP status 404", None, None),
        ("s403", "HTTP status 403", None, None),
        # The back-off is at least 30 s.
        ("s503", "HTTP status 503", "retry", (25, 40)),
        ("s429", "HTTP status 429", "retry", (3300, 3700)),
        ("loop", "redirects more than 20 times", None, None),
    ],
)
def test_failures_of_nginx(fetch, nginx, path, message, trigger, after):  # noqa: F811
    fetch.start(nginx.url(path))
    outcome, said = fetch.run()
    assert outcome == "failed" and message in said
    due, seconds = fetch.due()
    assert due == trigger
    assert after is None or after[0] < seconds < after[1]


def test_the_server_says_when_to_try_again(fetch, misbehaving):  # noqa: F811
    fetch.start(misbehaving.url("flaky", SIZE, after=1000, times=1))
    assert fetch.run() == ("failed", "HTTP status 503")
    due, seconds = fetch.due()
    assert due == "retry" and 950 < seconds < 1010
    assert fetch.run() == ARRIVED


@pytest.mark.parametrize("mode", ["cut", "cutclose", "badchunk", "wronglength", "hello"])
def test_half_an_answer_is_a_failure_and_replaces_nothing(fetch, misbehaving, mode):  # noqa: F811
    fetch.start(misbehaving.url(mode, SIZE))
    fetch.file.write_text("what was there")
    assert fetch.run()[0] == "failed"
    assert fetch.due()[0] == "retry"
    assert fetch.file.read_text() == "what was there"
    if mode != "wronglength":
        assert fetch.run() == ARRIVED


@pytest.mark.parametrize(
    "mode, settings, cause",
    [
        ("noclen", {"at": SIZE // 2}, "no length"),
        # Such a body looks the same as a cut one.
        ("noclen", {}, "no length"),
        ("twolengths", {}, "two lengths"),
        ("hexlength", {}, "Content-Length"),
        ("signedlength", {}, "Content-Length"),
        ("zipped", {}, "gzip"),
        ("zipped", {"framing": "chunked"}, "gzip"),
        ("zipped", {"encoding": "br"}, "br"),
        ("longline", {}, "head"),
        ("manylines", {}, "head"),
        ("nohttp", {}, "HTTP"),
        ("cutclose", {}, "broke"),
        ("badchunk", {}, "broke"),
    ],
)
def test_what_is_not_proven_whole_replaces_nothing_and_the_cause_is_named(
    fetch, misbehaving, mode, settings, cause  # noqa: F811
):
    fetch.start(misbehaving.url(mode, SIZE, **settings))
    fetch.file.write_text("what was there")
    outcome, said = fetch.run()
    assert outcome == "failed" and cause in said and "memory" not in said
    assert fetch.due()[0] == "retry"
    assert fetch.file.read_text() == "what was there"
    if mode != "noclen" and "encoding" not in settings:
        assert fetch.run() == ARRIVED and Body(SIZE).is_in(fetch.file)


def test_tls_that_ends_without_a_word_about_it_replaces_nothing(fetch, misbehaving_tls, certificates):  # noqa: F811
    url = misbehaving_tls.url("noclen", SIZE, at=SIZE // 2)
    fetch.start(url, environment={"SSL_CERT_FILE": str(certificates.authority)})
    fetch.file.write_text("what was there")
    assert fetch.run()[0] == "failed" and misbehaving_tls.sent("noclen") == SIZE // 2
    assert fetch.file.read_text() == "what was there"


def test_nobody_listens(fetch, nginx):  # noqa: F811
    fetch.start("http://127.0.0.1:1/feed")
    assert fetch.run() == ("failed", "cannot connect to 127.0.0.1:1")
    assert fetch.due()[0] == "retry"


def test_a_server_that_says_how_long_nothing_will_be_new_is_not_asked_before(fetch, misbehaving):  # noqa: F811
    url = misbehaving.url("plain", SIZE, header="Cache-Control: max-age=3000")
    fetch.start(url, background_interval="1min", max_stale="3h")
    # The daemon's own first refresh may come before this one.
    fetch.run()
    assert fetch.run() == UNCHANGED
    due, seconds = fetch.due()
    assert due == "interval" and 2950 < seconds < 3010


def test_of_several_files_the_one_that_changes_first_counts(daemon, fetch, misbehaving):  # noqa: F811
    urls = [misbehaving.url("plain", SIZE, header="Cache-Control: max-age=3000"), misbehaving.url("plain", SIZE)]
    daemon.app(
        *[{"http": {"url": url, "to": f"{fetch.folder}/{number}"}} for number, url in enumerate(urls)],
        background_interval="1min",
        max_stale="3h",
    )
    daemon.start()
    assert daemon.refresh()["outcome"] != "failed"
    due, seconds = fetch.due()
    assert due == "interval" and seconds < 100


def test_more_than_it_may_have_is_a_failure(fetch, misbehaving):  # noqa: F811
    fetch.start(misbehaving.url("endless"), {"max_size": "1MB"})
    assert fetch.run() == ("failed", "cannot accept more than 1000000 bytes; raise max_size if that is right")
    fetch.again(misbehaving.url("plain", 1_000_001), {"max_size": "1MB"})
    assert fetch.run()[0] == "failed"
    # The announced length was too large, so the body did not have to arrive.
    assert misbehaving.sent("plain") < 1_000_000
    fetch.again(misbehaving.url("plain", 1_000_000), {"max_size": "1MB"})
    assert fetch.run()[0] == "new_data"
