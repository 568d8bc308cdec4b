"""Bytes on the socket: valid calls with changes, in pieces, several in one write; and pushes with payloads of any kind."""

import contextlib
import json

import hostile
from client import answers, message
from daemon import TODO
from promises import Promises
from rounds import rounds

CALLS = [
    message("org.refreshd.Manager.List"),
    message("org.refreshd.Manager.Show", {"app": TODO}),
    message("org.refreshd.Manager.Watch", {}, more=True),
    message("org.refreshd.App.Signal", {"app": TODO, "signal": "launched", "lease": True}, more=True),
    message("org.refreshd.Manager.Schedule", {"app": TODO, "earliest_us": 1, "reason": "x"}),
    message("org.varlink.service.GetInfo"),
    message("org.varlink.service.GetInterfaceDescription", {"interface": "org.refreshd.App"}),
]


def test_no_bytes_harm_the_daemon(daemon):
    daemon.app("exit 100")
    daemon.start()
    promises = Promises(daemon)
    what = "no round"
    for number, (what, random) in enumerate(rounds("frames", 0.12)):
        data = hostile.mutated(random, b"".join(random.choices(CALLS, k=random.randint(1, 5))))
        with contextlib.closing(daemon.client.connect()) as connection:
            # The daemon reads no further while a call of this connection goes on; then the round is over.
            connection.setblocking(False)
            with contextlib.suppress(ConnectionError, BlockingIOError):
                place = 0
                while place < len(data):
                    step = random.choice([1, 7, 100, 5000, len(data)])
                    place += connection.send(data[place : place + step])
                connection.recv(1 << 16)
        if number % 50 == 0:
            promises.check(what)
    promises.conclude(what)


def test_no_push_harms_the_daemon(daemon):
    """Each push gets an answer that is an error, or one of the fates; and no more wait than may."""
    daemon.app("cat > /dev/null; exit 100")
    daemon.start()
    promises = Promises(daemon)
    what = "no round"
    with contextlib.closing(daemon.client.connect()) as connection:
        for number, (what, random) in enumerate(rounds("pushes", 0.1)):
            payload = json.dumps(
                {
                    "aps": {"content-available": random.choice([1, True, hostile.value(random)])},
                    "content-id": random.choice([1, "a", hostile.value(random)]),
                    hostile.text(random)[:50]: hostile.value(random),
                },
                ensure_ascii=random.random() < 0.5,
            )
            if random.random() < 0.5:
                payload = hostile.mutated(random, payload.encode(errors="surrogatepass")).decode(errors="replace")
            call = {"app": TODO, "payload": payload, "urgency": random.choice(["very_low", "low", "normal", "high"])}
            if random.random() < 0.5:
                call["id"] = hostile.text(random)
            connection.sendall(message("org.refreshd.App.Push", call))
            (answer,) = answers(connection)
            if "error" not in answer:
                assert answer["parameters"]["fate"] in ("queued", "merged", "told", "known"), (answer, what)
                assert answer["parameters"]["waiting"] <= 64, (answer, what)
            if number % 50 == 0:
                promises.check(what)
    promises.conclude(what)
