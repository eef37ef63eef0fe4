/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes sFlow datagrams, frames and sampled packets for tests, big endian, one field after another. The
 * layouts are written out here once more, from the specifications and not from include/xsf. */
#ifndef XSF_TEST_WIRE_H
#define XSF_TEST_WIRE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WIRE_MAX 16384

struct wire {
	uint32_t len;
	uint8_t p[WIRE_MAX];
};

static inline void wire_bytes(struct wire *w, const void *bytes, uint32_t len)
{
	if (len > WIRE_MAX - w->len)
		abort();
	memcpy(w->p + w->len, bytes, len);
	w->len += len;
}

static inline void wire_fill(struct wire *w, uint8_t byte, uint32_t len)
{
	if (len > WIRE_MAX - w->len)
		abort();
	memset(w->p + w->len, byte, len);
	w->len += len;
}

static inline void wire_8(struct wire *w, uint32_t v)
{
	uint8_t b = (uint8_t)v;

	wire_bytes(w, &b, 1);
}

static inline void wire_16(struct wire *w, uint32_t v)
{
	wire_8(w, v >> 8);
	wire_8(w, v);
}

static inline void wire_32(struct wire *w, uint32_t v)
{
	wire_16(w, v >> 16);
	wire_16(w, v);
}

static inline void wire_64(struct wire *w, uint64_t v)
{
	wire_32(w, (uint32_t)(v >> 32));
	wire_32(w, (uint32_t)v);
}

static inline uint32_t wire_get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void wire_put32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

/* XDR padding to 4 bytes, counted from `from`. */
static inline void wire_pad(struct wire *w, uint32_t from)
{
	wire_fill(w, 0, -(w->len - from) & 3);
}

/* ---- sFlow version 5 (sflow_version_5.txt) */

/* Header of a datagram of an IPv4 agent; 28 bytes. */
static inline void wire_datagram(struct wire *w, uint32_t agent, uint32_t sub_agent,
				 uint32_t sequence, uint32_t uptime, uint32_t samples)
{
	wire_32(w, 5);
	wire_32(w, 1);
	wire_32(w, agent);
	wire_32(w, sub_agent);
	wire_32(w, sequence);
	wire_32(w, uptime);
	wire_32(w, samples);
}

/* Likewise of an IPv6 agent; 40 bytes. */
static inline void wire_datagram6(struct wire *w, const uint8_t agent[16], uint32_t sub_agent,
				  uint32_t sequence, uint32_t uptime, uint32_t samples)
{
	wire_32(w, 5);
	wire_32(w, 2);
	wire_bytes(w, agent, 16);
	wire_32(w, sub_agent);
	wire_32(w, sequence);
	wire_32(w, uptime);
	wire_32(w, samples);
}

/* Tag and length of a sample or record; returns where its body starts, for wire_close. */
static inline uint32_t wire_open(struct wire *w, uint32_t tag)
{
	wire_32(w, tag);
	wire_32(w, 0);
	return w->len;
}

/* Sets the length that wire_open left out, and pads. */
static inline void wire_close(struct wire *w, uint32_t body)
{
	wire_put32(w->p + body - 4, w->len - body);
	wire_pad(w, body);
}

/* flow_sample up to its records. source: class << 24 | index. */
static inline uint32_t wire_flow(struct wire *w, uint32_t sequence, uint32_t source, uint32_t rate,
				 uint32_t input, uint32_t output, uint32_t records)
{
	uint32_t body = wire_open(w, 1);

	wire_32(w, sequence);
	wire_32(w, source);
	wire_32(w, rate);
	wire_32(w, sequence * rate); /* pool */
	wire_32(w, 3);		     /* drops */
	wire_32(w, input);
	wire_32(w, output);
	wire_32(w, records);
	return body;
}

struct wire_if {
	uint32_t format;
	uint32_t value;
};

static inline uint32_t wire_flow_expanded(struct wire *w, uint32_t sequence, uint32_t class,
					  uint32_t index, uint32_t rate, struct wire_if input,
					  struct wire_if output, uint32_t records)
{
	uint32_t body = wire_open(w, 3);

