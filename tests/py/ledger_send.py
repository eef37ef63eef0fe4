#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sends UDP datagrams as frames through a packet socket: ledger_send.py IFACE KIND COUNT, and prints how many
datagrams that were.

KIND: good, wrong (checksum), zero (checksum), pieces (two fragments each), first (only the first of two
fragments), stray (to another MAC address), sflow (sound sFlow, numbered from --first on)

--port N     destination (default 4739)
--src, --dst IPv4 or IPv6 (default those of sflow.py's IPv6 collector)
--payload N  bytes (default 400)
--first N    first sequence number of sflow
--rate N     frames a second (default 5000; a veth ring holds 256)
"""
import argparse
import socket
import time

import sflow as S


def frames(a, n):
    six = ":" in a.dst
    payload = bytes(i & 255 for i in range(a.payload))
    if a.kind == "sflow":
        payload = S.dgram([], seq=a.first + n, uptime=1000 * (a.first + n))
    check = {"wrong": 0x1234, "zero": 0}.get(a.kind, "good")
    d = S.udp(payload, 50000, a.port, a.src, a.dst, check)
    if check == 0x1234:
        right = S.udp(payload, 50000, a.port, a.src, a.dst)[6:8]
        d = d[:6] + bytes((right[0] ^ 0x55, right[1])) + d[8:]
    dst = 9 if a.kind == "stray" else 2
    if a.kind not in ("pieces", "first"):
        packet = S.ipv6(d, a.src, a.dst) if six else S.ipv4(d, a.src, a.dst, ident=n + 1)
        return [S.eth(packet, 0x86dd if six else 0x0800, dst=dst)]
    cut = len(d) // 2 & ~7
    parts = []
    for off, part, more in ((0, d[:cut], 1), (cut, d[cut:], 0)):
        if six:
            header = S.u8(17, 0) + S.u16(off | more) + S.u32(0xab000000 + n)
            parts.append(S.eth(S.ipv6(header + part, a.src, a.dst, nh=44), 0x86dd))
        else:
            parts.append(S.eth(S.ipv4(part, a.src, a.dst, ident=n + 1, frag=more << 13 | off // 8)))
    return parts[:1] if a.kind == "first" else parts


def main():
    p = argparse.ArgumentParser()
    p.add_argument("iface")
    p.add_argument("kind")
    p.add_argument("count", type=int)
    p.add_argument("--port", type=int, default=4739)
    p.add_argument("--src")
    p.add_argument("--dst", default=S.COLLECTOR6)
    p.add_argument("--payload", type=int, default=400)
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--rate", type=float, default=5000)
    a = p.parse_args()
    a.src = a.src or ("2001:db8:ffff::1" if ":" in a.dst else "198.51.100.1")
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.bind((a.iface, 0))
    sent, start = 0, time.monotonic()
    for n in range(a.count):
        for frame in frames(a, n):
            s.send(frame)
            sent += 1
            ahead = sent / a.rate - (time.monotonic() - start)
            if ahead > 0.002:
                time.sleep(ahead)
    print(a.count)


main()
