"""How much of the lesson fits into the time, from what the server was measured to do."""
import collections
import textwrap

COLUMNS = 80  # of what is said
MIN_QUESTIONS, MAX_QUESTIONS, GOOD_QUESTIONS = 3, 20, 5
MIN_BLOCK, MAX_BLOCK, BLOCK_STEP = 400, 3000, 100
LENGTHS = (100, 200, 400, 800, 1500, 3000)
PLAY_SHARE, WAIT_SHARE = 0.5, 0.1  # of the time; the rest is for the curve
SLOWER = 1.3  # a long prompt takes more for each token, and others use the machine, too

Speed = collections.namedtuple("Speed", "prefill decode")  # tokens per second
Plan = collections.namedtuple("Plan", "n_questions n_block fits")


def play_seconds(speed, n_questions, n_block, n_question, n_answer):
    """Both orders: the first computes everything each time, the second the block only once."""
    prompts = (n_questions + 1) * n_block + 2 * n_questions * n_question
    return SLOWER * (prompts / speed.prefill + 2 * n_questions * n_answer / speed.decode)


def longest_block(n_context, n_question, n_answer):
    """What a context holds of it; a block ends with a line, and so up to a step later."""
    return n_context - n_question - n_answer - BLOCK_STEP


def make_plan(speed, seconds, n_context, n_question, n_answer):
    """The longest block that leaves time for a good number of questions, and then as many as fit."""
    def fits(n_questions, n_block):
        return play_seconds(speed, n_questions, n_block, n_question, n_answer) <= PLAY_SHARE * seconds

    longest = min(MAX_BLOCK, longest_block(n_context, n_question, n_answer))
    blocks = [n for n in range(MIN_BLOCK, longest + 1, BLOCK_STEP) if fits(GOOD_QUESTIONS, n)]
    n_block = max(blocks, default=MIN_BLOCK)
    questions = [n for n in range(MIN_QUESTIONS, MAX_QUESTIONS + 1) if fits(n, n_block)]
    return Plan(max(questions, default=MIN_QUESTIONS), n_block, bool(questions))


def answer_length(speed, seconds):
    """Tokens of one of two answers that fill the time for waiting."""
    return max(16, min(300, int(WAIT_SHARE * seconds * speed.decode / 2)))


def has_time(length, longest, seconds_left):
    """longest: tokens and seconds of the longest prompt so far. The shortest lengths always have time."""
    return length <= LENGTHS[1] or SLOWER * length * longest[1] / longest[0] <= seconds_left


def left_out_lines(shortest):
    """Of the curve. By their lengths: longer prompts than the shortest of them may have been played before it."""
    *names, last = [f"{n:,}" for n in LENGTHS if n >= shortest]
    prompts = f"prompts of {', '.join(names)} and {last}" if names else f"a prompt of {last}"
    return textwrap.fill(f"Left out, for want of time or of room in the context: {prompts} tokens.", COLUMNS)
