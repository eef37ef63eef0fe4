// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/load.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/repair.h"
#include "kernel/confirm.h"
#include "kernel/load.h"
#include "kernel/object.h"
#include "kernel/policy.h"
#include "model/prefix.h"

#define OPT_CONFIRM XSF_OPT_OTHERS
#define OPT_TRIM_DSCP (XSF_OPT_OTHERS + 1)
#define ANSWER_MS 60000

const char xsf_load_options_help[] =
	"      --mode native|generic  native (default): in the driver; generic: any, slower\n"
	"      --consume              drop sound datagrams to this host's addresses once they are\n"
	"                             counted; without it everything goes on to the stack\n"
	"      --port PORT[,...]      UDP ports that carry sFlow, at most 8 (default 6343)\n"
	"      --allow PREFIX         parse datagrams from these sources only; repeat for more;\n"
	"                             one list for all interfaces (default: every source)\n"
	"      --drop-denied          and drop those of other sources\n"
	"      --drop-duplicates      leave out the samples of duplicate datagrams\n"
	"      --stale SECONDS        agents and sources silent for longer are not shown; their\n"
	"                             places may go to others (default 600)\n"
	"      --frags auto|yes|no    the program for frames of several buffers; auto (default):\n"
	"                             where the MTU needs it\n"
	"      --fabrics N            room for N fabrics in the tables (default 2, at most 16)\n"
	"      --share                beside other XDP programs, through libxdp\n"
	"      --maps DIR             pin directory (default /sys/fs/bpf/xdp-sflow/v2)\n"
	"      --repair PORT[,...]    UDP over IPv6: write right checksums where they are wrong\n"
	"                             or 0, of datagrams to these ports\n"
	"      --repair-from PREFIX   from these sources only; repeat for more; without --repair\n"
	"                             to every port that is watched\n"
	"      --observe              count them, and write nothing (default)\n"
	"      --no-checksum          no tc program\n"
	"      --yes                  never ask\n"
	"      --verbose              show what libbpf says\n";

static void log_line(const char *line)
{
	fputs(line, stderr);
}

void xsf_load_args_init(struct xsf_load_args *a)
{
	memset(a, 0, sizeof(*a));
	a->options.dir = xsf_maps_dir(NULL);
	xsf_log_capture(NULL);
}

const char *xsf_maps_dir(const char *value)
{
	static char dir[PATH_MAX];
	char cwd[PATH_MAX] = "";
	size_t len;

	if (!value)
		return xsf_pins_default();
	if (!*value || (*value != '/' && !getcwd(cwd, sizeof(cwd))) ||
	    snprintf(dir, sizeof(dir), "%s%s%s", cwd, *cwd ? "/" : "", value) >= XSF_MAX_DIR)
		return NULL;
	for (len = strlen(dir); len > 1 && dir[len - 1] == '/'; len--)
		dir[len - 1] = 0;
	return dir;
}

/* A repeated --port adds to the ports before it. */
static int parse_ports(struct xsf_load_options *o, const char *command, const char *value)
{
	uint16_t more[XSF_MAX_PORTS];
	int n = 0, bad = xsf_parse_ports(value, more);

	while (n < XSF_MAX_PORTS && o->ports[n])
		n++;
	for (int i = 0; !bad && i < XSF_MAX_PORTS && more[i]; i++) {
		if (n == XSF_MAX_PORTS)
			bad = 1;
		else
			o->ports[n++] = more[i];
	}
	if (bad)
		return xsf_usage(command, "'%s' is no list of at most %d ports from 1 to 65535",
				 value, XSF_MAX_PORTS);
	o->has_ports = 1;
	return 0;
}

static int parse_prefix(struct xsf_load_options *o, const char *command, const char *value)
{
	if (o->nr_allow == XSF_ALLOW_PREFIXES)
		return xsf_usage(command, "more than %d prefixes", XSF_ALLOW_PREFIXES);
	if (xsf_prefix_parse(value, &o->allow[o->nr_allow]))
		return xsf_usage(command,
				 "'%s' is no prefix (192.0.2.0/24, 2001:db8::/32; no bits beyond "
				 "its length)",
				 value);
	o->nr_allow++;
	o->flags |= XSF_F_ALLOW_LIST;
	return 0;
}

