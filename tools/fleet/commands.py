#!/usr/bin/env python3
"""What rollout runs in the lesson, in place of `systemctl restart`: it asks the lesson, whose children the replicas
are, to put a version in place of $REPLICA.

    REPLICA=a tools/fleet/commands.py SOCKET VERSION
"""
import os
import socket
import sys
import threading


def ask(path, text):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(text.encode())
        s.shutdown(socket.SHUT_WR)
        return s.recv(1000).decode() or "the lesson has ended"


class Commands:
    """The other end: each connection brings one "NAME VERSION" and hears "done", or what went wrong."""

    def __init__(self, path, replace):
        self.replace = replace
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return  # closed
            with connection:
                words = connection.recv(1000).decode().split()
                try:
                    self.replace(*words)
                    answer = "done"
                except Exception as error:  # whatever it is, rollout must hear of it
                    answer = str(error) or type(error).__name__
                try:
                    connection.sendall(answer.encode())
                except OSError:
                    pass  # nobody waits any more

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


if __name__ == "__main__":
    said = ask(sys.argv[1], f"{os.environ['REPLICA']} {sys.argv[2]}")
    if said != "done":
        sys.exit(said)
