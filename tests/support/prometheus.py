"""Reads the text format of Prometheus, version 0.0.4, and is strict about it. Standard library only.

Written from the format's description (prometheus.io/docs/instrumenting/exposition_formats), not from serve.
"""
import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)$")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
TYPES = ("counter", "gauge", "histogram", "summary", "untyped")
PARTS = ("_bucket", "_sum", "_count")


class Page:
    """types: family -> type. samples: (name, frozenset of label pairs) -> value."""

    def __init__(self, text):
        assert text.endswith("\n"), "the last line must end"
        self.types, self.samples, self.helped = {}, {}, set()
        open_family = None
        for line in text.splitlines():
            if line.startswith("# HELP "):
                name = line.split(" ", 3)[2]
                assert name not in self.helped, f"two HELP lines: {name}"
                self.helped.add(name)
            elif line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                assert re.fullmatch(NAME, name) and kind in TYPES, line
                assert name not in self.types, f"a family in two pieces: {name}"
                self.types[name] = kind
                open_family = name
            elif line and not line.startswith("#"):
                self.take(line, open_family)
        self.check_histograms()

    def take(self, line, open_family):
        match = SAMPLE.match(line)
        assert match, f"no sample: {line!r}"
        name, inside, value = match.groups()
        assert family_of(name, self.types) == open_family, f"{name} stands in {open_family}"
        labels = labels_of(inside or "")
        key = (name, frozenset(labels.items()))
        assert len(dict(labels)) == len(labels) and key not in self.samples, f"twice: {line!r}"
        self.samples[key] = float(value.replace("Inf", "inf"))

    def check_histograms(self):
        """Buckets rise, the last is +Inf and equals the count, and there is a sum."""
        for name, kind in self.types.items():
            if kind == "counter":
                assert name.endswith("_total"), name
                assert all(v >= 0 for (n, _), v in self.samples.items() if n == name), name
            if kind != "histogram":
                continue
            series = {}
            for (sample, labels), value in self.samples.items():
                if sample == name + "_bucket":
                    rest = dict(labels)
                    bound = float(rest.pop("le").replace("Inf", "inf"))
                    series.setdefault(frozenset(rest.items()), []).append((bound, value))
            for labels, buckets in series.items():
                assert buckets == sorted(buckets), f"{name}: bounds out of order"
                counts = [count for _, count in buckets]
                assert counts == sorted(counts), f"{name}: counts fall: {counts}"
                assert math.isinf(buckets[-1][0]), f"{name}: no +Inf"
                assert counts[-1] == self.samples[(name + "_count", labels)], name
                assert (name + "_sum", labels) in self.samples, name

    def get(self, name, **labels):
        """The one sample whose labels include these."""
        found = [v for (n, have), v in self.samples.items()
                 if n == name and labels.items() <= dict(have).items()]
        assert len(found) == 1, f"{name} {labels}: {len(found)} samples"
        return found[0]

    def sum(self, name):
        return sum(v for (n, _), v in self.samples.items() if n == name)


def family_of(name, types):
    for part in PARTS:
        if name.endswith(part) and types.get(name[:-len(part)]) == "histogram":
            return name[:-len(part)]
    return name


def labels_of(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match and match.group(1) not in labels, f"labels: {text!r}"
        labels[match.group(1)] = match.group(2)
        at = match.end()
    return labels
