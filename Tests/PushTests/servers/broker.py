"""Debian's mosquitto on two ports, plain and TLS, both with a password. Sessions and their messages survive a restart,
and the log has every packet."""

import pathlib
import subprocess
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[2] / "DaemonTests"))

from program import Program  # noqa: E402

from .ports import free_port  # noqa: E402

USER, PASSWORD = "bridge", "hunter2"
CONFIGURATION = """
user root
listener {port} 127.0.0.1
listener {tls_port} 127.0.0.1
certfile {certificate}
keyfile {key}
allow_anonymous false
password_file {directory}/passwords
persistence true
persistence_location {directory}/
max_queued_messages 0
log_type all
log_dest stderr
"""


class Broker(Program):
    def __init__(self, directory, certificates, more=""):
        """`more` are further lines of mosquitto.conf(5); options of a listener apply to the TLS listener."""
        directory.mkdir()
        self.port, self.tls_port = free_port(), free_port()
        self.certificates = certificates
        self.configuration = directory / "mosquitto.conf"
        self.configuration.write_text(
            CONFIGURATION.format(
                port=self.port,
                tls_port=self.tls_port,
                certificate=certificates.certificate,
                key=certificates.key,
                directory=directory,
            )
            + more
        )
        passwords = ["mosquitto_passwd", "-b", "-c", directory / "passwords", USER, PASSWORD]
        subprocess.run(passwords, check=True, capture_output=True, timeout=30)
        super().__init__(directory / "notify")

    @property
    def command(self):
        return ["mosquitto", "-c", self.configuration]

    def wait_for_bridge(self, times=1):
        """Waits until the bridge has connected this number of times in all."""
        self.wait_for_output(" as refreshd-", times)

    def wait_for_acknowledgement(self, times=1):
        """Waits until the bridge has acknowledged so many messages in all; one that ends before gets them once more."""
        self.wait_for_output("Received PUBACK from refreshd-", times)

    def source(self, **keys):
        """The table [[mqtt]] of push.toml for the port with TLS; also writes the file of the password."""
        credential = self.configuration.parent / "credential"
        credential.write_text(f"{USER}:{PASSWORD}\n")
        credential.chmod(0o600)
        return {
            "name": "broker",
            "host": "127.0.0.1",
            "port": self.tls_port,
            "ca_file": str(self.certificates.authority),
            "credential_file": str(credential),
            "topic": "test/{app}",
            **keys,
        }

    def publish(self, topic, *payloads, options=()):
        """Sends messages to a topic in order, and returns when the broker has them."""
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-u", USER, "-P", PASSWORD]
        many = ["-l"] if len(payloads) > 1 else ["-s"]
        subprocess.run(
            ["mosquitto_pub", *where, "-q", "1", "-t", topic, *many, *options],
            input="\n".join(payloads).encode(), check=True, capture_output=True, timeout=60,
        )  # fmt: skip
