// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xsf/sflow.h>

#include "model/fabric_state.h"

#define MEAN_FRAME 2700 /* bytes, in the exchange phase */
#define MEAN_SAMPLES 6	/* flow samples of a datagram */
#define MAX_EDGE_RATE 1000000
#define LOAD 60 /* percent of the narrowest link, in the exchange phase */

/* Datagrams lie evenly in "work". A cycle's compute phase, 3/5 of its time, does 3/20 of its work: a
 * quarter of the mean rate; the exchange phase runs at 17/8 of it. */
static uint64_t time_of(const struct xsf_fabric *f, uint64_t index)
{
	uint64_t rate = f->c.rate, cycle = f->c.cycle_ns;
	uint64_t work = index / rate * SECOND + index % rate * SECOND / rate;
	uint64_t in, quiet;

	if (!cycle)
		return work;
	in = work % cycle;
	quiet = cycle / 20 * 3;
	if (in < quiet)
		return work + in * 3;
	in -= quiet;
	return work - in + quiet * 3 + in / 17 * 8 + in % 17 * 8 / 17;
}

enum xsf_traffic_phase fabric_phase(const struct xsf_fabric *f, uint64_t time)
{
	uint64_t cycle = f->c.cycle_ns ? f->c.cycle_ns : SECOND, at = time % cycle;

	if (f->c.cycle_ns && at < cycle / 20 * 12)
		return XSF_COMPUTE;
	return at < cycle / 20 * 16 ? XSF_EXCHANGE : XSF_CONGESTED;
}

void fabric_agent_name(const struct fabric_agent *a, char name[XSF_FABRIC_NAME])
{
	snprintf(name, XSF_FABRIC_NAME, "%s%u", a->is_spine ? "spine" : "leaf", a->number + 1);
}

/* The rate at which edge links run at LOAD percent in the exchange phase, or less where uplinks are the
 * narrow place; two digits. */
static uint32_t choose_rate(const struct xsf_fabric_config *c)
{
	uint64_t load = EDGE_SPEED / 100 * LOAD;
	uint64_t uplinks = CORE_SPEED / 100 * LOAD * c->spines / c->ports;
	uint64_t packets, samples, rate, scale = 1;
	uint64_t share = c->leaves > 1 ? SHARE_LEAF + SHARE_SPINE : SHARE_UP + SHARE_OUT;

	if (c->leaves > 1 && uplinks < load)
		load = uplinks;
	packets = load / 8 / MEAN_FRAME * c->leaves * c->ports;
	samples = (uint64_t)c->rate * MEAN_SAMPLES * SHARE_UP / share;
	if (c->cycle_ns)
		samples = samples * 17 / 8;
	rate = packets / (samples ? samples : 1);
	if (rate < 1)
		return 1;
	if (rate > MAX_EDGE_RATE)
		return MAX_EDGE_RATE;
	while (rate / scale >= 100)
		scale *= 10;
	return (uint32_t)(rate / scale * scale);
}

static void init_port(struct xsf_fabric *f, struct fabric_port *p, uint32_t index, uint64_t speed)
{
	struct xsf_enc_if_counters *c = &p->now;
	struct xsf_random *r = &f->random;

	c->index = index;
	c->type = 6; /* ethernetCsmacd */
	c->speed = speed;
	c->direction = 1;
	c->status = 3;
	/* Switches ran before this began; some 32-bit counters will wrap soon. */
	c->in_octets = xsf_random64(r) >> 20;
	c->in_ucast = (uint32_t)xsf_random64(r);
	c->in_multicast = xsf_random_below(r, 1 << 24);
	c->in_broadcast = xsf_random_below(r, 1 << 22);
	c->in_discards = xsf_random_below(r, 1 << 12);
	c->in_unknown = 0xffffffff; /* switching chips don't tell */
	c->out_octets = xsf_random64(r) >> 20;
	c->out_ucast = (uint32_t)xsf_random64(r);
	c->out_multicast = xsf_random_below(r, 1 << 24);
	c->out_broadcast = xsf_random_below(r, 1 << 22);
	c->out_discards = xsf_random_below(r, 1 << 16);
	p->pool = (uint32_t)xsf_random64(r);
}

