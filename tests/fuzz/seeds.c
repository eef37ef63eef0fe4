// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* seeds FOLDER: writes what the targets start from to FOLDER/datagram, /frame, /packet and /csum: the
 * datagrams and packets built for the program's tests, and what the golden captures hold. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
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

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "datagram", "frame", "packet", "csum" };
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
