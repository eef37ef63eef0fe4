#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes the captures 40 and up of tests/golden/pcaps; what they must count is in expected.tsv and
expected/*.json, written by hand. Same bytes every time: tests/cli/golden_test.sh compares.

build.py DIRECTORY
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "py"))
import pcap
from sflow import *  # noqa: F401,F403


def sampled(frame, proto=1, **k):
    return flow([raw(frame, proto=proto)], **k)


def header_overruns():
    """header_length against its record: one more, far more, all ones, exact, exact with padding."""
    frame = eth(roce4(4))
    room = len(pad4(frame))
    out = []
    for hlen in (room + 1, room + 4, 0x7fffffff, 0xffffffff, 0xfffffff0, room):
        out.append([flow([raw(frame, hlen=hlen)]), sampled(eth(roce4(6)))])
    out.append([xflow([raw(frame, hlen=room + 1)]), discard([raw(frame, hlen=room + 1)], 258)])
    # The next sample's bytes would complete the header: they must not be read as one.
    short = eth(roce4(4))[:30]
    out.append([flow([raw(short, hlen=len(frame))]), sampled(eth(roce4(8)))])
    return [carry(dgram(s, seq=i + 1)) for i, s in enumerate(out)]


def jumbo():
    """46 samples in 8.5 kB."""
    return [carry(dgram([F(4, seq=i + 1) for i in range(46)]), minpad=False)]


def longest():
    """A payload of 9000 bytes, which is read, and one of 9001."""
    first, last = F(4), F(6)
    middle = sample(77, bytes(9000 - 28 - len(first) - len(last) - 8), ent=9)
    d = dgram([first, middle, last])
    return [carry(d), carry(dgram([first, middle, last], seq=2) + b"x")]


def carriers():
    inner = eth(roce4(4))
    ip = roce4(6)
    samples = [
        sampled(eth(vxlan(inner))),                                   # tunnel 4
        sampled(eth(ipv6(udp(u32(0x08000000, 9 << 8) + eth(roce6(10, body=24), 0x86dd), 4000, 4789,
                             "2001:db8::1", "2001:db8::2"), "2001:db8::1", "2001:db8::2"), 0x86dd)),
        sampled(eth(vxlan(eth(roce4(4), tags=((0x8100, 5),))))),      # tunnel 4, tagged inside
        sampled(eth(mpls(ip, [16]), 0x8847)),                         # tunnel 6
        sampled(eth(mpls(ip, [16, 17, 18, 19]), 0x8847)),             # tunnel 6
        sampled(eth(mpls(roce6(8), [16, 17]), 0x8848)),               # tunnel 8
        sampled(eth(mpls(ip, [16, 17, 18, 19, 20]), 0x8847)),         # five labels: not followed
        sampled(eth(roce_v1(4), 0x8915)),                             # v1 4
        sampled(eth(roce_v1(17, body=4), 0x8915, tags=((0x8100, 7),))),  # v1 17
        sampled(eth(gre(ip))),                                        # other tunnel
        sampled(eth(geneve(inner))),                                  # other tunnel
        sampled(eth(vxlan(eth(vxlan(inner))))),                       # VXLAN in VXLAN: not followed
        sampled(eth(vxlan(inner))[:80]),                              # cut inside the inner IP header
        sampled(eth(roce4(4, dport=4792))),                           # another port
        sampled(eth(roce6(4, ext=hop(43) + hop(60, 16) + hop(17), first_nh=0), 0x86dd)),  # 3 headers
        sampled(eth(roce6(4, ext=hop(60) + hop(60) + hop(60) + hop(17), first_nh=0), 0x86dd)),  # 4
        sampled(eth(roce6(4, ext=atomic(17), first_nh=44), 0x86dd)),  # atomic fragment
        sampled(eth(roce4(4, opts=bytes((1, 1, 1, 0))))),             # IPv4 options
        sampled(eth(roce4(4, opts=bytes((1,)) * 40))),                # 40 bytes of them
        sampled(eth(roce4(4, ihl=4))),                                # impossible header length
    ]
    return [carry(dgram(samples[i:i + 5], seq=i // 5 + 1)) for i in range(0, len(samples), 5)]


def rdma():
    """RETH, AETH, CNP, ECN, trimming, in three directions and at three rates."""
    def s(payload, tos=0, **k):
        return sampled(eth(roce_udp(payload, tos=tos)), **k)

    ingress, egress, other = dict(inp=3, out=4), dict(inp=9, out=3), dict(inp=7, out=8)
    one = [
        s(bth(6) + reth(4096) + bytes(32), rate=100, **ingress),
        s(bth(10) + reth(4097) + bytes(32), rate=100, **ingress),
        s(bth(12) + reth(1), rate=100, **ingress),
        s(bth(12) + reth(0), rate=100, **ingress),
        s(bth(10) + reth(0xffffffff), rate=100, **egress),
        s(bth(11) + reth(65536) + bytes(8), rate=100, **other),
        s(bth(17) + aeth(0x1f), rate=100, **egress),     # ACK, no credit limit
        s(bth(17) + aeth(0x05), rate=100, **egress),     # ACK, credit code 5
        s(bth(17) + aeth(0x2c), rate=100, **egress),     # RNR NAK, timer 12
        s(bth(17) + aeth(0x60), rate=100, **egress),     # NAK: PSN sequence error
        s(bth(17) + aeth(0x63), rate=100, **egress),     # NAK: remote operational error
        s(bth(17) + aeth(0x41), rate=100, **egress),     # reserved
        s(bth(13) + aeth(0x1e) + bytes(16), rate=100, **ingress),
    ]
    two = [
        s(bth_cnp(0, 0), rate=1000, **ingress),
        s(bth_cnp(1, 0), rate=1000, **ingress),
        s(bth_cnp(0, 1), rate=1000, **other),
        s(bth_cnp(1, 1), rate=1000, **egress),
        s(bth(7) + bytes(64), tos=3, rate=1000, **ingress),             # CE
        s(bth(7) + bytes(64), tos=26 << 2 | 3, rate=1000, **egress),    # CE, DSCP 26
        s(bth(7) + bytes(64), tos=26 << 2 | 2, rate=1000, **egress),    # ECT(0)
        s(bth(7) + bytes(64), tos=1, rate=1000, **egress),              # ECT(1)
        s(bth(7), tos=11 << 2, rate=1000, **ingress),                   # trimmed
        s(bth(0x15) + bytes(16), rate=1000, **ingress),                 # reserved opcode
        s(bth(4)[:11], rate=1000, **ingress),                           # BTH cut
        s(bth(6) + reth(5)[:14], rate=1000, **ingress),                 # RETH cut, the operation counts
        s(bth(4) + bytes(8), rate=0, **ingress),                        # weight 1, bad_rate
    ]
    samples = one + two
    return [carry(dgram(samples[i:i + 7], seq=i // 7 + 1)) for i in range(0, len(samples), 7)]


def sequence():
    """Per agent and sub-agent: loss, duplicates, order, restarts, frozen uptime."""
    out = []

    def say(agent, numbers, sub=0, uptime=lambda i, n: 100000 + i * 1000):
        for i, n in enumerate(numbers):
            out.append(carry(dgram([F(4)], agent=agent, sub=sub, seq=n, uptime=uptime(i, n)),
                             src="192.0.2.1"))

    say("10.0.0.1", [1, 2, 3, 4, 5])                                    # nothing amiss
    say("10.0.0.1", [100, 101, 104, 105], sub=7)                        # 2 lost (pending)
    say("10.0.0.2", [1, 2, 4, 3, 5, 5, 6])                              # 1 reordered, 1 duplicate
    say("10.0.0.3", [1, 2, 3] + list(range(50, 100)))                   # 46 lost, settled
    say("10.0.0.4", [500, 501, 1, 2, 3],
        uptime=lambda i, n: 900000 + i if n >= 500 else 1000 + i)       # restart
    say("10.0.0.5", [7, 7, 7, 7])                                       # never advances: 3 duplicates
    say("10.0.0.6", [0xfffffffe, 0xffffffff, 0, 1, 2])                  # wraps
    say("10.0.0.7", [10, 11, 200000, 200001], uptime=lambda i, n: 5)    # frozen uptime: restart
    say("10.0.0.8", [1000, 1001, 900, 901])                             # back beyond the window: restart
    say("2001:db8::8", [5, 6, 9])                                       # IPv6 agent, 2 lost (pending)
    return out


def interfaces():
    """Counters, names, sampled directions; unknown values; a record under another data source."""
    ones = 0xffffffff
    samples = [
        counters([generic(ifindex=3, inoct=1 << 40, inu=5, outoct=7 << 33, outu=6, ino=(1, 2, 3, 4, 5),
                          outo=(6, 7, 8, 9)), ethctr(), port_name(b"Ethernet3")], sid=3),
        counters([generic(ifindex=4, speed=400 * 10**9, inoct=2**64 - 1, inu=ones,
                          ino=(ones,) * 5, outoct=77, outu=ones, outo=(ones,) * 4), port_name(b"xe-0/0/4")],
                 sid=4),
        xcounters([generic(ifindex=70000, inoct=11)], sid=(0, 70000)),
        counters([host_descr(b"leaf-1")], sid=2 << 24 | 1),
        flow([raw(eth(roce4(4)), flen=1000)], sid=3, inp=3, out=4, rate=10),
        flow([raw(eth(roce4(4)), flen=1000)], sid=3, inp=4, out=3, rate=10),
        flow([raw(eth(tcp4()), flen=500)], sid=3, inp=5, out=6, rate=10),
        xflow([raw(eth(roce4(6)), flen=2000)], sid=(0, 70000), inp=(0, 70000), out=(0, 3), rate=20),
    ]
    return [carry(dgram(samples, agent="192.0.2.3"))]


def names():
    """What an agent may write into a name: quotes, line feeds, no UTF-8, NUL, too long, none."""
    out = []
    for i, name in enumerate((b'a"b\\c', b"line\nfeed\r\t", b"\xff\xfe\xc3", b"nul\0byte", b"x" * 63,
                              b"y" * 64, b"z" * 600, b"", "caf\u00e9".encode(), b"\x1b[31mred")):
        out.append(carry(dgram([counters([host_descr(name)], sid=2 << 24 | 1),
                                counters([generic(ifindex=1), port_name(name)], sid=1)],
                               agent="192.0.2.%d" % (10 + i))))
    # Lengths that lie.
    bad = rec(1005, u32(9) + b"abcdefgh")
    out.append(carry(dgram([counters([bad], sid=1), counters([port_name(b"ok"), generic(ifindex=1)], sid=1)],
                           agent="192.0.2.30")))
    return out


def outer():
    """What arrives at the port, and what only looks so."""
    d = dgram([F(4)])

    def u(src="192.0.2.1", dst=COLLECTOR4, dport=SFLOW, **k):
        return udp(d, 50000, dport, src, dst, **k)

    six = ("2001:db8::1", COLLECTOR6)
    u6 = udp(d, 50000, SFLOW, *six)
    other4 = ipv4(u(), "192.0.2.1", COLLECTOR4)
    tcp = ipv4(u16(50000, 6343) + u32(1, 1) + u8(0x50, 0x10) + u16(9, 0, 0), "192.0.2.1", COLLECTOR4, proto=6)
    bad_total = ipv4(u(), "192.0.2.1", COLLECTOR4, totlen=60000)
    return [
        eth(ipv4(u(), "192.0.2.1", COLLECTOR4, opts=bytes((1,)) * 40)),        # options
        eth(ipv6(hop(43) + hop(60, 24) + hop(17) + u6, *six, nh=0), 0x86dd),   # 3 extension headers
        eth(ipv6(atomic(17) + u6, *six, nh=44), 0x86dd),                       # atomic fragment
        eth(other4, tags=((0x9100, 1), (0x8100, 2))),                          # old QinQ
        eth(other4, tags=((0x88a8, 1), (0x8100, 2))),
        eth(ipv6(hop(60) * 3 + hop(17) + u6, *six, nh=60), 0x86dd),            # 4: ext_depth
        eth(other4, tags=((0x88a8, 1), (0x8100, 2), (0x8100, 3))),             # 3 tags: vlan_depth
        eth(ipv4(u(dport=6344), "192.0.2.1", COLLECTOR4)),                     # other_port
        eth(tcp),                                                              # not_udp
        eth(bytes(46), 0x0806),                                                # not_ip
        eth(bad_total),                                                        # bad_ip
        eth(ipv4(u(), "192.0.2.1", COLLECTOR4, ihl=4)),                        # bad_ip
        eth(ipv4(b"\x01\x02\x03\x04", "192.0.2.1", COLLECTOR4)),               # UDP header cut
        eth(ipv4(udp(b"", 50000, SFLOW, "192.0.2.1", COLLECTOR4), "192.0.2.1", COLLECTOR4)) + bytes(18),
        eth(ipv4(u(length=7), "192.0.2.1", COLLECTOR4)),                       # udp_length
    ]


def containerlab():
    """The packets of the public containerlab RoCE lab, each unmarked and with TOS 3 (CE), over IPv4 and IPv6."""
    first = "0640000000000123000000000000000000000000000000000000000080000000000000000000"
    payloads = [bytes.fromhex(p) for p in [first] + 4 * ["07" + first[2:]] + [
        "1140000000000123000000000700000000000000000000000000000000000000000000000000",
        "8100000000000123000000000000000000000000000000000000000000000000000000000000"]]
    six = ("2001:db8:1::1", "2001:db8:1::2")
    out = []
    for tos in (0, 3):
        out.append([eth(roce_udp(p, tos=tos)) for p in payloads])
        packets = [ipv6(udp(p, 49200, 4791, *six), *six) for p in payloads]
        out.append([eth(u32(6 << 28 | tos << 20) + p[4:], 0x86dd) for p in packets])
    return [carry(dgram([sampled(f, seq=7 * i + j + 1, pool=1000 * (7 * i + j + 1)) for j, f in enumerate(frames)],
                        seq=i + 1)) for i, frames in enumerate(out)]


CASES = {
    "40-header-overruns": header_overruns,
    "41-jumbo": jumbo,
    "42-carriers": carriers,
    "43-rdma": rdma,
    "44-sequence": sequence,
    "45-interfaces": interfaces,
    "46-names": names,
    "47-outer": outer,
    "48-longest": longest,
    "49-containerlab": containerlab,
}

if __name__ == "__main__":
    for name, make in CASES.items():
        pcap.write(os.path.join(sys.argv[1], name + ".pcap"), make(), start=1700000000)
