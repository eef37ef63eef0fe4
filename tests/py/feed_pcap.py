#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes a small capture of sound sFlow and one malformed datagram: feed_pcap.py FILE.

97 datagrams of two agents (192.0.2.1, 192.0.2.2), numbered, with a gap; in each sound one two flow samples
of RoCE with CE (interfaces 1 and 2, one packet in 1000) and one counter sample with a port name.
"""
import socket
import struct
import sys

import pcap


def words(*values):
    return struct.pack("!%dI" % len(values), *values)


def part(kind, body):
    """A record or a sample: type, length, body."""
    body += bytes(-len(body) % 4)
    return words(kind, len(body)) + body


def ip_udp(src, dst, sport, dport, payload, tos=0):
    udp = struct.pack("!HHHH", sport, dport, 8 + len(payload), 0) + payload
    head = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + len(udp), 0, 0x4000, 64, 17, 0,
                       socket.inet_aton(src), socket.inet_aton(dst))
    total = sum(struct.unpack("!10H", head))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return head[:10] + struct.pack("!H", ~total & 0xffff) + head[12:] + udp


def ether(packet):
    return bytes((2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1)) + b"\x08\x00" + packet


def flow(number, index):
    bth = struct.pack("!BBHII", 4, 0, 0xffff, 0x123, number) + bytes(200)
    head = ether(ip_udp("10.1.0.1", "10.1.0.2", 50000, 4791, bth, tos=3))[:128]
    raw = part(1, words(1, 1046, 4, len(head)) + head)
    return part(1, words(number, index, 1000, 1000 * number, 0, index, index + 1, 1) + raw)


def counters(number, index):
    generic = struct.pack("!IIQIIQIIIIIIQIIIIII", index, 6, 100000000000, 1, 3, 1000 * number, number,
                          2, 3, 4, 5, 0xffffffff, 2000 * number, number, 6, 7, 8, 9, 0)
    name = b"swp%d" % index
    return part(2, words(number, index, 2) + part(1, generic) + part(1005, words(len(name)) + name))


def datagram(agent, number, samples):
    return (words(5, 1) + socket.inet_aton(agent) + words(0, number, 1000 * number, len(samples)) +
            b"".join(samples))


def main():
    frames = []
    for n in list(range(2, 51)) + list(range(54, 101)):
        agent = "192.0.2.%d" % (1 + n % 2)
        body = datagram(agent, n // 2,
                        [flow(n // 2, 1), flow(n // 2, 2), counters(n // 4, 1 + n // 2 % 2)])
        frames.append(ether(ip_udp(agent, "192.0.2.99", 6343, 6343, body)))
    frames.append(ether(ip_udp("192.0.2.1", "192.0.2.99", 6343, 6343, b"\0\0\0\5")))
    pcap.write(sys.argv[1], frames)


main()
