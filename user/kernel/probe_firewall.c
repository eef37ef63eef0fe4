// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* nftables: base chains through which datagrams to this host pass, whether they may drop, and which ports
 * they accept before. Rules that do more than "udp dport PORTS accept" are not taken for that. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel/netlink.h"
#include "kernel/probe.h"

/* Rules that are looked at, and members of a set. */
#define MAX_RULES 65536
#define MAX_SET_PORTS 256

/* From <linux/netfilter_ipv4/ip_tables.h>, which does not go with <net/if.h>. */
#define IPTABLES_GET_INFO 64
struct iptables_info {
	char name[32];
	uint32_t valid_hooks;
	uint32_t hook_entry[5];
	uint32_t underflow[5];
	uint32_t num_entries;
	uint32_t size;
};
/* A filter table without rules: a policy for each of three hooks, and its end. */
#define IPTABLES_EMPTY 4

struct walk {
	struct xsf_facts *f;
	uint8_t family[XSF_DOCTOR_CHAINS]; /* of f->chain */
	uint32_t ended;			   /* bit n: chain n has had a rule that drops */
	uint32_t rules;
};

#define EACH(a, len, nest) \
	for (a = RTA_DATA(nest), len = (int)RTA_PAYLOAD(nest); RTA_OK(a, len); a = RTA_NEXT(a, len))

static uint16_t type_of(const struct rtattr *a)
{
	return a->rta_type & NLA_TYPE_MASK;
}

/* The attribute of a type within a nest, or NULL. */
static const struct rtattr *within(const struct rtattr *nest, uint16_t type)
{
	const struct rtattr *a;
	int len;

	if (!nest)
		return NULL;
	EACH(a, len, nest)
	{
		if (type_of(a) == type)
			return a;
	}
	return NULL;
}

static const char *text_of(const struct rtattr *a)
{
	const char *s = RTA_DATA(a);

	return RTA_PAYLOAD(a) && !s[RTA_PAYLOAD(a) - 1] ? s : "";
}

/* Numbers of nf_tables are in network order. */
static uint32_t number_of(const struct rtattr *a, uint32_t none)
{
	return a && RTA_PAYLOAD(a) >= sizeof(uint32_t) ? ntohl(xsf_attr_u32(a)) : none;
}

static const char *family_name(uint8_t family)
{
	return family == NFPROTO_INET	? "inet" :
	       family == NFPROTO_IPV4	? "ip" :
	       family == NFPROTO_IPV6	? "ip6" :
	       family == NFPROTO_NETDEV ? "netdev" :
					  NULL;
}

/* The attributes of a message, by type up to `max`; the family, or -1. */
static int attributes(const struct nlmsghdr *h, const struct rtattr **attr, uint16_t max)
{
	const struct nfgenmsg *g = NLMSG_DATA(h);
	const struct rtattr *a;
	int len;

	for (uint32_t n = 0; n <= max; n++)
		attr[n] = NULL;
	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*g)))
		return -1;
	a = (const struct rtattr *)((const char *)g + NLMSG_ALIGN(sizeof(*g)));
	len = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof(*g)));
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (type_of(a) <= max)
			attr[type_of(a)] = a;
	}
	return g->nfgen_family;
}

static int dump(uint16_t message, uint8_t family, const void *attrs, size_t attrs_len,
		int (*each)(void *arg, const struct nlmsghdr *h), void *arg)
{
	struct {
		struct nlmsghdr h;
		struct nfgenmsg g;
		char attrs[256];
	} request = {
		.h.nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | message,
		.h.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.h.nlmsg_len = (uint32_t)(NLMSG_LENGTH(sizeof(struct nfgenmsg)) + attrs_len),
		.g.nfgen_family = family,
		.g.version = NFNETLINK_V0,
	};

	if (attrs_len > sizeof(request.attrs))
		return -EINVAL;
	if (attrs_len)
		memcpy(request.attrs, attrs, attrs_len);
	return xsf_netlink_ask(NETLINK_NETFILTER, &request.h, each, arg);
}

