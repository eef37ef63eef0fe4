// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/if_metrics.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/prefix.h"

#define NAME(name) #name,
const char *const xsf_if_metric_names[XSF_NR_IF_METRICS] = { XSF_IF_METRICS(NAME) };
const char *const xsf_aggregate_names[XSF_NR_AGGREGATES] = { XSF_AGGREGATES(NAME) };

/* ---- one interface ---- */

static size_t take_string(uint8_t to[XSF_NAME_LEN], const char *name)
{
	return xsf_name_copy(to, (const uint8_t *)name, (uint32_t)strlen(name));
}

size_t xsf_if_name(const struct xsf_if_view *v, uint32_t slot, uint8_t name[XSF_NAME_LEN])
{
	const struct xsf_interface *i = xsf_snapshot_interface(v->s, slot);
	const struct xsf_place *p = xsf_bindings_source(v->b, v->s, slot);
	const struct xsf_topology *t = xsf_bindings_topology(v->b, p->fabric);
	size_t len = i ? xsf_name_copy(name, i->name, i->name_len) : 0;

	if (!len && t && p->port != XSF_TOPOLOGY_NONE && p->port < t->nr_ports)
		len = take_string(name, t->ports[p->port].name);
	return len;
}

size_t xsf_if_host(const struct xsf_if_view *v, uint32_t slot, uint8_t name[XSF_NAME_LEN])
{
	const struct xsf_place *p = xsf_bindings_source(v->b, v->s, slot);
	const struct xsf_topology *t = xsf_bindings_topology(v->b, p->fabric);
	const struct xsf_agent *agent;
	size_t len = 0;

	if (xsf_snapshot_source_agent(v->s, slot, &agent))
		len = xsf_name_copy(name, agent->name, agent->name_len);
	if (!len && t && p->node != XSF_TOPOLOGY_NONE && p->node < t->nr_nodes)
		len = take_string(name, t->nodes[p->node].name);
	return len;
}

static void put_number(struct xsf_if_value *value, double number)
{
	value->kind = XSF_IF_NUMBER;
	value->number = number;
}

static void put_text(struct xsf_if_value *value, const char *text)
{
	value->len = take_string(value->text, text);
	value->kind = XSF_IF_TEXT;
}

/* Names of the IANA ifType MIB, of what switches and hosts have; others are their number. */
static void put_type(struct xsf_if_value *value, uint32_t type)
{
	char number[16];

	switch (type) {
	case 6:
		put_text(value, "ethernetCsmacd");
		return;
	case 24:
		put_text(value, "softwareLoopback");
		return;
	case 53:
		put_text(value, "propVirtual");
		return;
	case 131:
		put_text(value, "tunnel");
		return;
	case 135:
		put_text(value, "l2vlan");
		return;
	case 161:
		put_text(value, "ieee8023adLag");
		return;
	}
	snprintf(number, sizeof(number), "%u", type);
	put_text(value, number);
}

static int fresh(const struct xsf_if_view *v, const struct xsf_interface *i)
{
	return i && i->has_counters && v->s->now_ns <= i->counters_ns + XSF_RATES_FRESH_NS;
}

/* Values of the last counter sample; kind stays absent where the agent does not know. */
static void last_value(const struct xsf_interface *i, enum xsf_if_metric which,
		       struct xsf_if_value *value)
{
	uint64_t speed = i->speed;
	uint32_t status = i->status;

	switch (which) {
	case XSF_IFM_iftype:
		put_type(value, i->type);
		break;
	case XSF_IFM_ifspeed:
		if (speed && speed != UINT64_MAX)
			put_number(value, (double)speed);
		break;
	case XSF_IFM_ifdirection:
		put_text(value, xsf_if_direction_name(i->direction));
		break;
	case XSF_IFM_ifadminstatus:
		if (status != UINT32_MAX)
			put_text(value, status & 1 ? "up" : "down");
		break;
	case XSF_IFM_ifoperstatus:
		if (status != UINT32_MAX)
			put_text(value, status & 2 ? "up" : "down");
		break;
	default:
		break;
	}
}

