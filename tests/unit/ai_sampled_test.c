// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A fabric of 4 spines and 16 leaves whose packets are known to the last one, sampled as agents do, walked
 * natively, on virtual time: the AI metrics over 60 s against what was there.
 *
 * 128 hosts send RDMA to the next leaf's, each at a rate of its own; answers come back the same way. Every
 * packet enters three switches. Each interface samples one packet in RATE with skips that are uniform from 1
 * to 2 * RATE - 1; which packet a skip meets is drawn from those that pass there. The bounds are the ones of
 * sampling: a sum of n samples is within 196 * sqrt(1 / n) % in 95 of 100 cases (DESIGN 5.5), where n is
 * (sum of w)^2 / sum of w^2 for what is weighted by w (bytes). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <xsf/sflow.h>

#include "model/ai.h"
#include "model/encode.h"
#include "model/frame.h"
#include "model/random.h"
#include "model/store.h"
#include "near.h"

#define SECOND 1000000000ull
#define LEAVES 16
#define SPINES 4
#define PORTS 8
#define HOSTS (LEAVES * PORTS)
#define AGENTS (LEAVES + SPINES)
#define LEAF_IFS (PORTS + SPINES)
#define IFS (LEAVES * LEAF_IFS + SPINES * LEAVES)
#define RATE 1000
#define STEPS 10 /* a second */
#define WARM 10	 /* seconds until averages begin */
#define LONG 60	 /* and last */
#define FCS 4

/* What packets there are: BTH opcode (-1: TCP), RETH length, AETH code (-1: none), TOS, payload, and how many
 * a second a host of load 1 sends; those that answer come from the other end. */
static const struct kind {
	int opcode;
	uint32_t dma;
	int code;
	uint8_t tos;
	uint32_t payload;
	uint32_t per_second;
	int answer;
} kinds[] = {
	{ 6, 131072, -1, 26 << 2 | 2, 4096, 2000, 0 },
	{ 7, 0, -1, 26 << 2 | 2, 4096, 30000, 0 },
	{ 7, 0, -1, 26 << 2 | 3, 4096, 4000, 0 }, /* CE */
	{ 8, 0, -1, 26 << 2 | 2, 2048, 2000, 0 },
	{ 4, 0, -1, 26 << 2 | 2, 1024, 3000, 0 },
	{ 12, 4096, -1, 26 << 2 | 2, 0, 2000, 0 },
	{ 7, 0, -1, 11 << 2 | 2, 128, 1000, 0 }, /* trimmed */
	{ -1, 0, -1, 0, 1400, 5000, 0 },
	{ 17, 0, 7, 26 << 2 | 2, 0, 3000, 1 },
	{ 17, 0, 10, 26 << 2 | 2, 0, 1000, 1 },
	{ 17, 0, 31, 26 << 2 | 2, 0, 500, 1 },
	{ 0x81, 0, -1, 48 << 2, 16, 1000, 1 },
};
#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

struct port {
	uint32_t agent;
	uint32_t index; /* ifIndex */
	int core;
	uint32_t count[KINDS]; /* packets a second */
	uint32_t total;
	uint32_t sequence;
	uint32_t pool;
	uint32_t skip;	       /* packets until the next sample */
	double weight, square; /* of the bytes of samples in the 60 s */
	double sum;	       /* of what is shown, each second */
};

struct sampled {
	struct port port[IFS];
	struct xsf_frame frame[KINDS];
	uint32_t sequence[AGENTS];
	struct xsf_random random;
	struct xsf_store *store;
	struct xsf_bindings *bindings;
	struct xsf_rates *rates;
	struct xsf_ai *ai;
	uint64_t samples[2][KINDS]; /* in the 60 s: at the edge, anywhere */
	double sum[XSF_AI_NR_SERIES];
	uint64_t seconds[XSF_AI_NR_SERIES]; /* with a value above 0 */
	struct {
		char name[XSF_AI_NAME];
		double sum;
		uint32_t seconds;
	} op[16];
	uint32_t nr_ops;
	struct xsf_enc e; /* the open datagram */
	uint8_t buf[1400];
	/* of all that was compared */
	uint32_t compared, inside;
};

/* ---- the fabric ---- */

static struct port *leaf_port(struct sampled *f, uint32_t leaf, uint32_t n)
{
	return &f->port[leaf * LEAF_IFS + n];
}

static struct port *spine_port(struct sampled *f, uint32_t spine, uint32_t leaf)
{
	return &f->port[LEAVES * LEAF_IFS + spine * LEAVES + leaf];
}

