// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The packets that a switch of the fabric drops, and what it says of them: one now and then, or so many a
 * second in bursts (xsf_fabric_config.drops). */
#include <string.h>
#include <xsf/sflow.h>

#include "model/fabric_state.h"

/* Unless told otherwise an agent notifies at most 50 drops a second (of virtual time) and only counts the
 * others. */
#define DROP_GAP (SECOND / 50)

#define REASON_TTL 257
#define MAX_BURST 64	   /* packets out of a full buffer, at most */
#define MAX_BURST_OTHER 12 /* others that are dropped in a row */
#define BURSTS 16	   /* a second, at least, where drops are few */

/* When the simulated clocks begin: 2026-01-01 00:00 UTC. */
#define EPOCH (1767225600 * SECOND)

/* Bytes of the longest notification: every record but those that a switching chip does not send. */
#define DROP_ROOM \
	(SFLOW_TAG_LEN + 32 + SFLOW_TAG_LEN + 8 + 3 * (SFLOW_TAG_LEN + 4) + SFLOW_TAG_LEN + 8 + \
	 40 + SFLOW_TAG_LEN + SFLOW_REC_HEADER_LEN + FABRIC_SAMPLED_BYTES)

struct fabric_reason {
	uint16_t code;
	uint8_t weight[XSF_PHASES];	     /* now and then */
	uint8_t burst[XSF_PHASES];	     /* of bursts */
	uint8_t buffer;			     /* dropped on the way out, many at once */
	uint8_t unplaced;		     /* in bursts: the port is not told */
	const char *group, *trap;	     /* of a switching chip (devlink), or */
	const char *function, *linux_reason; /* of the kernel */
};

static const struct fabric_reason reasons[XSF_FABRIC_DROP_REASONS] = {
	{ 259, { 0, 20, 80 }, { 4, 40, 100 }, 1, 0, "buffer_drops", "tail_drop", NULL, NULL },
	{ 260, { 0, 10, 16 }, { 0, 10, 16 }, 1, 0, "buffer_drops", "early_drop", NULL, NULL },
	{ FABRIC_REASON_ACL,
	  { 40, 10, 6 },
	  { 40, 10, 6 },
	  0,
	  0,
	  "acl_drops",
	  "ingress_flow_action_drop",
	  NULL,
	  NULL },
	{ REASON_TTL,
	  { 20, 8, 6 },
	  { 20, 8, 6 },
	  0,
	  0,
	  "l3_exceptions",
	  "ttl_value_is_too_small",
	  NULL,
	  NULL },
	{ 262,
	  { 10, 4, 4 },
	  { 10, 4, 4 },
	  0,
	  0,
	  "l3_exceptions",
	  "mtu_value_is_too_small",
	  NULL,
	  NULL },
	{ 265, { 10, 4, 4 }, { 10, 4, 4 }, 0, 0, "l2_drops", "ingress_vlan_filter", NULL, NULL },
	{ 269, { 10, 4, 4 }, { 10, 4, 4 }, 0, 0, "l3_drops", "blackhole_route_drop", NULL, NULL },
	{ 3, { 10, 4, 4 }, { 10, 4, 4 }, 0, 1, NULL, NULL, "__udp4_lib_rcv", "NO_SOCKET" },
	{ 279, { 0, 0, 0 }, { 10, 4, 4 }, 0, 0, "l3_exceptions", "unresolved_neigh", NULL, NULL },
};

uint32_t fabric_reason_code(uint32_t i)
{
	return reasons[i].code;
}

static uint32_t weight(const struct xsf_fabric *f, uint32_t i, enum xsf_traffic_phase phase)
{
	return f->c.drops ? reasons[i].burst[phase] : reasons[i].weight[phase];
}

static const struct fabric_reason *draw_reason(struct xsf_fabric *f, enum xsf_traffic_phase phase)
{
	uint32_t sum = 0, i, d;

	for (i = 0; i < XSF_FABRIC_DROP_REASONS; i++)
		sum += weight(f, i, phase);
	d = xsf_random_below(&f->random, sum);
	for (i = 0; d >= weight(f, i, phase); i++)
		d -= weight(f, i, phase);
	return &reasons[i];
}

