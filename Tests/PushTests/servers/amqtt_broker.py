"""amqtt from PyPI: a broker of MQTT 3.1.1 in Python. It does not answer a CONNECT of MQTT 5, and keeps the connection."""

import pathlib
import socket
import subprocess
import sys
import time

from waiting import Bound

from .ports import free_port

PROGRAM = """
import asyncio, logging, sys
from amqtt.broker import Broker

logging.disable(logging.CRITICAL)
CONFIGURATION = {
    "listeners": {"default": {"type": "tcp", "bind": "127.0.0.1:" + sys.argv[1]}},
    "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
}

async def main():
    broker = Broker(CONFIGURATION)
    await broker.start()
    await asyncio.Event().wait()

asyncio.run(main())
"""


class AmqttBroker:
    def __init__(self):
        self.port = free_port()
        self.process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(self.port)], cwd=pathlib.Path("/"))
        bound = Bound()
        while not self.answers():
            assert bound.left and self.process.poll() is None, "amqtt does not listen"
            time.sleep(0.05)

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def source(self, **keys):
        """The table [[mqtt]] of push.toml."""
        return {"name": "broker", "host": "127.0.0.1", "port": self.port, "tls": False, "topic": "test/{app}", **keys}

    def publish(self, topic, payload):
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-V", "mqttv311"]
        subprocess.run(
            ["mosquitto_pub", *where, "-q", "1", "-t", topic, "-m", payload], check=True, capture_output=True, timeout=60
        )

    def close(self):
        self.process.kill()
        self.process.wait()