/* Packets of `from` on their way to `to`: into its leaf, the spine, the other leaf. */
static void add_flow(struct sampled *f, uint32_t from, uint32_t to, uint32_t spine, int kind,
		     uint32_t count)
{
	leaf_port(f, from / PORTS, from % PORTS)->count[kind] += count;
	spine_port(f, spine, from / PORTS)->count[kind] += count;
	leaf_port(f, to / PORTS, PORTS + spine)->count[kind] += count;
}

/* Load of a host: from 0.5 to 1.5, in steps that leave whole packets in each tenth of a second. */
static uint32_t packets_of(uint32_t host, int kind)
{
	return kinds[kind].per_second * (50 + host * 100 / HOSTS) / 1000 * 10;
}

static void build_fabric(struct sampled *f)
{
	for (uint32_t a = 0; a < AGENTS; a++) {
		uint32_t nr = a < LEAVES ? LEAF_IFS : LEAVES;

		for (uint32_t n = 0; n < nr; n++) {
			struct port *p =
				a < LEAVES ? leaf_port(f, a, n) : spine_port(f, a - LEAVES, n);

			p->agent = a;
			p->index = n + 1;
			p->core = a >= LEAVES || n >= PORTS;
			p->skip = 1 + xsf_random_below(&f->random, 2 * RATE - 1);
		}
	}
	for (uint32_t h = 0; h < HOSTS; h++) {
		uint32_t to = (h + PORTS) % HOSTS;

		for (int k = 0; k < KINDS; k++) {
			if (kinds[k].answer)
				add_flow(f, to, h, h % SPINES, k, packets_of(h, k));
			else
				add_flow(f, h, to, h % SPINES, k, packets_of(h, k));
		}
	}
	for (uint32_t i = 0; i < IFS; i++) {
		for (int k = 0; k < KINDS; k++)
			f->port[i].total += f->port[i].count[k];
	}
}

static void build_frames(struct sampled *f)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
	const struct xsf_frame_ip ip = {
		.src = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 1 },
		.dst = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 2 },
		.ttl = 63,
	};

	for (int k = 0; k < KINDS; k++) {
		struct xsf_frame *frame = &f->frame[k];
		struct xsf_frame_bth bth = { .opcode = (uint8_t)kinds[k].opcode };
		struct xsf_frame_ip with_tos = ip;

		with_tos.tos = kinds[k].tos;
		with_tos.proto = kinds[k].opcode < 0 ? 6 : 17;
		xsf_frame_begin(frame);
		xsf_frame_ethernet(frame, mac, mac, 0x0800);
		xsf_frame_ip4(frame, &with_tos);
		if (kinds[k].opcode < 0) {
			xsf_frame_tcp(frame, 40000, 443, 1, 1, 0x10);
		} else {
			xsf_frame_udp(frame, 50000, 4791, 0);
			xsf_frame_bth(frame, &bth);
		}
		if (kinds[k].dma)
			xsf_frame_reth(frame, 0, 0, kinds[k].dma);
		if (kinds[k].code >= 0)
			xsf_frame_aeth(frame, (uint8_t)kinds[k].code, 1);
		assert_int_equal(xsf_frame_end(frame, kinds[k].payload), 0);
	}
}

static char *topology_text(void)
{
	size_t max = 1 << 16, len = 0;
	char *text = malloc(max);

	assert_non_null(text);
#define PUT(...) (len += (size_t)snprintf(text + len, max - len, __VA_ARGS__))
	PUT("{\"links\":{");
	for (uint32_t l = 0; l < LEAVES; l++) {
		for (uint32_t s = 0; s < SPINES; s++)
			PUT("%s\"L%u-%u\":{\"node1\":\"leaf%u\",\"port1\":\"p%u\",\"node2\":"
			    "\"spine%u\","
			    "\"port2\":\"p%u\"}",
			    l || s ? "," : "", l, s, l, PORTS + s + 1, s, l + 1);
	}
	PUT("},\"nodes\":{");
	for (uint32_t a = 0; a < AGENTS; a++) {
		PUT("%s\"%s%u\":{\"agent\":\"10.0.1.%u\",\"ports\":{", a ? "," : "",
		    a < LEAVES ? "leaf" : "spine", a < LEAVES ? a : a - LEAVES, a + 1);
		for (uint32_t n = 1; n <= LEAVES; n++)
			PUT("%s\"p%u\":{\"ifindex\":\"%u\"}", n > 1 ? "," : "", n, n);
		PUT("}}");
	}
	PUT("}}");
	assert_true(len < max);
	return text;
}

