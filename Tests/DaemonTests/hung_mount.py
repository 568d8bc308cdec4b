"""A file system that does not answer: a process that touches it waits in the kernel, and no signal ends it."""

import ctypes
import os
import struct
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
MNT_DETACH = 2
INIT = 26
# fuse_in_header and fuse_out_header of linux/fuse.h: length, operation or error, number of the request.
REQUEST, REPLY = struct.Struct("<IIQ"), struct.Struct("<IiQ")
# fuse_init_out: version 7.31, and how much may be read ahead and written at once.
INIT_REPLY = struct.pack("<IIIIHHI", 7, 31, 65536, 0, 12, 10, 65536) + bytes(40)


class HungMount:
    """A FUSE file system that takes every request and answers none; needs root."""

    def __init__(self, path):
        self.path = path
        path.mkdir()
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0,allow_other"
        if LIBC.mount(b"hung", os.fsencode(path), b"fuse", 0, options.encode()):
            raise OSError(ctypes.get_errno(), "mount")
        self.taken = threading.Semaphore(0)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                request = os.read(self.device, 1 << 17)
            except OSError:
                return
            _, operation, number = REQUEST.unpack(request[: REQUEST.size])
            if operation == INIT:
                os.write(self.device, REPLY.pack(REPLY.size + len(INIT_REPLY), 0, number) + INIT_REPLY)
            else:
                self.taken.release()

    def wait_for_request(self, within):
        """Waits until a process hangs in a request."""
        assert self.taken.acquire(timeout=within), "no process has touched the mount"

    def release(self):
        """Ends the file system, and with it the wait of every process in it."""
        if self.device is None:
            return
        # MNT_FORCE fails all requests.
        LIBC.umount2(os.fsencode(self.path), 1)
        LIBC.umount2(os.fsencode(self.path), MNT_DETACH)
        os.close(self.device)
        self.device = None