static int take_chain(void *arg, const struct nlmsghdr *h)
{
	const struct rtattr *attr[NFTA_CHAIN_TYPE + 1], *hook, *dev;
	struct walk *w = arg;
	struct xsf_doctor_chain *c;
	int family = attributes(h, attr, NFTA_CHAIN_TYPE);
	uint32_t number;

	if (family < 0 || !family_name((uint8_t)family) || !attr[NFTA_CHAIN_HOOK] ||
	    !attr[NFTA_CHAIN_TABLE] || !attr[NFTA_CHAIN_NAME])
		return 0;
	hook = attr[NFTA_CHAIN_HOOK];
	number = number_of(within(hook, NFTA_HOOK_HOOKNUM), UINT32_MAX);
	dev = within(hook, NFTA_HOOK_DEV);
	if (family == NFPROTO_NETDEV &&
	    (number != NF_NETDEV_INGRESS || (dev && strcmp(text_of(dev), w->f->iface))))
		return 0;
	if (family != NFPROTO_NETDEV && number != NF_INET_PRE_ROUTING && number != NF_INET_LOCAL_IN)
		return 0;
	w->f->chains++;
	if (w->f->nr_chains == XSF_DOCTOR_CHAINS)
		return 0;
	w->family[w->f->nr_chains] = (uint8_t)family;
	c = &w->f->chain[w->f->nr_chains++];
	memset(c, 0, sizeof(*c));
	snprintf(c->family, sizeof(c->family), "%s", family_name((uint8_t)family));
	snprintf(c->table, sizeof(c->table), "%s", text_of(attr[NFTA_CHAIN_TABLE]));
	snprintf(c->name, sizeof(c->name), "%s", text_of(attr[NFTA_CHAIN_NAME]));
	c->policy_drop = number_of(attr[NFTA_CHAIN_POLICY], NF_ACCEPT) == NF_DROP;
	return 0;
}

/* Ports in a set. */
struct set_ports {
	uint16_t port[MAX_SET_PORTS];
	uint32_t nr;
};

static int take_elements(void *arg, const struct nlmsghdr *h)
{
	const struct rtattr *attr[NFTA_SET_ELEM_LIST_ELEMENTS + 1], *e;
	struct set_ports *ports = arg;
	int len;

	if (attributes(h, attr, NFTA_SET_ELEM_LIST_ELEMENTS) < 0 ||
	    !attr[NFTA_SET_ELEM_LIST_ELEMENTS])
		return 0;
	EACH(e, len, attr[NFTA_SET_ELEM_LIST_ELEMENTS])
	{
		const struct rtattr *key = within(e, NFTA_SET_ELEM_KEY);
		const struct rtattr *value = within(key, NFTA_DATA_VALUE);
		uint16_t port;

		/* An interval's end: such a set is not one of single ports. */
		if (within(e, NFTA_SET_ELEM_FLAGS))
			return -EOPNOTSUPP;
		if (!value || RTA_PAYLOAD(value) < sizeof(port) || ports->nr == MAX_SET_PORTS)
			continue;
		memcpy(&port, RTA_DATA(value), sizeof(port));
		ports->port[ports->nr++] = ntohs(port);
	}
	return 0;
}

static size_t put_text(char *to, uint16_t type, const char *s)
{
	struct rtattr a = { .rta_len = (uint16_t)(RTA_LENGTH(strlen(s) + 1)), .rta_type = type };

	memcpy(to, &a, sizeof(a));
	memcpy(to + sizeof(a), s, strlen(s) + 1);
	return RTA_ALIGN(a.rta_len);
}

static void ports_of_set(uint8_t family, const char *table, const char *set,
			 struct set_ports *ports)
{
	char attrs[256] = { 0 };
	size_t len;