/* ---- agents ---- */

static void begin(struct sampled *f, uint32_t agent)
{
	const struct xsf_enc_datagram d = { .addr = { 10, 0, 1, (uint8_t)(agent + 1) },
					    .addr_type = SFLOW_ADDR_IP4,
					    .sequence = ++f->sequence[agent] };

	assert_int_equal(xsf_enc_begin(&f->e, f->buf, sizeof(f->buf), &d), 0);
}

static void send(struct sampled *f, uint64_t now_ns)
{
	if (f->e.samples)
		xsf_store_datagram(f->store, f->buf, f->e.len, now_ns);
}

static void sample(struct sampled *f, struct port *p, int kind, uint64_t now_ns)
{
	const struct xsf_enc_flow s = {
		.sequence = ++p->sequence,
		.source = { 0, p->index },
		.sampling_rate = RATE,
		.sample_pool = p->pool,
		.input = { SFLOW_IF_SINGLE, p->index },
		.output = { SFLOW_IF_SINGLE, 99 },
	};
	const struct xsf_enc_header h = {
		.protocol = SFLOW_PROTO_ETHERNET,
		.frame_length = f->frame[kind].wire + FCS,
		.stripped = FCS,
		.bytes = f->frame[kind].bytes,
		.len = xsf_frame_seen(&f->frame[kind], 128),
	};

	if (xsf_enc_room(&f->e) < 256) {
		send(f, now_ns);
		begin(f, p->agent);
	}
	xsf_enc_flow(&f->e, &s);
	xsf_enc_header(&f->e, &h);
	assert_int_equal(xsf_enc_end(&f->e), 0);
}

static int draw_kind(struct sampled *f, const struct port *p)
{
	uint32_t at = xsf_random_below(&f->random, p->total);
	int k = 0;

	while (at >= p->count[k])
		at -= p->count[k++];
	return k;
}

/* A tenth of a second of every interface. */
static void step(struct sampled *f, uint64_t now_ns, int counted)
{
	uint32_t agent = UINT32_MAX;

	for (uint32_t i = 0; i < IFS; i++) {
		struct port *p = &f->port[i];
		uint32_t left = p->total / STEPS;

		if (p->agent != agent) {
			if (agent != UINT32_MAX)
				send(f, now_ns);
			agent = p->agent;
			begin(f, agent);
		}
		p->pool += left;
		for (; p->skip <= left; p->skip = 1 + xsf_random_below(&f->random, 2 * RATE - 1)) {
			int kind = draw_kind(f, p);
			double bytes = f->frame[kind].wire + FCS;

			left -= p->skip;
			sample(f, p, kind, now_ns);
			if (!counted)
				continue;
			p->weight += bytes;
			p->square += bytes * bytes;
			f->samples[1][kind]++;
			f->samples[0][kind] += !p->core;
		}
		p->skip -= left;
	}
	send(f, now_ns);
}

/* ---- the collector ---- */

static void take_operations(struct sampled *f, const struct xsf_ai_point *p)
{
	for (uint32_t i = 0; i < p->nr_operations; i++) {
		uint32_t n = 0;

		while (n < f->nr_ops && strcmp(f->op[n].name, p->operation[i].name) != 0)
			n++;
		if (n == f->nr_ops) {
			assert_true(n < 16);
			snprintf(f->op[f->nr_ops++].name, sizeof(f->op[0].name), "%s",
				 p->operation[i].name);
		}
		f->op[n].sum += p->operation[i].value;
		f->op[n].seconds++;
	}
}

static void tick(struct sampled *f, int counted)
{
	static struct xsf_snapshot s;
	const struct xsf_ai_point *p;

	xsf_store_snapshot(f->store, &s);
	assert_int_equal(xsf_bindings_update(f->bindings, &s), 0);
	for (uint32_t slot = 1; slot < s.nr_sources; slot++)
		xsf_store_group(f->store, slot,
				xsf_place_group(xsf_bindings_source(f->bindings, &s, slot)));
	xsf_rates_update(f->rates, &s);
	xsf_ai_update(f->ai, &s, f->bindings, f->rates, s.now_ns / 1000000, 0);
	if (!counted)
		return;
	p = xsf_ai_now(f->ai);
	for (uint32_t i = 0; i < XSF_AI_NR_SERIES; i++) {
		f->sum[i] += p->value[i];
		f->seconds[i] += p->value[i] > 0;
	}
	take_operations(f, p);
	/* Slots were handed out in the order of the first datagrams: that of the ports. */
	for (uint32_t i = 0; i < IFS; i++) {
		assert_int_equal(s.sources[i + 1].key.index, f->port[i].index);
		f->port[i].sum += xsf_rates_source(f->rates, &s, i + 1)->ingress;
	}
}

