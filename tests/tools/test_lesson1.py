#!/usr/bin/env python3
"""What the lesson of level 1 reckons without a server: its size, its invoices, its picture, its stream."""
import io
import sys
import unittest
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from lesson import bot, chart, money, picture, plan, png, record, talk  # noqa: E402
from lesson.server import LessonError  # noqa: E402


class Money(unittest.TestCase):
    def setUp(self):
        self.price, self.rule = money.read_price("deepseek-r1"), money.read_rule("DeepSeek")

    def test_the_running_example_costs_what_was_published(self):
        self.assertEqual(money.ideal(self.price), (Decimal("2.417"), Decimal("1.187")))
        self.assertEqual(money.saved(*money.ideal(self.price)), "50.9 %")

    def test_a_rule_credits_whole_steps_and_nothing_below_its_minimum(self):
        self.assertEqual([money.credited(self.rule, n) for n in (0, 63, 64, 127, 128, 3000)], [0, 0, 64, 64, 128, 2944])
        long = money.Rule("x", 1024, 128)
        self.assertEqual([money.credited(long, n) for n in (1023, 1024, 1151, 1152)], [0, 1024, 1024, 1152])

    def test_the_first_of_a_thousand_is_cold(self):
        before, after = money.by_rule(self.price, self.rule)
        self.assertEqual(before, Decimal("2.417"))
        self.assertEqual(after, Decimal("1.21116704"))  # 258,944 of input, 2,941,056 cached, 300,000 of output

    def test_cached_tokens_are_billed_once_and_few_requests_stand_for_a_thousand(self):
        usages = [money.Usage(1000, 0, 0), money.Usage(1000, 1000, 0)]
        self.assertEqual(money.per_thousand(usages, self.price), Decimal("0.345"))


class Size(unittest.TestCase):
    def plan(self, prefill, seconds=120, n_context=8192):
        return plan.make_plan(plan.Speed(prefill, prefill / 4), seconds, n_context, 300, 16)

    def test_a_fast_server_plays_everything_and_a_slow_one_the_least(self):
        self.assertEqual(self.plan(10000), (20, 3000, True))
        self.assertEqual(self.plan(1), (3, 400, False))

    def test_more_speed_never_makes_the_block_shorter_and_what_fits_stays_in_its_share(self):
        plans = [(speed, self.plan(speed)) for speed in range(20, 1000, 7)]
        blocks = [chosen.n_block for _, chosen in plans]
        self.assertEqual(blocks, sorted(blocks))
        for speed, chosen in plans:
            took = plan.play_seconds(plan.Speed(speed, speed / 4), chosen.n_questions, chosen.n_block, 300, 16)
            self.assertEqual(chosen.fits, took <= 60, f"{speed} tokens/s: {chosen}, {took} s")

    def test_a_short_context_makes_the_block_shorter(self):
        self.assertLessEqual(self.plan(10000, n_context=2048).n_block + 300 + 16 + plan.BLOCK_STEP, 2048)

    def test_what_is_left_out_is_named_and_not_what_the_play_has_measured(self):
        self.assertEqual(plan.left_out_lines(400), "Left out, for want of time or of room in the context: "
                         "prompts of 400, 800, 1,500\nand 3,000 tokens.")
        self.assertTrue(plan.left_out_lines(3000).endswith(": a prompt of 3,000 tokens."))


class Texts(unittest.TestCase):
    def test_a_block_ends_with_the_line_that_fills_it(self):
        block = "one two\nthree\nfour five six\n"
        cuts = [bot.cut_block(block, n, lambda line: len(line.split())) for n in (1, 2, 3, 4, 99)]
        self.assertEqual(cuts, ["one two\n", "one two\n", "one two\nthree\n", block, block])

    def test_words_stay_whole(self):
        self.assertEqual([bot.cut_words("ab cd ef", share) for share in (-1, 0.1, 0.5, 0.9, 1)],
                         ["ab", "ab", "ab cd", "ab cd ef", "ab cd ef"])

    def test_both_orders_hold_the_same_and_the_time_goes_on_a_line_of_its_own(self):
        for order, first in ((bot.time_first, 0), (bot.block_first, 1)):
            messages = order("B\n", "Q")
            self.assertRegex(messages[first]["content"], r"^Now: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\n[BQ]")
            self.assertEqual("".join(m["content"] for m in messages).count("Now: "), 1)


