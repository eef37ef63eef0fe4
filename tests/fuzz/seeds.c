// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* seeds FOLDER: writes what the targets start from to FOLDER/datagram, /frame, /packet, /csum and /flow:
 * the datagrams and packets built for the program's tests, and what the golden captures hold. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <xsf/event.h>
#include <xsf/sflow.h>
#include "../progrun/csum_trio.h"
#include "../progrun/inputs.h"

/* Captures repeat themselves. */
#define FROM_CAPTURES 400
#define CSUM_PACKETS 400

static const char *folder;
static uint32_t captured;

static void save(const char *kind, const char *name, uint32_t n, const void *head,
		 uint32_t head_len, const uint8_t *p, uint32_t len)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s-%u", folder, kind, name, n);
	f = fopen(path, "wb");
	if (!f || fwrite(head, 1, head_len, f) != head_len || fwrite(p, 1, len, f) != len ||
	    fclose(f)) {
		fprintf(stderr, "seeds: cannot write %s\n", path);
		exit(1);
	}
}

static void save_frame(const char *name, uint32_t n, const uint8_t *p, uint32_t len)
{
	uint8_t head[3] = { 0, (uint8_t)(len >> 8), (uint8_t)len };

	save("frame", name, n, head, sizeof(head), p, len);
}

static void of_capture(void *arg, const char *file, const uint8_t *frame, uint32_t len)
{
	const uint8_t *payload;
	uint32_t n;

	(void)arg;
	(void)file;
	if (captured == FROM_CAPTURES)
		return;
	n = frame_payload(frame, len, &payload);
	save_frame("capture", captured, frame, len);
	if (n)
		save("datagram", "capture", captured, "", 0, payload, n);
	captured++;
}

/* Keys, value, filter. */
static const char *const definitions[][3] = {
	{ "node:inputifindex,ifname:inputifindex,reason,stack,macsource,macdestination,"
	  "null:vlan:untagged,null:[or:ipsource:ip6source]:none,"
	  "null:[or:icmptype:icmp6type:ipprotocol:ip6nexthdr]:none",
	  "frames", "" },
	{ "ipsource.1,concat:_:ipsource:ipdestination,prefix:stack:.:2", "bytes",
	  "direction=ingress&(ipecn=11|ip6ecn!=null)&tcpflags!~....1.000" },
	{ "", "avg:ibbtrdmalen", "suffix:stack:.:1=ibbt&first:stack:.:ip:ip6=ip" },
	{ "range:udpsourceport:1:9,map:vlan:m,group:ipsource:g:h,link:outputifindex",
	  "max:queuedepth", "function~.*(a|b)*[^]&]\\.x|trap=a\\,b,null" },
};

static void save_flow(uint32_t n, const struct wire *w)
{
	const char *const *d = definitions[n % (sizeof(definitions) / sizeof(definitions[0]))];
	struct xsf_event e = { .flags = XSF_EVENT_HAS_HEADER | (n & 4 ? XSF_EVENT_FLOW : 0),
			       .index = 3,
			       .input = 3,
			       .rate = 100,
			       .protocol = SFLOW_PROTO_ETHERNET,
			       .frame_len = w->len };
	char head[2048];
	uint32_t len = 0;

	for (int i = 0; i < 3; i++)
		len += (uint32_t)snprintf(head + len, sizeof(head) - len, "%s", d[i]) + 1;
	e.header_kept = XSF_MIN(w->len, XSF_EVENT_HEADER);
	e.header_len = e.header_kept;
	memcpy(e.header, w->p, e.header_kept);
	/* `size & 1` of what is behind the texts says whether drops are asked for. */
	save("flow", "built", n, head, len, (const uint8_t *)&e, sizeof(e) - (n & 4 ? 0 : 1));
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "datagram", "frame", "packet", "csum", "flow" };
	static struct wire w, frame;
	char path[4096];

	if (argc != 2)
		return 2;
	folder = argv[1];
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, kinds[i]);
		if (mkdir(path, 0755) && errno != EEXIST) {
			perror(path);
			return 1;
		}
	}
	for (uint32_t i = 0; i < BUILT_DATAGRAMS; i++) {
		built_datagram(i, &w);
		save("datagram", "built", i, "", 0, w.p, w.len);
		wire_carry4(&frame, w.p, w.len, 6343);
		save_frame("built4", i, frame.p, frame.len);
		wire_carry6(&frame, w.p, w.len, 6343);
		save_frame("built6", i, frame.p, frame.len);
	}
	for (uint32_t i = 0; i < BUILT_PACKETS; i++) {
		built_packet(i, &w);
		save("packet", "ethernet", i, "\0", 1, w.p, w.len);
		save("packet", "ip4", i, "\1", 1, w.p + 14, w.len - 14);
		save("packet", "ip6", i, "\2", 1, w.p + 14, w.len - 14);
		save_flow(i, &w);
	}
	captures_each("tests/golden/pcaps", of_capture, NULL);
	captures_each("tests/golden/lab", of_capture, NULL);
	for (uint32_t i = 0; i < CSUM_PACKETS; i++) {
		struct csum_how how;
		uint8_t say;

		csum_packet(2, i, &w, &how);
		say = (uint8_t)((how.gso_size != 0) | (how.linear < w.len) << 3 | (i & 1) << 2);
		save("csum", "made", i, &say, 1, w.p, w.len);
	}
	return 0;
}
