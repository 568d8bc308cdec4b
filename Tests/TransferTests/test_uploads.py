"""Uploads: by PUT and POST from the first byte, by tus from the last stored byte."""

import os

import pytest

from servers.body import Body
from servers.relay import Relay

SIZE = 3_000_000


def test_a_file_is_put(running, misbehaving):
    body = Body(SIZE)
    ended = running.done(running.upload(body, misbehaving.url("put")))
    asked = misbehaving.of("put")[0]
    assert (asked.method, asked.sha256, ended["bytes"], ended["total"]) == ("PUT", body.sha256, SIZE, SIZE)
    assert ended["direction"] == "upload"
    assert running.wake()[2][0]["outcome"] == "done"


@pytest.mark.parametrize("server", ["nginx", "apache"])
def test_servers_of_the_web_take_a_file(running, request, server):
    server = request.getfixturevalue(server)
    body = Body(SIZE)
    running.done(running.upload(body, server.url("uploads/up.bin")))
    assert body.is_in(server.uploads / "up.bin")


def test_a_file_is_put_over_http_2(transfers, nginx, certificates):
    transfers.daemon.app("cat", environment={"SSL_CERT_FILE": str(certificates.authority)})
    transfers.daemon.start()
    body = Body(SIZE)
    assert transfers.done(transfers.upload(body, nginx.tls_url("uploads/http2.bin")))["attempts"] == 1
    assert body.is_in(nginx.uploads / "http2.bin") and nginx.request().protocol == "HTTP/2.0"


@pytest.mark.parametrize("method", ["PUT", "POST"])
@pytest.mark.parametrize("size", [0, 1000, SIZE])
def test_a_file_is_sent_again_to_who_asks_for_a_login(running, misbehaving, method, size):
    url = misbehaving.url("put", needs="ann:secret").replace("://", "://ann:secret@")
    assert running.done(running.upload(Body(size), url, method=method))["attempts"] == 1
    assert misbehaving.of("put")[-1].sha256 == Body(size).sha256


def test_a_file_is_sent_again_to_where_it_is_taken(running, misbehaving):
    url = misbehaving.url("redirect", status=307, to=misbehaving.url("put"))
    assert running.done(running.upload(Body(SIZE), url, method="POST"))["attempts"] == 1
    assert misbehaving.of("put")[0].sha256 == Body(SIZE).sha256


def test_a_file_is_posted_when_that_is_asked_for(running, misbehaving):
    running.done(running.upload(Body(SIZE), misbehaving.url("put"), method="POST"))
    assert misbehaving.of("put")[0].method == "POST"


@pytest.mark.parametrize("size", [0, 1])
def test_small_files_are_files(running, misbehaving, size):
    running.done(running.upload(Body(size), misbehaving.url("put")))
    assert misbehaving.of("put")[0].sha256 == Body(size).sha256


