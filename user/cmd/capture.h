/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads capture files (pcap, pcapng; libpcap) frame by frame, without their link-layer headers where those
 * are not Ethernet. */
#ifndef XSF_CAPTURE_H
#define XSF_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

struct xsf_capture;

struct xsf_capture_frame {
	const uint8_t *data; /* valid until the next read */
	uint32_t caplen;
	uint32_t len;  /* on the wire, from data */
	uint32_t type; /* 0: data starts with an Ethernet header; else the EtherType of data */
	uint64_t ns;   /* since 1970; never goes back */
};

/* Opens `path` ("-": standard input). 0, or negative errno with one line in why. Link types EN10MB, RAW,
 * IPV4, IPV6, LINUX_SLL, LINUX_SLL2, NULL and LOOP; others are -EPROTONOSUPPORT. Once stop_fd (-1: none)
 * is readable, this and xsf_capture_next() end with -EINTR, also while they wait for a live capture. */
int xsf_capture_open(const char *path, int stop_fd, struct xsf_capture **capture, char *why,
		     size_t len);

/* 1: standard input, or no regular file: more may come, and nothing can be read twice. */
int xsf_capture_is_live(const struct xsf_capture *capture);

/* 1: *frame is the next one; 0: end of the file; negative errno with one line in why: the file is damaged
 * from here on. */
int xsf_capture_next(struct xsf_capture *capture, struct xsf_capture_frame *frame, char *why,
		     size_t len);

void xsf_capture_close(struct xsf_capture *capture);

#endif
