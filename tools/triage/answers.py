"""What a learner typed, made into an answer or into one sentence that says what is wrong with it."""
from dataclasses import dataclass

from ladder.board import clip, printable
from ladder.catalog import Misused
from triage.tickets import QUESTIONS

MAX_LETTERS = 200  # of an answer; three words are far below
EXAMPLE = 'as in ANSWER="1 ttft order"'


@dataclass(frozen=True)
class Answer:
    level: str
    measurement: str
    lever: str

    def to(self, question):
        return getattr(self, question)


def choice_of(menu, question, word):
    """The name in the menu that a word means: itself, its number in the list, or a beginning of it alone. Levels
    are numbers themselves."""
    names, typed = menu.names(question), word.lower()
    if typed in names:
        return typed
    if question != "level" and typed.isdecimal() and 1 <= int(typed) <= len(names):
        return names[int(typed) - 1]
    begun = [name for name in names if typed and name.startswith(typed)]
    if len(begun) == 1:
        return begun[0]
    raise Misused(f"no {question} is called '{clip(printable(word), 40)}'; there are {', '.join(names)}")


def parse(menu, text):
    """Three words: level, first measurement, lever."""
    if len(text) > MAX_LETTERS:
        raise Misused(f"an answer of {len(text)} letters: three words are wanted, {EXAMPLE}")
    words = text.replace(",", " ").split()
    if len(words) != len(QUESTIONS):
        count = f"{len(words)} word" + ("" if len(words) == 1 else "s")
        raise Misused(f"'{clip(printable(text.strip()), 40)}' is {count}: three are wanted, level, first measurement "
                      f"and lever, {EXAMPLE}")
    return Answer(*(choice_of(menu, question, word) for question, word in zip(QUESTIONS, words)))
