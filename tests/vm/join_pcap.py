#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Joins captures into one of Ethernet frames (join_pcap.py OUT FILE...). Frames that a capture cut, or
that are longer than --longest bytes, are left out. Prints the number of frames."""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "py"))
import pcap  # noqa: E402


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--longest", type=int, default=1514)
    p.add_argument("out")
    p.add_argument("file", nargs="+")
    a = p.parse_args()

    packets = []
    for path in a.file:
        for link, frame, wire in pcap.frames(path):
            if len(frame) < wire:
                continue
            frame = pcap.ethernet(link, frame)
            if 14 <= len(frame) <= a.longest:
                packets.append(frame)
    pcap.write(a.out, packets)
    print(len(packets))


main()
