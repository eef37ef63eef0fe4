#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What `drops --json` says of a lab capture against truth.tsv (other decoders' counts of its discarded-packet
samples).

check_drops.py TRUTH.tsv CAPTURE.pcap DROPS.json: prints "N keys compared", or every difference and exit 1.
"""
import collections
import csv
import json
import re
import sys

RECORDS = {"1": "header", "1036": "queue", "1038": "function", "1039": "transit_delay_ns",
           "1040": "queue_depth_bytes", "1041": "trap", "1042": "linux_reason", "1043": "timestamp"}


def counts(events):
    got = collections.Counter()
    got["discard.samples"] = got["sample.type.5"] = len(events)
    got["discard.drops.max"] = max(e["drops"] for e in events)
    got["discard.sampled_bytes"] = sum(e["frame_length"] for e in events)
    got["discard.has_input"] = sum(e["input"] != 0 for e in events)
    for e in events:
        got["discard.reason.%d" % e["reason_code"]] += 1
        for record, key in RECORDS.items():
            got["discard.rec." + record] += key in e
        if "function" in e:
            # The truth has the symbol without offset, length and module.
            got["discard.function." + re.sub(r"\+0x.*", "", e["function"])] += 1
        if "linux_reason" in e:
            got["discard.linux_reason." + e["linux_reason"]] += 1
        if "trap" in e:
            got["discard.hw_trap." + e["trap_group"] + "/" + e["trap"]] += 1
        roce = e["packet"].get("roce")
        if roce is not None:
            got["discard.roce.reason.%d" % e["reason_code"]] += 1
            got["discard.bth.op.%d" % roce["opcode"]] += 1
    return +got


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        rows = [r for r in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)
                if r["file"] == sys.argv[2] and r["source"] in ("own", "sflowtool") and
                r["key"].startswith("discard.")]
    with open(sys.argv[3], encoding="utf-8") as f:
        got = counts([json.loads(line) for line in f])
    bad = []
    for r in rows:
        if str(got[r["key"]]) != r["value"]:
            bad.append("%s (%s): got %s, want %s" % (r["key"], r["source"], got[r["key"]], r["value"]))
    kinds = {r["key"].rsplit(".", 1)[0] for r in rows}
    for key in sorted(set(got) - {r["key"] for r in rows}):
        if key.startswith("discard.") and key.rsplit(".", 1)[0] in kinds:
            bad.append("%s: %d, not in the truth" % (key, got[key]))
    if len(rows) < 10:
        bad.append("only %d keys of %s compared" % (len(rows), sys.argv[2]))
    print("\n".join(bad) or "%d keys compared" % len(rows))
    sys.exit(1 if bad else 0)


main()