/* Index of value in NULL-terminated words, or -1. */
static int one_of(const char *value, const char *const *words)
{
	for (int n = 0; words[n]; n++) {
		if (!strcmp(value, words[n]))
			return n;
	}
	return -1;
}

static int parse_word(struct xsf_load_options *o, const char *command, int opt, const char *value)
{
	static const char *const modes[] = { "native", "generic", NULL };
	static const char *const frags[] = { "auto", "yes", "no", NULL };
	int n = one_of(value, opt == XSF_OPT_MODE ? modes : frags);

	if (n < 0 && opt == XSF_OPT_MODE)
		return xsf_usage(command, "--mode is native or generic, not '%s'", value);
	if (n < 0)
		return xsf_usage(command, "--frags is auto, yes or no, not '%s'", value);
	if (opt == XSF_OPT_MODE)
		o->mode = n ? XSF_MODE_GENERIC : XSF_MODE_NATIVE;
	else
		o->frags = (enum xsf_frags)n;
	return 0;
}

static int parse_number(struct xsf_load_options *o, const char *command, int opt, const char *value)
{
	uint64_t max = opt == XSF_OPT_STALE ? XSF_MAX_STALE_SECONDS : XSF_MAX_FABRICS, v;

	if (xsf_parse_u64(value, 1, max, &v))
		return xsf_usage(command, "--%s is a number from 1 to %lu, not '%s'",
				 opt == XSF_OPT_STALE ? "stale" : "fabrics", (unsigned long)max,
				 value);
	if (opt == XSF_OPT_STALE)
		o->stale_ns = v * 1000000000;
	else
		o->fabrics = (uint32_t)v;
	return 0;
}

int xsf_load_arg(struct xsf_load_args *a, const char *command, int opt, const char *value)
{
	struct xsf_load_options *o = &a->options;

	switch (opt) {
	case XSF_OPT_MODE:
	case XSF_OPT_FRAGS:
		return parse_word(o, command, opt, value);
	case XSF_OPT_STALE:
	case XSF_OPT_FABRICS:
		return parse_number(o, command, opt, value);
	case XSF_OPT_PORT:
		return parse_ports(o, command, value);
	case XSF_OPT_ALLOW:
		return parse_prefix(o, command, value);
	case XSF_OPT_CONSUME:
		o->flags |= XSF_F_CONSUME;
		return 0;
	case XSF_OPT_DROP_DENIED:
		o->flags |= XSF_F_DROP_DENIED;
		return 0;
	case XSF_OPT_DROP_DUPLICATES:
		o->flags |= XSF_F_DROP_DUPLICATES;
		return 0;
	case XSF_OPT_SHARE:
		o->share = 1;
		return 0;
	case XSF_OPT_MAPS:
		o->dir = xsf_maps_dir(value);
		return o->dir ? 0 : xsf_usage(command, "--maps needs a directory");
	case XSF_OPT_REPAIR:
	case XSF_OPT_REPAIR_FROM:
	case XSF_OPT_OBSERVE:
	case XSF_OPT_NO_CHECKSUM:
		return xsf_repair_arg(&o->csum, command, opt, value);
	case XSF_OPT_YES:
		a->yes = 1;
		return 0;
	case XSF_OPT_VERBOSE:
		xsf_log_capture(log_line);
		return 0;
	}
	return xsf_usage(command, "unknown option");
}

int xsf_load_args_finish(struct xsf_load_args *a, const char *command, int nr, char **ifaces)
{
	const struct xsf_load_options *o = &a->options;

	if (!nr)
		return xsf_usage(command, "no interface given");
	if (nr > XSF_MAX_ATTACHED)
		return xsf_usage(command, "more than %d interfaces", XSF_MAX_ATTACHED);
	for (int i = 1; i < nr; i++) {
		for (int j = 0; j < i; j++) {
			if (!strcmp(ifaces[i], ifaces[j]))
				return xsf_usage(command, "%s is named twice", ifaces[i]);
		}
	}
	if (o->flags & XSF_F_DROP_DENIED && !o->nr_allow)
		return xsf_usage(command, "--drop-denied needs --allow");
	if (o->mode == XSF_MODE_GENERIC && o->frags == XSF_FRAGS_YES)
		return xsf_usage(command,
				 "generic mode takes the plain program: --frags yes is for native");
	a->ifaces = ifaces;
	a->nr_ifaces = nr;
	return xsf_repair_args_check(&o->csum, command);
}