class Picture(unittest.TestCase):
    def test_every_point_stands_in_eighty_columns(self):
        for points in ([(1, 0.001)], [(100, 0.5), (3000, 21.0)], [(n, n * n / 7) for n in range(100, 3001, 290)]):
            lines = picture.draw(points, "seconds", "tokens")
            self.assertLessEqual(max(map(len, lines)), 80)
            self.assertGreaterEqual("".join(lines).count("*"), min(2, len(points)))

    def test_the_axis_ends_at_a_round_number(self):
        self.assertEqual([round(picture.nice_above(v), 6) for v in (0.03, 0.5, 1, 2.1, 70)], [0.05, 0.5, 1, 5, 100])


class Plot(unittest.TestCase):
    CURVE = [{"prompt_tokens": n, "ttft_ms": t} for n, t in ((91, 364), (749, 5077), (3003, 37608))]

    def test_ticks_are_round_and_reach_the_highest(self):
        self.assertEqual(chart.ticks(37.6), [0, 10, 20, 30, 40])
        self.assertEqual(chart.ticks(3003), [0, 1000, 2000, 3000, 4000])
        self.assertEqual(chart.ticks(500), [0, 100, 200, 300, 400, 500])

    def test_each_letter_of_its_words_has_a_shape(self):
        font = png.read_font()
        self.assertEqual([c for c in "seconds to the first token of prompt 0123456789." if c != " " and c not in font], [])

    def test_each_point_is_a_square_and_the_file_says_so_again(self):
        canvas = chart.draw(self.CURVE)
        n_dots = sum(canvas.pixels[i:i + 3] == chart.CURVE for i in range(0, len(canvas.pixels), 3))
        self.assertGreaterEqual(n_dots, 3 * chart.DOT ** 2)
        self.assertTrue(png.shows(png.encoded(canvas), canvas))

    def test_another_curve_is_another_picture(self):
        canvas, moved = chart.draw(self.CURVE), chart.draw([*self.CURVE, {"prompt_tokens": 1394, "ttft_ms": 11681}])
        self.assertFalse(png.shows(png.encoded(moved), canvas))

    def test_what_is_no_picture_shows_nothing(self):
        canvas = chart.draw(self.CURVE)
        whole = png.encoded(canvas)
        for data in (b"", b"GIF89a", whole[:-1000], whole[:30]):
            self.assertFalse(png.shows(data, canvas))

    def test_what_lies_outside_is_left_out(self):
        canvas = png.Canvas(3, 2)
        canvas.fill(-1, -1, 2, 2, b"\0\0\0")
        self.assertEqual(bytes(canvas.pixels), b"\0\0\0" + b"\xff" * 15)


class Record(unittest.TestCase):
    TURNS = [talk.Turn(1000, 0, 10, 6.0, 8.0), talk.Turn(1000, 900, 10, 1.0, 2.0)]

    def test_the_largest_of_few_is_their_p99(self):
        self.assertEqual([record.p99(range(1, n + 1)) for n in (1, 5, 99, 100, 200)], [1, 5, 99, 99, 198])

    def test_the_row_has_the_cold_question_in_it(self):
        row = record.order("x", self.TURNS, money.Price("m", Decimal(1), Decimal("0.1"), Decimal(2)))
        # 1,100 of input at 1, 900 cached at 0.1, 20 of output at 2: 1,230 of 10^-6 dollars for two
        self.assertEqual(row, {"name": "x", "n_questions": 2, "usd_per_1000": "0.615", "ttft_p99_ms": 6000,
                               "requests_per_s": 0.2})

    def test_a_curve_goes_from_short_to_long(self):
        self.assertEqual([p["prompt_tokens"] for p in record.curve([(830, 5.9), (91, 0.3)])], [91, 830])

    def test_what_is_printed_is_kept_and_passed_on(self):
        out = io.StringIO()
        copy = record.Copy(out)
        print("a", "b", file=copy, flush=True)
        print(file=copy)
        self.assertEqual((out.getvalue(), copy.lines), ("a b\n\n", ["a b"]))


class Stream(unittest.TestCase):
    def test_comments_and_empty_lines_are_passed_over(self):
        lines = [b": awake\n", b"\n", b'data: {"a": 1}\n', b"\n", b"data: [DONE]\n", b"data: rest\n"]
        self.assertEqual(list(talk.chunks_of(lines)), [{"a": 1}])

    def test_a_stream_that_is_cut_is_no_measurement(self):
        with self.assertRaises(LessonError):
            list(talk.chunks_of([b'data: {"a": 1}\n']))


if __name__ == "__main__":
    unittest.main()