/* The counter whose rate it is, or XSF_NR_IF_COUNTERS. */
static enum xsf_if_counter counter_of(enum xsf_if_metric which)
{
	switch (which) {
	case XSF_IFM_ifinoctets:
		return XSF_IF_in_octets;
	case XSF_IFM_ifinucastpkts:
		return XSF_IF_in_ucast;
	case XSF_IFM_ifinmulticastpkts:
		return XSF_IF_in_multicast;
	case XSF_IFM_ifinbroadcastpkts:
		return XSF_IF_in_broadcast;
	case XSF_IFM_ifindiscards:
		return XSF_IF_in_discards;
	case XSF_IFM_ifinerrors:
		return XSF_IF_in_errors;
	case XSF_IFM_ifinunknownprotos:
		return XSF_IF_in_unknown;
	case XSF_IFM_ifoutoctets:
		return XSF_IF_out_octets;
	case XSF_IFM_ifoutucastpkts:
		return XSF_IF_out_ucast;
	case XSF_IFM_ifoutmulticastpkts:
		return XSF_IF_out_multicast;
	case XSF_IFM_ifoutbroadcastpkts:
		return XSF_IF_out_broadcast;
	case XSF_IFM_ifoutdiscards:
		return XSF_IF_out_discards;
	case XSF_IFM_ifouterrors:
		return XSF_IF_out_errors;
	default:
		return XSF_NR_IF_COUNTERS;
	}
}

/* Unicast, multicast and broadcast, as far as the agent knows them. */
static void packets(const struct xsf_if_view *v, const struct xsf_source_rates *m,
		    enum xsf_if_counter ucast, struct xsf_if_value *value)
{
	double sum = 0, rate;
	int any = 0;

	for (uint32_t c = ucast; c < (uint32_t)ucast + 3; c++) {
		if (!xsf_rates_counter(m, v->s, (enum xsf_if_counter)c, &rate))
			continue;
		sum += rate;
		any = 1;
	}
	if (any)
		put_number(value, sum);
}

static void utilization(const struct xsf_if_view *v, const struct xsf_source_rates *m,
			uint64_t speed, enum xsf_if_counter octets, struct xsf_if_value *value)
{
	double rate;

	if (speed && speed != UINT64_MAX && xsf_rates_counter(m, v->s, octets, &rate))
		put_number(value, 100 * 8 * rate / (double)speed);
}

void xsf_if_metric(const struct xsf_if_view *v, uint32_t slot, enum xsf_if_metric which,
		   struct xsf_if_value *value)
{
	const struct xsf_interface *i = xsf_snapshot_interface(v->s, slot);
	const struct xsf_source_rates *m = xsf_rates_source(v->r, v->s, slot);
	enum xsf_if_counter counter = counter_of(which);
	double rate;

	value->kind = XSF_IF_ABSENT;
	if (which == XSF_IFM_ai_bytes) {
		if (m->generation)
			put_number(value, m->ingress);
		return;
	}
	if (!fresh(v, i))
		return;
	if (counter < XSF_NR_IF_COUNTERS) {
		if (xsf_rates_counter(m, v->s, counter, &rate))
			put_number(value, rate);
		return;
	}
	switch (which) {
	case XSF_IFM_ifindex:
		put_number(value, v->s->sources[slot].key.index);
		break;
	case XSF_IFM_ifname:
		value->len = xsf_if_name(v, slot, value->text);
		if (value->len)
			value->kind = XSF_IF_TEXT;
		break;
	case XSF_IFM_ifinpkts:
		packets(v, m, XSF_IF_in_ucast, value);
		break;
	case XSF_IFM_ifoutpkts:
		packets(v, m, XSF_IF_out_ucast, value);
		break;
	case XSF_IFM_ifinutilization:
		utilization(v, m, i->speed, XSF_IF_in_octets, value);
		break;
	case XSF_IFM_ifoututilization:
		utilization(v, m, i->speed, XSF_IF_out_octets, value);
		break;
	default:
		last_value(i, which, value);
	}
}

/* ---- choosing ---- */

struct one_of {
	int all, topology, edge, core;
	uint32_t nr;
	struct {
		int is_address;
		uint8_t addr[16];
		const char *name;
		size_t len;
	} agent[XSF_IF_NAMES];
};

static int is(const char *word, size_t len, const char *name)
{
	return len == strlen(name) && !memcmp(word, name, len);
}

