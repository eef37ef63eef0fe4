/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A reader of the simulated fabric's datagrams that shares nothing with what wrote them: it knows sFlow from
 * its specification and the wiring from fabric.h. Fails the running cmocka test at the first wrong byte. */
#ifndef TESTS_FABRIC_READER_H
#define TESTS_FABRIC_READER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/fabric.h"

#define SECOND 1000000000ull
#define MAX_AGENTS 16
#define MAX_PORTS 64
#define MAX_HOSTS 32
#define STREAMS 16384 /* low bits of the source port */
#define SEEN 9	      /* kinds of records: 1, 1001, 1038, 1041, 1042, 1036, 1039, 1040, 1043 */

struct port_view {
	uint32_t flow_sequence;
	uint32_t counter_sequence;
	uint32_t pool;
	int has_counters;
	uint64_t in_octets; /* as last told, and as told the first time */
	uint64_t first_in_octets;
	uint64_t out_octets;
	uint32_t in_discards;
	uint64_t bytes; /* scaled, of ingress samples since the first counters */
};

struct agent_view {
	uint32_t sequence;
	uint32_t uptime;
	uint32_t host_sequence;
	uint32_t drop_sequence;
	uint32_t drops;
	uint32_t first_drops;
	uint64_t drop_time;
	struct port_view ports[MAX_PORTS];
};

struct reader {
	struct xsf_fabric_config c;
	struct agent_view agents[MAX_AGENTS];
	uint8_t *
		spine_of; /* by source host, destination host and stream: spine + 1; 0 = not seen yet */
	/* now */
	uint64_t time;
	uint32_t agent;
	/* found */
	uint64_t datagrams;
	uint64_t flows;
	uint64_t counters;
	uint64_t drops;
	uint64_t forms[6]; /* samples by tag */
	struct xsf_fabric_sum opcode[256];
	uint64_t reasons[512];
	uint64_t unplaced; /* notifications */
	uint64_t ecn[4];
	uint64_t by_time[20]; /* datagrams, by twentieth of the cycle */
	uint64_t
		to_next[2]; /* RDMA WRITE Middle on spines: to the leaf after that of the sender? */
	uint64_t back_to_next[2]; /* Acknowledge likewise */
	uint64_t by_phase[2];
	uint64_t roce_by_phase[2];
	uint64_t tcp, arp, ip6, vxlan, trimmed, cnp, multicast;
	uint64_t edge_up, core_in, core_down, edge_out; /* scaled packets */
	uint32_t vlan;					/* of the current packet */
};

struct packet {
	int opcode; /* -1 = not RoCE */
	int has_hosts;
	uint32_t src, dst; /* hosts */
	uint32_t sport;
	uint8_t ttl;
	uint8_t tos;
	uint8_t syndrome;
	int has_aeth;
};

static uint32_t get16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) << 16 | get16(p + 2);
}

static uint64_t get64(const uint8_t *p)
{
	return (uint64_t)get32(p) << 32 | get32(p + 4);
}

static uint32_t host4(const struct reader *r, const uint8_t *a)
{
	uint32_t leaf = (get32(a) & 0x7fffff) >> 10, port = (get32(a) & 1023) - 1;

	assert_int_equal(a[0], 10);
	assert_true(a[1] & 128);
	assert_true(leaf < r->c.leaves && port < r->c.ports);
	return leaf * r->c.ports + port;
}

static uint32_t host6(const struct reader *r, const uint8_t *a)
{
	uint32_t leaf = get16(a + 6) - 1, port = get16(a + 14) - 1;

	assert_int_equal(get32(a), 0xfd00005f);
	assert_true(leaf < r->c.leaves && port < r->c.ports);
	return leaf * r->c.ports + port;
}

static void check_ip4_sum(const uint8_t *ip)
{
	uint32_t s = 0;

	for (int i = 0; i < 20; i += 2)
		s += get16(ip + i);
	s = (s & 0xffff) + (s >> 16);
	assert_int_equal((s & 0xffff) + (s >> 16), 0xffff);
}

static void read_bth(const uint8_t *b, struct packet *p)
{
	p->opcode = b[0];
	assert_int_equal(get16(b + 2), 0xffff); /* partition */
	switch (b[0]) {
	case 13:
	case 15:
	case 16:
	case 17:
	case 18:
		p->has_aeth = 1;
		p->syndrome = b[12];
		break;
	case 129:
		assert_int_equal(b[1] & 0xc0, 0);
		assert_int_equal(b[4], 0x40); /* BECN */
	}
}

