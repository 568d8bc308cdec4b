"""tuspyserver, a server of resumable uploads (tus 1.0.0), in a thread of the test process."""

import functools
import pathlib
import socket
import threading

import fastapi
import tuspyserver
import tuspyserver.request
import uvicorn

# Its only thread would wait 30 s for a lock that a request on the same thread holds, so it must refuse at once.
tuspyserver.request.acquire_upload_lock = functools.partial(tuspyserver.request.acquire_upload_lock, timeout=0.1)


class Tus:
    def __init__(self, directory):
        directory.mkdir()
        # Name and contents of each complete upload, in order.
        self.completed = []
        self.has_changed = threading.Condition()
        app = fastapi.FastAPI()
        app.include_router(
            tuspyserver.create_tus_router(
                prefix="files",
                files_dir=str(directory),
                # The server copies its callback; a function survives that, a bound method does not.
                on_upload_complete=lambda path, metadata: self.complete(path, metadata),
            )
        )
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]})
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/files"

    def complete(self, path, metadata):
        with self.has_changed:
            self.completed.append((metadata, pathlib.Path(path).read_bytes()))
            self.has_changed.notify_all()

    def wait_for_completed(self, count, within=15):
        with self.has_changed:
            assert self.has_changed.wait_for(lambda: len(self.completed) >= count, within)
            return self.completed[count - 1]

    def close(self):
        self.server.should_exit = True
        self.thread.join()
        self.listener.close()
