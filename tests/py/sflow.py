# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Builds frames: sFlow v5, RoCE, IP, UDP, tunnels. Standard library only; every byte is made from the
layouts.
"""
import socket
import struct

COLLECTOR4, COLLECTOR6 = "198.51.100.10", "2001:db8:ffff::10"
SFLOW = 6343


def u8(*v):  return struct.pack(">%dB" % len(v), *v)
def u16(*v): return struct.pack(">%dH" % len(v), *v)
def u32(*v): return struct.pack(">%dI" % len(v), *[x & 0xffffffff for x in v])
def u64(*v): return struct.pack(">%dQ" % len(v), *[x & (2**64 - 1) for x in v])
def ip4(a):  return socket.inet_aton(a)
def ip6(a):  return socket.inet_pton(socket.AF_INET6, a)
def mac(n):  return bytes((2, 0, 0, 0, n >> 8 & 255, n & 255))
def pad4(b): return b + b"\0" * (-len(b) % 4)


def csum(b):
    if len(b) & 1:
        b += b"\0"
    s = sum(struct.unpack(">%dH" % (len(b) // 2), b))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff


# ---------------------------------------------------------------- link layers
def eth(payload, etype=0x0800, tags=(), src=1, dst=2):
    h = mac(dst) + mac(src)
    for tpid, vid in tags:
        h += u16(tpid, vid)
    return h + u16(etype) + payload


def ipv4(payload, src="10.1.0.1", dst="10.1.0.2", proto=17, ident=1, frag=0x4000,
         opts=b"", ihl=None, totlen=None, ttl=64, tos=0):
    n = 20 + len(opts)
    h = u8((4 << 4) | (ihl if ihl is not None else n // 4), tos) + \
        u16(totlen if totlen is not None else n + len(payload), ident, frag) + \
        u8(ttl, proto) + b"\0\0" + ip4(src) + ip4(dst) + opts
    c = csum(h)
    return h[:10] + u16(c) + h[12:] + payload


def ipv6(payload, src="2001:db8:1::1", dst="2001:db8:1::2", nh=17, plen=None):
    return u32(6 << 28) + u16(plen if plen is not None else len(payload)) + u8(nh, 64) + \
        ip6(src) + ip6(dst) + payload


def udp(payload, sport, dport, src, dst, check="good", length=None):
    n = length if length is not None else 8 + len(payload)
    h = u16(sport, dport, n, 0)
    if ":" in src:
        ph = ip6(src) + ip6(dst) + u32(n) + u8(0, 0, 0, 17)
    else:
        ph = ip4(src) + ip4(dst) + u8(0, 17) + u16(n)
    if check == "good":
        c = csum(ph + (h + payload)[:n]) or 0xffff
    else:
        c = check
    return h[:6] + u16(c) + payload


# ------------------------------------------------------------- sampled frames
def bth(op, qp=0x11, psn=7):
    return u8(op, 0x40) + u16(0xffff) + u32(qp) + u32(psn)


def roce4(op, body=64, opts=b"", ihl=None, frag=0x4000, dport=4791, src="10.9.0.1", dst="10.9.0.2"):
    p = bth(op) + bytes(body)
    return ipv4(udp(p, 49152 + op, dport, src, dst, check=0), src, dst, opts=opts, ihl=ihl, frag=frag)


def roce6(op, body=64, ext=b"", first_nh=17):
    s, d = "2001:db8:9::1", "2001:db8:9::2"
    return ipv6(ext + udp(bth(op) + bytes(body), 49152 + op, 4791, s, d), s, d, nh=first_nh)


def tcp4():
    s, d = "10.8.0.1", "10.8.0.2"
    t = u16(40000, 443) + u32(1, 1) + u8(0x50, 0x10) + u16(512, 0, 0)
    return ipv4(t + bytes(40), s, d, proto=6)


# ------------------------------------------------------------ sFlow structures
def rec(fmt, body, ent=0, length=None):
    return u32(ent << 12 | fmt, length if length is not None else len(body)) + body


def raw(frame, cap=None, flen=None, proto=1, stripped=4, hlen=None, rlen=None):
    h = frame if cap is None else frame[:cap]
    b = u32(proto, flen if flen is not None else len(frame) + stripped, stripped,
            hlen if hlen is not None else len(h)) + pad4(h)
    return rec(1, b, length=rlen)


def sample(fmt, body, ent=0, length=None, pad=0):
    body += bytes(pad)
    return u32(ent << 12 | fmt, length if length is not None else len(body)) + body


def flow(recs, seq=1, sid=3, rate=1000, pool=1000, drops=0, inp=3, out=4, nrec=None, **k):
    b = u32(seq, sid, rate, pool, drops, inp, out, nrec if nrec is not None else len(recs))
    return sample(1, b + b"".join(recs), **k)


def xflow(recs, seq=1, sid=(0, 3), rate=1000, pool=1000, drops=0, inp=(0, 3), out=(0, 4), **k):
    b = u32(seq, *sid) + u32(rate, pool, drops) + u32(*inp) + u32(*out) + u32(len(recs))
    return sample(3, b + b"".join(recs), **k)


def counters(recs, seq=1, sid=3, nrec=None, **k):
    return sample(2, u32(seq, sid, nrec if nrec is not None else len(recs)) + b"".join(recs), **k)


def xcounters(recs, seq=1, sid=(0, 3), **k):
    return sample(4, u32(seq, *sid) + u32(len(recs)) + b"".join(recs), **k)


def generic(ifindex=3, iftype=6, speed=100 * 10**9, inoct=1000, inu=10, outoct=2000, outu=20,
            ino=(0, 0, 0, 0, 0), outo=(0, 0, 0, 0), promisc=1):
    b = u32(ifindex, iftype) + u64(speed) + u32(1, 3) + u64(inoct) + u32(inu, *ino) + \
        u64(outoct) + u32(outu, *outo) + u32(promisc)
    assert len(b) == 88, len(b)
    return rec(1, b)


def ethctr():  return rec(2, u32(*[0] * 13))


def discard(recs, reason, seq=1, sid=(0, 3), drops=0, inp=3, out=0):
    return sample(5, u32(seq, *sid) + u32(drops, inp, out, reason, len(recs)) + b"".join(recs))


def xstr(b):   return u32(len(b)) + pad4(b)


def dgram(samples, agent="192.0.2.1", sub=0, seq=1, uptime=100000, n=None, ver=5):
    a = u32(2) + ip6(agent) if ":" in agent else u32(1) + ip4(agent)
    return u32(ver) + a + u32(sub, seq, uptime, n if n is not None else len(samples)) + b"".join(samples)


# ------------------------------------------------------------------- carriers
def carry(payload, src="192.0.2.1", dst=None, tags=(), minpad=True, check="good", ulen=None,
          trailer=b"", ident=1, sport=50000, v6ext=None):
    if ":" in src:
        dst = dst or COLLECTOR6
        d = udp(payload, sport, SFLOW, src, dst, check, ulen)
        p = ipv6(d, src, dst) if v6ext is None else ipv6(v6ext + d, src, dst, nh=60)
        f = eth(p, 0x86dd, tags)
    else:
        dst = dst or COLLECTOR4
        f = eth(ipv4(udp(payload, sport, SFLOW, src, dst, check, ulen), src, dst, ident=ident), 0x0800, tags)
    f += trailer
    return f + bytes(max(0, 60 - len(f))) if minpad else f


def frag4(payload, cut=1480, src="192.0.2.1", ident=77):
    d = udp(payload, 50000, SFLOW, src, COLLECTOR4)
    assert cut % 8 == 0 and len(d) > cut
    return [eth(ipv4(d[:cut], src, COLLECTOR4, ident=ident, frag=0x2000)),
            eth(ipv4(d[cut:], src, COLLECTOR4, ident=ident, frag=cut // 8))]


def frag6(payload, cut=1448, src="2001:db8::1"):
    d = udp(payload, 50000, SFLOW, src, COLLECTOR6)
    fh = lambda off, m: u8(17, 0) + u16(off | m) + u32(0xabcd)
    return [eth(ipv6(fh(0, 1) + d[:cut], src, COLLECTOR6, nh=44), 0x86dd),
            eth(ipv6(fh(cut, 0) + d[cut:], src, COLLECTOR6, nh=44), 0x86dd)]


def F(op, **k): return flow([raw(eth(roce4(op)))], **k)



# -------------------------------------------------- tunnels, RoCE headers, names
def roce_udp(payload, src="10.9.0.1", dst="10.9.0.2", tos=0, opts=b""):
    """An IPv4 packet of RoCEv2: payload starts at the BTH."""
    p = ipv4(udp(payload, 49200, 4791, src, dst, check=0), src, dst, opts=opts)
    p = p[:1] + u8(tos) + p[2:]
    c = csum(p[:10] + b"\0\0" + p[12:20 + len(opts)])
    return p[:10] + u16(c) + p[12:]


def reth(length, va=0x1000, rkey=7):
    return u64(va) + u32(rkey, length)


def aeth(syndrome, msn=1):
    return u32(syndrome << 24 | msn)


def bth_cnp(se=0, m=0):
    return u8(0x81, se << 7 | m << 6) + u16(0xffff) + u32(0x11, 0) + bytes(16)


def vxlan(frame, vni=5000, src="10.7.0.1", dst="10.7.0.2"):
    return ipv4(udp(u32(0x08000000, vni << 8) + frame, 40001, 4789, src, dst, check=0), src, dst)


def geneve(frame, vni=5000, src="10.7.0.1", dst="10.7.0.2"):
    return ipv4(udp(u16(0, 0x6558) + u32(vni << 8) + frame, 40001, 6081, src, dst, check=0), src, dst)


def gre(packet, src="10.7.0.1", dst="10.7.0.2"):
    return ipv4(u16(0, 0x0800) + packet, src, dst, proto=47)


def mpls(packet, labels):
    """labels: numbers; the last one has the bottom bit."""
    out = b""
    for i, label in enumerate(labels):
        out += u32(label << 12 | (i == len(labels) - 1) << 8 | 64)
    return out + packet


def roce_v1(op, body=64, tclass=0):
    """A RoCEv1 frame's payload: GRH (version 6, next header 27) and BTH."""
    payload = bth(op) + bytes(body)
    return u32(6 << 28 | tclass << 20) + u16(len(payload)) + u8(27, 64) + \
        ip6("fe80::1") + ip6("fe80::2") + payload


def hop(next_header, n=8):
    """A hop-by-hop, destination-options or routing header of n bytes, all padding."""
    return u8(next_header, n // 8 - 1) + u8(1, n - 4) + bytes(n - 4)


def atomic(next_header, offset=0, more=0):
    return u8(next_header, 0) + u16(offset << 3 | more) + u32(0x1234)


def port_name(name):
    return rec(1005, xstr(name))


def host_descr(name, machine=2, os=2, release=b"6.1"):
    return rec(2000, xstr(name) + bytes(16) + u32(machine, os) + xstr(release))
