"""What became of the requests in each phase, and whether the lesson's promises held. Pure."""
import dataclasses


@dataclasses.dataclass
class Phase:
    name: str
    began_s: float
    ended_s: float
    n_by_door: int = 0  # tries that HAProxy repeated by itself, unseen by the client

    def has(self, moment):
        return self.began_s <= moment < self.ended_s


@dataclasses.dataclass
class Kill:
    replica: str
    at_s: float
    n_open: int  # on it, as HAProxy counted just before


@dataclasses.dataclass
class Row:
    name: str
    sent: int
    finished: int
    again: int  # sent again by the client
    by_door: int
    lost: int


def broken(requests):
    """(request, try) for each try that did not bring a whole answer."""
    return [(r, t) for r in requests for t in r.tries if t.error]


def row_of(phase, requests):
    """A request is sent in the phase of its first try, and finished or lost in that of its last one's end."""
    over = [r for r in requests if phase.has(r.tries[-1].ended_s)]
    return Row(phase.name, sum(phase.has(r.tries[0].began_s) for r in requests), sum(r.is_finished for r in over),
               sum(phase.has(t.began_s) for r in requests for t in r.tries[1:]), phase.n_by_door,
               sum(not r.is_finished for r in over))


def total_of(rows):
    sums = [sum(getattr(row, field) for row in rows) for field in ("sent", "finished", "again", "by_door", "lost")]
    return Row("all", *sums)


def lines_of(rows):
    lines = [f"{'phase':<12}{'sent':>8}{'finished':>10}{'sent again':>12}{'by the door':>13}{'lost':>8}"]
    return lines + [f"{r.name:<12}{r.sent:>8}{r.finished:>10}{r.again:>12}{r.by_door:>13}{r.lost:>8}" for r in rows]


def is_by_kill(this, kill):
    """It was being answered there when the replica was killed."""
    return this.replica == kill.replica and this.began_s <= kill.at_s <= this.ended_s


def judge(requests, total, kills, rollout, after, new_model):
    """(whether it held, sentence) for each promise. rollout and after: phases."""
    wrong = broken(requests)
    in_rollout = [t for _, t in wrong if rollout.has(t.ended_s) or after.has(t.ended_s)]
    outside = [t for _, t in wrong if not any(is_by_kill(t, kill) for kill in kills)]
    too_many = [kill for kill in kills if sum(is_by_kill(t, kill) for _, t in wrong) > kill.n_open]
    given_up = [r for r in requests if r.may_repeat and not r.is_finished]
    mute = [t for _, t in wrong if "broke off; " not in t.error]
    late_old = [t for r in requests for t in r.tries if after.has(t.began_s) and t.model != new_model and not t.error]
    rows_add_up = total.sent == total.finished + total.lost == len(requests)
    return [
        (rows_add_up, f"count: {total.sent} sent = {total.finished} finished + {total.lost} lost"),
        (not in_rollout, f"roll-out: {len(in_rollout)} answers broke off"),
        (not outside and not too_many,
         f"crash: {len(wrong)} answers broke off, {len(outside)} of them not in flight on the dead replica"),
        (not mute, f"crash: {len(wrong) - len(mute)} of {len(wrong)} clients were told that the answer is not whole"),
        (not given_up, f"repeat: {len(given_up)} requests of clients that may repeat got no answer"),
        (any(is_by_kill(t, kill) for _, t in wrong for kill in kills),
         f"proof: the {len(kills)} crashes broke off an answer, so that the counts above mean something"),
        (not late_old, f"version: {len(late_old)} answers of the old one after the roll-out"),
    ]
