// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From RFC 8200 (headers, 8.1), RFC 768, RFC 2675 and RFC 6275, without include/xsf/csum.h. */
#include "csum_trio.h"

#include <stddef.h>

static uint32_t get16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

/* Where the datagram is, and what speaks against telling its sum. */
struct found {
	uint32_t ip, udp, end; /* end: of the IPv6 payload, or of the packet */
	int fragment, routing, home, bad_length, jumbo;
};

/* 1 there is one, 0 there is not, -1 too many to look at. */
static int has_option(const uint8_t *header, uint32_t len, uint8_t type)
{
	uint32_t seen = 0, at = 2;

	while (at < len) {
		if (++seen > 64)
			return -1;
		if (header[at] == type)
			return 1;
		if (header[at] == 0)
			at += 1;
		else
			at += 2 + (at + 1 < len ? header[at + 1] : 0u);
	}
	return 0;
}

/* Options whose length leads beyond their header end it: the byte behind the header does not count. */
static const char *walk(const uint8_t *f, uint32_t len, struct found *w)
{
	uint32_t type, at = 14, tags = 0, next, payload, headers = 0;
	int option;

	type = get16(f + 12);
	if (type != 0x86dd && type != 0x8100 && type != 0x88a8 && type != 0x9100)
		return "not_ip6";
	while (type == 0x8100 || type == 0x88a8 || type == 0x9100) {
		if (tags++ == 2)
			return "vlan_depth";
		if (at + 4 > len)
			return "short_packet";
		type = get16(f + at + 2);
		at += 4;
	}
	if (type != 0x86dd)
		return "not_ip6";
	if (at + 40 > len)
		return "short_packet";
	if (f[at] >> 4 != 6)
		return "bad_ip";
	w->ip = at;
	payload = get16(f + at + 4);
	next = f[at + 6];
	at += 40;
	if (payload == 0 && next == 0) {
		w->bad_length = 1;
		w->end = len;
	} else if (at + payload > len) {
		w->bad_length = 1;
		w->end = len;
	} else {
		w->end = at + payload;
	}
	while (next != 17) {
		uint32_t size, is = next;

		if (next != 0 && next != 43 && next != 44 && next != 60)
			return "not_udp";
		if (headers++ == 3)
			return "ext_depth";
		if (at + 8 > w->end)
			return "short_packet";
		next = f[at];
		size = is == 44 ? 8 : (f[at + 1] + 1u) * 8;
		if (at + size > w->end)
			return "bad_ip";
		if (is == 44 && get16(f + at + 2) >> 3)
			return next == 17 ? "fragments" : "not_udp";
		if (is == 44 && f[at + 3] & 1)
			w->fragment = 1;
		if (is == 43 && f[at + 3] != 0)
			w->routing = 1;
		if (is == 60 || (is == 0 && w->bad_length)) {
			option = has_option(f + at, size, is == 60 ? 0xc9 : 0xc2);
			if (option < 0)
				return "ext_depth";
			if (option && is == 60)
				w->home = 1;
			else if (option)
				w->jumbo = 1;
		}
		at += size;
	}
	if (at + 8 > w->end)
		return w->fragment ? "fragments" : "short_packet";
	w->udp = at;
	return NULL;
}