static void run(struct sampled *f, uint64_t seed)
{
	struct xsf_config config;
	struct xsf_topology *t;
	char *text = topology_text(), why[256];
	uint64_t now = SECOND;

	memset(f, 0, sizeof(*f));
	f->random.state = seed;
	build_fabric(f);
	build_frames(f);
	xsf_config_defaults(&config);
	f->store = xsf_store_new(&config);
	f->bindings = xsf_bindings_new();
	f->rates = xsf_rates_new();
	f->ai = xsf_ai_new(NULL, 0);
	assert_true(f->store && f->bindings && f->rates && f->ai);
	assert_int_equal(xsf_bindings_add(f->bindings, "fabric"), 0);
	assert_int_equal(xsf_topology_parse(text, strlen(text), &t, why, sizeof(why)), 0);
	free(text);
	assert_int_equal(xsf_bindings_set(f->bindings, 0, t), 0);
	xsf_topology_put(t);
	/* Every interface is heard once. */
	for (uint32_t i = 0; i < IFS; i++) {
		begin(f, f->port[i].agent);
		sample(f, &f->port[i], 7, now);
		send(f, now);
	}
	tick(f, 0);
	for (int second = 0; second < WARM + LONG; second++) {
		for (int n = 0; n < STEPS; n++) {
			now += SECOND / STEPS;
			step(f, now, second >= WARM);
		}
		tick(f, second >= WARM);
	}
}

static void end(struct sampled *f)
{
	xsf_ai_free(f->ai);
	xsf_rates_free(f->rates);
	xsf_bindings_free(f->bindings);
	xsf_store_free(f->store);
}

/* ---- what is true ---- */

/* All within five sigma; how many within the bound, the caller counts. */
static void compare(struct sampled *f, const char *what, double got, double want, double n)
{
	double error = fabs(got - want) / want;

	if (!(error <= 5 / sqrt(n)))
		fail_msg("%s: %.6g, want %.6g: %.2f %%, of %.0f samples", what, got, want,
			 100 * error, n);
	f->compared++;
	f->inside += error <= 1.96 / sqrt(n);
}

static double per_second(int kind)
{
	double sum = 0;

	for (uint32_t h = 0; h < HOSTS; h++)
		sum += packets_of(h, kind);
	return sum;
}

static void expect_counts(struct sampled *f)
{
	double ops[256] = { 0 }, n_ops[256] = { 0 }, reth = 0, n_reth = 0, dma = 0;
	double ce = 0, n_ce = 0, trim = 0, n_trim = 0, cnp = 0, n_cnp = 0;
	double acks = 0, n_acks = 0, credit = 0;

	for (int k = 0; k < KINDS; k++) {
		double edge = (double)f->samples[0][k], all = (double)f->samples[1][k];
		double want = per_second(k);

		if (kinds[k].opcode >= 0) {
			ops[kinds[k].opcode] += want;
			n_ops[kinds[k].opcode] += edge;
			/* every hop */
			ce += (kinds[k].tos & 3) == 3 ? 3 * want : 0;
			n_ce += (kinds[k].tos & 3) == 3 ? all : 0;
		}
		trim += kinds[k].tos >> 2 == 11 ? 3 * want : 0;
		n_trim += kinds[k].tos >> 2 == 11 ? all : 0;
		cnp += kinds[k].opcode == 0x81 ? 3 * want : 0;
		n_cnp += kinds[k].opcode == 0x81 ? all : 0;
		reth += kinds[k].dma ? want : 0;
		n_reth += kinds[k].dma ? edge : 0;
		dma += kinds[k].dma * want;
		if (kinds[k].code >= 0 && kinds[k].code < 31) {
			acks += want;
			n_acks += edge;
			credit += want * xsf_credits[kinds[k].code];
		}
	}
	compare(f, "rdma_ops", f->sum[XSF_AI_rdma_ops] / LONG, reth, n_reth);
	compare(f, "rdma_bytes", f->sum[XSF_AI_rdma_bytes] / LONG, dma / reth, n_reth);
	compare(f, "credits", f->sum[XSF_AI_aeth_credits_avg] / LONG, credit / acks, n_acks);
	compare(f, "ecn", f->sum[XSF_AI_ecn_pps] / LONG, ce, n_ce);
	compare(f, "cnp", f->sum[XSF_AI_cnp_pps] / LONG, cnp, n_cnp);
	compare(f, "trim", f->sum[XSF_AI_trim_pps] / LONG, trim, n_trim);
	/* Once each, not once for each switch: the bounds are far below a factor of three. */
	for (uint32_t i = 0; i < f->nr_ops; i++) {
		double want = 0, n = 0;

		for (uint32_t op = 0; op < 256; op++) {
			const char *transport, *ibta, *name;
			char text[XSF_AI_NAME];

			xsf_opcode_names((uint8_t)op, &transport, &ibta, &name);
			snprintf(text, sizeof(text), "%s:%s", transport, name);
			want += strcmp(text, f->op[i].name) ? 0 : ops[op];
			n += strcmp(text, f->op[i].name) ? 0 : n_ops[op];
		}
		assert_int_equal(f->op[i].seconds, LONG);
		compare(f, f->op[i].name, f->op[i].sum / LONG, want, n);
	}
	assert_int_equal(f->nr_ops, 5);
	expect_near(f->sum[XSF_AI_aeth_credits_min] / LONG, xsf_credits[7], 0);
	expect_near(f->sum[XSF_AI_aeth_credits_max] / LONG, xsf_credits[10], 0);
}

