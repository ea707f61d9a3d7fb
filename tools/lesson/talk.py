"""One request to the server and what a watch says of it. The stream is read by hand, line by line."""
import collections
import http.client
import json
import time

from lesson.server import LessonError

PATIENCE_S = 600

# Tokens as the server reports them, times in seconds from sending on. first_s is None for a whole answer.
Turn = collections.namedtuple("Turn", "prompt cached output first_s last_s")


def send(port, path, body=None):
    """An open connection and its answer, status 200. With a body it is a POST."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request("POST" if body else "GET", path, body and json.dumps(body))
        answer = connection.getresponse()
        if answer.status != 200:
            message = json.loads(answer.read())["error"]["message"]
            raise LessonError(f"serve answers {answer.status}: {message}")
        return connection, answer
    except BaseException:
        connection.close()
        raise


def fetch(port, path, body=None):
    connection, answer = send(port, path, body)
    try:
        return json.loads(answer.read())
    finally:
        connection.close()


def n_tokens(port, text):
    return len(fetch(port, "/tokenize", {"content": text})["tokens"])


def n_context(port):
    return fetch(port, "/v1/models")["data"][0]["max_model_len"]


def chunks_of(lines):
    """The objects of an event stream, up to [DONE]. Each event of serve is one line; comments keep it awake."""
    for line in lines:
        if line.startswith(b"data: "):
            data = line[len(b"data: "):].strip()
            if data == b"[DONE]":
                return
            yield json.loads(data)
    raise LessonError("the stream ended without [DONE]")


def brings_text(chunk):
    return any(choice["delta"].get("content") for choice in chunk["choices"])


def streamed(port, body):
    begin, first, last, usage = time.monotonic(), None, None, None
    connection, answer = send(port, "/v1/chat/completions",
                              {**body, "stream": True, "stream_options": {"include_usage": True}})
    try:
        for chunk in chunks_of(answer):
            if brings_text(chunk):
                last = time.monotonic() - begin
                first = first or last
            usage = chunk.get("usage") or usage
    finally:
        connection.close()
    if first is None or usage is None:
        raise LessonError("the server's answer has no text or no usage")
    return turn_of(usage, first, last)


def whole(port, body):
    begin = time.monotonic()
    answer = fetch(port, "/v1/chat/completions", body)
    return turn_of(answer["usage"], None, time.monotonic() - begin)


def turn_of(usage, first_s, last_s):
    return Turn(usage["prompt_tokens"], usage["prompt_tokens_details"]["cached_tokens"], usage["completion_tokens"],
                first_s, last_s)


def ask(port, messages, max_tokens, min_tokens=2, is_streamed=True):
    """The answer's end is drawn like any token, and has no text: an answer that begins with it would have no TTFT."""
    body = {"model": "default", "messages": messages, "max_tokens": max_tokens, "min_tokens": min_tokens,
            "temperature": 0}
    return streamed(port, body) if is_streamed else whole(port, body)