def test_a_put_that_is_interrupted_begins_anew(running, misbehaving):
    running.done(running.upload(Body(SIZE), misbehaving.url("put", every=SIZE // 2)))
    first, second = misbehaving.of("put")
    assert first.received < SIZE and second.sha256 == Body(SIZE).sha256


def test_a_lost_answer_is_asked_for_again_by_put_and_never_by_post(running, misbehaving):
    running.done(running.upload(Body(SIZE), misbehaving.url("lostanswer")))
    assert len(misbehaving.of("lostanswer")) == 2
    ended = running.failed(running.upload(Body(SIZE), misbehaving.url("lostanswer", times=9), "b", method="POST"))
    assert ended["message"] and len(misbehaving.of("lostanswer")) == 3


def test_an_empty_file_is_posted_once_too(running, misbehaving):
    running.failed(running.upload(Body(0), misbehaving.url("lostanswer", times=9), method="POST"))
    assert len(misbehaving.of("lostanswer")) == 1
    running.done(running.upload(Body(0), misbehaving.url("put"), "b", method="POST"))


def test_what_a_server_takes_before_it_has_it_has_not_arrived(running, misbehaving):
    body = Body(30_000_000)
    running.done(running.upload(body, misbehaving.url("hasty")))
    first, second = misbehaving.of("hasty")
    assert second.sha256 == body.sha256
    # Nobody knows what the server did with the POST by then.
    ended = running.failed(running.upload(body, misbehaving.url("hasty", times=9), "b", method="POST"))
    assert "check the server before" in ended["message"] and len(misbehaving.of("hasty")) == 3


def test_a_server_may_take_its_time_with_what_it_has_got(running, misbehaving):
    running.done(running.upload(Body(SIZE), misbehaving.url("put", late=2.5)))
    assert len(misbehaving.of("put")) == 1


def test_a_post_that_is_stopped_before_it_can_have_arrived_is_sent_again(running, misbehaving):
    id = running.upload(Body(SIZE), misbehaving.url("put", hold=0), method="POST")
    misbehaving.wait_until_held("put")
    running.pause(id)
    paused = running.wait(id, "paused or over", lambda it: it["state"] in ("paused", "ended"))
    misbehaving.let_go()
    if paused["state"] == "paused":
        running.resume(id)
        running.done(id)
    assert sum(asked.sha256 is not None for asked in misbehaving.of("put")) <= 1


def test_a_server_that_refuses_before_it_has_all_is_heard(running, misbehaving):
    ended = running.failed(running.upload(Body(50_000_000), misbehaving.url("early")))
    assert "HTTP status 413" in ended["message"]


def test_a_file_that_is_not_there_has_failed(running, misbehaving):
    id = running.enqueue(running.request(misbehaving.url("put"), "none", direction="upload"))[0]
    ended = running.failed(id)
    assert str(running.target("none")) in ended["message"] and misbehaving.of("put") == []


def test_a_link_is_not_uploaded(running, misbehaving):
    running.target("link").symlink_to("/etc/passwd")
    id = running.enqueue(running.request(misbehaving.url("put"), "link", direction="upload"))[0]
    assert str(running.target("link")) in running.failed(id)["message"] and misbehaving.of("put") == []


def test_what_is_no_file_is_not_uploaded(running, misbehaving):
    os.mkfifo(running.target("pipe"))
    id = running.enqueue(running.request(misbehaving.url("put"), "pipe", direction="upload"))[0]
    assert str(running.target("pipe")) in running.failed(id)["message"] and misbehaving.of("put") == []


def test_a_file_that_changes_while_it_is_sent_has_failed(running, misbehaving):
    id = running.upload(Body(SIZE), misbehaving.url("put", hold=100_000))
    misbehaving.wait_until_held("put")
    with open(running.target(), "ab") as file:
        file.write(b"more")
    misbehaving.let_go()
    assert "changed" in running.failed(id)["message"]


def test_a_file_that_changes_between_two_tries_is_never_spliced(running, tus):
    before = len(tus.completed)
    wire = Relay(tus.port, every=500_000)
    id = running.upload(Body(SIZE), tus.url.replace(str(tus.port), str(wire.port)), tus=True, max_rate=1_000_000)
    running.wait(id, "begun", lambda it: it["bytes"] > 0)
    running.pause(id)
    running.wait_until(id, "paused")
    Body(SIZE + 4, 2).write(running.target())
    running.resume(id)
    running.done(id)
    wire.close()
    assert tus.wait_for_completed(before + 1)[1] == Body(SIZE + 4, 2).bytes()


def test_a_tus_server_that_goes_to_and_fro_is_left_alone_for_a_while(running, misbehaving):
    id = running.upload(Body(1000), misbehaving.url("seesaw"), tus=True)
    waiting = running.wait(id, "waiting", lambda it: it["state"] == "waiting" and it["attempts"] == 1, within=10)
    assert "keeps losing" in waiting["message"] and len(misbehaving.of("seesaw")) < 40
    running.cancel(id)


def test_tus_takes_a_file_whole(running, tus):
    before = len(tus.completed)
    body = Body(SIZE)
    running.done(running.upload(body, tus.url, tus=True))
    metadata, contents = tus.wait_for_completed(before + 1)
    assert contents == body.bytes() and metadata["filename"] == "file"


def test_tus_goes_on_where_it_was_after_every_cut(running, tus):
    before = len(tus.completed)
    wire = Relay(tus.port, every=500_000)
    body = Body(SIZE)
    ended = running.done(running.upload(body, tus.url.replace(str(tus.port), str(wire.port)), tus=True))
    wire.close()
    assert tus.wait_for_completed(before + 1)[1] == body.bytes()
    assert len(tus.completed) == before + 1
    assert wire.cuts >= 5 and ended["attempts"] >= 5


def test_tus_goes_on_after_the_daemon_was_killed(running, tus):
    before = len(tus.completed)
    wire = Relay(tus.port, every=1_000_000)
    body = Body(SIZE)
    id = running.upload(body, tus.url.replace(str(tus.port), str(wire.port)), tus=True, max_rate=2_000_000)
    running.wait(id, "under way", lambda it: it["bytes"] > 100_000)
    running.daemon.kill()
    running.daemon.start()
    running.done(id)
    wire.close()
    assert tus.wait_for_completed(before + 1)[1] == body.bytes()
    assert len(tus.completed) == before + 1
