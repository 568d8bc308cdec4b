"""nginx as Debian has it, on three ports: plain, plain as another origin, and TLS with HTTP/2.

    /files/       ranges, strong ETag                      /slow/     the same, 200 kB/s
    /norange/     Range is ignored                         /noetag/   Last-Modified only
    /gzip/        gzip where it is accepted: weak ETag, no ranges
    /r301/ /r302/ to /files/, the latter on the other origin           /loop     to itself
    /s503         Retry-After: 3                           /s429      Retry-After: a date in an hour
    /s404 /s403   so                                       /auth/     Basic, ann:secret
    /uploads/     PUT, DELETE
"""

import email.utils
import socket
import time

from .ports import free_port
from .web import WebServer

CONFIGURATION = """
pid {directory}/pid;
error_log {directory}/errors;
{user}
worker_processes 1;
events {{ worker_connections 1024; }}
http {{
  log_format line '$request_method $uri $status $body_bytes_sent $server_protocol '
    '"$http_range" "$http_if_range" "$http_authorization"';
  access_log syslog:server=unix:{log},nohostname line;
  client_body_temp_path {directory}/temporary;
  proxy_temp_path {directory}/temporary;
  fastcgi_temp_path {directory}/temporary;
  uwsgi_temp_path {directory}/temporary;
  scgi_temp_path {directory}/temporary;
  types {{ text/plain txt; application/octet-stream bin; }}
  sendfile on;
  keepalive_requests 100000;
  server {{
    listen 127.0.0.1:{port};
    listen 127.0.0.2:{other_port};
    listen 127.0.0.1:{tls_port} ssl http2;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    client_max_body_size 0;
    absolute_redirect off;
    root {directory};
    location /norange/ {{ alias {directory}/files/; max_ranges 0; }}
    location /noetag/ {{ alias {directory}/files/; etag off; }}
    location /slow/ {{ alias {directory}/files/; limit_rate 200k; }}
    location /gzip/ {{ alias {directory}/files/; gzip on; gzip_types text/plain application/octet-stream; }}
    location /r301/ {{ rewrite ^/r301/(.*)$ /files/$1 permanent; }}
    location /r302/ {{ rewrite ^/r302/(.*)$ http://127.0.0.2:{other_port}/files/$1 redirect; }}
    location /plain/ {{ rewrite ^/plain/(.*)$ http://127.0.0.1:{port}/files/$1 redirect; }}
    location /loop {{ return 302 /loop; }}
    location /s503 {{ add_header Retry-After 3 always; return 503; }}
    location /s429 {{ add_header Retry-After "{date}" always; return 429; }}
    location /s404 {{ return 404; }}
    location /s403 {{ return 403; }}
    location /auth/ {{ alias {directory}/files/; auth_basic files; auth_basic_user_file {directory}/users; }}
    location /uploads/ {{ dav_methods PUT DELETE; create_full_put_path on; }}
  }}
}}
"""


class Request:
    """A line of the log."""

    def __init__(self, line):
        words = line[line.index(": ") + 2 :].split('"')
        self.method, self.path, status, sent, self.protocol = words[0].split()
        self.status = int(status)
        self.sent = int(sent)
        self.range, self.if_range, self.authorization = (
            None if word == "-" else word for word in (words[1], words[3], words[5])
        )


class Nginx(WebServer):
    def __init__(self, directory, certificates, is_root):
        directory.mkdir()
        self.port, self.other_port, self.tls_port = free_port(), free_port("127.0.0.2"), free_port()
        # nginx sends each finished request as a datagram, so that a test can wait for it.
        self.log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.log.bind(str(directory / "log"))
        (directory / "log").chmod(0o666)
        (directory / "users").write_text("ann:{PLAIN}secret\n")
        (directory / "nginx.conf").write_text(
            CONFIGURATION.format(
                directory=directory,
                log=directory / "log",
                user="user root;" if is_root else "",
                port=self.port,
                other_port=self.other_port,
                tls_port=self.tls_port,
                certificate=certificates.certificate,
                key=certificates.key,
                date=email.utils.formatdate(time.time() + 3600, usegmt=True),
            )
        )
        super().__init__(directory, ["nginx", "-p", directory, "-c", directory / "nginx.conf"])

    def url(self, path, user=""):
        return f"http://{user}127.0.0.1:{self.port}/{path}"

    def other_url(self, path):
        """The same as from another origin."""
        return f"http://127.0.0.2:{self.other_port}/{path}"

    def tls_url(self, path):
        return f"https://127.0.0.1:{self.tls_port}/{path}"

    def request(self, within=15):
        """Waits for the next finished request."""
        self.log.settimeout(within)
        return Request(self.log.recv(65536).decode())

    def requests(self):
        """The finished requests that no test has taken yet."""
        found = []
        self.log.setblocking(False)
        try:
            while True:
                found.append(Request(self.log.recv(65536).decode()))
        except BlockingIOError:
            return found

    def close(self):
        super().close()
        self.log.close()
