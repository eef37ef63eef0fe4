#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""tcx.py IFACE PIN attaches the pinned program to the interface's tcx ingress (Linux 6.6); tcx.py --off IFACE PIN
takes it off. Exit 1, with the kernel's word, where it cannot."""
import ctypes
import os
import socket
import struct
import sys

BPF, BPF_OBJ_GET, BPF_PROG_ATTACH, BPF_PROG_DETACH, TCX_INGRESS = 321, 7, 8, 9, 46


def bpf(command, attr):
    libc = ctypes.CDLL(None, use_errno=True)
    buf = ctypes.create_string_buffer(attr, 128)
    got = libc.syscall(BPF, command, buf, 128)
    if got < 0:
        sys.exit("tcx.py: " + os.strerror(ctypes.get_errno()))
    return got


off = sys.argv[1] == "--off"
iface, pin = sys.argv[-2:]
path = ctypes.create_string_buffer(pin.encode())
prog = bpf(BPF_OBJ_GET, struct.pack("=QII", ctypes.addressof(path), 0, 0))
bpf(BPF_PROG_DETACH if off else BPF_PROG_ATTACH,
    struct.pack("=IIII", socket.if_nametoindex(iface), prog, TCX_INGRESS, 0))
