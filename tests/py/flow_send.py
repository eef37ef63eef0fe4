#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sends sFlow at known rates from two switches, for the tests of flows: flow_send.py ADDR.

--seconds S     how long (default 10)
--drops F       notifications: F times the rates of DROPS (default 1; 0: none)
--samples N     flow samples a second of the pair 10.1.0.1 > 10.1.0.2, and a third as many of 10.1.0.3 >
                10.1.0.4; 1,000 bytes each at a sampling rate of 100 (default 0)
--burst N       instead: at once N datagrams of 10 such flow samples each, of 10.1.0.5 > 10.1.0.6
--truth         prints the rows of the scrape in README as JSON instead: [[labels, a second], ...]
Names are those of host_descr and port_name, sent once a second; some are hostile.
"""
import argparse
import json
import socket
import sys
import time

import sflow as s

# Agent, sub-agent, name; ports by ifIndex, and their names. The second has its drops by another sub-agent, as one
# source for all ports (host sFlow).
A, B = "10.0.0.1", "10.0.0.2"
HOSTILE_HOST, HOSTILE_PORT = b'leaf"1\\\n\xff', b'swp"1\\"}\n'
HOSTS = {A: HOSTILE_HOST, B: b"leaf2"}
PORTS = {A: {1: HOSTILE_PORT, 2: b"swp2"}, B: {3: b"eth3"}}


def tcp(src, dst, port=443):
    t = s.u16(40000, port) + s.u32(1, 1) + s.u8(0x50, 0x10) + s.u16(512, 0, 0)
    return s.eth(s.ipv4(t + bytes(40), src, dst, proto=6))


def icmp6(src, dst):
    return s.eth(s.ipv6(s.u8(128, 0) + s.u16(0) + bytes(60), src, dst, nh=58), 0x86dd, tags=[(0x8100, 100)])


# (agent, sub-agent, source, input, reason), the frame, a second.
DROPS = [
    ((A, 0, (0, 1), 1, 258), tcp("10.1.0.1", "10.1.0.2"), 40),
    ((A, 0, (0, 2), 2, 259), icmp6("2001:db8::1", "2001:db8::2"), 20),
    ((B, 100000, (0, 0), 3, 257), s.eth(s.ipv4(s.u8(8, 0) + bytes(62), "10.3.0.1", "10.3.0.2", proto=1)), 10),
    ((B, 100000, (0, 0), 0, 9999), tcp("10.3.0.1", "10.3.0.9", 80), 5),
] + [((A, 0, (0, 100 + n), 100 + n, 258), tcp("10.1.0.1", f"10.2.0.{n}"), 1) for n in range(1, 31)]

MACS = {"macsource": "020000000001", "macdestination": "020000000002"}
# What the scrape shows of the first four. A port is an ifIndex where its name is not known.
TRUTH = [
    [dict(MACS, switch='leaf"1\\\n?', port='swp"1\\"}\n', reason="acl", stack="eth.ip.tcp", vlan="untagged",
          src="10.1.0.1", dst="10.1.0.2", protocol="6"), 40],
    [dict(MACS, switch='leaf"1\\\n?', port="swp2", reason="no_buffer_space", stack="eth.ip6.icmp6", vlan="100",
          src="2001:db8::1", dst="2001:db8::2", protocol="128"), 20],
    [dict(MACS, switch="leaf2", port="eth3", reason="ttl_exceeded", stack="eth.ip.icmp", vlan="untagged",
          src="10.3.0.1", dst="10.3.0.2", protocol="8"), 10],
    [dict(MACS, switch="leaf2", port="unknown", reason="9999", stack="eth.ip.tcp", vlan="untagged",
          src="10.3.0.1", dst="10.3.0.9", protocol="6"), 5],
]


class Sender:
    def __init__(self, to):
        self.out = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET, socket.SOCK_DGRAM)
        self.out.connect((to, s.SFLOW))
        self.sequence = {}

    def next(self, what):
        self.sequence[what] = self.sequence.get(what, 0) + 1
        return self.sequence[what]

    def send(self, agent, sub, samples):
        datagram = s.dgram(samples, agent, sub, self.next((agent, sub)), int(time.monotonic() * 1000) & 0xffffffff)
        try:
            self.out.send(datagram)
        except ConnectionRefusedError:
            pass

    def names(self):
        for agent, host in HOSTS.items():
            record = s.rec(2000, s.xstr(host) + bytes(16) + s.u32(3, 2) + s.xstr(b"6.1"))
            samples = [s.xcounters([record], self.next((agent, "host")), (2, 1))]
            for port, name in PORTS[agent].items():
                samples.append(s.xcounters([s.generic(port), s.rec(1005, s.xstr(name))],
                                           self.next((agent, "port", port)), (0, port)))
            self.send(agent, 0, samples)

    def drop(self, place, frame):
        agent, sub, source, port, reason = place
        self.send(agent, sub, [s.discard([s.raw(frame)], reason, self.next((agent, sub, source, "drop")), source,
                                         inp=port)])

    def flow(self, src, dst, times=1):
        self.send(A, 0, [s.xflow([s.raw(tcp(src, dst), flen=1000)], self.next((A, "flow")), (0, 1), 100, 1, 0, (0, 1),
                                 (0, 2)) for _ in range(times)])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("to")
    p.add_argument("--seconds", type=float, default=10)
    p.add_argument("--drops", type=float, default=1)
    p.add_argument("--samples", type=float, default=0)
    p.add_argument("--burst", type=int, default=0)
    p.add_argument("--truth", action="store_true")
    a = p.parse_args()
    if a.truth:
        json.dump(TRUTH, sys.stdout)
        return
    sender = Sender(a.to)
    if a.burst:
        for _ in range(a.burst):
            sender.flow("10.1.0.5", "10.1.0.6", 10)
        return
    # What is due next: [when, how often, what].
    due = [[0, 1, sender.names]]
    for n, (place, frame, rate) in enumerate(DROPS):
        if a.drops:
            due.append([n / 97, 1 / rate / a.drops, lambda place=place, frame=frame: sender.drop(place, frame)])
    if a.samples:
        due.append([0, 1 / a.samples, lambda: sender.flow("10.1.0.1", "10.1.0.2")])
        due.append([0, 3 / a.samples, lambda: sender.flow("10.1.0.3", "10.1.0.4")])
    start = time.monotonic()
    while time.monotonic() - start < a.seconds:
        now = time.monotonic() - start
        for entry in due:
            while entry[0] <= now:
                entry[2]()
                entry[0] += entry[1]
        time.sleep(max(0, min(entry[0] for entry in due) - (time.monotonic() - start)))


main()