static void init_agent(struct xsf_fabric *f, uint32_t i, uint32_t *port)
{
	struct fabric_agent *a = &f->agents[i];

	a->is_spine = i >= f->c.leaves;
	a->number = a->is_spine ? i - f->c.leaves : i;
	a->nr_ports = a->is_spine ? f->c.leaves : f->c.ports + f->c.spines;
	a->first_port = *port;
	/* Between a minute and eleven days. */
	a->boot_ms = 60000 + xsf_random_below(&f->random, 1000000000);
	for (uint32_t p = 0; p < a->nr_ports; p++) {
		int edge = !a->is_spine && p < f->c.ports;

		init_port(f, &f->ports[*port], XSF_FABRIC_FIRST_IFINDEX + p,
			  edge ? EDGE_SPEED : CORE_SPEED);
		(*port)++;
	}
}

static int config_ok(const struct xsf_fabric_config *c)
{
	return c->leaves >= 1 && c->leaves <= XSF_FABRIC_MAX_LEAVES && c->spines >= 1 &&
	       c->spines <= XSF_FABRIC_MAX_SPINES && c->ports >= 1 &&
	       c->ports <= XSF_FABRIC_MAX_PORTS &&
	       c->leaves * (c->ports + 2 * c->spines) <= XSF_FABRIC_MAX_INTERFACES &&
	       c->rate <= XSF_FABRIC_MAX_RATE && c->drops <= XSF_FABRIC_MAX_DROPS &&
	       c->polling_ns <= XSF_FABRIC_MAX_NS && c->cycle_ns <= XSF_FABRIC_MAX_NS &&
	       (!c->cycle_ns || c->cycle_ns >= 1000);
}

int xsf_fabric_new(const struct xsf_fabric_config *config, struct xsf_fabric **out)
{
	struct xsf_fabric *f;
	uint32_t port = 0;

	if (!config_ok(config))
		return -EINVAL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->c = *config;
	if (!f->c.rate)
		f->c.rate = XSF_FABRIC_NOMINAL_RATE;
	f->random.state = xsf_random_mix(f->c.seed);
	f->nr_agents = f->c.leaves + f->c.spines;
	f->nr_ports = f->c.leaves * (f->c.ports + 2 * f->c.spines);
	f->edge_rate = choose_rate(&f->c);
	f->agents = calloc(f->nr_agents, sizeof(*f->agents));
	f->ports = calloc(f->nr_ports, sizeof(*f->ports));
	f->reports = calloc(f->nr_ports, sizeof(*f->reports));
	f->places = calloc(f->nr_ports + f->nr_agents, sizeof(*f->places));
	if (!f->agents || !f->ports || !f->reports || !f->places) {
		xsf_fabric_free(f);
		return -ENOMEM;
	}
	xsf_traffic_init(&f->mix);
	for (uint32_t i = 0; i < f->nr_agents; i++)
		init_agent(f, i, &port);
	f->flaky = xsf_random_below(&f->random, f->nr_ports);
	if (f->c.drops)
		fabric_burst_next(f);
	*out = f;
	return 0;
}

void xsf_fabric_free(struct xsf_fabric *f)
{
	if (!f)
		return;
	free(f->agents);
	free(f->ports);
	free(f->reports);
	free(f->places);
	free(f);
}

/* The next datagram is about drops. */
static int burst_is_due(const struct xsf_fabric *f)
{
	return f->c.drops && f->burst.due <= time_of(f, f->index);
}

uint64_t xsf_fabric_time(const struct xsf_fabric *f)
{
	return burst_is_due(f) ? f->burst.due : time_of(f, f->index);
}

/* Whose turn it is: by the samples that each kind of switch takes. */
static uint32_t choose_agent(struct xsf_fabric *f, uint64_t time)
{
	uint32_t spine, share = SHARE_SPINE;

	if (f->c.leaves == 1)
		share = SHARE_LEAF / 10; /* nothing passes them: counters only */
	if (xsf_random_below(&f->random, SHARE_LEAF + share) < share) {
		spine = f->c.leaves + xsf_random_below(&f->random, f->c.spines);
		if (f->c.leaves > 1 || fabric_poll_is_due(f, &f->agents[spine], time))
			return spine;
	}
	return xsf_random_below(&f->random, f->c.leaves);
}

