#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A plain UDP receiver: what a collector behind the program gets. Prints a line for each datagram: bytes and
CRC of its payload. receive.py PORT; ends on SIGTERM, after what is waiting has been read.
"""
import signal
import socket
import sys
import zlib

s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
s.bind(("::", int(sys.argv[1])))
print("ready", flush=True)
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
s.settimeout(0.2)
while True:
    try:
        data = s.recv(65536)
    except TimeoutError:
        if ended:
            break
        continue
    print(len(data), "%08x" % zlib.crc32(data), flush=True)
