#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes DIR/one.pcap and DIR/tagged.pcap: one sFlow datagram without samples, plain and in VLAN 5."""
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "py"))
import pcap  # noqa: E402

payload = struct.pack("!II4sIIII", 5, 1, socket.inet_aton("192.0.2.1"), 0, 1, 1000, 0)
udp = struct.pack("!HHHH", 50000, 6343, 8 + len(payload), 0) + payload
ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                 socket.inet_aton("192.0.2.1"), socket.inet_aton("192.0.2.2")) + udp
macs = bytes.fromhex("020000000002" "020000000001")
pcap.write(sys.argv[1] + "/one.pcap", [macs + struct.pack("!H", 0x0800) + ip])
pcap.write(sys.argv[1] + "/tagged.pcap", [macs + struct.pack("!HHH", 0x8100, 5, 0x0800) + ip])
