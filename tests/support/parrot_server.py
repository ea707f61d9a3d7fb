"""A server that repeats the last question; some questions make it misbehave. Standard library only."""
import http.server
import json
import threading
import time


def chunk(text, reason=None):
    return {"model": "parrot", "choices": [{"index": 0, "delta": {"content": text},
                                            "finish_reason": reason}]}


USAGE = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3,
                                  "prompt_tokens_details": {"cached_tokens": 4}}}

# As hosted servers tell it, with details that we do not read: 3,000 of 3,200 tokens from the cache.
HOSTED = {"prompt_tokens": 3200, "completion_tokens": 300, "total_tokens": 3500,
          "prompt_tokens_details": {"cached_tokens": 3000, "audio_tokens": 0},
          "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0}}

PAINT = "a\u009b2J\x1b[1mb"  # would clear the screen and write in bold, if a terminal saw it


class Parrot(http.server.BaseHTTPRequestHandler):
    """What was asked of it stays in the lists."""

    bodies = []
    requests = []
    keys = []
    prefix_keys = []
    slow = threading.Event()
    n_context = None  # what GET /v1/models tells

    def log_message(self, *_):
        pass

    def event(self, data):
        text = data if isinstance(data, str) else json.dumps(data)
        self.wfile.write(f"data: {text}\n\n".encode())
        self.wfile.flush()

    def refuse(self, status, message):
        body = json.dumps({"error": {"message": message, "type": "x", "param": None, "code": None}})
        self.reply(status, body.encode())

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        models = {"object": "list", "data": [{"id": "parrot", "object": "model", "max_model_len": Parrot.n_context}]}
        self.reply(200, json.dumps(models).encode())

    def do_POST(self):
        try:
            self.answer()
        except ConnectionError:
            pass  # the client left: some checks are about that

    def answer(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = json.loads(body)
        Parrot.bodies.append(body)
        Parrot.requests.append(request)
        Parrot.keys.append(self.headers.get("Authorization"))
        Parrot.prefix_keys.append(self.headers.get("X-Prefix-Key"))
        question = request["messages"][-1]["content"]
        usage = {**USAGE, "usage": HOSTED} if question.startswith("hosted") else USAGE
        if question == "busy":
            return self.refuse(429, "too many parrots")
        if not request["stream"]:
            message = {"role": "assistant", "content": question}
            answer = {"model": "parrot", "usage": USAGE["usage"],
                      "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            return self.reply(200, json.dumps(answer).encode())
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for letter in PAINT if question == "paint" else question:
            self.event(chunk(letter))
            time.sleep(0.002)
        if question == "cut":
            return
        if question == "slow":
            Parrot.slow.set()
            time.sleep(20)
        self.event(chunk("", "stop"))
        if not question.startswith("no usage"):
            self.event(usage)
        self.event("[DONE]")


def start():
    """The base URL of a parrot that listens until the program ends."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Parrot)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"