	ports->nr = 0;
	if (strlen(table) > 100 || strlen(set) > 100)
		return;
	len = put_text(attrs, NFTA_SET_ELEM_LIST_TABLE, table);
	len += put_text(attrs + len, NFTA_SET_ELEM_LIST_SET, set);
	if (dump(NFT_MSG_GETSETELEM, family, attrs, len, take_elements, ports))
		ports->nr = 0;
}

/* One rule, expression by expression. */
struct rule {
	struct set_ports ports;
	int is_port;  /* the destination port was just loaded */
	int only;     /* nothing but "udp dport PORTS" so far */
	int verdict;  /* NF_ACCEPT, NF_DROP, or -1 */
	int protocol; /* the protocol was just loaded */
};

static void take_expression(uint8_t family, const char *table, const char *name,
			    const struct rtattr *data, struct rule *r)
{
	const struct rtattr *value, *verdict;

	if (!strcmp(name, "counter") || !strcmp(name, "log")) {
		return;
	} else if (!strcmp(name, "reject")) {
		r->verdict = NF_DROP;
	} else if (!strcmp(name, "immediate")) {
		verdict = within(within(data, NFTA_IMMEDIATE_DATA), NFTA_DATA_VERDICT);
		if (verdict)
			r->verdict = (int)number_of(within(verdict, NFTA_VERDICT_CODE), UINT32_MAX);
	} else if (!strcmp(name, "meta")) {
		r->protocol =
			number_of(within(data, NFTA_META_KEY), UINT32_MAX) == NFT_META_L4PROTO;
		r->only &= r->protocol;
	} else if (!strcmp(name, "payload")) {
		r->is_port = number_of(within(data, NFTA_PAYLOAD_BASE), UINT32_MAX) ==
				     NFT_PAYLOAD_TRANSPORT_HEADER &&
			     number_of(within(data, NFTA_PAYLOAD_OFFSET), UINT32_MAX) == 2 &&
			     number_of(within(data, NFTA_PAYLOAD_LEN), UINT32_MAX) == 2;
		r->protocol = 0;
		r->only &= r->is_port;
	} else if (!strcmp(name, "cmp")) {
		value = within(within(data, NFTA_CMP_DATA), NFTA_DATA_VALUE);
		if (number_of(within(data, NFTA_CMP_OP), UINT32_MAX) != NFT_CMP_EQ || !value)
			r->only = 0;
		else if (r->protocol)
			r->only &= *(const uint8_t *)RTA_DATA(value) == IPPROTO_UDP;
		else if (r->is_port && RTA_PAYLOAD(value) >= 2) {
			memcpy(&r->ports.port[0], RTA_DATA(value), 2);
			r->ports.port[0] = ntohs(r->ports.port[0]);
			r->ports.nr = 1;
		} else {
			r->only = 0;
		}
	} else if (!strcmp(name, "lookup") && r->is_port) {
		value = within(data, NFTA_LOOKUP_SET);
		if (number_of(within(data, NFTA_LOOKUP_FLAGS), 0) || !value)
			r->only = 0;
		else
			ports_of_set(family, table, text_of(value), &r->ports);
	} else {
		r->only = 0;
	}
}

