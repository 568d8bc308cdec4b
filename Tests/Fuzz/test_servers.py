"""A server that answers with changed heads and bodies: a transfer or a fetch ends, or waits; it is never wrong."""

import email.utils
import gzip
import hashlib
import pathlib
import socket
import threading

import hostile
import pytest
from promises import Promises
from rounds import rounds
from transfers import LOCAL, Transfers
from waiting import Bound

BODY = bytes(range(256)) * 800
OLD = email.utils.formatdate(1_700_000_000, usegmt=True)


def answer(random):
    """The bytes of an answer, valid before its change."""
    body, lines = BODY, ['ETag: "1"', f"Last-Modified: {OLD}", f"Date: {email.utils.formatdate(usegmt=True)}"]
    status = random.choice(["200 OK"] * 5 + ["206 Partial Content", "304 Not Modified", "404 Not Found", "302 Found",
                            "416 Range Not Satisfiable", "503 Service Unavailable", "204 No Content", "100 Continue"])  # fmt: skip
    if random.random() < 0.2:
        body = gzip.compress(BODY, 1)
        lines.append("Content-Encoding: gzip")
    if status.startswith("206"):
        first = random.choice([0, 1000, 100_000])
        lines.append(f"Content-Range: bytes {first}-{len(BODY) - 1}/{len(BODY)}")
        body = BODY[first:]
    lines.append(random.choice(["Location: /elsewhere", "Retry-After: 1", "Cache-Control: max-age=60", "X: y"]))
    if random.random() < 0.3:
        lines.append("Transfer-Encoding: chunked")
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    elif random.random() < 0.9:
        lines.append(f"Content-Length: {len(body)}")
    if random.random() < 0.3:
        body = body[: random.randint(0, len(body))]
    head = "\r\n".join([f"HTTP/1.{random.randint(0, 1)} {status}", *lines, "", ""]).encode()
    chance = random.random()
    if chance < 0.5:
        return hostile.mutated(random, head, 4) + body
    return hostile.mutated(random, head + body[:2000], 4) + body[2000:] if chance < 0.6 else head + body


class Mutating:
    """A server with one answer for each request, chosen by the path, which is the seed of the round."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.answers = {}
        self.thread = threading.Thread(target=self.accept)
        self.thread.start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        connection.settimeout(5)
        with connection:
            try:
                request = connection.recv(65536)
                path = request.split(b" ")[1].decode() if request.count(b" ") > 1 else ""
                connection.sendall(self.answers.get(path.rpartition("/")[2], b"HTTP/1.1 404 Not Found\r\n\r\n"))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
            except OSError:
                return

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


@pytest.fixture
def server():
    server = Mutating()
    yield server
    server.close()


def settled(transfers, ids, what):
    """Waits until each transfer has ended or waits for another try; returns them."""
    bound = Bound(60)
    while True:
        found = [transfer for transfer in transfers.all() if transfer["id"] in ids]
        if all(one["state"] == "ended" or one["attempts"] and one["state"] in ("waiting", "no_space") for one in found):
            return found
        assert bound.left, ([(one["id"], one["state"]) for one in found], what)


def test_no_answer_harms_a_worker(daemon, server):
    """With the SHA-256 of the file, a transfer that is done has the file, whatever the server said."""
    transfers = Transfers(daemon)
    daemon.start()
    promises = Promises(daemon)
    what = "no round"
    sha256 = hashlib.sha256(BODY).hexdigest()
    for what, random in rounds("servers", 0.18):
        names = [str(number) for number in range(8)]
        for name in names:
            server.answers[name] = answer(random)
        requests = [
            {"url": server.url(name), "path": str(transfers.target(name)), **LOCAL, **({"sha256": sha256} if random.random() < 0.5 else {})}
            for name in names
        ]
        ids = transfers.enqueue(*requests)
        found = settled(transfers, ids, what)
        for request, transfer in zip(requests, found):
            if transfer["state"] == "ended" and transfer["result"] == "done" and "sha256" in request:
                assert pathlib.Path(request["path"]).read_bytes() == BODY, (transfer, what)
            assert not transfer.get("message") or "signal" not in transfer["message"], (transfer, what)
        left = [one["id"] for one in found if one["state"] != "ended"]
        if left:
            daemon.call("Transfers.Cancel", ids=left)
        for id in left:
            transfers.end(id)
        for name in names:
            transfers.target(name).unlink(missing_ok=True)
            assert not transfers.part(name).exists(), what
        promises.check(what)
    promises.conclude(what)


def test_no_answer_harms_a_fetch(daemon, server, scratch):
    """A fetch leaves the file or replaces it, and leaves nothing else; it never ends by a signal."""
    folder = scratch / "fetched"
    folder.mkdir()
    daemon.app({"name": "feed", "http": {"url": server.url("feed"), "to": str(folder / "feed"), "max_size": "1MB"}})
    daemon.start()
    promises = Promises(daemon)
    what = "no round"
    for number, (what, random) in enumerate(rounds("fetches", 0.1)):
        server.answers["feed"] = answer(random)
        refresh = daemon.refresh()
        assert "signal" not in str(refresh), (refresh, what)
        assert [file.name for file in folder.iterdir()] in ([], ["feed"]), what
        if number % 20 == 0:
            promises.check(what)
    promises.conclude(what)
