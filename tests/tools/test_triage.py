#!/usr/bin/env python3
"""The tickets are complete, answers are understood or refused in a sentence, and every verdict says why."""
import itertools
import json
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from ladder.catalog import Misused, Refused  # noqa: E402
from ladder.progress import Progress  # noqa: E402
from triage import answers, evidence, paper, score, tickets  # noqa: E402

N_TICKETS = 6  # a level
N_SIMPLE = 4   # of these, to be answered by doing nothing or by a smaller model
AMOUNT = re.compile(r"\$\d[\d,]*(?:\.\d+)?|\d[\d,.]*(?= %)")


def right_answer(ticket):
    return answers.Answer(*(ticket.key.right[question][0] for question in tickets.QUESTIONS))


def texts_of(ticket):
    key = ticket.key
    return [ticket.symptom, key.shows, *(cost.says for cost in key.costs.values()),
            *(text for table in key.why_not.values() for text in table.values())]


class Tickets(unittest.TestCase):
    def test_each_level_has_its_six_numbered_from_one(self):
        self.assertEqual(tickets.levels()[0], 1)
        for level in tickets.levels():
            _, known = tickets.read_tickets(level)
            self.assertEqual([ticket.number for ticket in known], list(range(1, N_TICKETS + 1)))

    def test_most_are_best_left_alone_or_given_to_a_smaller_model(self):
        for level in tickets.levels():
            best = [ticket.key.right["lever"][0] for ticket in tickets.read_tickets(level)[1]]
            self.assertGreaterEqual(sum(lever in ("nothing", "smaller-model") for lever in best), N_SIMPLE, best)

    def test_doing_nothing_is_level_0_and_lever_nothing_together(self):
        for level in tickets.levels():
            for ticket in tickets.read_tickets(level)[1]:
                is_nothing = ticket.key.right["lever"] == ["nothing"]
                self.assertEqual(ticket.key.level == tickets.NOTHING, is_nothing, ticket.name)

    def test_each_amount_in_the_words_stands_in_an_output(self):
        for level in tickets.levels():
            for ticket in tickets.read_tickets(level)[1]:
                printed = "\n".join(line for run in evidence.runs_of(ticket) for line in run.output)
                for text in texts_of(ticket):
                    for amount in AMOUNT.findall(text):
                        alone = rf"(?<![\d.,]){re.escape(amount)}(?!\d|[.,]\d)"
                        self.assertRegex(printed, alone, f"{ticket.name}: {text}")

    def test_the_menu_fits_a_terminal(self):
        for level in tickets.levels():
            self.assertEqual([line for line in paper.menu_lines(tickets.read_menu(level)) if len(line) > 80], [])

    def test_evidence_does_not_name_what_is_asked(self):
        for level in tickets.levels():
            for ticket in tickets.read_tickets(level)[1]:
                shown = "\n".join(paper.ticket_lines(ticket, N_TICKETS))
                self.assertNotIn(ticket.key.shows[:40], shown)
                for lever in ticket.key.right["lever"]:
                    self.assertNotIn(lever.replace("-", " ") if "-" in lever else f"lever {lever}", shown)