/* A sampled packet of `len` bytes whose frame was `frame` long on the wire, FCS included. */
static void read_packet(struct reader *r, const uint8_t *b, uint32_t len, uint32_t frame,
			struct packet *p)
{
	uint32_t type, at = 14, proto, ip;

	memset(p, 0, sizeof(*p));
	p->opcode = -1;
	r->vlan = 0;
	assert_true(len >= 60 && len <= 128);
	assert_true(frame >= 64 && frame <= 4300);
	assert_true(len == 128 || len == frame - 4);
	type = get16(b + 12);
	if (type == 0x8100) {
		r->vlan = get16(b + 14) & 0xfff;
		type = get16(b + 16);
		at = 18;
	}
	if (type == 0x0806) {
		r->arp++;
		assert_int_equal(get16(b), 0xffff);
		return;
	}
	ip = at;
	if (type == 0x0800) {
		check_ip4_sum(b + at);
		assert_int_equal(b[at], 0x45);
		/* On the wire: link header, IP packet, padding of short ones, FCS. */
		assert_int_equal(frame,
				 at + get16(b + at + 2) + 4 < 64 ? 64 : at + get16(b + at + 2) + 4);
		p->tos = b[at + 1];
		p->ttl = b[at + 8];
		proto = b[at + 9];
		at += 20;
	} else {
		assert_int_equal(type, 0x86dd);
		assert_int_equal(frame, at + 40 + get16(b + at + 4) + 4);
		r->ip6++;
		p->tos = (uint8_t)(get16(b + at) >> 4);
		proto = b[at + 6];
		p->ttl = b[at + 7];
		at += 40;
	}
	p->sport = get16(b + at);
	if (proto == 6) {
		r->tcp++;
		if (get16(b + at + 2) == 179)
			return; /* between switches */
	} else {
		assert_int_equal(proto, 17);
	}
	if (type == 0x86dd && b[ip + 24] == 0xff) {
		r->multicast++;
		return;
	}
	p->has_hosts = 1;
	p->src = type == 0x0800 ? host4(r, b + ip + 12) : host6(r, b + ip + 8);
	p->dst = type == 0x0800 ? host4(r, b + ip + 16) : host6(r, b + ip + 24);
	if (proto != 17)
		return;
	if (get16(b + at + 2) == 4789) {
		r->vxlan++;
		at += 8 + 8 + 14;
		check_ip4_sum(b + at);
		at += 20;
	}
	if (get16(b + at + 2) != 4791)
		return;
	assert_true(at + 8 + 12 <= len);
	read_bth(b + at + 8, p);
}

/* A connection keeps its spine. */
static void check_spine(struct reader *r, const struct packet *p, uint32_t spine)
{
	uint8_t *seen =
		r->spine_of + ((p->src * MAX_HOSTS + p->dst) * STREAMS + p->sport % STREAMS);

	assert_true(p->sport >= 0xc000);
	if (*seen)
		assert_int_equal(*seen, spine + 1);
	*seen = (uint8_t)(spine + 1);
}

/* Did this packet pass the ports that the fabric's wiring gives it? in, out: port numbers from 0. */
static void check_way(struct reader *r, const struct packet *p, uint32_t in, uint32_t out,
		      uint32_t source, uint32_t rate)
{
	uint32_t ports = r->c.ports, src_leaf = p->src / ports, dst_leaf = p->dst / ports;
	uint32_t hops;

	if (r->agent >= r->c.leaves) {
		assert_int_equal(in, src_leaf);
		assert_int_equal(out, dst_leaf);
		assert_int_not_equal(in, out);
		assert_int_equal(source, in);
		assert_int_equal(p->ttl, 63);
		check_spine(r, p, r->agent - r->c.leaves);
		if (p->opcode == 7)
			r->to_next[dst_leaf == (src_leaf + 1) % r->c.leaves]++;
		if (p->opcode == 17)
			r->back_to_next[dst_leaf == (src_leaf + 1) % r->c.leaves]++;
		r->core_in += rate;
		return;
	}
	hops = 0;
	if (in < ports) {
		assert_int_equal(p->src, r->agent * ports + in);
		if (out >= ports) {
			assert_int_not_equal(dst_leaf, r->agent);
			check_spine(r, p, out - ports);
		}
	} else {
		assert_int_not_equal(src_leaf, r->agent);
		check_spine(r, p, in - ports);
		hops = 2;
	}
	if (out < ports)
		assert_int_equal(p->dst, r->agent * ports + out);
	if (source == out) {
		assert_true(out < ports);
		hops++;
		r->edge_out += rate;
	} else {
		assert_int_equal(source, in);
		*(in < ports ? &r->edge_up : &r->core_down) += rate;
	}
	assert_int_equal(p->ttl, 64 - hops);
	assert_int_equal(r->vlan, (source < ports) && (r->agent & 1) ? 100 : 0);
}

