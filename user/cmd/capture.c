// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xsf/base.h>
#include <xsf/net.h>

/* An EtherType that no frame has: it counts as not_ip. */
#define TYPE_UNKNOWN 0xffff

#define SLL_LEN 16
#define SLL_PROTOCOL 14
#define SLL2_LEN 20
#define SLL2_PROTOCOL 0
#define NULL_LEN 4

struct xsf_capture {
	pcap_t *pcap; /* reads, and closes, a FILE of `fd` */
	int fd;
	int live;
	int stop_fd;
	int link;
	uint64_t last_ns;
};

/* Until there is something to read. 0, or -EINTR. */
static int wait_readable(const struct xsf_capture *c)
{
	struct pollfd p[2] = { { .fd = c->fd, .events = POLLIN },
			       { .fd = c->stop_fd, .events = POLLIN } };

	if (c->stop_fd < 0)
		return 0;
	while (poll(p, 2, -1) < 0) {
		if (errno != EINTR)
			return 0; /* reading tells why */
	}
	return p[1].revents ? -EINTR : 0;
}

/* The file as libpcap reads it. Opening a pipe must not wait for its writer, and of a pipe nothing must be
 * read ahead, where no poll would see it. */
static FILE *open_file(struct xsf_capture *c, const char *path)
{
	int input = !strcmp(path, "-");
	struct stat st;
	FILE *file;

	c->fd = input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) :
			open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (c->fd < 0)
		return NULL;
	c->live = input || fstat(c->fd, &st) || !S_ISREG(st.st_mode);
	file = fdopen(c->fd, "rb");
	if (!file) {
		close(c->fd);
		return NULL;
	}
	if (!input)
		fcntl(c->fd, F_SETFL, 0);
	if (c->live)
		setvbuf(file, NULL, _IONBF, 0);
	return file;
}

/* The program that unpacks what libpcap does not read, by the file's first bytes, or NULL (RFC 1952 section
 * 2.3.1; RFC 8878 section 3.1.1; the magic bytes of xz and bzip2). */
static const char *unpacked_by(const struct xsf_capture *c)
{
	static const struct {
		const char *magic;
		const char *program;
	} kinds[] = {
		{ "\x1f\x8b", "zcat" },
		{ "\x28\xb5\x2f\xfd", "zstdcat" },
		{ "\xfd\x37zXZ", "xzcat" },
		{ "BZh", "bzcat" },
	};
	char first[8] = "";

	if (c->live || pread(c->fd, first, sizeof(first), 0) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!memcmp(first, kinds[i].magic, strlen(kinds[i].magic)))
			return kinds[i].program;
	}
	return NULL;
}

/* 0, or negative errno with one line in why. */
static int open_pcap(struct xsf_capture *c, const char *path, char *why, size_t len)
{
	char error[PCAP_ERRBUF_SIZE] = "";
	FILE *file = open_file(c, path);
	const char *program;
	int err;

	if (!file) {
		err = -errno;
		snprintf(why, len, "%s", strerror(-err));
		return err;
	}
	err = wait_readable(c);
	if (!err)
		c->pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO,
								   error);
	if (c->pcap)
		return 0;
	program = err ? NULL : unpacked_by(c);
	if (program)
		snprintf(why, len, "%s; it is compressed: %s FILE | xdp-sflow ... -", error,
			 program);
	else
		snprintf(why, len, "%s", err ? strerror(-err) : error);
	fclose(file);
	return err ? err : -EINVAL;
}

