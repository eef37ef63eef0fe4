#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ledger_read.py PORT BUFFER [late|close]: a UDP socket on a port of every address, with SO_RCVBUF of that many bytes
(0: the default). Says "ready", reads until SIGTERM, then says how many datagrams it read. late: reads only
then. close: ends without reading."""
import select
import signal
import socket
import sys

port, size = int(sys.argv[1]), int(sys.argv[2])
late = sys.argv[3] if len(sys.argv) > 3 else ""
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
if size:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
s.bind(("::", port))
s.setblocking(False)
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
print("ready", flush=True)
nr = 0


def drain():
    global nr
    while True:
        try:
            s.recv(65535)
            nr += 1
        except BlockingIOError:
            return


while not ended:
    if late:
        select.select([], [], [], 0.05)
    elif select.select([s], [], [], 0.05)[0]:
        drain()
if late != "close":
    drain()
print(nr, flush=True)
