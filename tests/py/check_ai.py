#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check_ai.py BEFORE AFTER TRUTH: do the AI metrics say what `simulate --truth` generated?

BEFORE and AFTER are trend/json from before and after it was sent. The smoothing neither makes nor loses
anything: a second adds (1 - k) of itself, k = exp(-1/2), and each later one k times what the one before has.
So what came in between is the sum of the points behind BEFORE, less what was still to come then, and what
is still to come of it now. Ticks are a second apart within a few ms, which is the tolerance: 3 %.

Prints what is wrong; exit 1 when something is.
"""
import json
import math
import sys

TOLERANCE = 0.03


def main():
    before, after, truth = (json.load(open(f, encoding="utf-8")) for f in sys.argv[1:4])
    before, after = before["trend"], after["trend"]
    start = before["times"][-1]
    later = [i for i, t in enumerate(after["times"]) if t > start]
    tail = math.exp(-0.5) / (1 - math.exp(-0.5))
    seconds = (after["times"][-1] - start) / 1000 / len(later)

    def total(value):
        return seconds * (sum(value(after, i) for i in later) +
                          tail * (value(after, later[-1]) - value(before, len(before["times"]) - 1)))

    def series(key):
        return total(lambda trend, i: trend["trends"][key][i])

    def row(name):
        return total(lambda trend, i: trend["trends"]["top-5-operations"][i].get(name, 0))

    edge, wrong = truth["edge"], []

    def ops(*numbers):
        return sum(edge["roce_opcodes"].get(str(n), {"packets": 0})["packets"] for n in numbers)

    checks = [
        ("bps", series("bps") / 8, edge["ingress"]["bytes"]),
        ("rdma_ops", series("rdma_ops"), edge["rdma_lengths"]["packets"]),
        ("ecn_pps", series("ecn_pps"), truth["ingress"]["ce"]["packets"]),
        ("cnp_pps", series("cnp_pps"), truth["ingress"]["cnp"]["packets"]),
        ("trim_pps", series("trim_pps"), truth["totals"]["trimmed"]["packets"]),
        ("RC:RDMA_WRITE", row("RC:RDMA_WRITE"), ops(*range(6, 12))),
        ("RC:ACK", row("RC:ACK"), ops(17)),
    ]
    for name, got, want in checks:
        if not want or abs(got - want) > TOLERANCE * want:
            wrong.append("%s: %.0f, want %d" % (name, got, want))
        else:
            print("# %s: %.0f, want %d" % (name, got, want))
    # Means: between two values that are met, wherever the mix of a training cycle stands.
    lengths = [v for i in later if (v := after["trends"]["rdma_bytes"][i])]
    mean = edge["rdma_lengths"]["sum_scaled"] / edge["rdma_lengths"]["packets"]
    if not lengths or not min(lengths) <= mean * 1.1 or not max(lengths) >= mean * 0.9:
        wrong.append("rdma_bytes: %s, mean of all %.0f" % (lengths, mean))
    credits = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
               2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768]
    codes = [int(c) for c in edge["ack"] if int(c) < 31]
    low = min(v for i in later if (v := after["trends"]["aeth_credits_max"][i]))
    high = max(after["trends"]["aeth_credits_max"][i] for i in later)
    if not credits[min(codes)] <= low <= high == credits[max(codes)]:
        wrong.append("aeth_credits_max: %s to %s, codes %s" % (low, high, codes))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
