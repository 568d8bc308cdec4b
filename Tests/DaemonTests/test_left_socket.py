"""A socket that only a child of a killed daemon still holds does not keep the next daemon from starting."""

import os
import socket
import sys
import subprocess

LEAVES = """
import os, socket, sys, time
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
if os.fork():
    os._exit(0)
os.close(1)
time.sleep(1000)
"""


def test_a_socket_whose_listener_was_killed_is_replaced(daemon):
    daemon.app("exit 100")
    holder = subprocess.Popen([sys.executable, "-c", LEAVES, daemon.socket], stdout=subprocess.PIPE, start_new_session=True)
    try:
        # The end of the file: the listener has ended, and its child goes on.
        assert holder.stdout.read() == b""
        holder.wait(timeout=60)
        daemon.start()
        assert daemon.status()["apps"] == 1
    finally:
        os.killpg(holder.pid, 9)
        holder.stdout.close()


def test_a_socket_on_which_another_listens_is_left_alone(daemon):
    daemon.app("exit 100")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(daemon.socket))
        listener.listen()
        code, text = daemon.refuse()
        assert code == 75 and "another process listens there" in text
