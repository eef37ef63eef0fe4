// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "inputs.h"

#include <dirent.h>
#include <stdio.h>
#include "cmd/capture.h"

static int is_capture(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return dot && (!strcmp(dot, ".pcap") || !strcmp(dot, ".pcapng"));
}

static int one(const char *path, const char *name,
	       void (*each)(void *arg, const char *file, const uint8_t *frame, uint32_t len),
	       void *arg)
{
	static uint8_t frame[14 + 65536];
	struct xsf_capture_frame f;
	struct xsf_capture *c;
	char why[256];

	/* Link types that replay refuses as well. */
	if (xsf_capture_open(path, -1, &c, why, sizeof(why)))
		return 0;
	while (xsf_capture_next(c, &f, why, sizeof(why)) == 1) {
		uint32_t link = f.type ? 14 : 0;

		if (f.caplen + link < 14 || f.caplen > 65536)
			continue;
		if (link) {
			memset(frame, 0, 12);
			frame[12] = (uint8_t)(f.type >> 8);
			frame[13] = (uint8_t)f.type;
		}
		memcpy(frame + link, f.data, f.caplen);
		each(arg, name, frame, link + f.caplen);
	}
	xsf_capture_close(c);
	return 1;
}

uint32_t captures_each(const char *folder,
		       void (*each)(void *arg, const char *file, const uint8_t *frame,
				    uint32_t len),
		       void *arg)
{
	struct dirent **names;
	int nr = scandir(folder, &names, is_capture, alphasort), i;
	uint32_t captures = 0;
	char path[1024];

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		captures += (uint32_t)one(path, names[i]->d_name, each, arg);
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
	return captures;
}

uint32_t frame_payload(const uint8_t *frame, uint32_t len, const uint8_t **payload)
{
	uint32_t at, port;

	if (len >= 42 && frame[12] == 8 && !frame[13] && frame[14] == 0x45 && frame[23] == 17 &&
	    !(frame[20] & 0x3f) && !frame[21])
		at = 34;
	else if (len >= 62 && frame[12] == 0x86 && frame[13] == 0xdd && frame[20] == 17)
		at = 54;
	else
		return 0;
	port = (uint32_t)frame[at + 2] << 8 | frame[at + 3];
	if (port != 6343 && port != 6344)
		return 0;
	*payload = frame + at + 8;
	len -= at + 8;
	at = ((uint32_t)frame[at + 4] << 8 | frame[at + 5]);
	return at < 8 || at - 8 > len ? 0 : at - 8;
}
