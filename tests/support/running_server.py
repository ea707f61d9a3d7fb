"""A running serve for the reference checks, and requests to it. Standard library only."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

PATIENCE_S = 120  # for anything that should come in the end

# These checks talk to this machine alone, also where the way out leads through a proxy.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1,localhost"


class Server:
    """A running serve. What it says on standard error is kept in lines."""

    def __init__(self, args, *options, port=0, ready=True):
        command = [str(Path(args.bin) / "serve"), "--model", str(args.model), "--port", str(port)]
        self.process = subprocess.Popen(command + list(options), stderr=subprocess.PIPE, text=True,
                                        stdin=subprocess.DEVNULL)
        self.lines, self.port = [], port
        self.is_ready = threading.Event()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if ready:
            self.is_ready.wait(PATIENCE_S)
            assert self.port, "not ready: " + "".join(self.lines)

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line)
            found = re.match(r"ready: http://127\.0\.0\.1:(\d+)$", line)
            if found:
                self.port = int(found.group(1))
                self.is_ready.set()
        self.is_ready.set()

    def stop(self, how=signal.SIGTERM):
        """The exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.wait()

    def wait(self):
        try:
            status = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self.reader.join(PATIENCE_S)
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    # -- requests --

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)

    def ask(self, method, path, body=None, headers=None):
        """Status, headers and body; JSON is decoded."""
        connection = self.connect()
        try:
            if isinstance(body, (dict, list)):
                body = json.dumps(body)
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            text = reply.read()
            is_json = reply.headers.get("Content-Type") == "application/json"
            return reply.status, reply.headers, json.loads(text) if is_json else text
        finally:
            connection.close()

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, body):
        return self.ask("POST", path, body)

    def complete(self, prompt="Once upon a time", **fields):
        """The body of a completion that must succeed."""
        fields = {"model": "default", "prompt": prompt, "max_tokens": 8, "temperature": 0, **fields}
        status, _, body = self.post("/v1/completions", fields)
        assert status == 200, (status, body)
        return body

    def refuse(self, status, path="/v1/completions", **fields):
        """The error of a request that must be refused."""
        got, _, body = self.post(path, {"model": "default", "prompt": "x", **fields})
        assert got == status, (fields, got, body)
        assert set(body["error"]) == {"message", "type", "param", "code"}, body
        return body["error"]

    def stream(self, path="/v1/completions", **fields):
        """The raw bytes of a stream and its decoded events."""
        fields = {"model": "default", "prompt": "Once upon a time", "max_tokens": 8,
                  "temperature": 0, "stream": True, **fields}
        if "messages" in fields:
            del fields["prompt"]
        status, headers, raw = self.post(path, fields)
        assert status == 200, (status, raw)
        assert headers["Content-Type"] == "text/event-stream", headers
        return raw, decode_events(raw)

    def start(self, fields):
        """Sends a completion and does not wait: the socket."""
        body = json.dumps({"model": "default", "prompt": "Once upon a time", "temperature": 0,
                           "ignore_eos": True, **fields}).encode()
        s = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        s.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
                  % (len(body), body))
        return s

    def inside(self):
        """Sequences running and waiting in the engine."""
        _, _, health = self.get("/health")
        return health["running"], health["waiting"]

    def resident_kib(self, field="VmRSS"):
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{field}:\s+(\d+)", text).group(1))

    def cpu_s(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def decode_events(raw):
    """Every event is `data: ` and one line, then an empty line; comments may stand between."""
    events = []
    assert raw.endswith(b"data: [DONE]\n\n"), raw[-200:]
    for block in raw.decode("utf-8").split("\n\n")[:-1]:
        if block.startswith(":"):
            continue
        assert block.startswith("data: ") and "\n" not in block, block
        assert not block.startswith("data: data:"), block
        events.append(block[len("data: "):])
    assert events[-1] == "[DONE]"
    return [json.loads(e) for e in events[:-1]]
