# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads and writes captures (pcap; reads pcapng too): enough for the tests, standard library only.

frames(path) yields (link type, bytes, wire length) in file order.
"""
import struct

EN10MB, RAW, NULL, SLL, SLL2 = 1, 101, 0, 113, 276


def frames(path):
    with open(path, "rb") as f:
        data = f.read()
    magic = data[:4]
    if magic == b"\x0a\x0d\x0d\x0a":
        yield from _pcapng(data)
    elif magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1"):
        yield from _pcap(data, "<")
    elif magic in (b"\xa1\xb2\xc3\xd4", b"\xa1\xb2\x3c\x4d"):
        yield from _pcap(data, ">")
    else:
        raise ValueError("%s: not a capture" % path)


def _pcap(data, order):
    link = struct.unpack_from(order + "I", data, 20)[0] & 0x0fffffff
    link = {12: RAW, 14: RAW}.get(link, link)
    off = 24
    while off + 16 <= len(data):
        cap, wire = struct.unpack_from(order + "II", data, off + 8)
        frame = data[off + 16:off + 16 + cap]
        if len(frame) < cap:
            raise ValueError("capture ends inside a frame")
        yield link, frame, wire
        off += 16 + cap


def _pcapng(data):
    off, order, links = 0, "<", []
    while off + 12 <= len(data):
        kind = data[off:off + 4]
        if kind == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[off + 8:off + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            links = []
        kind, length = struct.unpack_from(order + "II", data, off)
        body = data[off + 8:off + length - 4]
        if kind == 1:
            links.append(struct.unpack_from(order + "H", body)[0])
        elif kind == 6:
            iface, _, _, cap, wire = struct.unpack_from(order + "IIIII", body)
            yield links[iface], body[20:20 + cap], wire
        elif kind == 3:
            wire = struct.unpack_from(order + "I", body)[0]
            yield links[0], body[4:4 + wire], wire
        off += length


def ethernet(link, frame):
    """The frame as it goes onto an Ethernet: other link types get a header."""
    if link == EN10MB:
        return frame
    if link == NULL:
        frame = frame[4:]
    elif link == SLL:
        return bytes((2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1)) + frame[14:]
    elif link == SLL2:
        return bytes((2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1)) + frame[:2] + frame[20:]
    elif link != RAW:
        raise ValueError("link type %d" % link)
    kind = b"\x86\xdd" if frame and frame[0] >> 4 == 6 else b"\x08\x00"
    return bytes((2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1)) + kind + frame


def write(path, packets, link=EN10MB, snap=65535, start=1700000000.0, step=0.001):
    """packets: bytes, or (bytes, wire length)."""
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, snap, link))
        for i, p in enumerate(packets):
            p, wire = p if isinstance(p, tuple) else (p, len(p))
            t = start + i * step
            f.write(struct.pack("<IIII", int(t), int(t % 1 * 1e6), len(p), wire) + p)
