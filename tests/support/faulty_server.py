"""A server on the loopback that fails as it is told: which fault a request meets stands in its path.

    /busy/v1/chat/completions      meets the fault "busy"

A fault is a list of answers; the n-th request gets the n-th one, later requests get the last. An answer
is a list of steps: bytes to send, seconds to wait, RESET or SILENCE. Standard library only.
"""
import socket
import ssl
import struct
import threading
import time

RESET = "reset"      # the connection is torn down: what the client sends or reads next fails
SILENCE = "silence"  # nothing more comes, and the connection stays


class FaultyServer:
    """Plays faults until stop(). With a certificate (cert and key in one file) it speaks TLS."""

    def __init__(self, faults, certificate=None):
        self.faults = faults
        self.times = {name: [] for name in faults}  # when each request was read, in seconds
        self.tls = None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(certificate)
        self.is_over = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, fault):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/{fault}/v1"

    def stop(self):
        self.is_over.set()
        self.listener.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return  # stop() closed the listener
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
            fault = read_request(connection).split("/")[1]
            self.times[fault].append(time.monotonic())
            answers = self.faults[fault]
            answer = answers[min(len(self.times[fault]), len(answers)) - 1]
            for step in answer() if callable(answer) else answer:
                self.play(connection, step)
        except OSError:
            pass  # the client left, or did not like the certificate
        finally:
            connection.close()

    def play(self, connection, step):
        if isinstance(step, bytes):
            connection.sendall(step)
        elif step == SILENCE:
            self.is_over.wait()
        elif step == RESET:  # closing with unsent data and no patience sends RST
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            time.sleep(step)


def read_request(connection):
    """The path of a request, once all of it is there."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += received(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    while len(body) < int(headers.get("Content-Length", 0)):
        body += received(connection)
    return head.decode().split(" ")[1]


def received(connection):
    data = connection.recv(65536)
    if not data:
        raise ConnectionError("the client left in the middle of its request")
    return data