class Broken(unittest.TestCase):
    """Every piece that is taken out of a ticket is missed, by name."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        shutil.copytree(tickets.FOLDER, self.folder, dirs_exist_ok=True)

    def change(self, name, edit):
        path = self.folder / "level1" / "1" / name
        before = path.read_text()
        document = json.loads(before)
        edit(document)
        path.write_text(json.dumps(document))
        try:
            tickets.read_tickets(1, self.folder)
        finally:
            path.write_text(before)

    def refused(self, why, name, edit):
        with self.assertRaisesRegex(Refused, why):
            self.change(name, edit)

    def test_each_field_is_wanted_and_no_other(self):
        for name, fields in (("ticket.json", tickets.TICKET_FIELDS), ("key.json", tickets.KEY_FIELDS)):
            for field in fields:
                self.refused(field, name, lambda document, field=field: document.pop(field))
                self.refused(field, name, lambda document, field=field: document.update({field: None}))
            self.refused("colour", name, lambda document: document.update(colour="red"))
        self.refused("title is empty", "ticket.json", lambda document: document.update(title=""))
        self.refused("evidence is empty", "ticket.json", lambda document: document.update(evidence=[]))
        self.refused("output", "ticket.json", lambda document: document["evidence"][0].pop("output"))
        self.refused("needs", "ticket.json", lambda document: document["evidence"][0].update(needs="luck"))

    def test_each_wrong_answer_is_explained_once_and_no_right_one(self):
        wrong = json.loads((self.folder / "level1/1/key.json").read_text())["wrong"]
        for question in tickets.QUESTIONS:
            for names in wrong[question]:
                self.refused(f"no word for {question} {names.split()[0]}", "key.json",
                             lambda key, q=question, names=names: key["wrong"][q].pop(names))
        self.refused("stream is empty", "key.json", lambda key: key["wrong"]["lever"].update(stream=""))
        self.refused("order is right", "key.json", lambda key: key["wrong"]["lever"].update(order="x"))
        self.refused("twice", "key.json", lambda key: key["wrong"]["level"].update({"4": key["wrong"]["level"]["0"]}))
        self.refused("not in the menu", "key.json", lambda key: key.update(lever=["prayer"]))

    def test_each_file_says_how_it_was_made(self):
        self.refused("made names", "key.json", lambda key: key["made"].pop())
        (self.folder / "level1/2/more.jsonl").write_text("{}\n")
        with self.assertRaisesRegex(Refused, "more.jsonl"):
            tickets.read_tickets(1, self.folder)

    def test_what_is_no_json_or_not_there_is_one_sentence(self):
        path = self.folder / "level1/1/key.json"
        path.write_text("{")
        self.assertRaisesRegex(Refused, "no JSON", tickets.read_tickets, 1, self.folder)
        path.unlink()
        self.assertRaisesRegex(Refused, "No such file", tickets.read_tickets, 1, self.folder)

    def test_another_level_is_a_folder_and_its_choices_come_with_it(self):
        shutil.copytree(self.folder / "level2", self.folder / "level3")
        path = self.folder / "menu.json"
        menu = json.loads(path.read_text())
        menu["lever"].append({"name": "batch", "from": 3, "what": "many rows a step"})
        path.write_text(json.dumps(menu))
        for level in (1, 2):
            self.assertEqual(len(tickets.read_tickets(level, self.folder)[1]), N_TICKETS)
        self.assertRaisesRegex(Refused, "no word for lever batch", tickets.read_tickets, 3, self.folder)
        for key in self.folder.glob("level3/*/key.json"):
            document = json.loads(key.read_text())
            document["wrong"]["lever"]["batch"] = "Nobody waits."
            key.write_text(json.dumps(document))
        menu, known = tickets.read_tickets(3, self.folder)
        self.assertEqual([known[0].name, menu.names("lever")[-1]], ["3.1", "batch"])
        self.assertRaisesRegex(Misused, "LEVEL=4.*1, 2, 3", tickets.read_tickets, 4, self.folder)


class Answers(unittest.TestCase):
    def setUp(self):
        self.menu, self.known = tickets.read_tickets(1)

    def test_names_numbers_beginnings_and_commas_mean_the_same(self):
        want = answers.Answer("1", "ttft", "order")
        for text in ("1 ttft order", " 1,ttft,  ORDER ", "1 tt or", "1 5 2", "1, 5, ord"):
            self.assertEqual(answers.parse(self.menu, text), want, text)

    def test_what_is_no_answer_is_refused_with_what_there_is(self):
        for text, why in (("", "0 words"), ("1", "1 word:"), ("1 ttft order please", "4 words"),
                          ("5 ttft order", "0, 1, 2"), ("1 tea order", "break-even"), ("1 ttft 9", "faster-kernels"),
                          ("1 ttft 0", "faster-kernels"),
                          ("-1 ttft order", "no level"), ("1 ttft \x1b[31m", r"\\x1b"), ("1 ttft ²", "no lever"),
                          ("x" * 300, "300 letters")):
            with self.assertRaisesRegex(Misused, why, msg=text):
                answers.parse(self.menu, text)

    def test_a_beginning_that_two_share_is_refused(self):
        self.assertRaises(Misused, answers.choice_of, self.menu, "lever", "s")
        self.assertEqual(answers.choice_of(self.menu, "lever", "sm"), "smaller-model")


class Verdicts(unittest.TestCase):
    def setUp(self):
        _, self.known = tickets.read_tickets(1)
        self.all = [(menu, ticket) for menu, known in map(tickets.read_tickets, tickets.levels()) for ticket in known]

    def test_each_answer_to_each_ticket_gets_one_and_no_word_of_ours_is_too_long(self):
        for menu, ticket in self.all:
            outputs = {f"  {line}".rstrip() for run in evidence.runs_of(ticket) for line in run.output}
            for words in itertools.product(*(menu.names(question) for question in tickets.QUESTIONS)):
                lines = "\n".join(paper.verdict_lines(ticket, answers.Answer(*words))).splitlines()
                self.assertIn("What the evidence shows", lines)
                long = [line for line in lines if len(line) > 80 and line not in outputs and "  $ " not in line]
                self.assertEqual(long, [])

    def test_a_right_answer_is_called_so_and_told_what_another_level_had_cost(self):
        for _, ticket in self.all:
            lines = paper.verdict_lines(ticket, right_answer(ticket))
            self.assertEqual(lines[0], f"ticket {ticket.number}: 3 of 3 right")
            self.assertEqual(sum(line.endswith(" right") for line in lines[1:4]), 3)
            self.assertTrue(any(re.match(r"What .* would have cost$", line) for line in lines), lines)

    def test_a_wrong_one_is_told_why_and_what_it_costs(self):
        ticket = self.known[0]
        text = " ".join(" ".join(paper.verdict_lines(ticket, answers.Answer("2", "ttft", "stream"))).split())
        self.assertIn("0 of 3 right", text)
        self.assertIn("level 2 no: 1", text)
        self.assertIn("What level 2 would cost here", text)
        for said in (ticket.key.why_not["measurement"]["ttft"], ticket.key.why_not["lever"]["stream"],
                     ticket.key.costs[2].says, ticket.key.shows):
            self.assertIn(" ".join(said.split()), text)


class Score(unittest.TestCase):
    def test_the_best_result_of_a_ticket_stays(self):
        with tempfile.TemporaryDirectory() as place:
            progress, ticket = Progress(Path(place)), tickets.read_tickets(1)[1][2]
            self.assertEqual(score.read(progress), {})
            for n_right, best in ((1, 1), (3, 3), (0, 3)):
                self.assertEqual(score.keep(ticket, n_right, progress), {"1.3": best})
            progress.write(score.FILE, "1.3 9\nx\n1.2 two\n\n1.1 2\n")
            self.assertEqual(score.read(progress), {"1.3": 3, "1.1": 2})

    def test_the_sum_counts_solved_tickets_and_right_answers(self):
        known = tickets.read_tickets(1)[1]
        self.assertEqual(paper.sum_line(1, known, {"1.1": 3, "1.2": 2, "2.1": 3}),
                         "level 1: 1 of 6 tickets solved, 5 of 18 answers right")


class Evidence(unittest.TestCase):
    def test_only_times_and_speeds_may_differ(self):
        for want, got in (("after 2,669 ms, 17.6 tokens/s", "after 31 ms, 9 tokens/s "),
                          ("status=200 queue_ms=0.1 ms=61.4 finish=stop", "status=200 queue_ms=3 ms=7 finish=stop"),
                          ("about 131 MB", "about 99 MB")):
            self.assertIsNone(evidence.first_difference([want], [got]), want)
        for got in (["96 tokens, 3 ms", "x"], ["97 tokens, 2 ms"], [], ["96 tokens, 2 s"], ["97 tokens, 2 ms about"]):
            self.assertIsNotNone(evidence.first_difference(["96 tokens, 2 ms"], got), got)

    def test_a_command_that_fails_says_so(self):
        self.assertEqual(evidence.printed("echo a; echo b >&2; exit 3", ROOT), ["a", "b", "(status 3)"])

    def test_programs_and_model_may_lie_elsewhere_and_nothing_runs_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            place = evidence.Place(Path(folder), "/b in", "m", True)
            self.assertEqual(place.here("build/bin/bill | cat"), "'/b in'/bill | cat")
            self.assertEqual(place.here("tools/triage_scenes.py whole"),
                             "tools/triage_scenes.py --bin '/b in' --model m whole")
            self.assertEqual([place.printed("echo x >>f; cat f") for _ in range(2)], [["x"], ["x"]])


if __name__ == "__main__":
    unittest.main()
