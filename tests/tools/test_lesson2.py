#!/usr/bin/env python3
"""What the lesson of level 2 counts and judges, without a server; and what its clients make of a stream that breaks."""
import socket
import sys
import threading
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from fleet import count, load  # noqa: E402
from fleet.count import Kill, Phase  # noqa: E402
from fleet.load import Request, Try  # noqa: E402

CALM, CRASH, ROLLOUT, AFTER = (Phase(n, i * 10, i * 10 + 10) for i, n in enumerate(("calm", "crash", "roll-out", "after")))
BROKE = "the stream broke off; 3 of at most 9 pieces had come (no [DONE])"


def whole(began_s, ended_s, model="old", replica="b"):
    return Try(began_s, ended_s, replica, model, 9)


def broke(began_s, ended_s, replica="a", error=BROKE):
    return Try(began_s, ended_s, replica, "old", 3, error)


class Counts(unittest.TestCase):
    def test_a_request_is_sent_in_one_phase_and_ends_in_another(self):
        requests = [Request("1", True, [whole(9, 11)]), Request("2", False, [broke(9.5, 15)]),
                    Request("3", True, [broke(12, 15), whole(15.1, 21)])]
        rows = [count.row_of(phase, requests) for phase in (CALM, CRASH, ROLLOUT)]
        self.assertEqual([(r.sent, r.finished, r.again, r.lost) for r in rows], [(2, 0, 0, 0), (1, 1, 1, 1), (0, 1, 0, 0)])
        total = count.total_of(rows)
        self.assertEqual((total.sent, total.finished, total.again, total.lost), (3, 2, 1, 1))

    def test_what_the_door_repeated_is_added_up(self):
        rows = [count.row_of(Phase("x", 0, 1, n), []) for n in (2, 3)]
        self.assertEqual(count.total_of(rows).by_door, 5)
        self.assertEqual({len(line) for line in count.lines_of(rows)}, {63})


class Judgement(unittest.TestCase):
    KILLS = [Kill("a", 15, 2)]

    def wrong(self, *requests, kills=None):
        """The promises that did not hold, by their first words."""
        requests = [Request("0", False, [broke(14, 15.1)]), *requests]
        total = count.total_of([count.row_of(p, requests) for p in (CALM, CRASH, ROLLOUT, AFTER)])
        verdicts = count.judge(requests, total, kills or self.KILLS, ROLLOUT, AFTER, "new")
        return [sentence.split(":")[0] for holds, sentence in verdicts if not holds]

    def test_a_crash_that_breaks_what_was_in_flight_keeps_all_promises(self):
        self.assertEqual(self.wrong(Request("1", True, [broke(14, 15.2), whole(15.3, 16)]),
                                    Request("2", False, [whole(13, 16)]), Request("3", False, [whole(31, 32, "new")])), [])

    def test_each_broken_promise_is_seen(self):
        for promise, request in (
                ("roll-out", Request("1", False, [broke(14, 25)])),
                ("crash", Request("1", False, [broke(14, 15.2, replica="b")])),
                ("crash", Request("1", False, [broke(15.5, 16)])),
                ("crash", Request("1", False, [broke(11, 12)])),
                ("crash", Request("1", False, [broke(14, 15.2, error="refused with 503: ")])),
                ("repeat", Request("1", True, [broke(14, 15.2)])),
                ("version", Request("1", True, [whole(31, 32, "old")])),
                ("count", Request("1", True, [whole(39, 41)]))):
            self.assertIn(promise, self.wrong(request), str(request))

    def test_no_more_break_than_were_open(self):
        both = [Request(n, False, [broke(14, 15.2)]) for n in "12"]
        self.assertEqual(self.wrong(both[0]), [])
        self.assertEqual(self.wrong(*both), ["crash"])

    def test_a_crash_that_hit_nobody_proves_nothing(self):
        self.assertIn("proof", self.wrong(kills=[Kill("b", 16, 3)]))


HEAD = b"HTTP/1.1 200 OK\r\nX-Replica: a\r\nTransfer-Encoding: chunked\r\n\r\n"
HELLO = b'data: {"model": "m", "choices": [{"delta": {"role": "assistant", "content": ""}}]}\n\n'
EVENT = b'data: {"model": "m", "choices": [{"delta": {"content": "x"}}]}\n\n'
DONE = b"data: [DONE]\n\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


class Clients(unittest.TestCase):
    """Against a server that sends these bytes and closes."""

    def ask(self, *answers, may_repeat=False):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def play():
                for answer in answers:
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(answer)
            thread = threading.Thread(target=play)
            thread.start()
            client = load.Client("client", server.getsockname()[1], "key", 2, may_repeat)
            client.is_told.wait = lambda _: bool(client.requests)  # one request
            client.run()
            thread.join()
        return client.requests[0]

    def test_a_whole_answer(self):
        request = self.ask(HEAD + chunk(HELLO + EVENT) + chunk(b": ping\n\n" + EVENT) + chunk(DONE) + b"0\r\n\r\n")
        this = request.tries[0]
        self.assertEqual((this.error, this.n_pieces, this.replica, this.model), ("", 2, "a", "m"))

    def test_each_way_to_break_off_is_an_error(self):
        for answer, says in ((HEAD + chunk(EVENT), "broke off; 1 of at most 2"), (HEAD, "broke off; 0 of at most 2"),
                             (HEAD + chunk(EVENT) + b"0\r\n\r\n", "broke off; 1 of at most 2 pieces had come (no [DONE])"),
                             (HEAD + chunk(b'data: {"error": {"message": "no"}}\n\n') + b"0\r\n\r\n", "the server says: no"),
                             (HEAD + chunk(b"data: {\n"), "broke off; 0 of"), (b"", "no answer"),
                             (b"HTTP/1.1 503 X\r\nContent-Length: 4\r\n\r\nlate", "refused with 503: late")):
            request = self.ask(answer)
            self.assertEqual(len(request.tries), 1)
            self.assertIn(says, request.tries[0].error)
            self.assertFalse(request.is_finished)

    def test_who_may_repeat_does(self):
        good = HEAD + chunk(EVENT) + chunk(DONE) + b"0\r\n\r\n"
        request = self.ask(HEAD + chunk(EVENT), b"", good, may_repeat=True)
        self.assertEqual([bool(this.error) for this in request.tries], [True, True, False])
        self.assertTrue(request.is_finished)

    def test_but_not_for_ever(self):
        self.assertEqual(len(self.ask(*[b""] * load.MAX_TRIES, may_repeat=True).tries), load.MAX_TRIES)


if __name__ == "__main__":
    unittest.main()
