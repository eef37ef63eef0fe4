#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes a capture of RoCEv2 packets between two hosts, for a switch to forward and sample.

roce_traffic.py FILE COUNT SOURCE-MAC SOURCE-IP DESTINATION-MAC DESTINATION-IP
"""
import sys

import pcap
from sflow import aeth, bth, eth, ipv4, reth, udp, u8

OPS = (6, 7, 7, 8, 10, 4, 12, 13, 17, 129)


def main():
    path, count, smac, src, dmac, dst = sys.argv[1:]
    macs = bytes.fromhex((dmac + smac).replace(":", ""))
    packets = []
    for i in range(int(count)):
        op = OPS[i % len(OPS)]
        more = reth(1 << i % 20) if op in (6, 10, 12) else aeth(31) if op in (13, 17) else b""
        p = ipv4(udp(bth(op, psn=i) + more + bytes(i % 900), 49152 + i % 64, 4791, src, dst, check=0),
                 src, dst, ident=i & 0xffff)
        packets.append(macs + eth(p)[12:])
    pcap.write(path, packets)


main()