const char *xsf_ports_text(const uint16_t *ports, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = 0;
	for (int n = 0; n < XSF_MAX_PORTS && len < size; n++) {
		if (ports[n])
			len += (size_t)snprintf(buf + len, size - len, "%s%u", len ? ", " : "",
						ports[n]);
	}
	return buf;
}

/* Says once what drivers do. Asks only a person, and only about hardware. Not 0 = leave it. */
static int say_and_ask(void *arg, const struct xsf_if *i, int generic)
{
	const struct xsf_load_args *a = arg;
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	static int said;
	char answer[8] = "";

	if (generic)
		return 0;
	if (!said)
		printf("some drivers reset their rings for native XDP: traffic may stop for a "
		       "moment%s\n",
		       a->options.confirm_s ? "" : " (--confirm SECONDS undoes a load by itself)");
	said = 1;
	fflush(stdout);
	if (i->kind[0] || i->flags & IFF_LOOPBACK || a->yes || a->options.confirm_s ||
	    !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return 0;
	printf("attach to %s now? [y/N] ", i->name);
	fflush(stdout);
	if (poll(&in, 1, ANSWER_MS) == 1 && !fgets(answer, sizeof(answer), stdin))
		answer[0] = 0;
	return answer[0] != 'y' && answer[0] != 'Y';
}

/* A process of its own that outlives this one and the terminal, with nothing open but the link. */
static int start_waiting(const struct xsf_load_options *o, const struct xsf_load_result *r)
{
	int null;

	fflush(stdout);
	switch (fork()) {
	case -1:
		return -errno;
	case 0:
		break;
	default:
		return 0;
	}
	setsid();
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, "xdp-sflow-wait");
	null = open("/dev/null", O_RDWR);
	if (chdir("/") || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
	    dup2(r->link, 3) < 0 || close_range(4, ~0u, 0))
		_exit(XSF_EXIT_FAILURE);
	xsf_confirm_wait(o->dir, r->name, 3, r->prog_id, o->confirm_s);
	_exit(0);
}

/* What this load has ended. */
static void report_ended(const struct xsf_csum_result *c)
{
	char was[XSF_POLICY_TEXT];

	if (c->ended)
		printf("; before it was %s", xsf_repairing_text(&c->was, was));
	putchar('\n');
}

/* The tc program's line. */
static void report_csum(const char *iface, const struct xsf_csum_result *c)
{
	char policy[XSF_POLICY_TEXT];

	if (c->removed) {
		printf("%s: checksum program detached", iface);
		report_ended(c);
	}
	if (c->kept) {
		printf("%s: the checksum program that is there stays, %s, tc preference %d, "
		       "program %u: "
		       "%s",
		       iface, xsf_policy_text(&c->policy, policy), XSF_TC_PREF, c->prog_id,
		       c->skipped.text);
		report_ended(c);
		return;
	}
	if (c->skipped.text[0])
		printf("checksums are not watched: %s\n", c->skipped.text);
	if (!c->prog_id)
		return;
	printf("%s: checksum program %s, %s, tc preference %d, program %u%s", iface,
	       c->replaced ? "replaced, counts kept" : "attached",
	       xsf_policy_text(&c->policy, policy), XSF_TC_PREF, c->prog_id,
	       c->made_qdisc ? "; made a clsact qdisc" : "");
	if (c->before)
		printf("; behind %u other filter%s", c->before, c->before == 1 ? "" : "s");
	report_ended(c);
}

static void report(const struct xsf_load_options *o, const char *iface,
		   const struct xsf_load_result *r)
{
	printf("%s: %s%s, %s mode%s, program %u%s%s\n", iface,
	       r->moved	   ? "detached and attached anew" :
	       r->replaced ? "program replaced, counts kept" :
			     "attached",
	       o->flags & XSF_F_CONSUME ? ", consuming" : "", r->generic ? "generic" : "native",
	       r->frags ? " for frames of several buffers" : "", r->prog_id,
	       r->repinned ? "; its lost pins were made again" : "",
	       r->alone ? "; libxdp cannot share on this kernel and attached it alone" : "");
	report_csum(iface, &r->csum);
	if (o->confirm_s)
		printf("%s: undone in %u seconds unless: xdp-sflow confirm %s\n", iface,
		       o->confirm_s, iface);
}