static int read_agents(const char *list, struct one_of *of)
{
	memset(of, 0, sizeof(*of));
	while (*list) {
		size_t len = strcspn(list, ";,");

		if (is(list, len, "ALL")) {
			of->all = 1;
		} else if (is(list, len, "TOPOLOGY")) {
			of->topology = 1;
		} else if (is(list, len, "EDGE")) {
			of->edge = 1;
		} else if (is(list, len, "CORE")) {
			of->core = 1;
		} else if (len) {
			if (of->nr == XSF_IF_NAMES)
				return -E2BIG;
			of->agent[of->nr].is_address =
				!xsf_address_parse(list, len, of->agent[of->nr].addr);
			of->agent[of->nr].name = list;
			of->agent[of->nr++].len = len;
		}
		list += len + (list[len] != 0);
	}
	return 0;
}

static int is_one_of(const struct xsf_if_view *v, const struct one_of *of, uint32_t slot,
		     const struct xsf_agent *agent)
{
	const struct xsf_place *p = xsf_bindings_source(v->b, v->s, slot);
	uint8_t name[XSF_NAME_LEN];
	size_t len;

	if (of->all)
		return 1;
	if (p->role != XSF_ROLE_NONE && !p->fabric &&
	    (of->topology || (p->role == XSF_ROLE_CORE ? of->core : of->edge)))
		return 1;
	len = of->nr ? xsf_if_host(v, slot, name) : 0;
	for (uint32_t i = 0; i < of->nr; i++) {
		const uint8_t *addr = of->agent[i].addr;

		if (of->agent[i].is_address ?
			    !memcmp(agent->key.addr, addr, 16) :
			    len == of->agent[i].len && !memcmp(name, of->agent[i].name, len))
			return 1;
	}
	return 0;
}

struct chosen {
	uint8_t addr[16];
	uint32_t index;
	uint32_t slot;
	uint64_t counters_ns;
};

