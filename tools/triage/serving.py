"""Scenes of a server in trouble, or in none, for the tickets of level 2. Each is played to a serve of its own and
prints what serve itself says: lines of its log, of /metrics, of /health."""
import http.client
import json
import os
import re
import signal
import threading
import time

from lesson import bot
from lesson.server import LessonError

PATIENCE_S = 60
LOOK_S = 0.02      # between two looks at a number that is waited for
N_CLERKS = 8       # who ask in the same moment
N_WAITING = 3      # of them may wait: serve's --queue
N_FIRST = 24       # tokens of the first answer: all others come while it is made
N_CLERK = 4        # of theirs
N_CHAT = 20        # tokens at most of an answer of the shop's bot
STUCK_AFTER = 5    # steps of the engine: in the middle of an answer
STUCK_S = 2        # two looks so far apart
LETTER, SHORT = 600, 100  # of letters: bytes
SHOWN = ("status", "prompt", "cached", "output", "queue_ms", "ms", "finish")
QUESTION = "Name three colors."
CLERK = "Write a polite reply to a customer who asks for his invoice."


def exchange(port, path, body=None):
    """Status and text of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request("POST" if body else "GET", path, body and json.dumps(body))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def body_of(messages, max_tokens):
    return {"model": "default", "messages": messages, "max_tokens": max_tokens, "temperature": 0}


def chat(port, text, max_tokens):
    return exchange(port, "/v1/chat/completions", body_of([{"role": "user", "content": text}], max_tokens))


# ---- what serve says -----------------------------------------------------------------------------

def samples(port):
    """{name with labels: number} of /metrics, the model's name taken out."""
    lines = exchange(port, "/metrics")[1].splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
    return {re.sub(r'model_name="[^"]*",?', "", name).replace("{}", ""): float(value) for name, value in pairs}


def wait_for(port, name, is_there):
    """Looks at a sample until it is as wanted."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if is_there(samples(port)[name]):
            return
        time.sleep(LOOK_S)
    raise LessonError(f"{name} did not become what the scene waits for")


def request_lines(log, n_lines):
    """The next lines of the log that end a request, with the fields that a ticket is about."""
    shown = []
    while len(shown) < n_lines:
        line = log.readline()
        if not line:
            raise LessonError("serve ended before the scene did")
        if 'msg="request" ' in line and 'path="/v1/' in line:
            fields = dict(field.split("=", 1) for field in line.split() if "=" in field)
            shown.append(" ".join(f"{name}={fields[name]}" for name in SHOWN))
    return shown


def show_samples(port, names):
    known = samples(port)
    for name in names:
        print(f"{name} {known[name]:.12g}")


# ---- the scenes ----------------------------------------------------------------------------------

def clerks(port):
    """Eight ask in the same moment, one behind the other; whom the full queue refused comes back when there is
    room."""
    inside = []
    for i in range(N_CLERKS):
        asker = threading.Thread(target=chat, args=(port, CLERK, N_CLERK if i else N_FIRST))
        asker.start()
        if i <= N_WAITING:
            inside.append(asker)
            wait_for(port, "ladder_requests_inside", lambda n, wanted=i + 1: n >= wanted)
        else:
            asker.join()
    for asker in inside:
        asker.join()
    for _ in range(N_CLERKS - len(inside)):
        chat(port, CLERK, N_CLERK)


def tell_morning(server):
    clerks(server.port)
    print("\n".join(request_lines(server.log, 2 * N_CLERKS - N_WAITING - 1)))


def tell_after_morning(server):
    clerks(server.port)
    show_samples(server.port, ('vllm:request_success_total{finished_reason="length"}',
                               'vllm:request_success_total{finished_reason="abort"}',
                               'ladder_requests_refused_total{status="429",code="queue_full"}',
                               "ladder_clients_gone_total", "vllm:num_requests_waiting"))


def ask_a_stuck_one(port):
    """A question that is never answered, once the engine has taken its last step."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request("POST", "/v1/chat/completions",
                       json.dumps(body_of([{"role": "user", "content": QUESTION}], N_CHAT)))
    wait_for(port, "vllm:iteration_tokens_total_count", lambda n: n >= STUCK_AFTER)
    return connection


def stuck(tell):
    """Such a server obeys no SIGTERM."""
    def play(server):
        connection = ask_a_stuck_one(server.port)
        tell(server.port)
        connection.close()
        os.kill(server.pid, signal.SIGKILL)
    return play


def tell_lights(port):
    for path in ("/v1/models", "/ready", "/health"):
        print(f"GET {path:<11} {exchange(port, path)[0]}")


def tell_heartbeat(port):
    names = ("vllm:num_requests_running", "vllm:iteration_tokens_total_count")
    show_samples(port, names)
    time.sleep(STUCK_S)
    print(f"... {STUCK_S} s later")
    show_samples(port, names)


def tell_answer(server):
    answer = json.loads(chat(server.port, QUESTION, N_CHAT)[1])
    print(f"asked   {QUESTION}")
    for i, line in enumerate(answer["choices"][0]["message"]["content"].splitlines()):
        print(f"{'' if i else 'answer':<7} {line}")
    print("log     " + request_lines(server.log, 1)[0])


def resident(port):
    return f"about {samples(port)['process_resident_memory_bytes'] / 1e6:.0f} MB"


def tell_words(server):
    """What the model is given: the question and all that the template puts around it."""
    messages = [{"role": "user", "content": QUESTION}]
    prompt = json.loads(exchange(server.port, "/apply-template", {"messages": messages})[1])["prompt"]
    print(prompt)


def tell_memory(server):
    """Short letters, a long one, short ones again."""
    letter = bot.cut_block(bot.read_block(), LETTER, len)
    print(f"at the start                {resident(server.port)}")
    for what, text in (("a short letter", letter[:SHORT]), ("a long one", letter),
                       ("the long one again", letter), ("a short one", letter[:SHORT]), ("another", letter[:SHORT])):
        chat(server.port, text, 8)
        print(f"{what:<27} {resident(server.port)}")


def tell_cache(server):
    chat(server.port, bot.cut_block(bot.read_block(), LETTER, len), 8)
    show_samples(server.port, ("ladder_kv_cache_bytes", "vllm:kv_cache_usage_perc"))


TALKATIVE = ("--log-level", "info")
MORNING = ("--queue", str(N_WAITING), *TALKATIVE)
OTHER_WORDS = ("--chat-template", "llama3")
STUCK = ("--inject", f"step-hang:{STUCK_AFTER}")
SCENES = {  # name: options of serve, what is played
    "morning": (MORNING, tell_morning), "after-morning": (MORNING, tell_after_morning),
    "lights": (STUCK, stuck(tell_lights)), "heartbeat": (STUCK, stuck(tell_heartbeat)),
    "old-machine": (TALKATIVE, tell_answer), "new-machine": ((*TALKATIVE, *OTHER_WORDS), tell_answer),
    "old-words": ((), tell_words), "new-words": (OTHER_WORDS, tell_words),
    "memory": ((), tell_memory), "cache": ((), tell_cache),
}
