"""Clients that keep streams going through the front door, and what became of each request. Standard library only."""
import dataclasses
import http.client
import json
import threading
import time

from lesson.talk import brings_text

PATIENCE_S = 60  # of a client, between two pieces
MAX_TRIES = 5
PAUSE_S = 0.1    # before a client sends it again


@dataclasses.dataclass
class Try:
    """One way through the door. error "": the answer is whole."""
    began_s: float
    ended_s: float = 0
    replica: str = ""  # whose answer began; "": none did
    model: str = ""
    n_pieces: int = 0
    error: str = ""


@dataclasses.dataclass
class Request:
    client: str
    may_repeat: bool
    tries: list

    @property
    def is_finished(self):
        return not self.tries[-1].error


class Client(threading.Thread):
    """Sends one request after the other, each with the same key. may_repeat: a request that broke off is sent again; that
    is the client's own decision, since nobody else knows whether it does harm."""

    def __init__(self, name, port, key, n_tokens, may_repeat, pause_s=0):
        super().__init__(daemon=True)
        self.name, self.port, self.may_repeat, self.pause_s = name, port, may_repeat, pause_s
        self.headers = {"Content-Type": "application/json", "X-Prefix-Key": key}
        self.body = json.dumps({"model": "default", "messages": [{"role": "user", "content": f"I am {name}. Tell me more."}],
                                "max_tokens": n_tokens, "min_tokens": n_tokens, "ignore_eos": True, "temperature": 0,
                                "stream": True})
        self.n_tokens, self.is_told = n_tokens, threading.Event()
        self.now, self.tries, self.requests = None, [], []  # the tries of a request that goes on stand here, too

    def run(self):
        while not self.is_told.wait(self.pause_s):
            request = Request(self.name, self.may_repeat, [])
            while self.is_worth_a_try(request):
                self.now = Try(time.monotonic())
                self.now.error = self.ask(self.now)
                self.now.ended_s = time.monotonic()
                request.tries.append(self.now)
                self.tries.append(self.now)
                self.now = None
            self.requests.append(request)

    @staticmethod
    def is_worth_a_try(request):
        n = len(request.tries)
        if n == 0:
            return True
        if request.is_finished or not request.may_repeat or n == MAX_TRIES:
            return False
        time.sleep(PAUSE_S)
        return True

    def ask(self, this):
        """What went wrong, in one sentence; "": nothing."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request("POST", "/v1/chat/completions", self.body, self.headers)
            answer = connection.getresponse()
            if answer.status != 200:
                return f"refused with {answer.status}: {answer.read(300).decode(errors='replace')}"
            this.replica = answer.headers.get("X-Replica", "?")
            return self.read(answer, this)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if not this.replica:
                return f"no answer: {error or type(error).__name__}"
            return self.broke_off(this, type(error).__name__)
        finally:
            connection.close()

    def read(self, answer, this):
        """A stream that ends in peace and without [DONE] is broken, too."""
        for line in answer:
            if line == b"data: [DONE]\n":
                return ""
            if not line.startswith(b"data: "):
                continue  # a comment, or the empty line behind an event
            event = json.loads(line[len(b"data: "):])
            if "error" in event:
                return f"the server says: {event['error']['message']}"
            this.model = event["model"]
            this.n_pieces += brings_text(event)
        return self.broke_off(this, "no [DONE]")

    def broke_off(self, this, why):
        """A piece of text is a token, or some of which the first end inside a letter."""
        return f"the stream broke off; {this.n_pieces} of at most {self.n_tokens} pieces had come ({why})"

    def is_amid(self, replica):
        """An answer of this replica has begun, and is far from its end."""
        this = self.now
        return this is not None and this.replica == replica and 1 <= this.n_pieces < self.n_tokens / 3

    def tell_to_end(self):
        self.is_told.set()


def replica_of_key(port, key):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request("GET", "/v1/models", headers={"X-Prefix-Key": key})
        answer = connection.getresponse()
        answer.read()
        return answer.headers["X-Replica"]
    finally:
        connection.close()


def keys_of(port, names, n_each):
    """replica -> as many keys that the door leads there."""
    found = {name: [] for name in names}
    for i in range(1000):
        found[replica_of_key(port, f"customer-{i}")].append(f"customer-{i}")
        if all(len(keys) >= n_each for keys in found.values()):
            return {name: keys[:n_each] for name, keys in found.items()}
    raise ValueError(f"no {n_each} keys for each of {names}")
