#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sends IPFIX datagrams over IPv6 (UDP) through a packet socket, ipfix.py IFACE COUNT, so that their checksums
leave as they are made here. Prints how many were sent.

--checksum KIND   right; wrong (right - 0x0100, as a chip leaves it); zero; or wrong:N, every Nth is wrong
--src, --dst ADDR (default 2001:db8::1, 2001:db8::2)
--sources N       so many sources, from --src on, by sequence number (default 1)
--dst-mac MAC     (default 02:00:00:00:00:02)
--port N          (default 4739)
--first N         first sequence number (default 0); the payload depends on it alone
--rate N          at most N a second (default 5000)
--payloads FILE   appends the payloads, one after the other
"""
import argparse
import ipaddress
import socket
import struct
import sys
import time


def total(data):
    if len(data) % 2:
        data += b"\0"
    s = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while s >> 16:
        s = (s & 0xFFFF) + (s >> 16)
    return s


def payload(number):
    """An IPFIX message (RFC 7011): a template set and a data set of 1 to 20 records, sometimes odd in length."""
    template = struct.pack("!HHHHHHHH", 2, 16, 256, 2, 1, 4, 2, 4)
    records = b"".join(struct.pack("!II", number, 7919 * number + n) for n in range(1 + number % 20))
    data = struct.pack("!HH", 256, 4 + len(records) + number % 2) + records + b"\0" * (number % 2)
    return struct.pack("!HHIII", 10, 16 + len(template) + len(data), 1700000000 + number, number, 1) + template + data


def frame(a, number):
    src = (ipaddress.IPv6Address(a.src) + number % a.sources).packed
    dst = ipaddress.IPv6Address(a.dst).packed
    body = payload(number)
    udp = struct.pack("!HHHH", 50000, a.port, 8 + len(body), 0)
    right = ~total(src + dst + struct.pack("!II", 8 + len(body), 17) + udp + body) & 0xFFFF or 0xFFFF
    kind, every = (a.checksum + ":1").split(":")[:2]
    if kind == "wrong" and number % int(every) == int(every) - 1:
        right = (right - 0x0100) & 0xFFFF or 0x0101
    elif kind == "zero":
        right = 0
    udp = udp[:6] + struct.pack("!H", right)
    ip = struct.pack("!IHBB", 0x60000000, len(udp) + len(body), 17, 64) + src + dst
    return bytes.fromhex(a.dst_mac.replace(":", "") + "020000000001" + "86dd") + ip + udp + body


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--checksum", default="right")
    p.add_argument("--src", default="2001:db8::1")
    p.add_argument("--dst", default="2001:db8::2")
    p.add_argument("--sources", type=int, default=1)
    p.add_argument("--dst-mac", default="02:00:00:00:00:02")
    p.add_argument("--port", type=int, default=4739)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--rate", type=float, default=5000)
    p.add_argument("--payloads")
    p.add_argument("iface")
    p.add_argument("count", type=int)
    a = p.parse_args()
    if a.checksum.split(":")[0] not in ("right", "wrong", "zero"):
        sys.exit("ipfix.py: --checksum " + a.checksum)
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.bind((a.iface, 0))
    start = time.monotonic()
    for n in range(a.count):
        s.send(frame(a, a.first + n))
        ahead = (n + 1) / a.rate - (time.monotonic() - start)
        if ahead > 0:
            time.sleep(ahead)
    if a.payloads:
        with open(a.payloads, "ab") as f:
            for n in range(a.count):
                f.write(payload(a.first + n))
    print(a.count)


main()