void xsf_fabric_source(const struct xsf_fabric *f, uint32_t agent, int ip6, uint8_t addr[16])
{
	const struct fabric_agent *a = &f->agents[agent];
	uint32_t host = a->number + 1;

	memset(addr, 0, 16);
	if (ip6) { /* fd00:5f:1::1 for leaf1, fd00:5f:2::1 for spine1 */
		addr[0] = 0xfd;
		addr[3] = 0x5f;
	} else { /* 10.1.0.1, 10.2.0.1 */
		addr[10] = 0xff;
		addr[11] = 0xff;
		addr[12] = 10;
	}
	addr[ip6 ? 5 : 13] = a->is_spine ? 2 : 1;
	addr[14] = (uint8_t)(host >> 8);
	addr[15] = (uint8_t)host;
}

void xsf_fabric_next(struct xsf_fabric *f, uint8_t *buf, struct xsf_fabric_datagram *out)
{
	int burst = burst_is_due(f);
	uint64_t time = burst ? f->burst.due : time_of(f, f->index++);
	uint32_t n = burst ? f->burst.agent : choose_agent(f, time);
	struct fabric_agent *a = &f->agents[n];
	struct xsf_enc_datagram d = {
		.addr_type = f->c.ipv6_agents ? SFLOW_ADDR_IP6 : SFLOW_ADDR_IP4,
		.sequence = ++a->sequence,
		.uptime_ms = a->boot_ms + (uint32_t)(time / 1000000),
	};
	uint8_t addr[16];
	struct xsf_enc e;

	xsf_fabric_source(f, n, f->c.ipv6_agents, addr);
	memcpy(d.addr, f->c.ipv6_agents ? addr : addr + 12, f->c.ipv6_agents ? 16 : 4);
	xsf_enc_begin(&e, buf, XSF_FABRIC_DATAGRAM, &d);
	if (burst)
		fabric_burst(f, a, &e);
	else
		fabric_polls(f, a, &e, time);
	if (!burst && (f->c.leaves > 1 || !a->is_spine)) {
		fabric_drops(f, a, &e, time);
		fabric_flows(f, a, &e, time);
	}
	a->datagrams++;
	a->bytes += e.len;
	f->truth.datagrams++;
	f->truth.bytes += e.len;
	out->time_ns = time;
	out->agent = n;
	out->len = e.len;
	if (burst && !f->burst.left)
		fabric_burst_next(f);
}

const struct xsf_fabric_truth *xsf_fabric_truth(const struct xsf_fabric *f)
{
	return &f->truth;
}

uint32_t xsf_fabric_agents(const struct xsf_fabric *f)
{
	return f->nr_agents;
}

void xsf_fabric_agent(const struct xsf_fabric *f, uint32_t agent, struct xsf_fabric_agent *out)
{
	const struct fabric_agent *a = &f->agents[agent];

	memset(out, 0, sizeof(*out));
	xsf_fabric_source(f, agent, f->c.ipv6_agents, out->addr);
	fabric_agent_name(a, out->name);
	out->reported = !!a->host_sequence;
	out->nr_interfaces = a->nr_ports;
	out->datagrams = a->datagrams;
	out->bytes = a->bytes;
	out->flow_samples = a->flow_samples;
	out->counter_samples = a->counter_samples;
	out->drop_samples = a->drop_sequence;
	out->drops_suppressed = a->drops_told - a->drops_first;
}

void xsf_fabric_interface(const struct xsf_fabric *f, uint32_t agent, uint32_t interface,
			  struct xsf_fabric_interface *out)
{
	uint32_t port = f->agents[agent].first_port + interface;
	const struct fabric_report *r = &f->reports[port];

	memset(out, 0, sizeof(*out));
	out->ifindex = XSF_FABRIC_FIRST_IFINDEX + interface;
	snprintf(out->name, sizeof(out->name), "swp%u", interface + 1);
	out->reported = !!f->ports[port].counter_sequence;
	out->counters = r->last;
	out->ingress = r->ingress;
	out->egress = r->egress;
}

void xsf_fabric_place(const struct xsf_fabric *f, uint32_t agent, uint32_t place,
		      struct xsf_fabric_place *out)
{
	const struct fabric_agent *a = &f->agents[agent];
	uint32_t port = place / XSF_FABRIC_DROP_REASONS, reason = place % XSF_FABRIC_DROP_REASONS;
	int unplaced = port == a->nr_ports;

	out->ifindex = unplaced ? 0 : XSF_FABRIC_FIRST_IFINDEX + port;
	out->reason = fabric_reason_code(reason);
	out->notified =
		f->places[unplaced ? f->nr_ports + agent : a->first_port + port].notified[reason];
}