static struct port_view *port_of(struct reader *r, uint32_t index)
{
	uint32_t nr = r->agent < r->c.leaves ? r->c.ports + r->c.spines : r->c.leaves;

	assert_true(index >= XSF_FABRIC_FIRST_IFINDEX && index < XSF_FABRIC_FIRST_IFINDEX + nr);
	return &r->agents[r->agent].ports[index - XSF_FABRIC_FIRST_IFINDEX];
}

/* The records of a flow or discarded-packet sample; p is the sampled packet. Returns the frame length. */
static uint32_t read_records(struct reader *r, const uint8_t *b, uint32_t len, uint32_t nr,
			     struct packet *p, uint32_t seen[SEEN])
{
	uint32_t at = 0, frame = 0;

	memset(seen, 0, SEEN * sizeof(*seen));
	memset(p, 0, sizeof(*p));
	while (nr--) {
		uint32_t tag, size;

		assert_true(len - at >= 8);
		tag = get32(b + at);
		size = get32(b + at + 4);
		assert_int_equal(size % 4, 0);
		assert_true(size <= len - at - 8);
		at += 8;
		switch (tag) {
		case 1:
			assert_int_equal(get32(b + at), 1);
			frame = get32(b + at + 4);
			assert_int_equal(get32(b + at + 8), 4);
			assert_int_equal((get32(b + at + 12) + 3) / 4 * 4 + 16, size);
			read_packet(r, b + at + 16, get32(b + at + 12), frame, p);
			seen[0]++;
			break;
		case 1001:
			assert_int_equal(size, 16);
			seen[1]++;
			break;
		case 1038:
			seen[2]++;
			break;
		case 1041:
			seen[3]++;
			break;
		case 1042:
			seen[4]++;
			break;
		case 1036:
		case 1039:
		case 1040:
			assert_int_equal(size, 4);
			seen[tag == 1036 ? 5 : tag - 1033]++;
			break;
		case 1043:
			assert_int_equal(size, 8);
			/* of the clock that began with 2026 */
			assert_true(get64(b + at) == 1767225600 * SECOND + r->time);
			seen[8]++;
			break;
		default:
			fail_msg("record %u", tag);
		}
		at += size;
	}
	assert_int_equal(at, len);
	assert_int_equal(seen[0], 1);
	return frame;
}

static int in_exchange(const struct reader *r)
{
	return r->time % r->c.cycle_ns >= r->c.cycle_ns / 5 * 3;
}

static void count_roce(struct reader *r, const struct packet *p, uint32_t rate, uint32_t frame)
{
	r->by_phase[in_exchange(r)]++;
	if (p->tos >> 2 == 11)
		r->trimmed++;
	if (p->opcode < 0)
		return;
	r->roce_by_phase[in_exchange(r)]++;
	r->opcode[p->opcode].samples++;
	r->opcode[p->opcode].packets += rate;
	r->opcode[p->opcode].bytes += (uint64_t)rate * frame;
	r->ecn[p->tos & 3]++;
	if (p->opcode == 129) {
		r->cnp++;
		assert_int_equal(p->tos >> 2, 48);
	}
	/* ACK with credits, RNR or NAK; codes 96..100 exist */
	if (p->has_aeth)
		assert_true(p->syndrome < 64 || (p->syndrome >= 96 && p->syndrome <= 100));
}

