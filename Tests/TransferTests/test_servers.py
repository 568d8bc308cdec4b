"""The servers behave as the tests of transfers assume, seen with curl; and the mistakes that curl itself makes with
them."""

import subprocess

import pytest

from servers.body import Body
from servers.relay import Relay

SIZE = 300_000


@pytest.fixture
def curl(tmp_path):
    """Runs curl for a file in this folder; returns its exit code and the file."""

    def run(*words):
        command = ["curl", "--silent", "--show-error", "--output", "file", *words]
        code = subprocess.run(command, cwd=tmp_path, timeout=30, capture_output=True).returncode
        return code, tmp_path / "file"

    return run


def resume(curl, url, times=5):
    """Resumes the file until curl reports that it is complete."""
    for _ in range(times):
        code, file = curl("--continue-at", "-", url)
        if code == 0:
            break
    return code, file


@pytest.mark.parametrize("mode", ["plain", "chunked", "noclen", "ignore", "short206", "changed"])
def test_modes_give_whole_files_at_first(curl, misbehaving, mode):
    code, file = curl(misbehaving.url(mode, SIZE, at=SIZE))
    assert code == 0 and Body(SIZE).is_in(file)


@pytest.mark.parametrize("mode", ["cut", "cutclose"])
def test_a_file_that_is_cut_arrives_piece_by_piece_and_nothing_is_sent_twice(curl, misbehaving, mode):
    code, file = resume(curl, misbehaving.url(mode, SIZE, every=100_000))
    assert code == 0 and Body(SIZE).is_in(file)
    assert [(asked.start, asked.sent) for asked in map(misbehaving.wait_for_end, misbehaving.of(mode))] == [
        (None, 100_000),
        (100_000, 100_000),
        (200_000, 100_000),
    ]


@pytest.mark.parametrize("mode", ["changed", "short206", "416", "noclen"])
def test_what_curl_takes_for_a_whole_file_is_none(curl, misbehaving, mode):
    code, file = resume(curl, misbehaving.url(mode, SIZE, at=100_000))
    assert code == 0
    assert not Body(SIZE).is_in(file) and not Body(SIZE, 2).is_in(file)


@pytest.mark.parametrize("mode", ["wrongstart", "ignore", "badchunk", "wronglength", "hello"])
def test_modes_break_what_curl_does(curl, misbehaving, mode):
    code, _ = curl(misbehaving.url(mode, SIZE))
    assert code != 0


def test_an_answer_is_held_until_it_is_let_go(misbehaving):
    with subprocess.Popen(["curl", "-s", misbehaving.url("plain", SIZE, hold=1000)], stdout=subprocess.PIPE) as curl:
        asked = misbehaving.wait_until_held("plain")
        assert asked.sent == 1000
        misbehaving.let_go()
        assert len(curl.stdout.read()) == SIZE


def test_uploads_are_taken_and_judged(curl, misbehaving, tmp_path):
    body = Body(SIZE)
    body.write(tmp_path / "up")
    assert curl("--upload-file", "up", misbehaving.url("put"))[0] == 0
    assert misbehaving.of("put")[0].sha256 == body.sha256
    assert curl("--upload-file", "up", misbehaving.url("lostanswer"))[0] in (52, 56)
    curl("--upload-file", "up", "--fail", misbehaving.url("early"))
    assert misbehaving.of("early")[0].status == 413


def test_nginx_answers_as_the_web_does(curl, nginx, certificates):
    body = nginx.file("seen.bin", SIZE)
    for path, status, protocol in [("files", 200, "HTTP/1.1"), ("norange", 200, "HTTP/1.1")]:
        assert curl("--range", "10-" if path == "norange" else "0-", nginx.url(f"{path}/seen.bin"))[0] == 0
        seen = nginx.request()
        assert (seen.status, seen.protocol) == (206 if path == "files" else status, protocol)
    code, file = curl("--cacert", str(certificates.authority), nginx.tls_url("files/seen.bin"))
    assert code == 0 and body.is_in(file)
    assert nginx.request().protocol == "HTTP/2.0"
    assert curl(nginx.tls_url("files/seen.bin"))[0] == 60
    code, file = curl("--location", "--user", "ann:secret", nginx.url("r302/seen.bin"))
    assert code == 0 and body.is_in(file)
    first, second = nginx.request(), nginx.request()
    assert (first.status, first.authorization is None) == (302, False)
    assert (second.status, second.authorization) == (200, None)
    assert curl("--fail", nginx.url("auth/seen.bin"))[0] == 22
    assert curl("--fail", "--user", "ann:secret", nginx.url("auth/seen.bin"))[0] == 0
    assert curl("--upload-file", str(file), nginx.url("uploads/new/seen.bin"))[0] == 0
    assert body.is_in(nginx.uploads / "new/seen.bin")


def test_apache_gives_ranges_and_takes_uploads(curl, apache):
    body = apache.file("seen.bin", SIZE)
    code, file = curl("--range", "1000-", apache.url("files/seen.bin"))
    assert code == 0 and file.read_bytes() == body.bytes(1000)
    assert curl("--upload-file", str(file), apache.url("uploads/seen.bin"))[0] == 0
    assert (apache.uploads / "seen.bin").read_bytes() == body.bytes(1000)


def test_tus_takes_an_upload_through_a_wire_that_is_cut(tus, curl):
    before = len(tus.completed)
    created = subprocess.run(
        ["curl", "-si", "-X", "POST", tus.url, "-H", "Tus-Resumable: 1.0.0", "-H", "Upload-Length: 4",
         "-H", "Upload-Metadata: filename YQ==,filetype YQ=="],
        capture_output=True, text=True, timeout=30, check=True,
    ).stdout  # fmt: skip
    location = next(line for line in created.lower().splitlines() if line.startswith("location: ")).split(": ")[1]
    wire = Relay(tus.port)
    location = location.replace(str(tus.port), str(wire.port))
    offset = ["-H", "Tus-Resumable: 1.0.0", "-H", "Content-Type: application/offset+octet-stream"]
    for place, piece in ((0, "ab"), (2, "cd")):
        curl("-X", "PATCH", location, *offset, "-H", f"Upload-Offset: {place}", "--data-binary", piece)
    wire.close()
    metadata, contents = tus.wait_for_completed(before + 1)
    assert contents == b"abcd" and metadata["filename"] == "a"
