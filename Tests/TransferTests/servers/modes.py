"""The modes of a misbehaving server: for each mode, its reply to the n-th request for a file.

A mode gets the request and returns the reply to send. The settings, from the query:
    at     the first reply ends at this byte (default: the half)           every  every reply ends after this many bytes
    times  the number of bad replies (default 1), the rest are good        hold   waits at this byte for its gate
    rate   bytes a second        etag, modified   another value, or "none"  header "Name: value", any number of them
    needs  user:password without which the reply is 401          late  seconds from the end of an upload to the reply
    framing  of a first reply that is cut, of one of html200, or of one of zipped
"""

import dataclasses
import email.utils
import gzip
import time

from .body import Body

DAY = 86400


@dataclasses.dataclass
class Answer:
    """The response, and how it ends."""

    status: int
    headers: dict
    body: Body
    start: int = 0
    end: int = 0
    # "length", "chunked" (the last chunk only if nothing cuts the reply), "close": the connection ends the reply, or
    # "own": as "close", with the lines of `lengths` in the head.
    framing: str = "length"
    lengths: tuple = ()
    # The byte of the body at which the reply breaks off, and how: "reset", "close" or "stall".
    cut: int | None = None
    by: str = "reset"

    def cut_at(self, place, by="reset"):
        if place < self.end:
            self.cut, self.by = place, by
        return self

    def cut_short(self, by="reset"):
        """Breaks off before the reply is complete."""
        self.cut, self.by = self.end, by
        return self


