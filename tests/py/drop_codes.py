#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""drop_codes.py OUT: a capture in which one agent notifies every drop reason of the table at port 3 (two of them
have two codes), and 1,000 codes that nobody knows at port 4. Prints what must be counted of it, as drop_loss.py
does."""
import json
import sys

import pcap
import sflow
from drop_loss import reasons

UNKNOWN = 1000


def main():
    names = reasons()
    # Some of the lowest, some spread over all 32 bits, the highest among them.
    unknown = [code for code in range(512) if code not in names]
    unknown += [2**32 - 1 - n * 4294967 for n in range(UNKNOWN - len(unknown))]
    sent = [(code, 3) for code in sorted(names)] + [(code, 4) for code in unknown]
    packet = sflow.raw(sflow.eth(sflow.ipv4(b"x" * 20)))
    frames, places, by_reason = [], {}, {}
    for at in range(0, len(sent), 5):
        samples = [sflow.discard([packet], code, seq=at + i + 1, sid=(0, 0), inp=port)
                   for i, (code, port) in enumerate(sent[at:at + 5])]
        frames.append(sflow.carry(sflow.dgram(samples, agent="10.1.0.1", seq=at // 5 + 1)))
    for code, port in sent:
        name = names.get(code, str(code))
        places[port, name] = places.get((port, name), 0) + 1
        by_reason[name] = by_reason.get(name, 0) + 1
    pcap.write(sys.argv[1], frames)
    json.dump({"totals": {"datagrams": len(frames), "drop_samples": len(sent), "drop_reasons": by_reason},
               "agents": [{"agent": "10.1.0.1", "sub_agent": 0,
                           "drop_notifications": {
                               "notified": len(sent), "suppressed": 0, "lost": 0, "duplicate": 0, "reordered": 0,
                               "restarts": 0, "pending": 0, "at_least": len(sent)}}],
               "drop_places": [{"agent": "10.1.0.1", "sub_agent": 0, "ifindex": port, "reason": name, "notified": n}
                               for (port, name), n in places.items()]}, sys.stdout)


main()