static void read_flow(struct reader *r, const uint8_t *b, uint32_t len, int expanded)
{
	uint32_t fixed = expanded ? 44 : 32, rate, in, out, out_format, source, seen[SEEN], frame;
	const uint8_t *f = expanded ? b + 12 : b + 8;
	struct port_view *port;
	struct packet p;

	assert_true(len >= fixed);
	assert_int_equal(expanded, r->agent >= r->c.leaves);
	source = expanded ? get32(b + 8) : get32(b + 4);
	if (expanded)
		assert_int_equal(get32(b + 4), 0); /* class; compact: the top byte */
	rate = get32(f);
	in = expanded ? get32(b + 28) : get32(b + 20);
	out = expanded ? get32(b + 36) : get32(b + 24) & 0x3fffffff;
	out_format = expanded ? get32(b + 32) : get32(b + 24) >> 30;
	port_of(r, in);
	port = port_of(r, source);
	assert_int_equal(get32(b), ++port->flow_sequence);
	assert_true(rate >= 1);
	if (port->flow_sequence > 1)
		assert_int_equal(get32(f + 4) - port->pool, rate);
	port->pool = get32(f + 4);
	frame = read_records(r, b + fixed, len - fixed, get32(b + fixed - 4), &p, seen);
	assert_int_equal(seen[2] + seen[3] + seen[4], 0);
	assert_int_equal(seen[1], !expanded && source - XSF_FABRIC_FIRST_IFINDEX < r->c.ports);
	r->flows++;
	count_roce(r, &p, rate, frame);
	if (source == in && port->has_counters)
		port->bytes += (uint64_t)rate * frame;
	if (out_format == 1) {
		assert_int_equal(out, 258);
	} else if (out_format == 2) {
		assert_false(p.has_hosts); /* ARP, multicast */
	} else if (out == 0x3fffffff) {
		assert_int_equal(out_format, 0);
	} else {
		assert_int_equal(out_format, 0);
		port_of(r, out);
		assert_true(p.has_hosts);
		check_way(r, &p, in - XSF_FABRIC_FIRST_IFINDEX, out - XSF_FABRIC_FIRST_IFINDEX,
			  source - XSF_FABRIC_FIRST_IFINDEX, rate);
	}
}

static void read_counters(struct reader *r, struct port_view *port, const uint8_t *b,
			  uint32_t index)
{
	int edge = r->agent < r->c.leaves && index - XSF_FABRIC_FIRST_IFINDEX < r->c.ports;

	assert_int_equal(get32(b), index);
	assert_int_equal(get32(b + 4), 6);
	assert_true(get64(b + 8) == (edge ? 400000000000 : 800000000000));
	assert_int_equal(get32(b + 20), 3);
	if (port->has_counters) {
		assert_true(get64(b + 24) >= port->in_octets);
		assert_true(get64(b + 56) >= port->out_octets);
		assert_true(get32(b + 44) - port->in_discards < 1u << 31);
		/* What came in since the first time is what the samples since then stand for. */
		assert_true(get64(b + 24) - port->first_in_octets == port->bytes);
	} else {
		port->has_counters = 1;
		port->first_in_octets = get64(b + 24);
	}
	port->in_octets = get64(b + 24);
	port->out_octets = get64(b + 56);
	port->in_discards = get32(b + 44);
}

static void read_counter(struct reader *r, const uint8_t *b, uint32_t len, int expanded)
{
	uint32_t fixed = expanded ? 16 : 12, class, index;
	struct port_view *port;

	assert_true(len >= fixed);
	assert_int_equal(expanded, r->agent >= r->c.leaves);
	class = expanded ? get32(b + 4) : get32(b + 4) >> 24;
	index = expanded ? get32(b + 8) : get32(b + 4) & 0xffffff;
	r->counters++;
	if (class == 2) {
		char name[16];

		assert_int_equal(index, 1);
		assert_int_equal(get32(b), ++r->agents[r->agent].host_sequence);
		assert_int_equal(get32(b + fixed - 4), 1);
		assert_int_equal(get32(b + fixed), 2000);
		assert_int_equal(get32(b + fixed + 4), len - fixed - 8);
		memset(name, 0, sizeof(name));
		memcpy(name, b + fixed + 12, get32(b + fixed + 8));
		if (r->agent < r->c.leaves) {
			assert_memory_equal(name, "leaf", 4);
			assert_int_equal(strtol(name + 4, NULL, 10), r->agent + 1);
		} else {
			assert_memory_equal(name, "spine", 5);
			assert_int_equal(strtol(name + 5, NULL, 10), r->agent - r->c.leaves + 1);
		}
		return;
	}
	assert_int_equal(class, 0);
	port = port_of(r, index);
	assert_int_equal(get32(b), ++port->counter_sequence);
	assert_int_equal(get32(b + fixed - 4), 2);
	assert_int_equal(get32(b + fixed), 1);
	assert_int_equal(get32(b + fixed + 4), 88);
	read_counters(r, port, b + fixed + 8, index);
	assert_int_equal(get32(b + fixed + 96), 1005);
	assert_int_equal(get32(b + fixed + 100), len - fixed - 104);
	assert_memory_equal(b + fixed + 108, "swp", 3);
	assert_int_equal(
		(uint32_t)(b[fixed + 111] - '0') * (get32(b + fixed + 104) == 4 ? 1 : 10) +
			(get32(b + fixed + 104) == 4 ? 0 : (uint32_t)(b[fixed + 112] - '0')),
		index - XSF_FABRIC_FIRST_IFINDEX + 1);
}

