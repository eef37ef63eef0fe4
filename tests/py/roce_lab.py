#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes a capture of the packets that the public containerlab RoCE lab sends: UDP to port 4791 with 38 bytes
of RoCEv2; every tenth with TOS 3 (CE).

roce_lab.py FILE COUNT SOURCE-MAC SOURCE-IP DESTINATION-MAC DESTINATION-IP requests|answers

requests: RC RDMA WRITE First (its RETH has length 0) and four Middle, in turn. answers: an ACK of 12 credits and a CNP, in
turn.
"""
import sys

import pcap
from sflow import eth, ipv4, udp

FIRST = "0640000000000123000000000000000000000000000000000000000080000000000000000000"
MIDDLE = "07" + FIRST[2:]
ACK = "1140000000000123000000000700000000000000000000000000000000000000000000000000"
CNP = "8100000000000123000000000000000000000000000000000000000000000000000000000000"


def main():
    path, count, smac, src, dmac, dst, what = sys.argv[1:]
    macs = bytes.fromhex((dmac + smac).replace(":", ""))
    payloads = [FIRST] + 4 * [MIDDLE] if what == "requests" else [ACK, CNP]
    packets = []
    for i in range(int(count)):
        # 7 and 10 have no common divisor, nor 7 and the turns: each kind is marked alike.
        p = ipv4(udp(bytes.fromhex(payloads[i % len(payloads)]), 49152 + i % 64, 4791, src, dst, check=0),
                 src, dst, ident=i & 0xffff, tos=3 if i * 7 // 10 % 7 == 0 else 0)
        packets.append(macs + eth(p)[12:])
    pcap.write(path, packets)


main()