	wire_32(w, sequence);
	wire_32(w, class);
	wire_32(w, index);
	wire_32(w, rate);
	wire_32(w, sequence * rate);
	wire_32(w, 3);
	wire_32(w, input.format);
	wire_32(w, input.value);
	wire_32(w, output.format);
	wire_32(w, output.value);
	wire_32(w, records);
	return body;
}

static inline uint32_t wire_counters(struct wire *w, uint32_t sequence, uint32_t source,
				     uint32_t records)
{
	uint32_t body = wire_open(w, 2);

	wire_32(w, sequence);
	wire_32(w, source);
	wire_32(w, records);
	return body;
}

static inline uint32_t wire_counters_expanded(struct wire *w, uint32_t sequence, uint32_t class,
					      uint32_t index, uint32_t records)
{
	uint32_t body = wire_open(w, 4);

	wire_32(w, sequence);
	wire_32(w, class);
	wire_32(w, index);
	wire_32(w, records);
	return body;
}

static inline uint32_t wire_drop(struct wire *w, uint32_t sequence, uint32_t class, uint32_t index,
				 uint32_t drops, uint32_t reason, uint32_t records)
{
	uint32_t body = wire_open(w, 5);

	wire_32(w, sequence);
	wire_32(w, class);
	wire_32(w, index);
	wire_32(w, drops);
	wire_32(w, 7); /* input */
	wire_32(w, 0); /* output */
	wire_32(w, reason);
	wire_32(w, records);
	return body;
}

/* sampled_header */
static inline void wire_header(struct wire *w, uint32_t protocol, uint32_t frame_length,
			       const void *header, uint32_t len)
{
	uint32_t body = wire_open(w, 1);

	wire_32(w, protocol);
	wire_32(w, frame_length);
	wire_32(w, 4);
	wire_32(w, len);
	wire_bytes(w, header, len);
	wire_pad(w, body);
	wire_close(w, body);
}

/* if_counters; every counter is `first` plus its position, 64-bit ones times 2^32 besides. */
static inline void wire_if_counters(struct wire *w, uint32_t ifindex, uint32_t first)
{
	uint32_t body = wire_open(w, 1), i;

	wire_32(w, ifindex);
	wire_32(w, 6);
	wire_64(w, 100000000000ull); /* speed */
	wire_32(w, 1);
	wire_32(w, 3);
	wire_64(w, (uint64_t)first << 32 | first);
	for (i = 1; i <= 6; i++)
		wire_32(w, first + i);
	wire_64(w, (uint64_t)(first + 7) << 32 | first);
	for (i = 8; i <= 12; i++)
		wire_32(w, first + i);
	wire_32(w, 1);
	wire_close(w, body);
}

/* lag_port_stats of a member of `aggregate`. */
static inline void wire_lag(struct wire *w, uint32_t aggregate)
{
	uint32_t body = wire_open(w, 7);

	wire_fill(w, 0x02, 16);
	wire_32(w, aggregate);
	wire_fill(w, 0x3d, 36);
	wire_close(w, body);
}

/* A record that is one string: port_name (1005), or the start of host_descr (2000). */
static inline void wire_string(struct wire *w, uint32_t tag, const char *text, uint32_t len)
{
	uint32_t body = wire_open(w, tag);

	wire_32(w, len);
	wire_bytes(w, text, len);
	wire_pad(w, body);
	if (tag == 2000) {
		wire_fill(w, 0xaa, 16); /* uuid */
		wire_32(w, 3);
		wire_32(w, 2);
		wire_32(w, 5);
		wire_bytes(w, "6.1.0\0\0", 8);
	}
	wire_close(w, body);
}

/* ---- frames: sampled ones and those that carry a datagram */

static inline void wire_eth(struct wire *w, uint32_t type)
{
	wire_bytes(w, "\x02\0\0\0\0\2\x02\0\0\0\0\1", 12);
	wire_16(w, type);
}

