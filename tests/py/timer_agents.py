#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Agents that send by a timer: timer_agents.py ADDRESS SECONDS [AGENTS]. Each has a load without a period, 3 samples
a second by chance, and empties its datagram once a second, in a phase of its own. Seeded."""
import heapq
import math
import random
import socket
import sys
import time

import sflow

RATE = 3


def poisson(mean):
    limit, product, n = math.exp(-mean), random.random(), 0
    while product > limit:
        product *= random.random()
        n += 1
    return n


def main():
    to, seconds = (sys.argv[1], 6343), float(sys.argv[2])
    agents = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    random.seed(4)
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    start = time.monotonic()
    due = [(random.random(), n, 1, 1) for n in range(agents)]
    heapq.heapify(due)
    while due[0][0] < seconds:
        at, n, number, first = heapq.heappop(due)
        time.sleep(max(0, start + at - time.monotonic()))
        samples = poisson(RATE)
        flows = [sflow.F(6, seq=first + i, pool=1000 * (first + i)) for i in range(samples)]
        if samples:
            try:
                s.sendto(sflow.dgram(flows, agent="10.9.%d.%d" % (n >> 8, n & 255), seq=number,
                                     uptime=int(100000 + at * 1000)), to)
            except ConnectionRefusedError:
                pass
        heapq.heappush(due, (at + 1, n, number + (samples > 0), first + samples))


main()