int xsf_capture_open(const char *path, int stop_fd, struct xsf_capture **capture, char *why,
		     size_t len)
{
	struct xsf_capture *c = calloc(1, sizeof(*c));
	int err;

	if (!c) {
		snprintf(why, len, "out of memory");
		return -ENOMEM;
	}
	c->stop_fd = stop_fd;
	err = open_pcap(c, path, why, len);
	if (err) {
		free(c);
		return err;
	}
	c->link = pcap_datalink(c->pcap);
	switch (c->link) {
	case DLT_EN10MB:
	case DLT_RAW:
	case DLT_IPV4:
	case DLT_IPV6:
	case DLT_LINUX_SLL:
	case DLT_LINUX_SLL2:
	case DLT_NULL:
	case DLT_LOOP:
		*capture = c;
		return 0;
	}
	snprintf(
		why, len, "link type %s (%d) is not supported; EN10MB, RAW, SLL, SLL2 and NULL are",
		pcap_datalink_val_to_name(c->link) ? pcap_datalink_val_to_name(c->link) : "unknown",
		c->link);
	xsf_capture_close(c);
	return -EPROTONOSUPPORT;
}

int xsf_capture_is_live(const struct xsf_capture *c)
{
	return c->live;
}

static uint32_t type_by_version(const struct xsf_capture_frame *f)
{
	if (!f->caplen)
		return TYPE_UNKNOWN;
	return f->data[0] >> 4 == 4 ? NET_TYPE_IP4 :
	       f->data[0] >> 4 == 6 ? NET_TYPE_IP6 :
				      TYPE_UNKNOWN;
}

/* Address family of BSD loopback headers; IPv6 has another number on each BSD, Linux uses 10. */
static uint32_t type_by_family(const uint8_t *p)
{
	uint32_t family = xsf_be32(p);

	/* DLT_NULL is in the byte order of the machine that captured. */
	if (family > 0xffff)
		family = __builtin_bswap32(family);
	switch (family) {
	case 2:
		return NET_TYPE_IP4;
	case 10:
	case 24:
	case 28:
	case 30:
		return NET_TYPE_IP6;
	}
	return TYPE_UNKNOWN;
}

static void skip(struct xsf_capture_frame *f, uint32_t n)
{
	f->data += n;
	f->caplen -= n;
	f->len -= n;
}

static void link_layer(int link, struct xsf_capture_frame *f)
{
	uint32_t header = link == DLT_LINUX_SLL	 ? SLL_LEN :
			  link == DLT_LINUX_SLL2 ? SLL2_LEN :
			  link == DLT_NULL	 ? NULL_LEN :
			  link == DLT_LOOP	 ? NULL_LEN :
						   0;

	f->type = 0;
	if (link == DLT_EN10MB)
		return;
	if (!header) {
		f->type = type_by_version(f);
		return;
	}
	f->type = TYPE_UNKNOWN;
	if (f->caplen < header)
		return;
	if (link == DLT_LINUX_SLL)
		f->type = xsf_be16(f->data + SLL_PROTOCOL);
	else if (link == DLT_LINUX_SLL2)
		f->type = xsf_be16(f->data + SLL2_PROTOCOL);
	else
		f->type = type_by_family(f->data);
	/* Type 0 would mean Ethernet. */
	if (!f->type)
		f->type = TYPE_UNKNOWN;
	skip(f, header);
}

int xsf_capture_next(struct xsf_capture *c, struct xsf_capture_frame *f, char *why, size_t len)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	uint64_t ns;
	int got;

	if (wait_readable(c)) {
		snprintf(why, len, "%s", strerror(EINTR));
		return -EINTR;
	}
	got = pcap_next_ex(c->pcap, &header, &data);
	if (got == PCAP_ERROR_BREAK)
		return 0;
	if (got != 1) {
		snprintf(why, len, "%s", pcap_geterr(c->pcap));
		return -EIO;
	}
	f->data = data;
	f->caplen = header->caplen;
	f->len = header->len < header->caplen ? header->caplen : header->len;
	ns = (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec;
	if (ns > c->last_ns)
		c->last_ns = ns;
	f->ns = c->last_ns;
	link_layer(c->link, f);
	return 1;
}

void xsf_capture_close(struct xsf_capture *c)
{
	if (!c)
		return;
	pcap_close(c->pcap);
	free(c);
}