/* Behind wire_eth or another tag; `type` is what follows it. The type before it says "tag". */
static inline void wire_tag(struct wire *w, uint32_t vlan, uint32_t type)
{
	wire_16(w, vlan);
	wire_16(w, type);
}

/* `payload` bytes follow the header and `options` (a multiple of 4) bytes of no-operation options. */
static inline void wire_ip4(struct wire *w, uint32_t tos, uint32_t proto, uint32_t fragment,
			    uint32_t options, uint32_t payload)
{
	wire_8(w, 0x45 + options / 4);
	wire_8(w, tos);
	wire_16(w, 20 + options + payload);
	wire_16(w, 1);
	wire_16(w, fragment);
	wire_8(w, 64);
	wire_8(w, proto);
	wire_16(w, 0);
	wire_32(w, 0xc0000201); /* 192.0.2.1 */
	wire_32(w, 0xc633640a); /* 198.51.100.10 */
	wire_fill(w, 1, options);
}

/* `payload` bytes follow, extension headers among them. */
static inline void wire_ip6(struct wire *w, uint32_t traffic_class, uint32_t next, uint32_t payload)
{
	wire_32(w, 0x60000000 | traffic_class << 20);
	wire_16(w, payload);
	wire_8(w, next);
	wire_8(w, 64);
	wire_bytes(w, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	wire_bytes(w, "\x20\x01\x0d\xb8\xff\xff\0\0\0\0\0\0\0\0\0\x10", 16);
}

/* Hop-by-hop, routing or destination options header of 8 * (1 + more) bytes. */
static inline void wire_ext(struct wire *w, uint32_t next, uint32_t more)
{
	wire_8(w, next);
	wire_8(w, more);
	wire_fill(w, 0, 6 + 8 * more);
}

/* Fragment header: offset in bytes, a multiple of 8; more: 1 = not the last. */
static inline void wire_fragment(struct wire *w, uint32_t next, uint32_t offset, uint32_t more)
{
	wire_8(w, next);
	wire_8(w, 0);
	wire_16(w, offset | more);
	wire_32(w, 0xabcd);
}

static inline void wire_udp(struct wire *w, uint32_t source, uint32_t destination, uint32_t payload)
{
	wire_16(w, source);
	wire_16(w, destination);
	wire_16(w, 8 + payload);
	wire_16(w, 0);
}

/* BTH; flags: SE, M, PadCnt, TVer. */
static inline void wire_bth(struct wire *w, uint32_t opcode, uint32_t flags)
{
	wire_8(w, opcode);
	wire_8(w, flags);
	wire_16(w, 0xffff);
	wire_32(w, 0x11);
	wire_32(w, 7);
}

/* RoCEv2 over IPv4 in Ethernet: a BTH and `body` more bytes. */
static inline void wire_roce4(struct wire *w, uint32_t opcode, uint32_t tos, uint32_t body)
{
	wire_eth(w, 0x0800);
	wire_ip4(w, tos, 17, 0x4000, 0, 8 + 12 + body);
	wire_udp(w, 49152, 4791, 12 + body);
	wire_bth(w, opcode, 0x40);
	wire_fill(w, 0, body);
}

/* An sFlow datagram in Ethernet, IPv4 and UDP, from 192.0.2.1 to 198.51.100.10. */
static inline void wire_carry4(struct wire *w, const uint8_t *payload, uint32_t len, uint32_t port)
{
	w->len = 0;
	wire_eth(w, 0x0800);
	wire_ip4(w, 0, 17, 0x4000, 0, 8 + len);
	wire_udp(w, 50000, port, len);
	wire_bytes(w, payload, len);
}

/* Likewise in IPv6, from 2001:db8::1 to 2001:db8:ffff::10. */
static inline void wire_carry6(struct wire *w, const uint8_t *payload, uint32_t len, uint32_t port)
{
	w->len = 0;
	wire_eth(w, 0x86dd);
	wire_ip6(w, 0, 17, 8 + len);
	wire_udp(w, 50000, port, len);
	wire_bytes(w, payload, len);
}

#endif
