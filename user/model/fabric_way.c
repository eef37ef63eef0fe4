// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The ways of packets through the switches of the fabric: which ports, which hosts, which spine. */
#include <string.h>
#include <xsf/sflow.h>

#include "model/fabric_state.h"

/* ---- addresses ---- */

static void host_addr(const struct xsf_fabric *f, uint32_t host, uint8_t a4[16], uint8_t a6[16])
{
	uint32_t leaf = host / f->c.ports, port = host % f->c.ports;
	uint32_t v4 = 10u << 24 | 128u << 16 | leaf << 10 | (port + 1); /* 10.128.0.0/9 */

	memset(a4, 0, 16);
	a4[10] = 0xff;
	a4[11] = 0xff;
	a4[12] = (uint8_t)(v4 >> 24);
	a4[13] = (uint8_t)(v4 >> 16);
	a4[14] = (uint8_t)(v4 >> 8);
	a4[15] = (uint8_t)v4;
	memset(a6, 0, 16); /* fd00:5f:8000:LEAF::PORT */
	a6[0] = 0xfd;
	a6[3] = 0x5f;
	a6[4] = 0x80;
	a6[6] = (uint8_t)((leaf + 1) >> 8);
	a6[7] = (uint8_t)(leaf + 1);
	a6[14] = (uint8_t)((port + 1) >> 8);
	a6[15] = (uint8_t)(port + 1);
}

enum mac_kind { MAC_HOST = 1, MAC_LEAF, MAC_SPINE };

static void mac_of(uint8_t mac[6], enum mac_kind kind, uint32_t number)
{
	mac[0] = 0x0a; /* locally administered */
	mac[1] = (uint8_t)kind;
	mac[2] = (uint8_t)(number >> 24);
	mac[3] = (uint8_t)(number >> 16);
	mac[4] = (uint8_t)(number >> 8);
	mac[5] = (uint8_t)number;
}

/* ---- ways ---- */

static void set_out(struct fabric_way *w, uint32_t port)
{
	w->out.format = SFLOW_IF_SINGLE;
	w->out.value = XSF_FABRIC_FIRST_IFINDEX + port;
	w->out_port = port;
}

/* The leaf at the other end: three of four connections are of the ring, the others to anyone. */
static uint32_t peer_leaf(struct xsf_fabric *f, uint32_t leaf, int backward)
{
	uint64_t d = xsf_random64(&f->random);
	uint32_t n = f->c.leaves, step;

	step = d & 3 ? 1 : 1 + (uint32_t)((d >> 32) * (n - 1) >> 32);
	return (backward ? leaf + n - step : leaf + step) % n;
}

/* The hosts of a packet and the stream (one per spine) that it belongs to. */
static void set_ends(const struct xsf_fabric *f, struct fabric_way *w, uint32_t src, uint32_t dst,
		     uint32_t stream)
{
	struct xsf_traffic_hop *h = &w->hop;

	host_addr(f, src, h->src4, h->src6);
	host_addr(f, dst, h->dst4, h->dst6);
	h->flow = (uint32_t)xsf_random_mix((uint64_t)src << 40 ^ (uint64_t)dst << 16 ^ stream);
	h->ip6 = src % f->c.ports % 4 == 3;
}

/* Does this connection of a leaf stay inside it? */
static int draw_local(struct xsf_fabric *f)
{
	return f->c.leaves == 1 || xsf_random_below(&f->random, 10) < LOCAL;
}

/* A packet between two hosts of this leaf. */
static void way_local(struct xsf_fabric *f, const struct fabric_agent *a, struct fabric_way *w)
{
	uint32_t ports = f->c.ports, port = xsf_random_below(&f->random, ports), to = port;
	uint32_t first = a->number * ports;

	if (ports > 1)
		to = (port + 1 + xsf_random_below(&f->random, ports - 1)) % ports;
	w->in = port;
	set_out(w, to);
	if (to == port) /* the only host there is talks to its switch */
		w->out.value = SFLOW_IF_INTERNAL;
	set_ends(f, w, first + port, first + to, 0);
	mac_of(w->hop.src_mac, MAC_HOST, first + port);
	mac_of(w->hop.dst_mac, MAC_LEAF, a->number);
}

/* A packet of a host of this leaf to its peer on another. */
static void way_up(struct xsf_fabric *f, const struct fabric_agent *a, struct fabric_way *w,
		   int backward)
{
	uint32_t ports = f->c.ports, port = xsf_random_below(&f->random, ports);
	uint32_t src = a->number * ports + port;
	uint32_t stream = xsf_random_below(&f->random, f->c.spines);

	w->in = port;
	set_out(w, ports + (src + stream) % f->c.spines);
	set_ends(f, w, src, peer_leaf(f, a->number, backward) * ports + port, stream);
	mac_of(w->hop.src_mac, MAC_HOST, src);
	mac_of(w->hop.dst_mac, MAC_LEAF, a->number);
}