static int take_rule(void *arg, const struct nlmsghdr *h)
{
	const struct rtattr *attr[NFTA_RULE_EXPRESSIONS + 1], *e;
	struct rule r = { .only = 1, .verdict = -1 };
	struct walk *w = arg;
	const char *table, *chain;
	int family = attributes(h, attr, NFTA_RULE_EXPRESSIONS), len;

	if (family < 0 || !attr[NFTA_RULE_TABLE] || !attr[NFTA_RULE_CHAIN] ||
	    !attr[NFTA_RULE_EXPRESSIONS])
		return 0;
	if (++w->rules > MAX_RULES)
		return -E2BIG;
	table = text_of(attr[NFTA_RULE_TABLE]);
	chain = text_of(attr[NFTA_RULE_CHAIN]);
	EACH(e, len, attr[NFTA_RULE_EXPRESSIONS])
	{
		const struct rtattr *name = within(e, NFTA_EXPR_NAME);

		if (name)
			take_expression((uint8_t)family, table, text_of(name),
					within(e, NFTA_EXPR_DATA), &r);
	}
	for (uint32_t n = 0; n < w->f->nr_chains; n++) {
		struct xsf_doctor_chain *c = &w->f->chain[n];
		int here = !strcmp(c->name, chain);

		if (w->family[n] != family || strcmp(c->table, table))
			continue;
		/* Also in chains that it may jump to. */
		if (r.verdict == NF_DROP) {
			int base = 0;

			for (uint32_t m = 0; m < w->f->nr_chains && !here; m++)
				base |= w->family[m] == family &&
					!strcmp(w->f->chain[m].name, chain) &&
					!strcmp(w->f->chain[m].table, table);
			c->drops += here || !base;
			w->ended |= here ? 1U << n : 0;
		}
		if (!here || r.verdict != NF_ACCEPT || !r.only || w->ended >> n & 1)
			continue;
		for (uint32_t p = 0; p < w->f->nr_ports; p++) {
			for (uint32_t m = 0; m < r.ports.nr; m++)
				c->accepted |= r.ports.port[m] == w->f->ports[p] ? 1U << p : 0;
		}
	}
	return 0;
}

/* Is nf_tables in the kernel now? Asking one that has it as a module would load that. */
static int has_nf_tables(void)
{
	FILE *symbols;
	char line[256];
	int found = !access("/sys/module/nf_tables", F_OK);

	if (found || access("/proc/kallsyms", R_OK))
		return found || access("/proc/modules", F_OK);
	symbols = fopen("/proc/kallsyms", "re");
	while (symbols && !found && fgets(line, sizeof(line), symbols))
		found = strstr(line, " nf_tables_newrule") != NULL;
	if (symbols)
		fclose(symbols);
	return found;
}

/* 1: rules in the filter table of the old kind. */
static xsf_fact_t legacy(const char *names, int family, int level)
{
	struct iptables_info info = { .name = "filter" };
	socklen_t len = sizeof(info);
	char text[256];
	int fd, err = xsf_probe_text(names, text, sizeof(text));

	if (err)
		return err == -ENOENT ? 0 : err;
	/* Asking for a table that nobody uses would make it. */
	if (!strstr(text, "filter\n"))
		return 0;
	fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	if (fd < 0)
		return -errno;
	err = getsockopt(fd, level, IPTABLES_GET_INFO, &info, &len) ? -errno : 0;
	close(fd);
	return err ? err : info.num_entries > IPTABLES_EMPTY;
}

/* Chains that drop nothing are of no interest. */
static void keep_dropping(struct xsf_facts *f)
{
	uint32_t kept = 0;

	for (uint32_t n = 0; n < f->nr_chains; n++) {
		if (f->chain[n].policy_drop || f->chain[n].drops)
			f->chain[kept++] = f->chain[n];
	}
	f->chains -= f->nr_chains - kept;
	f->nr_chains = kept;
}

void xsf_probe_firewall(struct xsf_facts *f)
{
	struct walk w = { .f = f };
	xsf_fact_t old4, old6;
	int err;

	if (has_nf_tables()) {
		err = dump(NFT_MSG_GETCHAIN, AF_UNSPEC, NULL, 0, take_chain, &w);
		if (!err && f->nr_chains)
			err = dump(NFT_MSG_GETRULE, AF_UNSPEC, NULL, 0, take_rule, &w);
		if (err) {
			f->chains = err;
			f->nr_chains = 0;
		} else {
			keep_dropping(f);
		}
	}
	old4 = legacy("/proc/net/ip_tables_names", AF_INET, IPPROTO_IP);
	old6 = legacy("/proc/net/ip6_tables_names", AF_INET6, IPPROTO_IPV6);
	f->legacy = old4 < 0 ? old4 : old6 < 0 ? old6 : old4 | old6 << 1;
}
