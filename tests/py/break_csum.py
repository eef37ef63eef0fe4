#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A wire that breaks checksums: break_csum.py IFACE IFACE PORT carries every frame between two interfaces, and
takes 0x0100 off the UDP checksum of those over IPv6 to PORT, as a router's chip did. Until SIGTERM; then
prints how many it broke."""
import select
import signal
import socket
import struct
import sys

PACKET_OUTGOING = 4


def broken(frame, port):
    if frame[12:14] != b"\x86\xdd" or len(frame) < 62 or frame[20] != 17:
        return frame
    if struct.unpack_from("!H", frame, 56)[0] != port:
        return frame
    checksum = struct.unpack_from("!H", frame, 60)[0]
    return frame[:60] + struct.pack("!H", (checksum - 0x0100) & 0xFFFF or 0x0101) + frame[62:]


def main():
    ends, port, count = sys.argv[1:3], int(sys.argv[3]), 0
    socks = []
    for name in ends:
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        s.bind((name, 3))
        s.setsockopt(263, 1, struct.pack("iHH8s", socket.if_nametoindex(name), 1, 0, b""))  # promiscuous
        socks.append(s)
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    print("carrying", flush=True)
    while not stop:
        for s in select.select(socks, [], [], 0.2)[0]:
            frame, where = s.recvfrom(65536)
            if where[2] == PACKET_OUTGOING:
                continue
            changed = broken(frame, port)
            count += changed != frame
            socks[1 - socks.index(s)].send(changed)
    print(count, flush=True)


main()
