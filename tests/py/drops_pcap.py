#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Captures of drop notifications.

drops_pcap.py reasons FILE  each code of drop_reasons.h, then 1,000 that are in no list; prints "CODE NAME"
                            lines in their order, the code again where there is no name
drops_pcap.py hostile FILE  names and texts that would break a line, a string or a file; prints how many
                            notifications
drops_pcap.py fields FILE   one of each record and kind of packet
"""
import os
import re
import sys

import pcap
from sflow import (aeth, atomic, bth, carry, counters, dgram, discard, eth, generic, gre, host_descr, ipv4, ipv6,
                   mpls, port_name, raw, rec, reth, roce4, roce_udp, roce_v1, tcp4, u8, u16, u32, u64, udp, vxlan,
                   xstr)

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = [b'a"b', b"back\\slash", b"two\nlines", b"\r\n\t\0end", b"\x1b[2J\x1b[31mred", b"\x80\xff\xfe",
         b"\xc3", b"\xe2\x80\xaeeman", "Müller → 漢".encode(), b"x" * 5000, b'"' * 5000, b"\n" * 5000,
         b"\xf0\x9f\x98" * 30, b"{{}}%s%n$(id)`id`", b"a,b;c=d|e", b" ", b"", b"</script>&lt;"]


def datagrams(samples, agent="192.0.2.1", each=20):
    for i in range(0, len(samples), each):
        yield carry(dgram(samples[i:i + each], agent, seq=1 + i // each))


def reasons(path):
    with open(os.path.join(HERE, "..", "..", "include", "xsf", "drop_reasons.h"), encoding="utf-8") as f:
        known = [(int(m[1]), m[2]) for m in re.finditer(r"X\((\d+), (\w+),", f.read())]
    codes = {c for c, _ in known}
    unknown = [c for c in range(373, 5000) if c not in codes][:500] + \
        [2 ** 32 - 1 - 977 * i for i in range(500)]
    known += [(c, str(c)) for c in unknown]
    pcap.write(path, list(datagrams([discard([], c, seq=1 + i) for i, (c, _) in enumerate(known)])))
    for code, name in known:
        print(code, name)


def hostile(path):
    frames, nr, header = [], 0, raw(eth(tcp4()))
    for i, name in enumerate(TEXTS):
        agent = "192.0.2.%d" % (1 + i)
        frames.append(carry(dgram([counters([generic(3), port_name(name), host_descr(name)])], agent, seq=1)))
        for j, text in enumerate(TEXTS):
            other = TEXTS[(j + 1) % len(TEXTS)][:1000]  # within the 9,000 bytes that are parsed
            records = [[rec(1038, xstr(text))], [rec(1041, xstr(text) + xstr(other))],
                       [rec(1042, xstr(text))]][(i + j) % 3]
            frames.append(carry(dgram([discard(records + [header], 258, seq=1 + j)], agent, seq=2 + j)))
            nr += 1
    pcap.write(path, frames)
    print(nr)


def fields(path):
    long = roce_udp(u8(6, 0) + u16(0xffff) + u32(0x12, 9) + reth(4096) + bytes(1000), tos=3)
    icmp = ipv4(u8(8, 0) + u16(0, 1, 1), "10.3.0.1", "10.3.0.2", proto=1)
    syn = ipv4(u16(1234, 80) + u32(5, 0) + u8(0x50, 2) + u16(512, 0, 0), "10.8.0.1", "10.8.0.2", proto=6)
    arp = u16(1, 0x0800) + u8(6, 4) + u16(1) + bytes.fromhex("0200000000010a0100010000000000000a010002")
    records = [rec(1036, u32(5)), rec(1040, u32(123456)), rec(1039, u32(789)), rec(1041, xstr(b"group") + xstr(b"trap")),
               rec(1042, xstr(b"REASON")), rec(1038, xstr(b"function+0x1/0x2")), rec(1043, u64(1700000000000000123))]
    ns6 = ipv6(u8(135, 0) + bytes(22), "fe80::1", "ff02::1", nh=58)
    frag = ipv4(bytes(64), "10.4.0.1", "10.4.0.2", frag=0x2000 | 185)
    packets = [(eth(long), 1), (eth(icmp), 1), (eth(syn, tags=[(0x8100, 100)]), 1), (eth(arp, 0x0806), 1),
               (eth(ns6, 0x86dd), 1), (eth(frag), 1), (eth(vxlan(eth(roce4(17)))), 1),
               (eth(mpls(tcp4(), [16, 17]), 0x8847), 1), (eth(gre(tcp4())), 1), (eth(roce_v1(4), 0x8915), 1),
               (eth(bytes(46), 0x88cc), 1), (tcp4(), 11), (ns6, 12), (bytes(20), 7),
               (eth(roce_udp(bth(17) + aeth(0x1f))), 1), (eth(ipv6(atomic(17) + udp(b"", 1, 2, "::1", "::2"), nh=44),
                                                               0x86dd), 1)]
    samples = [discard((records if i == 0 else []) + [raw(p, cap=128, proto=proto)], 258, seq=1 + i, inp=3 * (i == 0),
                       out=4 * (i == 0), drops=2)
               for i, (p, proto) in enumerate(packets)]
    samples.append(discard([rec(1039, u32(2 ** 32 - 1))], 259, seq=99, sid=(2, 3), inp=0))
    names = counters([generic(3), port_name(b"swp3"), host_descr(b"leaf1")])
    pcap.write(path, list(datagrams(samples)) + [carry(dgram([names], seq=10))])


{"reasons": reasons, "hostile": hostile, "fields": fields}[sys.argv[1]](sys.argv[2])