static double bytes_per_second(const struct sampled *f, const struct port *p)
{
	double sum = 0;

	for (int k = 0; k < KINDS; k++)
		sum += (double)p->count[k] * (f->frame[k].wire + FCS);
	return sum;
}

/* Quartiles over a second's values are of what each interface shows then, with the noise of its own
 * smoothing: two seconds' is that of 4 s of samples. The middle ones are met within 3 %; the smallest of many
 * values is at most the truth and four sigma less than it, the largest likewise. */
static void expect_quartiles(struct sampled *f, double *truth, uint32_t nr,
			     enum xsf_ai_series first, double sigma)
{
	struct xsf_quartiles q;

	xsf_quartiles(truth, nr, &q);
	expect_near(f->sum[first + 1] / LONG, q.q1, 0.03 * q.q1);
	expect_near(f->sum[first + 2] / LONG, q.med, 0.03 * q.med);
	expect_near(f->sum[first + 3] / LONG, q.q3, 0.03 * q.q3);
	assert_true(f->sum[first] / LONG <= q.min * 1.01);
	assert_true(f->sum[first] / LONG >= q.min * (1 - 4 * sigma));
	assert_true(f->sum[first + 4] / LONG >= q.max * 0.99);
	assert_true(f->sum[first + 4] / LONG <= q.max * (1 + 4 * sigma));
}

static void expect_bytes(struct sampled *f)
{
	static double truth[2][IFS];
	double total = 0, weight = 0, square = 0, sigma[2] = { 0 };
	uint32_t nr[2] = { 0 };

	for (uint32_t i = 0; i < IFS; i++) {
		struct port *p = &f->port[i];
		double want = bytes_per_second(f, p), n = p->weight * p->weight / p->square;
		char name[64];

		snprintf(name, sizeof(name), "interface %u of agent %u", p->index, p->agent);
		compare(f, name, p->sum / LONG, want, n);
		truth[p->core][nr[p->core]++] = 8 * want;
		sigma[p->core] = fmax(sigma[p->core], 1 / sqrt(n / LONG * 4));
		if (p->core)
			continue;
		total += want;
		weight += p->weight;
		square += p->square;
	}
	compare(f, "bps", f->sum[XSF_AI_bps] / LONG, 8 * total, weight * weight / square);
	expect_quartiles(f, truth[0], nr[0], XSF_AI_edge_min_bps, sigma[0]);
	expect_quartiles(f, truth[1], nr[1], XSF_AI_core_min_bps, sigma[1]);
}

static void sampled(void **state)
{
	static const uint64_t seeds[] = { 1, 2, 3 };
	struct sampled *f = malloc(sizeof(*f));
	uint32_t compared = 0, inside = 0;

	(void)state;
	assert_non_null(f);
	for (uint32_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		run(f, seeds[i]);
		expect_counts(f);
		expect_bytes(f);
		print_message("# seed %u: %u of %u series within the 95 %% bound\n",
			      (uint32_t)seeds[i], f->inside, f->compared);
		assert_true(f->inside >= 0.95 * f->compared);
		compared += f->compared;
		inside += f->inside;
		end(f);
	}
	free(f);
	assert_int_equal(compared, 3 * (IFS + 12));
	print_message("# %u of %u\n", inside, compared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
