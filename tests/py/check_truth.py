#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a lab capture holds (truth.tsv: other decoders' counts) against what xdp-sflow counted. Source
"offsets" are RoCE packets inside VXLAN, read at fixed offsets: the other decoders stop at the outer packet.

check_truth.py TRUTH.tsv CAPTURE.pcap ACTUAL.json: prints "N keys compared", or every difference and
exit 1.
"""
import csv
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE_TYPES = {"1": "flow", "2": "counter", "3": "flow_expanded", "4": "counter_expanded", "5": "drop"}
AETH = ("ack", "rnr", "reserved", "nak")


def reason_names():
    """Code -> name, as include/xsf/drop_reasons.h has them."""
    with open(os.path.join(HERE, "..", "..", "include", "xsf", "drop_reasons.h"), encoding="utf-8") as f:
        return {m[1]: m[2] for m in re.finditer(r"X\((\d+), (\w+),", f.read())}


def number(value):
    return value.get("samples", 0) if value else 0


def everywhere(got, key):
    """Sum of a sampled traffic count over directions of all interfaces and other sources."""
    members = got["interfaces"] + got["sources"] + [got["other_sources"]]
    return sum(d.get(key, 0) for m in members for d in m.get("sampled", m).values() if isinstance(d, dict))


def value(got, key, reasons):
    """What xsf says for a key of truth.tsv; None: it does not show that."""
    t = got["totals"]
    part = key.split(".")
    if key == "datagrams":
        return t["datagrams"]
    if key == "flow.samples":
        return t["flow_samples"]
    if key == "counter.samples":
        return t["counter_samples"]
    if key == "discard.samples":
        return t["drop_samples"]
    if key == "samples":
        return t["flow_samples"] + t["counter_samples"] + t["drop_samples"]
    if key.startswith("sample.type."):
        return t["samples_by_type"][SAMPLE_TYPES[part[2]]]
    if key.startswith("flow.bth.op."):
        return number(t["roce_opcodes"].get(part[3]))
    if key == "flow.bth.truncated":
        return t["sampled_headers_by_outcome"]["bth_cut"]
    if key == "flow.roce":
        return sum(number(e) for e in t["ecn"].values())
    if key.startswith("flow.roce.ecn."):
        return number(t["ecn"][part[3]])
    if key == "flow.roce.scaled_frames":
        return sum(e["packets"] for e in t["ecn"].values())
    if key == "flow.roce.scaled_bytes":
        return everywhere(got, "roce_bytes")
    if key.startswith("flow.aeth.syndrome."):
        n = int(part[3])
        return number(t["aeth"][AETH[n >> 5 & 3]].get(str(n & 31)))
    if key == "flow.reth":
        return t["rdma_lengths"]["samples"]
    if key == "flow.reth.dmalen.sum":
        return t["rdma_lengths"]["sum"]
    if key == "flow.scaled_frames":
        return t["sampled_packets"]
    if key == "flow.scaled_bytes":
        return t["sampled_bytes"]
    if key.startswith("discard.reason."):
        return t["drop_reasons"].get(reasons.get(part[2], part[2]), 0)
    if key == "discard.drops.max":
        return max(a["drops"] for a in got["agents"])
    if key.startswith("agent."):
        text = ".".join(str(b) for b in bytes.fromhex(part[1]))
        return sum(a["datagrams"] for a in got["agents"] if a["agent"] == text)
    if key.startswith("subagent."):
        return sum(a["datagrams"] for a in got["agents"] if a["sub_agent"] == int(part[1]))
    m = re.fullmatch(r"last\.pool\.sub(\d+)\.src\(?(\d+)(?:,(\d+))?\)?", key)
    if m:
        ds = (int(m[2]), int(m[3])) if m[3] else (int(m[2]) >> 24, int(m[2]) & 0xffffff)
        for s in got["interfaces"] + got["sources"]:
            if s["sub_agent"] == int(m[1]) and (s.get("class", 0), s.get("index", s.get("ifindex"))) == ds:
                return s["sample_pool"]
        return "no such data source"
    return None


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        rows = [r for r in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)
                if r["file"] == sys.argv[2] and r["source"] != "pair"]
    with open(sys.argv[3], encoding="utf-8") as f:
        got = json.load(f)
    reasons, bad, compared, wanted = reason_names(), [], 0, {}
    for r in rows:
        has = value(got, r["key"], reasons)
        if has is None:
            continue
        compared += 1
        wanted.setdefault(r["key"].rsplit(".", 1)[0], set()).add(r["key"].rsplit(".", 1)[-1])
        if str(has) != r["value"]:
            bad.append("%s (%s): got %s, want %s" % (r["key"], r["source"], has, r["value"]))
    # Nothing that the truth does not have.
    t = got["totals"]
    more = [("flow.bth.op", set(t["roce_opcodes"])),
            ("discard.reason", {c for c, n in reasons.items() if n in t["drop_reasons"]} & {
                c for c in reasons if c not in ("332", "366") or c in wanted.get("discard.reason", ())}),
            ("flow.aeth.syndrome", {str(i << 5 | int(c)) for i, k in enumerate(AETH) for c in t["aeth"][k]})]
    for key, has in more:
        if has - wanted.get(key, set()) - {"33", "36"}:
            bad.append("%s: %s are not in the truth" % (key, sorted(has - wanted.get(key, set()))))
    if t["malformed"]:
        bad.append("malformed: %s" % t["malformed_by_kind"])
    if compared < 3:
        bad.append("only %d keys of %s compared" % (compared, sys.argv[2]))
    for line in bad:
        print(line)
    if not bad:
        print("%d keys compared" % compared)
    sys.exit(1 if bad else 0)


main()