/* A packet that comes from a spine to a host of this leaf. */
static void way_down(struct xsf_fabric *f, const struct fabric_agent *a, struct fabric_way *w,
		     int backward)
{
	uint32_t ports = f->c.ports, port = xsf_random_below(&f->random, ports);
	uint32_t src = peer_leaf(f, a->number, !backward) * ports + port;
	uint32_t stream = xsf_random_below(&f->random, f->c.spines);
	uint32_t spine = (src + stream) % f->c.spines;

	w->in = ports + spine;
	set_out(w, port);
	set_ends(f, w, src, a->number * ports + port, stream);
	mac_of(w->hop.src_mac, MAC_SPINE, spine);
	mac_of(w->hop.dst_mac, MAC_LEAF, a->number);
	w->hop.passed = 2;
}

/* A packet between two leaves, seen on a spine. */
static void way_through(struct xsf_fabric *f, const struct fabric_agent *a, struct fabric_way *w,
			int backward)
{
	uint32_t ports = f->c.ports, port = xsf_random_below(&f->random, ports);
	uint32_t leaf = xsf_random_below(&f->random, f->c.leaves);
	uint32_t to = peer_leaf(f, leaf, backward), src = leaf * ports + port;
	uint32_t stream = (a->number + f->c.spines - src % f->c.spines) % f->c.spines;

	w->in = leaf;
	set_out(w, to);
	set_ends(f, w, src, to * ports + port, stream);
	mac_of(w->hop.src_mac, MAC_LEAF, leaf);
	mac_of(w->hop.dst_mac, MAC_SPINE, a->number);
	w->hop.passed = 1;
}

/* Rewritten for the link to its host, where this sample is taken. */
static void way_out(const struct xsf_fabric *f, const struct fabric_agent *a, struct fabric_way *w)
{
	w->egress = 1;
	mac_of(w->hop.src_mac, MAC_LEAF, a->number);
	mac_of(w->hop.dst_mac, MAC_HOST, a->number * f->c.ports + w->out_port);
}

/* The neighbours' routing sessions: from the switch at the other end of the link. */
static void way_to_switch(const struct xsf_fabric *f, const struct fabric_agent *a,
			  struct fabric_way *w)
{
	uint32_t self = a->is_spine ? f->c.leaves + a->number : a->number;
	uint32_t other = a->is_spine ? w->in : f->c.leaves + (w->in - f->c.ports);

	xsf_fabric_source(f, other, 0, w->hop.src4);
	xsf_fabric_source(f, self, 0, w->hop.dst4);
	w->hop.passed = 0;
	w->out.value = SFLOW_IF_INTERNAL;
}

enum fabric_share fabric_draw_share(struct xsf_fabric *f, const struct fabric_agent *a)
{
	uint32_t down = f->c.leaves > 1 ? SHARE_DOWN : 0;
	uint32_t out = f->c.leaves > 1 || f->c.ports > 1 ? SHARE_OUT : 0, d;

	if (a->is_spine)
		return FABRIC_THROUGH;
	d = xsf_random_below(&f->random, SHARE_UP + down + out);
	if (d < SHARE_UP)
		return FABRIC_UP;
	return d < SHARE_UP + down ? FABRIC_DOWN : FABRIC_OUT;
}

/* Some kinds are met at some places only; elsewhere plain TCP is. */
uint32_t fabric_kind_at(uint32_t kind, enum fabric_share share)
{
	switch (xsf_traffic_reach(kind)) {
	case XSF_FLOODED:
		return share == FABRIC_UP ? kind : xsf_traffic_plain();
	case XSF_TO_SWITCH:
		return share == FABRIC_DOWN || share == FABRIC_THROUGH ? kind : xsf_traffic_plain();
	default:
		/* Access lists drop it on the first leaf. */
		return kind == xsf_traffic_unwanted() && share != FABRIC_UP ? xsf_traffic_plain() :
									      kind;
	}
}

/* A packet of this kind at this place. */
void fabric_choose_way(struct xsf_fabric *f, const struct fabric_agent *a, enum fabric_share share,
		       uint32_t kind, enum xsf_traffic_phase phase, struct fabric_way *w)
{
	enum xsf_traffic_reach reach = xsf_traffic_reach(kind);
	int backward = reach == XSF_BACKWARD;

	memset(w, 0, sizeof(*w));
	w->hop.phase = phase;
	if (share == FABRIC_THROUGH)
		way_through(f, a, w, backward);
	else if (share == FABRIC_DOWN)
		way_down(f, a, w, backward);
	else if ((share == FABRIC_UP || f->c.ports > 1) && draw_local(f))
		way_local(f, a, w);
	else if (share == FABRIC_UP)
		way_up(f, a, w, backward);
	else
		way_down(f, a, w, backward);
	if (share == FABRIC_OUT)
		way_out(f, a, w);
	if (reach == XSF_TO_SWITCH)
		way_to_switch(f, a, w);
	if (reach == XSF_FLOODED)
		w->out = (struct xsf_enc_if){ SFLOW_IF_MULTIPLE, 0 }; /* how many is not told */
	if ((share == FABRIC_UP || share == FABRIC_OUT) && a->number & 1)
		w->hop.vlan = FABRIC_HOST_VLAN;
	w->hop.ttl = (uint8_t)(64 - w->hop.passed - (uint32_t)w->egress);
}