/* The sum of the pseudo header and the datagram, folded; all ones when the checksum in it is right. */
static uint32_t sum_of(const uint8_t *f, uint32_t ip, uint32_t udp, uint32_t len)
{
	uint32_t sum = 17 + (len >> 16) + (len & 0xffff);

	for (uint32_t i = 0; i < 32; i++)
		sum += i & 1 ? f[ip + 8 + i] : (uint32_t)f[ip + 8 + i] << 8;
	for (uint32_t i = 0; i < len; i++)
		sum += i & 1 ? f[udp + i] : (uint32_t)f[udp + i] << 8;
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

void csum_fill(uint8_t *frame, uint32_t ip, uint32_t udp, uint32_t udp_len)
{
	uint32_t check;

	frame[udp + 6] = frame[udp + 7] = 0;
	check = 0xffff - sum_of(frame, ip, udp, udp_len);
	if (check == 0)
		check = 0xffff;
	frame[udp + 6] = (uint8_t)(check >> 8);
	frame[udp + 7] = (uint8_t)check;
}

static const char *why_left(const struct found *w, const uint8_t *f, uint32_t gso_size)
{
	uint32_t udp_len = get16(f + w->udp + 4);

	if (w->jumbo)
		return "left_jumbogram";
	if (w->fragment)
		return "left_fragment";
	if (gso_size)
		return "left_gso";
	if (w->routing)
		return "left_routing";
	if (w->home)
		return "left_home_address";
	if (w->bad_length || udp_len < 8 || w->udp + udp_len > w->end)
		return "left_bad_length";
	if (udp_len - 8 > 9000)
		return "left_too_long";
	return NULL;
}

int csum_verify(const uint8_t *frame, uint32_t len, uint32_t *at)
{
	struct found w = { 0 };

	if (len < 16 || walk(frame, len, &w) || why_left(&w, frame, 0))
		return -1;
	*at = w.udp + 6;
	if (!frame[*at] && !frame[*at + 1])
		return 2;
	return sum_of(frame, w.ip, w.udp, get16(frame + w.udp + 4)) == 0xffff;
}

void csum_repair(uint8_t *frame, uint32_t len)
{
	struct found w = { 0 };

	if (len >= 16 && !walk(frame, len, &w) && !why_left(&w, frame, 0))
		csum_fill(frame, w.ip, w.udp, get16(frame + w.udp + 4));
}

uint32_t csum_port(const uint8_t *frame, uint32_t len)
{
	struct found w = { 0 };

	return len < 16 || walk(frame, len, &w) ? 0 : get16(frame + w.udp + 2);
}

static int in_prefix(const struct csum_prefix *prefix, const uint8_t *addr)
{
	for (uint32_t bit = 0; bit < prefix->len; bit++) {
		if ((prefix->addr[bit / 8] ^ addr[bit / 8]) & 0x80 >> bit % 8)
			return 0;
	}
	return 1;
}

/* -1 not watched, 0 observed, 1 repaired. */
static int policy_of(const struct csum_rules *rules, uint32_t port, const uint8_t *source)
{
	int repair = -1;

	if (!rules->nr_watch)
		return port == 4739 || port == 6343 || port == 2055 ? 1 : -1;
	for (uint32_t i = 0; i < rules->nr_watch && repair < 0; i++) {
		if (rules->watch[i].port == port)
			repair = rules->watch[i].repair;
	}
	if (repair != 1 || !rules->nr_from)
		return repair;
	for (uint32_t i = 0; i < rules->nr_from; i++) {
		if (in_prefix(&rules->from[i], source))
			return 1;
	}
	return 0;
}

void csum_reference(const struct csum_rules *rules, const uint8_t *frame, uint32_t len,
		    const struct csum_how *how, struct csum_result *out)
{
	struct found w = { 0 };
	uint32_t udp_len;
	int repair, zero;

	memcpy(out->p, frame, len);
	out->port = 0;
	memset(out->source, 0, 16);
	out->outcome = walk(frame, len, &w);
	if (out->outcome)
		return;
	repair = policy_of(rules, get16(frame + w.udp + 2), frame + w.ip + 8);
	if (repair < 0) {
		out->outcome = "other_port";
		return;
	}
	out->port = get16(frame + w.udp + 2);
	memcpy(out->source, frame + w.ip + 8, 16);
	out->outcome = why_left(&w, frame, how->gso_size);
	if (out->outcome)
		return;
	udp_len = get16(frame + w.udp + 4);
	zero = !frame[w.udp + 6] && !frame[w.udp + 7];
	if (!zero && sum_of(frame, w.ip, w.udp, udp_len) == 0xffff) {
		out->outcome = "good";
	} else if (how->partial) {
		out->outcome = "left_partial";
	} else if (!repair) {
		out->outcome = zero ? "observed_zero" : "observed_wrong";
	} else {
		out->outcome = zero ? "repaired_zero" : "repaired_wrong";
		csum_fill(out->p, w.ip, w.udp, udp_len);
	}
}