/* Of one interface, who told counters last stands first. */
static int compare_chosen(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;
	int order = memcmp(x->addr, y->addr, 16);

	if (order)
		return order;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	if (x->counters_ns != y->counters_ns)
		return x->counters_ns > y->counters_ns ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

static uint32_t collect(const struct xsf_if_view *v, const struct one_of *of, struct chosen *c)
{
	uint32_t nr = 0;

	for (uint32_t slot = 1; slot < XSF_MIN(v->s->nr_sources, XSF_SOURCES); slot++) {
		const struct xsf_interface *i;
		const struct xsf_agent *agent;

		if (!xsf_snapshot_interface_shown(v->s, slot, &agent) ||
		    !is_one_of(v, of, slot, agent))
			continue;
		i = xsf_snapshot_interface(v->s, slot);
		memcpy(c[nr].addr, agent->key.addr, 16);
		c[nr].index = v->s->sources[slot].key.index;
		c[nr].counters_ns = i && i->has_counters ? i->counters_ns : 0;
		c[nr++].slot = slot;
	}
	return nr;
}

int xsf_if_choose(const struct xsf_if_view *v, const char *agents, uint32_t max,
		  struct xsf_if_slot **out, uint32_t *nr, uint32_t *hidden)
{
	struct chosen *c = calloc(XSF_MIN(v->s->nr_sources, XSF_SOURCES) + 1, sizeof(*c));
	uint32_t nr_chosen = 0;
	struct one_of of;
	int err;

	*out = NULL;
	*nr = *hidden = 0;
	err = c ? read_agents(agents, &of) : -ENOMEM;
	if (err)
		goto out;
	nr_chosen = collect(v, &of, c);
	qsort(c, nr_chosen, sizeof(*c), compare_chosen);
	*out = calloc(XSF_MIN(nr_chosen, max) + 1, sizeof(**out));
	if (!*out) {
		err = -ENOMEM;
		goto out;
	}
	for (uint32_t i = 0; i < nr_chosen; i++) {
		if (i && c[i].index == c[i - 1].index && !memcmp(c[i].addr, c[i - 1].addr, 16))
			continue;
		if (*nr == max) {
			++*hidden;
			continue;
		}
		(*out)[*nr].slot = c[i].slot;
		(*out)[(*nr)++].generation = v->s->sources[c[i].slot].generation;
	}
out:
	free(c);
	return err;
}

int xsf_if_still(const struct xsf_if_view *v, const struct xsf_if_slot *i)
{
	return __atomic_load_n(&v->s->sources[i->slot].generation, __ATOMIC_ACQUIRE) ==
	       i->generation;
}

int xsf_if_want(const char *metrics, struct xsf_if_wanted wanted[XSF_IF_NAMES], uint32_t *nr,
		int *all)
{
	*nr = 0;
	*all = !strcmp(metrics, "ALL");
	while (*metrics) {
		size_t len = strcspn(metrics, ","), prefix = strcspn(metrics, ":,");
		struct xsf_if_wanted *w = &wanted[*nr];
		const char *name = metrics;
		size_t name_len = len;

		if (len && *nr == XSF_IF_NAMES)
			return -E2BIG;
		if (len) {
			w->aggregate = XSF_AGG_max;
			if (metrics[prefix] == ':') {
				w->aggregate = 0;
				while (w->aggregate < XSF_NR_AGGREGATES &&
				       !is(metrics, prefix, xsf_aggregate_names[w->aggregate]))
					w->aggregate++;
				name += prefix + 1;
				name_len -= prefix + 1;
			}
			w->metric = 0;
			while (w->metric < XSF_NR_IF_METRICS &&
			       !is(name, name_len, xsf_if_metric_names[w->metric]))
				w->metric++;
			if (w->aggregate == XSF_NR_AGGREGATES)
				w->metric = XSF_NR_IF_METRICS;
			w->name = metrics;
			w->len = len;
			(*nr)++;
		}
		metrics += len + (metrics[len] != 0);
	}
	return 0;
}

/* ---- aggregating ---- */

/* Takes in the value of one more interface. */
static void add_value(const struct xsf_if_view *v, uint32_t slot, const struct xsf_if_value *value,
		      enum xsf_aggregate how, double *scratch, struct xsf_if_sum *out)
{
	const struct xsf_interface *i = xsf_snapshot_interface(v->s, slot);
	uint64_t ns = i && i->has_counters ? i->counters_ns : v->s->sources[slot].last_seen_ns;
	double first = out->value.number;

	if (value->kind == XSF_IF_TEXT && how != XSF_AGG_any && how != XSF_AGG_max)
		return;
	out->newest_ns = out->nr && out->newest_ns > ns ? out->newest_ns : ns;
	out->oldest_ns = out->nr && out->oldest_ns < ns ? out->oldest_ns : ns;
	if (value->kind == XSF_IF_NUMBER)
		scratch[out->nr] = value->number;
	if (!out->nr ||
	    (value->kind == XSF_IF_NUMBER && ((how == XSF_AGG_max && value->number > first) ||
					      (how == XSF_AGG_min && value->number < first)))) {
		out->value = *value;
		out->slot = slot;
	}
	out->nr++;
}

static double variance(const double *values, uint32_t nr, double mean)
{
	double sum = 0;

	for (uint32_t i = 0; i < nr; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum / nr;
}

void xsf_if_aggregate(const struct xsf_if_view *v, const struct xsf_if_slot *slots, uint32_t nr,
		      const struct xsf_if_wanted *wanted, double *scratch, struct xsf_if_sum *out)
{
	enum xsf_aggregate how = wanted->aggregate;
	double sum = 0, *number = &out->value.number;
	struct xsf_if_value value;

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < nr && wanted->metric < XSF_NR_IF_METRICS; i++) {
		if (!xsf_if_still(v, &slots[i]))
			continue;
		xsf_if_metric(v, slots[i].slot, wanted->metric, &value);
		if (value.kind != XSF_IF_ABSENT)
			add_value(v, slots[i].slot, &value, how, scratch, out);
	}
	if (!out->nr || how == XSF_AGG_max || how == XSF_AGG_min || how == XSF_AGG_any)
		return;
	out->slot = 0;
	for (uint32_t i = 0; i < out->nr; i++)
		sum += scratch[i];
	*number = sum / out->nr;
	if (how == XSF_AGG_sum)
		*number = sum;
	if (how == XSF_AGG_var || how == XSF_AGG_sdev)
		*number = variance(scratch, out->nr, sum / out->nr);
	if (how == XSF_AGG_sdev)
		*number = sqrt(*number);
	if (how < XSF_AGG_med)
		return;
	xsf_quartiles(scratch, out->nr, &out->quartiles);
	if (how == XSF_AGG_med || how == XSF_AGG_q2)
		*number = out->quartiles.med;
	else if (how == XSF_AGG_q1)
		*number = out->quartiles.q1;
	else if (how == XSF_AGG_q3)
		*number = out->quartiles.q3;
	else
		*number = out->quartiles.q3 - out->quartiles.q1;
}
