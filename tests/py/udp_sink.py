#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""udp_sink.py ADDR PORT_FILE OUT: receives datagrams on a free port of ADDR, which it writes into PORT_FILE,
and appends each to OUT as one line of hexadecimal digits, until it gets the datagram "end" or for 60 s."""
import os
import socket
import sys

addr, port_file, out = sys.argv[1:]
s = socket.socket(socket.AF_INET6 if ":" in addr else socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
s.bind((addr, 0))
s.settimeout(60)
with open(port_file + ".new", "w") as f:
    f.write("%d\n" % s.getsockname()[1])
os.rename(port_file + ".new", port_file)
with open(out, "w") as f:
    while True:
        data = s.recv(65535)
        if data == b"end":
            break
        f.write(data.hex() + "\n")
