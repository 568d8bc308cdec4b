"""A relay to another server, which a test can cut. The client talks to the real server behind the relay."""

import socket
import threading


class Relay:
    def __init__(self, port, every=None):
        """Breaks each connection after this many bytes towards the server; None never does."""
        self.target = port
        self.every = every
        self.connections = 0
        self.cuts = 0
        # Whether to drop the bytes towards the server.
        self.is_losing = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open = set()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.accept)]
        self.threads[0].start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            with self.lock:
                self.connections += 1
                self.open |= {near, far}
            for source, sink, limit in ((near, far, self.every), (far, near, None)):
                thread = threading.Thread(target=self.copy, args=[source, sink, limit, (near, far)])
                thread.start()
                self.threads.append(thread)

    def copy(self, source, sink, limit, both):
        count = 0
        try:
            while piece := source.recv(16384):
                if self.is_losing and sink is both[1]:
                    continue
                sink.sendall(piece)
                count += len(piece)
                if limit and count >= limit:
                    self.cuts += 1
                    break
            # The server sees a cut first. The other copy ends both connections when it lets go.
            sink.shutdown(socket.SHUT_WR)
            if sink is both[1]:
                return
        except OSError:
            pass
        self.end(*both)

    def end(self, *connections):
        with self.lock:
            for connection in connections:
                if connection in self.open:
                    self.open.discard(connection)
                    try:
                        connection.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass
                    connection.close()

    def cut(self):
        """Ends all connections."""
        self.end(*list(self.open))

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.threads[0].join()
        self.cut()
        for thread in self.threads[1:]:
            thread.join()
