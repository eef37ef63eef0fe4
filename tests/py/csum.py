#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""IPv6 UDP datagrams with right and wrong checksums, and what a socket gets of them.

csum.py frames IFACE MAC [--count N] [--length N] [--linear N] [--port N] CHECK...
    sends N datagrams per CHECK (right, wrong, zero) as frames to MAC; --linear N: only so many bytes of a
    frame of more than a page are in its first buffer
csum.py socket PORT
    prints "ready" and, on SIGTERM, how many datagrams a socket got, and how many of these are as they were sent
csum.py tun IFACE
    makes a tun device, which has no Ethernet header, prints "ready", and after a line on stdin sends one
    datagram of every shape into it; prints a line each, "NAME got", "lost", "changed" or "refused" by the device
csum.py counts MAP
    the counters of a pinned map of csum6 that are not 0, summed, as "name=N ..."
"""
import argparse
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time

SRC, DST = "2001:db8::1", "2001:db8::2"
SOL_PACKET, PACKET_VNET_HDR = 263, 15
NEEDS_CSUM, GSO_NONE, GSO_UDP_L4 = 1, 0, 5


def add(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def pseudo(length):
    return (socket.inet_pton(socket.AF_INET6, SRC) + socket.inet_pton(socket.AF_INET6, DST) +
            struct.pack("!II", length, 17))


def payload(number, length):
    """Says itself what it is, so that a receiver can tell a changed one."""
    data = struct.pack("!II", number, length)
    data += bytes((number * 7 + i * 13) & 0xff for i in range(length))
    return data[:length]


def udp(data, check, port=6343, length=None):
    n = 8 + len(data) if length is None else length
    header = struct.pack("!HHHH", 50000, port, n, 0)
    right = 0xffff - add(pseudo(n) + header + data) or 0xffff
    value = {"right": right, "wrong": (right - 0x100) & 0xffff or 0x1234, "zero": 0,
             "partial": add(pseudo(n))}[check]
    return header[:6] + struct.pack("!H", value) + data


def ipv6(data, chain=(), trailer=b""):
    """chain: (next header number, bytes of the header without its first)."""
    kinds = [kind for kind, _ in chain] + [17]
    ext = b"".join(bytes([kinds[i + 1]]) + body for i, (_, body) in enumerate(chain))
    return (struct.pack("!IHBB", 0x60000000, len(ext) + len(data), kinds[0], 64) + pseudo(0)[:32] +
            ext + data + trailer)


def frames(a):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((a.iface, 0x86dd))
    header = b""
    if a.linear:
        s.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        header = struct.pack("=BBHHHH", 0, GSO_NONE, a.linear, 0, 0, 0)
    eth = bytes.fromhex(a.mac.replace(":", "")) + b"\2\0\0\0\0\1\x86\xdd"
    n = 0
    for check in a.check:
        for _ in range(a.count):
            s.send(header + eth + ipv6(udp(payload(n, a.length), check, a.port)))
            n += 1
            if n % 64 == 0:
                time.sleep(0.002)
    print(n)


def receive(a):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    s.bind(("::", a.port))
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
    print("ready", flush=True)
    got = same = 0
    s.settimeout(0.2)
    while True:
        try:
            data = s.recv(65536)
        except TimeoutError:
            if ended:
                break
            continue
        got += 1
        number, length = struct.unpack("!II", data[:8]) if len(data) >= 8 else (0, len(data))
        same += data == payload(number, length)
    print("got %d same %d" % (got, same))


def shapes():
    """name, packet, virtio header (flags, gso type, bytes in the first buffer, gso size), payload."""
    pad = b"\1\4" + bytes(4)  # PadN
    plain = (0, GSO_NONE, 0, 0)
    for check in "right", "wrong", "zero":
        for length in 0, 1, 7, 8, 9, 500, 501, 1432, 1433, 4000, 8900, 8999, 9000, 9001:
            data = payload(length, length)
            yield "%s %d" % (check, length), ipv6(udp(data, check)), plain, data
            # Not one header in the first buffer: that takes more than a page.
            if length > 4000:
                yield ("%s %d in pieces" % (check, length), ipv6(udp(data, check)), (0, GSO_NONE, 1, 0),
                       data)
        data = payload(99, 99)
        for name, chain in (
                ("hop-by-hop", [(0, b"\0" + pad)]),
                ("destination options", [(60, b"\0" + pad)]),
                ("long destination options", [(60, b"\x10" + 2 * (b"\x1e\x41" + bytes(65)))]),
                ("routing", [(43, b"\0\0\0" + bytes(4))]),
                ("atomic fragment", [(44, b"\0\0\0\0\0\0\1")]),
                ("three headers", [(0, b"\0" + pad), (43, b"\0\0\0" + bytes(4)), (60, b"\0" + pad)]),
                ("segments left", [(43, b"\2\0\1" + bytes(4) + bytes(16))]),
                ("home address", [(60, b"\2\1\2\0\0\xc9\x10" + pseudo(0)[:16])]),
        ):
            yield "%s %s" % (check, name), ipv6(udp(data, check), chain), plain, data
        yield check + " trailer", ipv6(udp(data, check), trailer=b"trailer"), plain, data
        yield (check + " long payload length", ipv6(udp(data, check) + b"behind"), plain, data)
        yield check + " bad length", ipv6(udp(data, check, length=200)), plain, data
        yield check + " fragment", ipv6(udp(data, check), [(44, b"\0\0\1\0\0\0\2")]), plain, data
    data = payload(1, 1000)
    yield "partial", ipv6(udp(data, "partial")), (NEEDS_CSUM, GSO_NONE, 48, 0), data
    # The kernel makes two datagrams of it; this is the first.
    yield ("merged", ipv6(udp(payload(1, 500) + payload(2, 500), "partial")),
           (NEEDS_CSUM, GSO_UDP_L4, 48, 500), payload(1, 500))


def tun(a):
    fd = os.open("/dev/net/tun", os.O_RDWR)
    # IFF_TUN | IFF_NO_PI | IFF_VNET_HDR
    fcntl.ioctl(fd, 0x400454ca, struct.pack("16sH22x", a.iface.encode(), 1 | 0x1000 | 0x4000))
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.bind(("::", 6343))
    s.settimeout(0.02)
    print("ready", flush=True)
    sys.stdin.readline()
    for name, packet, (flags, gso, linear, size), data in shapes():
        header = struct.pack("=BBHHHH", flags, gso, linear, size, 40 if flags else 0, 6 if flags else 0)
        try:
            os.write(fd, header + packet)
        except OSError:  # a merged one, before 6.2
            print(name, "refused", flush=True)
            continue
        got = []
        try:
            while True:
                got.append(s.recv(65536))
        except TimeoutError:
            pass
        what = "lost" if not got else "got" if got[0] == data else "changed"
        print(name.replace(" ", "_"), what, flush=True)


def counts(a):
    said = subprocess.run(["bpftool", "-j", "map", "dump", "pinned", a.map], check=True,
                          capture_output=True).stdout
    total = {}

    def collect(value, prefix=""):
        for key, v in value.items():
            if isinstance(v, dict):
                collect(v, prefix if key == "counts" else key + ".")
            elif isinstance(v, int) and not key.endswith("_ns") and key != "port":
                total[prefix + key] = total.get(prefix + key, 0) + v

    for entry in json.loads(said):
        formatted = entry.get("formatted", entry)
        for v in formatted["values"] if "values" in formatted else [formatted]:
            collect(v["value"] if isinstance(v["value"], dict) else {"[%s]" % formatted["key"]: v["value"]})
    print(" ".join("%s=%d" % kv for kv in total.items() if kv[1]))


def main():
    p = argparse.ArgumentParser()
    sub = p.add_subparsers(required=True)
    q = sub.add_parser("frames")
    q.set_defaults(run=frames)
    q.add_argument("--count", type=int, default=5)
    q.add_argument("--length", type=int, default=1000)
    q.add_argument("--linear", type=int, default=0)
    q.add_argument("--port", type=int, default=6343)
    q.add_argument("iface")
    q.add_argument("mac")
    q.add_argument("check", nargs="+", choices=("right", "wrong", "zero"))
    q = sub.add_parser("socket")
    q.set_defaults(run=receive)
    q.add_argument("port", type=int)
    q = sub.add_parser("tun")
    q.set_defaults(run=tun)
    q.add_argument("iface")
    q = sub.add_parser("counts")
    q.set_defaults(run=counts)
    q.add_argument("map")
    a = p.parse_args()
    a.run(a)


main()
