#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares what `xdp-sflow replay --json` and `xdp-sflow status --json` print. Prints every difference;
exit 1 when there is one.

compare_totals.py golden NAME ACTUAL.json   with the row of tests/golden/expected.tsv, and with
                                            tests/golden/expected/NAME.json: the keys it has, null = absent
compare_totals.py same A.json B.json        every count of totals, agents, interfaces and other sources
"""
import csv
import json
import os
import sys

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
LISTS = {"agents": ("agent", "sub_agent"), "interfaces": ("agent", "sub_agent", "ifindex"),
         "sources": ("agent", "sub_agent", "class", "index")}
# How long ago something was: two runs differ there and nowhere else.
TIMES = {"last_seen_seconds_ago", "counters_seconds_ago"}


def load(path):
    def once(pairs):
        keys = [k for k, _ in pairs]
        assert len(keys) == len(set(keys)), "a key twice in %s: %s" % (path, keys)
        return dict(pairs)

    with open(path, encoding="utf-8") as f:
        return json.load(f, object_pairs_hook=once)


def pairs(text, convert=str):
    """"4:1,6:2" as a dict."""
    if text == "-":
        return {}
    return {convert(k): int(v) for k, v in (x.split(":") for x in text.split(","))}


def row(name):
    """The row of expected.tsv as the JSON it asks for."""
    with open(os.path.join(GOLDEN, "expected.tsv"), encoding="utf-8") as f:
        rows = [r for r in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE) if r["pcap"] == name]
    assert len(rows) == 1, "%d rows for %s in expected.tsv" % (len(rows), name)
    r = rows[0]
    want = {k: int(r[k])
            for k in ("datagrams", "flow_samples", "counter_samples", "drop_samples", "malformed")}
    want["malformed_by_kind"] = pairs(r["malformed_by_kind"])
    want["drop_reasons"] = pairs(r["drop_reasons"])
    return want, pairs(r["roce_v2_opcodes"]), pairs(r["roce_v1_opcodes"])


def differ(out, path, got, want):
    if got != want:
        out.append("%s: got %s, want %s" % (path, json.dumps(got), json.dumps(want)))


def subset(out, path, got, want):
    """Every key of want is in got with that value; null: it is not there. Lists: as many members, each
    found by those of its identifying keys that want gives."""
    if isinstance(want, dict):
        if not isinstance(got, dict):
            out.append("%s: not an object" % path)
            return
        for key, value in want.items():
            if value is None:
                if key in got:
                    out.append("%s.%s: got %s, want no such key" % (path, key, json.dumps(got[key])))
            elif key not in got:
                out.append("%s.%s: missing, want %s" % (path, key, json.dumps(value)))
            else:
                subset(out, "%s.%s" % (path, key), got[key], value)
    elif isinstance(want, list):
        differ(out, path + " members", len(got), len(want))
        keys = LISTS[path.rsplit(".", 1)[-1]]
        for member in want:
            ident = {k: member[k] for k in keys if k in member}
            found = [g for g in got if all(g.get(k) == v for k, v in ident.items())]
            if len(found) != 1:
                out.append("%s: %d members are %s" % (path, len(found), json.dumps(ident)))
            else:
                subset(out, "%s[%s]" % (path, ",".join(map(str, ident.values()))), found[0], member)
    else:
        differ(out, path, got, want)


def golden(name, path):
    out = []
    got = load(path)
    want, v2, v1 = row(name)
    totals = got["totals"]
    for key, value in want.items():
        differ(out, "totals." + key, totals.get(key), value)
    for key, ops in (("roce_opcodes", v2), ("roce_v1_opcodes", v1)):
        differ(out, "totals." + key, {k: v["samples"] for k, v in totals[key].items()}, ops)
    more = os.path.join(GOLDEN, "expected", name + ".json")
    if os.path.exists(more):
        subset(out, "", got, load(more))
    return out


def counts(value):
    """Without the times."""
    if isinstance(value, dict):
        return {k: counts(v) for k, v in value.items() if k not in TIMES}
    return value


def same(a, b):
    out = []
    a, b = load(a), load(b)

    def walk(path, x, y):
        if isinstance(x, dict) and isinstance(y, dict):
            for key in list(x) + [k for k in y if k not in x]:
                walk("%s.%s" % (path, key), x.get(key), y.get(key))
        elif x != y:
            out.append("%s: %s and %s" % (path, json.dumps(x), json.dumps(y)))

    for key in ("totals", "other_agents", "other_sources"):
        walk(key, counts(a[key]), counts(b[key]))
    for key, ident in LISTS.items():
        named = []
        for side in (a, b):
            members = {json.dumps([m[k] for k in ident]): counts(m) for m in side[key]}
            assert len(members) == len(side[key]), "the same member twice in %s" % key
            named.append(members)
        walk(key, *named)
    return out


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "golden":
        out = golden(sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 4 and sys.argv[1] == "same":
        out = same(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)
    for line in out[:40]:
        print(line)
    if len(out) > 40:
        print("and %d more" % (len(out) - 40))
    sys.exit(1 if out else 0)


if __name__ == "__main__":
    main()
