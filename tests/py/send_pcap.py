#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sends every frame of a capture onto an interface, byte for byte, through a packet socket (send_pcap.py
IFACE FILE...). No checksum, segmentation or tag offload touches it. Prints the number of frames sent.

--rate N    at most N frames a second (default 20000; a veth ring holds 256)
--repeat N  the whole capture N times
--dst MAC   with this destination address
A frame cut by the capture, longer than the MTU or shorter than an Ethernet header is left out; how many
goes to stderr.
"""
import argparse
import socket
import sys
import time

import pcap

PACKET_QDISC_BYPASS = 20
SOL_PACKET = 263


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rate", type=float, default=20000)
    p.add_argument("--repeat", type=int, default=1)
    p.add_argument("--dst")
    p.add_argument("iface")
    p.add_argument("file", nargs="+")
    a = p.parse_args()

    out, left = [], 0
    for path in a.file:
        for link, frame, wire in pcap.frames(path):
            if len(frame) < wire:
                left += 1
                continue
            frame = pcap.ethernet(link, frame)
            if len(frame) < 14:
                left += 1
                continue
            if a.dst:
                frame = bytes.fromhex(a.dst.replace(":", "")) + frame[6:]
            out.append(frame)

    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.bind((a.iface, 0))
    s.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
    sent, start = 0, time.monotonic()
    for _ in range(a.repeat):
        for frame in out:
            try:
                s.send(frame)
            except OSError as e:
                if e.errno != 90:  # EMSGSIZE
                    raise
                left += 1
                continue
            sent += 1
            ahead = sent / a.rate - (time.monotonic() - start)
            if ahead > 0.002:
                time.sleep(ahead)
    if left:
        print("%d frames left out" % left, file=sys.stderr)
    print(sent)


main()
