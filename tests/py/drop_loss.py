#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""drop_loss.py IN OUT [--duplicates]: a capture of `simulate --drops` to IPv4 as a bad network would deliver it.
Of the datagrams of each agent that have drop notifications, every 7th is lost, every 11th comes after the next
one, and with --duplicates every 13th comes twice.

Prints what must be counted of it, as `simulate --truth` would: agents with `drop_notifications`, `drop_places`,
`totals` with `drop_reasons`; made here, from the bytes and the specification alone: numbers of samples with a
window of 32, the agent's `drops` modulo 2^32 as it grows in order."""
import json
import os
import re
import socket
import struct
import sys

import pcap

WINDOW = 32
HEAD = 14 + 20 + 8


def reasons():
    """Names by code, from the table that the parser has them from."""
    path = os.path.join(os.path.dirname(__file__), "../../include/xsf/drop_reasons.h")
    with open(path, encoding="utf-8") as f:
        return {int(code): name for code, name in re.findall(r"X\((\d+), (\w+),", f.read())}


def drops(frame):
    """Agent, and (sequence, class, index, drops, input, reason) of each notification."""
    b = frame[HEAD:]
    assert frame[12:14] == b"\x08\x00" and struct.unpack_from(">II", b) == (5, 1)
    nr, = struct.unpack_from(">I", b, 24)
    at, found = 28, []
    for _ in range(nr):
        tag, size = struct.unpack_from(">II", b, at)
        if tag == 5:
            seq, kind, index, total, entered, _, reason = struct.unpack_from(">7I", b, at + 8)
            found.append((seq, kind, index, total, entered, reason))
        at += 8 + size
    assert at == len(b)
    return socket.inet_ntoa(b[8:12]), found


class Agent:
    def __init__(self):
        self.nr = 0
        self.held = None
        self.seen = set()
        self.first = self.last = None
        self.total = self.fresh = 0
        self.counts = {"notified": 0, "suppressed": 0, "lost": 0, "duplicate": 0, "reordered": 0, "restarts": 0,
                       "pending": 0}

    def take(self, samples, again):
        for seq, kind, index, total, _, _ in samples:
            assert kind == index == 0, "one data source is all that is looked at here"
            self.counts["notified"] += 1
            if again:
                continue
            self.fresh += 1
            if self.last is None:
                self.first, self.last, self.total = seq, seq, total
            elif seq > self.last:
                self.counts["suppressed"] += (total - self.total) % 2**32
                self.last, self.total = seq, total
            else:
                assert self.last - seq < WINDOW and seq not in self.seen
                # What is before the first was never missed.
                self.counts["reordered"] += 1
            self.seen.add(seq)

    def end(self):
        for seq in range(self.first, self.last):
            if seq not in self.seen:
                self.counts["pending" if self.last - seq < WINDOW else "lost"] += 1
        self.counts["at_least"] = self.fresh + self.counts["suppressed"] + self.counts["lost"]


def deliver(frames, duplicates):
    """(frame, agent, samples, again) in the order of arrival."""
    agents = {}
    for _, frame, _ in frames:
        address, samples = drops(frame)
        a = agents.setdefault(address, Agent())
        if not samples:
            yield frame, address, samples, False
            continue
        a.nr += 1
        if a.nr % 7 == 0:
            continue
        if a.nr % 11 == 0 and a.held is None:
            a.held = frame, address, samples
            continue
        yield frame, address, samples, False
        if a.held:
            yield *a.held, False
            a.held = None
        if duplicates and a.nr % 13 == 0:
            yield frame, address, samples, True


def main():
    source, target, duplicates = sys.argv[1], sys.argv[2], "--duplicates" in sys.argv[3:]
    names, agents, places, by_reason, out = reasons(), {}, {}, {}, []
    for frame, address, samples, again in deliver(pcap.frames(source), duplicates):
        out.append(frame)
        agents.setdefault(address, Agent()).take(samples, again)
        for _, _, _, _, entered, reason in samples:
            name = names.get(reason, str(reason))
            places[address, entered, name] = places.get((address, entered, name), 0) + 1
            by_reason[name] = by_reason.get(name, 0) + 1
    pcap.write(target, out, step=0.0001)
    for a in agents.values():
        a.end()
    json.dump({"totals": {"datagrams": len(out), "drop_samples": sum(by_reason.values()), "drop_reasons": by_reason},
               "agents": [{"agent": address, "sub_agent": 0, "drop_notifications": a.counts}
                          for address, a in sorted(agents.items())],
               "drop_places": [{"agent": a, "sub_agent": 0, "ifindex": i, "reason": r, "notified": n}
                               for (a, i, r), n in sorted(places.items())]}, sys.stdout)


if __name__ == "__main__":
    main()
