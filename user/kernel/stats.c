// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/stats.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>

int xsf_stats_enable(void)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	if (fd < 0)
		return -errno;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}
