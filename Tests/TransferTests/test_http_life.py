"""The task kind `http`: deadlines, crashes and restarts."""

from daemon import finished
from fetching import fetch  # noqa: F401

SIZE = 300_000
ARRIVED = ("new_data", f"{SIZE} bytes")


def test_what_was_learnt_of_the_file_outlives_the_daemon(daemon, fetch, misbehaving):  # noqa: F811
    fetch.start(misbehaving.url("plain", SIZE))
    assert fetch.run() == ARRIVED
    daemon.restart()
    assert fetch.run() == ("no_data", "not modified")
    daemon.kill()
    daemon.start()
    assert fetch.run() == ("no_data", "not modified")
    assert misbehaving.sent("plain") == SIZE


def test_what_was_learnt_of_a_url_goes_with_it(daemon, fetch, misbehaving):  # noqa: F811
    fetch.start(misbehaving.url("plain", SIZE))
    assert fetch.run() == ARRIVED
    fetch.again(misbehaving.url("plain", SIZE, etag='"other"'))
    fetch.of(misbehaving.url("plain", SIZE))
    daemon.restart()
    assert fetch.run() == ("no_data", "the same content")
    assert "If-None-Match" not in misbehaving.of("plain")[-1].headers


def test_at_the_deadline_nothing_half_is_left(daemon, fetch, misbehaving):  # noqa: F811
    fetch.start(misbehaving.url("plain", SIZE, hold=1000), deadline="1s")
    refresh = finished(daemon.run())
    assert (refresh["outcome"], refresh["stop_reason"]) == ("failed", "deadline")
    fetch.left()
    assert not fetch.file.exists()


def test_a_daemon_that_is_killed_in_between(daemon, fetch, misbehaving):  # noqa: F811
    fetch.start(misbehaving.url("plain", SIZE, hold=1000))
    daemon.run()
    misbehaving.wait_until_held("plain")
    daemon.kill()
    daemon.start()
    misbehaving.let_go()
    assert fetch.run()[0] in ("new_data", "no_data")
    assert fetch.file.stat().st_size == SIZE


def test_what_comes_after_it_finds_the_file(daemon, fetch, misbehaving):  # noqa: F811
    count = daemon.pipe("count")
    daemon.app(
        {"name": "feed", "http": {"url": misbehaving.url("plain", SIZE), "to": str(fetch.file)}},
        {"name": "count", "after": ["feed"], "shell": f"wc -c < {fetch.file} > {count}"},
    )
    daemon.start()
    for _ in range(2):
        assert daemon.refresh()["outcome"] == "new_data"
        assert count.line() == str(SIZE)


def test_two_apps_with_one_file_take_turns(daemon, fetch, misbehaving):  # noqa: F811
    """The second app finds the partial file of the first locked, and retries."""
    other = "org.example.mail"
    fetch.of(misbehaving.url("plain", SIZE, hold=1000))
    daemon.app({"http": {"url": misbehaving.url("chunked", SIZE), "to": str(fetch.file)}}, id=other)
    daemon.start()
    stream = daemon.run()
    misbehaving.wait_until_held("plain")
    refresh = daemon.refresh(app=other)
    assert refresh["outcome"] == "failed" and "another process writes it" in refresh["tasks"][0]["message"]
    misbehaving.let_go()
    assert finished(stream)["outcome"] == "new_data"