def validators(asked, body):
    headers = {"Accept-Ranges": "bytes", "Content-Type": "application/octet-stream"}
    etag = asked.setting("etag", f'"{body.size}-{body.version}"')
    modified = asked.setting("modified", email.utils.formatdate(time.time() // DAY * DAY - DAY, usegmt=True))
    if etag != "none":
        headers["ETag"] = etag
    if modified != "none":
        headers["Last-Modified"] = modified
    return headers


def whole(asked, body):
    return Answer(200, validators(asked, body), body, 0, body.size)


def part(asked, body, start, end):
    answer = Answer(206, validators(asked, body), body, start, end)
    answer.headers["Content-Range"] = f"bytes {start}-{end - 1}/{body.size}"
    return answer


def unsatisfiable(asked, body, headers=None):
    return Answer(416, {**(headers or {}), "Content-Range": f"bytes */{body.size}"}, Body(0))


def status(number, **headers):
    return Answer(number, {name.replace("_", "-"): str(value) for name, value in headers.items()}, Body(0))


def honest(asked, body):
    """A reply by the standard (RFC 9110, sections 13 and 14)."""
    own = validators(asked, body)
    known = [own.get("ETag"), own.get("Last-Modified")]
    seen = asked.headers.get("If-None-Match") or asked.headers.get("If-Modified-Since")
    if seen and seen in known:
        return Answer(304, own, Body(0))
    if asked.start is None or asked.headers.get("If-Range", known[0] or known[1]) not in known:
        return whole(asked, body)
    if asked.start >= body.size:
        return unsatisfiable(asked, body)
    return part(asked, body, asked.start, min(asked.last + 1, body.size) if asked.last is not None else body.size)


def first_cut(asked, body):
    """The first request gets the first part and a reset; None for later requests."""
    if asked.hit > 1:
        return None
    answer = whole(asked, body)
    answer.framing = asked.setting("framing", "length")
    return answer.cut_at(asked.number("at", body.size // 2))


def plain(asked, body):
    return honest(asked, body)


def cut(asked, body, by="reset"):
    answer = honest(asked, body)
    if "every" in asked.settings:
        return answer.cut_at(answer.start + asked.number("every"), by)
    return answer.cut_at(asked.number("at", body.size // 2), by) if asked.is_bad else answer


def cutclose(asked, body):
    return cut(asked, body, "close")


def ignore(asked, body):
    return first_cut(asked, body) or whole(asked, body)


def wrongstart(asked, body):
    if asked.start is None:
        return first_cut(asked, body) or whole(asked, body)
    return part(asked, body, 0, body.size)


def short206(asked, body):
    if asked.start is None:
        return first_cut(asked, body) or whole(asked, body)
    return part(asked, body, asked.start, asked.start + max(1, (body.size - asked.start) // 2))


def unasked206(asked, body):
    """A part of the file, although the client asked for all of it."""
    if asked.start is None and asked.is_bad:
        return part(asked, body, 0, body.size // 10)
    return honest(asked, body)


def changed(asked, body):
    return first_cut(asked, body) or honest(asked, Body(body.size, 2))


def grown(asked, body):
    """The ETag stays, the file changes."""
    asked.settings.setdefault("etag", '"the same"')
    return first_cut(asked, body) or honest(asked, Body(body.size + body.size // 4, 2))


def stall(asked, body):
    answer = honest(asked, body)
    return answer.cut_at(asked.number("at", body.size // 2), "stall") if asked.is_bad else answer


def badchunk(asked, body):
    answer = honest(asked, body)
    if asked.is_bad:
        answer.framing = "chunked"
        answer.cut_at(asked.number("at", body.size // 2), "close")
    return answer


def chunked(asked, body):
    answer = whole(asked, body)
    answer.framing = "chunked"
    return answer


def noclen(asked, body):
    """The end of the body cannot be told from a broken connection."""
    answer = whole(asked, body)
    answer.framing = "close"
    return answer.cut_at(asked.number("at"), "close") if "at" in asked.settings else answer


def wronglength(asked, body):
    """The announced length is longer than the body."""
    answer = honest(asked, Body(body.size + 1000))
    answer.headers["ETag"] = '"wrong"'
    return answer.cut_at(body.size, "close")


def own(asked, body, *lengths):
    """The whole file under these lengths; the connection ends it. Later requests get a good reply."""
    if not asked.is_bad:
        return honest(asked, body)
    answer = whole(asked, body)
    answer.framing, answer.lengths = "own", lengths
    return answer


def twolengths(asked, body):
    return own(asked, body, body.size, body.size // 2)


def hexlength(asked, body):
    return own(asked, body, hex(body.size))


def signedlength(asked, body):
    return own(asked, body, f"+{body.size}")


class Zipped:
    """A body in gzip's format."""

    def __init__(self, body):
        self.bytes = gzip.compress(body.bytes(), 1)

    def pieces(self, start, end):
        yield self.bytes[start:end]


def zipped(asked, body):
    """gzip; the first reply lacks the end of the format, and its framing says that all came."""
    packed = Zipped(body)
    end = asked.number("at", len(packed.bytes) // 2) if asked.is_bad else len(packed.bytes)
    answer = Answer(200, validators(asked, body), packed, 0, end, asked.setting("framing", "length"))
    answer.headers["Content-Encoding"] = asked.setting("encoding", "gzip")
    return answer


def zipped206(asked, body):
    """A request for the rest gets the rest of a compressed file under the validator of the plain one."""
    if asked.start is None:
        return first_cut(asked, body) or whole(asked, body)
    answer = part(asked, Body(body.size, 2), asked.start, body.size)
    answer.headers = {**validators(asked, body), **answer.headers, "Content-Encoding": "gzip"}
    answer.headers["ETag"] = validators(asked, body)["ETag"]
    return answer


def longline(asked, body):
    """A line of the head that no client takes."""
    answer = honest(asked, body)
    if asked.is_bad:
        answer.headers["X-Long"] = "x" * asked.number("length", 110_000)
    return answer


def manylines(asked, body):
    answer = honest(asked, body)
    if asked.is_bad:
        answer.headers.update((f"X-{number}", "x" * 1000) for number in range(280))
    return answer


def nohttp(asked, body):
    """A server of another protocol."""
    answer = honest(asked, body)
    if asked.is_bad:
        answer.framing = "none"
    return answer


def html200(asked, body):
    """The page of a captive portal, as in a hotel's network."""
    if not asked.is_bad:
        return honest(asked, body)
    return Answer(200, {"Content-Type": "text/html"}, Body(317, 2), 0, 317, asked.setting("framing", "length"))


def never416(asked, body):
    return first_cut(asked, body) or (
        whole(asked, body) if asked.start is None else unsatisfiable(asked, body, validators(asked, body))
    )


def complete416(asked, body):
    """All bytes arrive, but not the end; a request for the rest gets "range not satisfiable"."""
    if asked.hit > 1:
        return honest(asked, body)
    answer = whole(asked, body)
    answer.framing = "chunked"
    return answer.cut_short("close")


def flaky(asked, body):
    if asked.hit > asked.number("times", 2):
        return honest(asked, body)
    after = asked.setting("after", "1")
    if after == "date":
        after = email.utils.formatdate(time.time() + 1, usegmt=True)
    return status(asked.number("status", 503), Retry_After=after)


def hello(asked, body):
    """A reset before the reply begins."""
    return Answer(0, {}, body) if asked.is_bad else honest(asked, body)


def endless(asked, body):
    answer = Answer(200, {"Content-Type": "application/octet-stream"}, Body(1 << 50), 0, 1 << 50)
    answer.framing = "chunked"
    return answer


def redirect(asked, body):
    return status(asked.number("status", 302), Location=asked.setting("to", asked.target))


# Uploads. The server reads the body first, except for the bad replies of these modes.
HASTY = ("early", "hasty")


def put(asked, body):
    return status(201)


def early(asked, body):
    return status(413)


def hasty(asked, body):
    """Replies before the upload has arrived, as a captive portal does."""
    return status(200 if asked.is_bad else 201)


def seesaw(asked, body):
    """A tus server that has stored a little and forgets the upload again."""
    own = {"Tus_Resumable": "1.0.0"}
    if asked.method == "POST":
        return status(201, Location="/seesaw/0", **own)
    if asked.method == "HEAD":
        return status(200, Upload_Offset=0, **own)
    return status(204, Upload_Offset=100, **own) if asked.headers["Upload-Offset"] == "0" else status(409, **own)


def lostanswer(asked, body):
    return Answer(0, {}, body) if asked.is_bad else status(201)


MODES = {
    mode.__name__.removeprefix("never"): mode
    for mode in (
        plain, cut, cutclose, ignore, wrongstart, short206, unasked206, changed, grown, stall, badchunk, chunked, noclen,
        wronglength, twolengths, hexlength, signedlength, zipped, zipped206, longline, manylines, nohttp, html200, never416, complete416, flaky, hello, endless, redirect, put, early, hasty, seesaw,
        lostanswer,
    )
}  # fmt: skip
