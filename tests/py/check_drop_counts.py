#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check_drop_counts.py TRUTH RESULT [METRICS]: do a result of `status --json` or `replay --json`, and a document of
/metrics, say of drop notifications exactly what the truth of `simulate --truth` or drop_loss.py says? Prints up
to ten differences; exit 1 when there are any."""
import json
import sys

import exposition


def agents(d):
    found = {(a["agent"], a["sub_agent"]): a["drop_notifications"] for a in d["agents"] if "drop_notifications" in a}
    return {key: counts for key, counts in found.items() if any(counts.values())}


def places(d):
    found = {}
    for p in d["drop_places"]:
        key = p["agent"], p["sub_agent"], p["ifindex"], p["reason"]
        assert key not in found, key
        found[key] = p["notified"]
    return found


def by_reason(found):
    sums = {}
    for (agent, sub_agent, _, reason), n in found.items():
        sums[agent, sub_agent, reason] = sums.get((agent, sub_agent, reason), 0) + n
    return sums


# Families of an agent, and the key of its counts that each is.
OF_AGENT = {
    "agent_suppressed_drop_notifications_total": "suppressed",
    "agent_lost_drop_notifications_total": "lost",
    "agent_duplicate_drop_notifications_total": "duplicate",
    "agent_reordered_drop_notifications_total": "reordered",
    "agent_pending_drop_notifications": "pending",
    "agent_dropped_packets_at_least_total": "at_least",
}


def series(metrics, name, *labels):
    found = {}
    for family, have, value in metrics:
        if family == "xdp_sflow_" + name and int(value):
            key = tuple(int(have[x]) if x in ("sub_agent", "ifindex") else have[x] for x in labels)
            key = key if len(key) > 1 else key[0]
            assert key not in found, (name, key)
            found[key] = int(value)
    return found


def differences(what, want, got):
    for key in sorted(set(want) | set(got), key=str):
        if want.get(key) != got.get(key):
            yield "%s %s: want %s, got %s" % (what, key, want.get(key), got.get(key))


def check_metrics(truth, result, metrics):
    want = places(truth)
    yield from differences("place_drop_notifications_total", want, series(
        metrics, "place_drop_notifications_total", "agent", "sub_agent", "ifindex", "reason"))
    yield from differences("agent_drop_notifications_total", by_reason(want), series(
        metrics, "agent_drop_notifications_total", "agent", "sub_agent", "reason"))
    yield from differences("drop_notifications_total", result["totals"]["drop_reasons"], series(
        metrics, "drop_notifications_total", "reason"))
    for family, key in OF_AGENT.items():
        want = {agent: counts[key] for agent, counts in agents(truth).items() if counts[key]}
        yield from differences(family, want, series(metrics, family, "agent", "sub_agent"))
    # Ports are called by their names, once those have come.
    names = {(i["agent"], i["ifindex"]): i["ifname"] for i in result["interfaces"] if "ifname" in i}
    for family, have, _ in metrics:
        if family == "xdp_sflow_place_drop_notifications_total":
            want = names.get((have["agent"], int(have["ifindex"])), "")
            if have["ifname"] != want:
                yield "%s: called %s, not %s" % (have, have["ifname"], want)


def reasons(truth, result):
    """By reason alone, whoever and wherever."""
    yield from differences("totals", truth["totals"]["drop_reasons"], result["totals"]["drop_reasons"])


def main():
    docs = []
    for path in sys.argv[1:3]:
        with open(path, encoding="utf-8") as f:
            docs.append(json.load(f))
    truth, result = docs
    found = list(reasons(truth, result))
    found += differences("agent", agents(truth), agents(result))
    found += differences("place", places(truth), places(result))
    if len(sys.argv) > 3:
        with open(sys.argv[3], "rb") as f:
            text = b"".join(line for line in f if b"drop" in line.partition(b"{")[0] and line[:1] != b"#")
        found += check_metrics(truth, result, exposition.read(text, sys.argv[3]))
    if not places(truth):
        found.append("the truth is empty")
    for line in found[:10]:
        print(line)
    return 1 if found else 0


sys.exit(main())
