#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A strict reader of the Prometheus text format 0.0.4, for documents without comments.

exposition.py FILE [--names]: prints every line's series and value as `series<TAB>value`, or with --names the
families in their order; exits 1 and says where at the first line that is not as the format wants it: names,
labels in quotes with the three escapes and no other, one blank, a decimal number, LF; each family's lines
together; no series twice; no comment at all, as sFlow-RT sends none.
"""
import re
import sys

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?[0-9]+(?:\.[0-9]+)?)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,(?!$)|$)')


def labels(text, where):
    """{name: value} of what stands between the braces."""
    found, at = {}, 0
    while at < len(text):
        m = LABEL.match(text, at)
        if not m or m.group(1) in found:
            raise SystemExit("%s: labels: %s" % (where, text))
        found[m.group(1)] = m.group(2)
        at = m.end()
    if not found:
        raise SystemExit("%s: empty braces" % where)
    return found


def read(data, name="text"):
    """[(family, labels, value)] in the document's order."""
    if data and not data.endswith(b"\n"):
        raise SystemExit("%s: the last line has no end" % name)
    text, out, seen, families = data.decode("utf-8"), [], set(), []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        where = "%s:%d" % (name, number)
        m = SAMPLE.fullmatch(line)
        if not m:
            raise SystemExit("%s: not a sample: %s" % (where, line))
        family, inside, value = m.groups()
        found = labels(inside, where) if inside is not None else {}
        if not families or families[-1] != family:
            if family in families:
                raise SystemExit("%s: %s is in two places" % (where, family))
            families.append(family)
        key = (family, tuple(sorted(found.items())))
        if key in seen:
            raise SystemExit("%s: twice: %s" % (where, line))
        seen.add(key)
        out.append((family, found, float(value)))
    return out


def main():
    with open(sys.argv[1], "rb") as f:
        samples = read(f.read(), sys.argv[1])
    if "--names" in sys.argv[2:]:
        for name in dict.fromkeys(s[0] for s in samples):
            print(name)
        return
    for name, found, value in samples:
        print("%s{%s}\t%r" % (name, ",".join('%s="%s"' % p for p in found.items()), value))


if __name__ == "__main__":
    main()