/* The packet that a drop is about, and its way. */
static uint32_t choose_drop(struct xsf_fabric *f, const struct fabric_agent *a,
			    const struct fabric_reason *reason, enum xsf_traffic_phase phase,
			    struct fabric_way *w)
{
	uint32_t kind = xsf_traffic_draw(&f->mix, phase, &f->random);

	if (reason->code == FABRIC_REASON_ACL)
		kind = xsf_traffic_unwanted();
	else if (xsf_traffic_reach(kind) == XSF_FLOODED || xsf_traffic_reach(kind) == XSF_TO_SWITCH)
		kind = xsf_traffic_plain();
	fabric_choose_way(f, a, a->is_spine ? FABRIC_THROUGH : FABRIC_UP, kind, phase, w);
	if (w->out.value == SFLOW_IF_INTERNAL)
		w->out_port = w->in;
	if (reason->code == REASON_TTL)
		w->hop.ttl = 1;
	return kind;
}

static void count_discards(struct xsf_fabric *f, struct fabric_agent *a,
			   const struct fabric_reason *reason, const struct fabric_way *w,
			   uint32_t nr)
{
	if (reason->buffer)
		f->ports[a->first_port + w->out_port].now.out_discards += nr;
	else
		f->ports[a->first_port + w->in].now.in_discards += nr;
}

/* What the chip knows of the queue: by the class of the packet; how full it is, and how long what is at its
 * end would wait. */
static void put_queue(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e,
		      const struct fabric_burst *b, const struct xsf_traffic_truth *t)
{
	uint64_t speed = f->ports[a->first_port + b->way.out_port].now.speed;
	uint32_t full = b->reason->code == 259 ? 8000000 : 2000000;
	uint32_t depth = full + xsf_random_below(&f->random, full / 2);

	xsf_enc_depth(e, depth);
	xsf_enc_delay(e, (uint32_t)(depth * 8ull * SECOND / speed));
	xsf_enc_queue(e, t->tos >> 5);
}

/* `detail`: as in bursts. */
static int notify(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e,
		  const struct fabric_burst *b, int detail)
{
	const struct fabric_reason *reason = b->reason;
	int unplaced = detail && reason->unplaced;
	struct xsf_enc_drop s = {
		.sequence = a->drop_sequence + 1,
		.drops = a->drops,
		.input = unplaced ? 0 : XSF_FABRIC_FIRST_IFINDEX + b->way.in,
		.output = reason->buffer ? XSF_FABRIC_FIRST_IFINDEX + b->way.out_port : 0,
		.reason = reason->code,
	};
	uint32_t place =
		unplaced ? f->nr_ports + (uint32_t)(a - f->agents) : a->first_port + b->way.in;
	struct xsf_traffic_truth t;
	struct xsf_frame frame;

	xsf_traffic_build(b->kind, &b->way.hop, &f->random, &frame, &t);
	xsf_enc_drop(e, &s);
	/* Agents put the sampled header last. */
	if (detail)
		xsf_enc_timestamp(e, EPOCH + b->due);
	if (detail && reason->buffer)
		put_queue(f, a, e, b, &t);
	if (reason->linux_reason)
		xsf_enc_linux_reason(e, reason->linux_reason);
	if (reason->function)
		xsf_enc_function(e, reason->function);
	if (reason->trap)
		xsf_enc_hw_trap(e, reason->group, reason->trap);
	fabric_put_header(e, &frame);
	if (xsf_enc_end(e))
		return 0;
	if (!a->drop_sequence++)
		a->drops_first = a->drops;
	a->drops_told = a->drops;
	f->truth.drop_samples++;
	f->truth.notified[reason->code]++;
	f->places[place].notified[reason - reasons]++;
	return 1;
}

/* ---- now and then ---- */

