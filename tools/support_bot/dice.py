"""Numbers that are drawn, the same for the same seed on every version of Python: of its generator only
random() is promised to stay as it is."""
import random


class Dice:
    def __init__(self, seed):
        self.next = random.Random(seed).random  # 0 <= next() < 1

    def whole(self, low, high):
        """low to high, both included."""
        return low + int(self.next() * (high - low + 1))

    def pick(self, things):
        return things[self.whole(0, len(things) - 1)]

    def chance(self, share):
        return self.next() < share

    def shuffled(self, things):
        return [thing for _, _, thing in sorted((self.next(), i, thing) for i, thing in enumerate(things))]
