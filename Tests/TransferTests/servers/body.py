"""Reproducible bodies: each byte follows from its position, so that a test can check any part without keeping it."""

import hashlib
import mmap

BLOCK = 65536


class Body:
    """A body of a given length; each version has other bytes."""

    def __init__(self, size, version=1):
        self.size = size
        self.version = version

    def block(self, number):
        seed = f"{self.version} {number}".encode()
        return hashlib.shake_128(seed).digest(min(BLOCK, self.size - number * BLOCK))

    def pieces(self, start=0, end=None):
        """Yields the bytes from `start` up to but not including `end`, in pieces."""
        end = self.size if end is None else min(end, self.size)
        while start < end:
            number, skipped = divmod(start, BLOCK)
            piece = self.block(number)[skipped : skipped + end - start]
            yield piece
            start += len(piece)

    def bytes(self, start=0, end=None):
        return b"".join(self.pieces(start, end))

    @property
    def sha256(self):
        digest = hashlib.sha256()
        for piece in self.pieces():
            digest.update(piece)
        return digest.hexdigest()

    def write(self, path):
        with open(path, "wb") as file:
            for piece in self.pieces():
                file.write(piece)

    def is_in(self, path):
        """Whether the file is equal to this body."""
        return path.stat().st_size == self.size and self.begins(path)

    def begins(self, path):
        """Whether the file is a prefix of this body."""
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            if size == 0:
                return True
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as map:
                place = 0
                for piece in self.pieces(0, size):
                    if map[place : place + len(piece)] != piece:
                        return False
                    place += len(piece)
        return place == size