static int load_one(const struct xsf_load_options *o, const char *iface, int *is_fresh)
{
	struct xsf_load_result r;
	struct xsf_why why;
	int err;

	err = xsf_load(o, iface, &r, &why);
	if (err) {
		xsf_error("%s", why.text);
		return err;
	}
	*is_fresh = !r.replaced && !r.moved;
	report(o, iface, &r);
	if (o->confirm_s) {
		err = start_waiting(o, &r);
		close(r.link);
		if (err)
			xsf_error("%s: cannot start the process that waits for confirm: %s; undone",
				  iface, strerror(-err));
	}
	return err;
}

int xsf_load_all(struct xsf_load_args *a)
{
	struct xsf_load_options *o = &a->options;
	int lock, mounted, fresh, failed = 0;
	struct xsf_why why;

	for (int n = 0; n < a->nr_ifaces; n++) {
		if (xsf_load_check(o, a->ifaces[n], &why)) {
			xsf_error("%s", why.text);
			return XSF_EXIT_FAILURE;
		}
	}
	o->about_to_attach = say_and_ask;
	o->about_arg = a;
	lock = xsf_pins_make(o->dir, &mounted, &why);
	if (lock < 0) {
		xsf_error("%s", why.text);
		return XSF_EXIT_FAILURE;
	}
	if (mounted)
		printf("mounted a BPF file system at " XSF_BPFFS "\n");
	fresh = !xsf_object_pinned(o->dir, &why);
	for (int n = 0; n < a->nr_ifaces; n++)
		failed |= load_one(o, a->ifaces[n], &a->fresh[n]) != 0;
	/* A load that came to nothing leaves nothing. */
	if (failed && fresh && !xsf_loaded(o->dir))
		xsf_pins_purge(o->dir, &why);
	close(lock);
	return failed ? XSF_EXIT_FAILURE : 0;
}

static void help(void)
{
	printf("Usage: xdp-sflow load IFACE... [OPTION]...\n"
	       "Attach the XDP program to interfaces and pin it with its maps, so that it goes on\n"
	       "counting when this command has ended. Loading again replaces the program in "
	       "place,\n"
	       "takes the options given now, and keeps every count.\n\n"
	       "%s"
	       "      --confirm SECONDS      undo unless 'xdp-sflow confirm' follows within this\n"
	       "                             time, at most 86400\n"
	       "      --trim-dscp LIST       DSCPs that say \"trimmed\" in counts by interface, "
	       "0..63\n"
	       "                             (default 11); give export the same\n"
	       "  -h, --help                 this text\n",
	       xsf_load_options_help);
}

int cmd_load(int argc, char **argv)
{
	static const struct option options[] = {
		XSF_LOAD_LONG_OPTIONS,
		{ "confirm", required_argument, NULL, OPT_CONFIRM },
		{ "trim-dscp", required_argument, NULL, OPT_TRIM_DSCP },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	static struct xsf_load_args a;
	uint64_t seconds;
	int opt, ret;

	xsf_load_args_init(&a);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			help();
			return 0;
		case ':':
			return xsf_usage("load", "%s needs a value", argv[optind - 1]);
		case '?':
			return xsf_usage("load", "unknown option '%s'", argv[optind - 1]);
		case OPT_TRIM_DSCP:
			ret = xsf_dscps_arg(&a.options.trimmed_dscps, "load", optarg);
			if (ret)
				return ret;
			break;
		case OPT_CONFIRM:
			if (xsf_parse_u64(optarg, 1, XSF_MAX_CONFIRM_SECONDS, &seconds))
				return xsf_usage("load",
						 "--confirm is a number of seconds from 1 to %d",
						 XSF_MAX_CONFIRM_SECONDS);
			a.options.confirm_s = (uint32_t)seconds;
			break;
		default:
			ret = xsf_load_arg(&a, "load", opt, optarg);
			if (ret)
				return ret;
		}
	}
	ret = xsf_load_args_finish(&a, "load", argc - optind, argv + optind);
	return ret ? ret : xsf_load_all(&a);
}
