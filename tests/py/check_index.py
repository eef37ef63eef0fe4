#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sample counts of public captures, as two other decoders give them (INDEX.tsv), against ours.

check_index.py INDEX.tsv EXCEPTIONS.tsv DIRECTORY: DIRECTORY has NAME.json (replay) for every capture that
INDEX.tsv names. Prints TAP results without numbers.
"""
import csv
import json
import os
import sys


def ours(path):
    with open(path, encoding="utf-8") as f:
        t = json.load(f)["totals"]
    by = t["samples_by_type"]
    return {"datagrams": t["datagrams"],
            "flow": t["flow_samples"], "counter": t["counter_samples"], "drop": t["drop_samples"],
            "types": {k: v for k, v in zip("12345", (by["flow"], by["counter"], by["flow_expanded"],
                                                     by["counter_expanded"], by["drop"])) if v}}


def main():
    index, exceptions, directory = sys.argv[1:]
    with open(exceptions, encoding="utf-8") as f:
        lines = [x for x in f if not x.startswith("#")]
    known = {r["file"]: r for r in csv.DictReader(lines, delimiter="\t")}
    with open(index, encoding="utf-8") as f:
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    used = set()
    for r in rows:
        name = r["file"]
        got = ours(os.path.join(directory, name + ".json"))
        tool, shark = json.loads(r["sflowtool_ref"]), json.loads(r["tshark_ref"])
        bad = []
        if name in known:
            used.add(name)
            want = known[name]
            for key in ("datagrams", "flow", "counter", "drop"):
                if got[key] != int(want[key]):
                    bad.append("%s: got %d, want %s (%s)" % (key, got[key], want[key], want["reason"]))
        elif tool:
            for key, theirs in (("datagrams", "dg"), ("flow", "flow"), ("counter", "ctr"), ("drop", "drop")):
                if got[key] != tool[theirs]:
                    bad.append("%s: got %d, sflowtool %d" % (key, got[key], tool[theirs]))
            types = {k: v for k, v in shark["st"].items() if k in "12345"}
            if not shark["mal"] and types != got["types"]:
                bad.append("types: got %s, tshark %s" % (got["types"], types))
        elif got["datagrams"] or got["types"]:
            bad.append("no sFlow in it, but got %s" % got)
        print("%sok - %s%s" % ("not " if bad else "", name, "" if name not in known else " (exception)"))
        for line in bad:
            print("# " + line)
    missing = set(known) - used
    print("%sok - every exception names a capture" % ("not " if missing else ""))
    for name in missing:
        print("# " + name)


main()
