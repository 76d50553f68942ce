"""Reads a page of metrics."""
import collections
import re

SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def samples(page):
    """(name, labels) -> value, labels as a frozenset of pairs."""
    found = {}
    for line in page.splitlines():
        if match := SAMPLE.match(line):
            found[match[1], frozenset(LABEL.findall(match[2] or ""))] = float(match[3])
    return found


def by_label(page, name, label, **where):
    """The sums of `name` over all labels but one, for the samples with the labels `where`."""
    sums = collections.Counter()
    for (sample, labels), value in samples(page).items():
        if sample == name and labels.issuperset(where.items()):
            sums[dict(labels).get(label)] += value
    return sums


def grown(before, after, name, label, **where):
    """What was counted between two pages, without zeros."""
    counts = by_label(after, name, label, **where)
    counts.subtract(by_label(before, name, label, **where))
    return {key: count for key, count in counts.items() if count}