static void read_drop(struct reader *r, const uint8_t *b, uint32_t len)
{
	struct agent_view *a = &r->agents[r->agent];
	uint32_t seen[SEEN], reason;
	struct packet p;

	assert_true(len >= 32);
	assert_int_equal(get32(b), ++a->drop_sequence);
	assert_int_equal(get32(b + 4), 0);
	assert_int_equal(get32(b + 8), 0);
	assert_true(get32(b + 12) >= a->drops);
	a->drops = get32(b + 12);
	if (a->drop_sequence == 1)
		a->first_drops = a->drops;
	if (get32(b + 16))
		port_of(r, get32(b + 16));
	else
		r->unplaced++;
	if (get32(b + 20))
		port_of(r, get32(b + 20));
	reason = get32(b + 24);
	assert_true(reason < 512);
	r->reasons[reason]++;
	r->drops++;
	/* 50 a second and no more, unless told how many */
	if (a->drop_sequence > 1 && !r->c.drops)
		assert_true(r->time - a->drop_time >= SECOND / 50);
	a->drop_time = r->time;
	read_records(r, b + 32, len - 32, get32(b + 28), &p, seen);
	/* a switching chip names its trap, the kernel its function and reason */
	assert_int_equal(seen[3] + seen[2], 1);
	assert_int_equal(seen[2], seen[4]);
	/* what is told of bursts: the queue where it was full, and when */
	assert_int_equal(seen[8], r->c.drops > 0);
	for (int i = 5; i < 8; i++)
		assert_int_equal(seen[i], r->c.drops && (reason == 259 || reason == 260));
	assert_int_equal(!get32(b + 16), r->c.drops && reason == 3);
	assert_int_equal(!!get32(b + 20), reason == 259 || reason == 260);
	if (reason == 257)
		assert_int_equal(p.ttl, 1);
}

static void read_datagram(struct reader *r, const uint8_t *b, const struct xsf_fabric_datagram *d)
{
	uint32_t at = r->c.ipv6_agents ? 40 : 28, samples;
	struct agent_view *a;

	assert_true(d->len <= 1400 && d->len > at);
	assert_true(d->time_ns >= r->time);
	r->time = d->time_ns;
	assert_int_equal(get32(b), 5);
	if (r->c.ipv6_agents) {
		assert_int_equal(get32(b + 4), 2);
		assert_int_equal(get32(b + 8), 0xfd00005f);
		r->agent = (get16(b + 12) == 1 ? 0 : r->c.leaves) + get16(b + 22) - 1;
	} else {
		assert_int_equal(get32(b + 4), 1);
		assert_int_equal(b[8], 10);
		r->agent = (b[9] == 1 ? 0 : r->c.leaves) + get16(b + 10) - 1;
	}
	assert_int_equal(r->agent, d->agent);
	assert_true(r->agent < r->c.leaves + r->c.spines);
	a = &r->agents[r->agent];
	assert_int_equal(get32(b + at - 16), 0);
	assert_int_equal(get32(b + at - 12), ++a->sequence);
	if (a->sequence > 1)
		assert_true(get32(b + at - 8) - a->uptime <= 1000000);
	a->uptime = get32(b + at - 8);
	samples = get32(b + at - 4);
	assert_true(samples >= 1 && samples <= 8);
	r->datagrams++;
	if (r->c.cycle_ns)
		r->by_time[r->time % r->c.cycle_ns * 20 / r->c.cycle_ns]++;
	while (samples--) {
		uint32_t tag, len;

		assert_true(d->len - at >= 8);
		tag = get32(b + at);
		len = get32(b + at + 4);
		at += 8;
		assert_true(len <= d->len - at);
		assert_int_equal(len % 4, 0);
		assert_true(tag >= 1 && tag <= 5);
		r->forms[tag]++;
		if (tag == 1 || tag == 3)
			read_flow(r, b + at, len, tag == 3);
		else if (tag == 5)
			read_drop(r, b + at, len);
		else
			read_counter(r, b + at, len, tag == 4);
		at += len;
	}
	assert_int_equal(at, d->len);
}

static struct reader *reader_new(const struct xsf_fabric_config *c)
{
	struct reader *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	assert_true(c->leaves + c->spines <= MAX_AGENTS && c->ports + c->spines <= MAX_PORTS);
	assert_true(c->leaves * c->ports <= MAX_HOSTS);
	r->c = *c;
	r->spine_of = calloc(MAX_HOSTS * MAX_HOSTS, STREAMS);
	assert_non_null(r->spine_of);
	return r;
}

static void reader_free(struct reader *r)
{
	free(r->spine_of);
	free(r);
}

#endif
