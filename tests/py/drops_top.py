#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""drops_top.py COMMAND...: runs it on a terminal of its own (100 columns, 20 lines), presses the keys of the
tables, and q. Prints the title of each table that was drawn, whether the last had rows of reasons, and how it
ended."""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time


def read_until(fd, pattern, seconds):
    """Reads until the pattern was drawn; what was read."""
    said, end = b"", time.monotonic() + seconds
    while not re.search(pattern, said) and time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                said += os.read(fd, 65536)
            except OSError:
                break
    return said


pid, fd = pty.fork()
if not pid:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 100, 0, 0))
drawn = read_until(fd, rb"PLACE", 10)
print("PLACE" if b"PLACE" in drawn else "nothing: %r" % drawn)
for key, title in ((b"r", b"REASON"), (b"f", b"FLOW"), (b"\t", b"PLACE"), (b"r", b"REASON")):
    os.write(fd, key)
    drawn = read_until(fd, title, 5)
    print(title.decode() if title in drawn else "nothing after %r: %r" % (key, drawn))
REASONS = rb"no_buffer_space|ttl_exceeded|blackhole_route"
print("rows" if re.search(REASONS, drawn + read_until(fd, REASONS, 5)) else "no rows")
os.write(fd, b"q")
said = read_until(fd, rb"notified", 5)
found = re.search(rb"xdp-sflow: \d+ shown.*notified", said)
print("summary" if found else "no summary: %r" % said)
print("exit", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
