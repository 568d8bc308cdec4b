"""nginx with nchan: event streams of channels, plain and with TLS.

/publish/NAME    POST        /events/NAME    an event stream with ids; /private/NAME the same for ann:secret
/none            204         /moved/NAME     to /events/NAME
"""

import urllib.request

from .ports import free_port
from .web import WebServer

CONFIGURATION = """
load_module /usr/lib/nginx/modules/ngx_nchan_module.so;
pid {directory}/pid;
error_log {directory}/errors;
{user}
worker_processes 1;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {directory}/temporary;
  proxy_temp_path {directory}/temporary;
  fastcgi_temp_path {directory}/temporary;
  uwsgi_temp_path {directory}/temporary;
  scgi_temp_path {directory}/temporary;
  nchan_message_buffer_length 10000;
  nchan_message_timeout 1h;
  server {{
    listen 127.0.0.1:{port};
    listen 127.0.0.1:{tls_port} ssl;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    location ~ ^/publish/(?<name>\\w+)$ {{ nchan_publisher; nchan_channel_id $name; }}
    location ~ ^/events/(?<name>\\w+)$ {{
      nchan_subscriber eventsource;
      nchan_subscriber_first_message newest;
      nchan_channel_id $name;
    }}
    location ~ ^/private/(?<name>\\w+)$ {{
      auth_basic events;
      auth_basic_user_file {directory}/users;
      nchan_subscriber eventsource;
      nchan_subscriber_first_message newest;
      nchan_channel_id $name;
    }}
    location /none {{ return 204; }}
    location /moved/ {{ rewrite ^/moved/(.*)$ /events/$1 redirect; }}
  }}
}}
"""


class Nchan(WebServer):
    def __init__(self, directory, certificates, is_root):
        directory.mkdir()
        self.port, self.tls_port = free_port(), free_port()
        (directory / "users").write_text("ann:{PLAIN}secret\n")
        (directory / "nginx.conf").write_text(
            CONFIGURATION.format(
                directory=directory,
                user="user root;" if is_root else "",
                port=self.port,
                tls_port=self.tls_port,
                certificate=certificates.certificate,
                key=certificates.key,
            )
        )
        self.certificates = certificates
        self.start_command = ["nginx", "-p", directory, "-c", directory / "nginx.conf"]
        super().__init__(directory, self.start_command)

    def restart(self):
        """The channels' messages are in memory, so a restart loses them."""
        self.close()
        self.run(self.start_command)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"

    def tls_url(self, path):
        return f"https://127.0.0.1:{self.tls_port}/{path}"

    def publish(self, channel, payload):
        request = urllib.request.Request(self.url(f"publish/{channel}"), data=payload.encode(), method="POST")
        urllib.request.urlopen(request, timeout=15).close()
