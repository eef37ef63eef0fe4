#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sends sound sFlow datagrams (no samples, numbered from 1) through a packet socket, datagrams.py IFACE
COUNT, and prints how many were sent.

--src, --dst ADDR  IPv4 or IPv6 (default 192.0.2.1, 192.0.2.2)
--agent ADDR       IPv4 agent address (default 192.0.2.9)
--port N           destination port (default 6343)
--first N          first sequence number (default 1)
--rate N           at most N a second (default 20000)
--seconds S        instead of COUNT: until then, or until a SIGTERM
--payload N        UDP payload bytes, zeros behind the datagram's 28
"""
import argparse
import ipaddress
import signal
import socket
import struct
import time


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(a, number):
    agent = ipaddress.IPv4Address(a.agent).packed
    payload = struct.pack("!II4sIIII", 5, 1, agent, 0, number, 1000 * number, 0)
    payload = payload.ljust(a.payload, b"\0")
    src, dst = ipaddress.ip_address(a.src), ipaddress.ip_address(a.dst)
    length = 8 + len(payload)
    udp = struct.pack("!HHHH", 40000, a.port, length, 0)
    if src.version == 4:
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + length, 0, 0x4000, 64, 17, 0, src.packed, dst.packed)
        ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    else:
        ip = struct.pack("!IHBB16s16s", 0x60000000, length, 17, 64, src.packed, dst.packed)
        pseudo = src.packed + dst.packed + struct.pack("!II", length, 17)
        udp = udp[:6] + struct.pack("!H", checksum(pseudo + udp + payload) or 0xFFFF)
    ether = bytes.fromhex("ffffffffffff020000000001" + ("0800" if src.version == 4 else "86dd"))
    return ether + ip + udp + payload


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--src", default="192.0.2.1")
    p.add_argument("--dst", default="192.0.2.2")
    p.add_argument("--agent", default="192.0.2.9")
    p.add_argument("--port", type=int, default=6343)
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--rate", type=float, default=20000)
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--payload", type=int, default=28)
    p.add_argument("iface")
    p.add_argument("count", type=int, nargs="?", default=0)
    a = p.parse_args()

    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.bind((a.iface, 0))
    sent, start = 0, time.monotonic()
    while not ended and (time.monotonic() - start < a.seconds if a.seconds else sent < a.count):
        s.send(frame(a, a.first + sent))
        sent += 1
        ahead = sent / a.rate - (time.monotonic() - start)
        if ahead > 0.002:
            time.sleep(ahead)
    print(sent, flush=True)


main()