void fabric_drops(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e, uint64_t time)
{
	/* one in so many datagrams tells of drops */
	static const uint8_t one_in[XSF_PHASES] = { 16, 32, 3 };
	enum xsf_traffic_phase phase = fabric_phase(f, time);
	struct fabric_burst b = { .due = time };
	uint32_t nr;

	if (f->c.drops || xsf_random_below(&f->random, one_in[phase]))
		return;
	b.reason = draw_reason(f, phase);
	b.kind = choose_drop(f, a, b.reason, phase, &b.way);
	nr = b.reason->buffer ? 1 + xsf_random_below(&f->random, 200) : 1;
	count_discards(f, a, b.reason, &b.way, nr);
	if (time < a->drop_due) {
		a->drops += nr;
		return;
	}
	a->drop_due = time + DROP_GAP;
	a->drops += nr - 1;
	notify(f, a, e, &b, 0);
}

/* ---- in bursts ---- */

/* Of `nr` drops at this moment, how many the agent may notify. As the usual agent does: a tenth of the limit
 * every 100 ms and nothing saved; below 10, all of it once a second. */
static uint32_t allowed(const struct xsf_fabric *f, struct fabric_agent *a, uint64_t time,
			uint32_t nr)
{
	uint32_t limit = f->c.drop_limit;
	uint64_t round = limit < 10 ? SECOND : SECOND / 10;
	/* Each has its own beat; and the first is not 0. */
	uint64_t tick = 1 + (time + a->boot_ms % 1000 * (SECOND / 1000)) / round;

	if (!limit)
		return nr;
	if (a->quota_tick != tick) {
		a->quota_tick = tick;
		a->quota = limit < 10 ? limit : limit / 10;
	}
	if (nr > a->quota)
		nr = a->quota;
	a->quota -= nr;
	return nr;
}

/* One switch drops packets of one connection; the first ones more than the last, as congested places are. */
static void draw_burst(struct xsf_fabric *f, struct fabric_burst *b)
{
	uint32_t leaf = xsf_random_below(&f->random, f->c.leaves), other, nr;
	enum xsf_traffic_phase phase;
	struct fabric_agent *a;

	b->due = f->dropped / f->c.drops * SECOND + f->dropped % f->c.drops * SECOND / f->c.drops;
	phase = fabric_phase(f, b->due);
	other = xsf_random_below(&f->random, f->c.leaves);
	b->agent = leaf < other ? leaf : other;
	if (f->c.leaves > 1 && !xsf_random_below(&f->random, 4))
		b->agent = f->c.leaves + xsf_random_below(&f->random, f->c.spines);
	a = &f->agents[b->agent];
	b->reason = draw_reason(f, phase);
	b->kind = choose_drop(f, a, b->reason, phase, &b->way);
	nr = b->reason->buffer ? MAX_BURST : MAX_BURST_OTHER;
	if (nr > f->c.drops / BURSTS + 1)
		nr = f->c.drops / BURSTS + 1;
	nr = 1 + xsf_random_below(&f->random, nr);
	f->dropped += nr;
	count_discards(f, a, b->reason, &b->way, nr);
	b->left = allowed(f, a, b->due, nr);
	b->suppressed = nr - b->left;
}

void fabric_burst_next(struct xsf_fabric *f)
{
	struct fabric_burst *b = &f->burst;

	/* Ends: the limit is at least 1 a second. */
	for (draw_burst(f, b); !b->left; draw_burst(f, b))
		f->agents[b->agent].drops += b->suppressed;
}

void fabric_burst(struct xsf_fabric *f, struct fabric_agent *a, struct xsf_enc *e)
{
	struct fabric_burst *b = &f->burst;

	while (b->left && xsf_enc_room(e) >= DROP_ROOM) {
		if (!notify(f, a, e, b, 1)) /* cannot be: DROP_ROOM */
			b->suppressed++;
		b->left--;
	}
	if (!b->left)
		a->drops += b->suppressed;
}
