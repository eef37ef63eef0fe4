/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What lies in a pin directory, by default /sys/fs/bpf/xdp-sflow/v<XSF_ABI>/:
 *
 *	xsf_agents, xsf_sources, ...	the maps, one set for all interfaces (bpf/maps.bpf.h)
 *	if_NAME_ID/			one attachment: NAME is the interface's at load, ID the link's
 *		link			the bpf_link that holds the program on the interface; absent while
 *					load --confirm waits, and with --share (libxdp has no links)
 *		prog			the program, for readers: its id and its run time
 *		about			a map with one struct xsf_about, for readers
 *		prog_before, about_before	what load --confirm returns to
 *	tc_NAME_ID/			one tc program (kernel/csum.h): ID is the program's. Its filter goes
 *					with the interface; no pin holds it
 *		about			a map with one struct xsf_csum_about
 *		xsf_csum_policy, xsf_csum_from	its policy
 *		prog			only of one that load --confirm may return to
 *	reader_N/			place N of a reader of events (kernel/events.h), who holds its flock;
 *					empty, and only root may open it
 *
 * Files are 0640 and directories 0750 of group xdp-sflow where that group exists, else root's alone.
 * Commands that change something hold an flock on the directory `lock` in it, which only root may open: a
 * reader of the group cannot keep it. An attachment is recognised by
 * the program id, never by its name: interfaces are renamed, and move between namespaces. */
#ifndef XSF_PINS_H
#define XSF_PINS_H

#include <limits.h>
#include <net/if.h>
#include <stddef.h>
#include <stdint.h>
#include <xsf/abi.h>
#include <xsf/event.h>
#include "kernel/why.h"

#define XSF_BPFFS "/sys/fs/bpf"
#define XSF_PIN_GROUP "xdp-sflow"
#define XSF_READER_PREFIX "reader_"

/* Attachments of one directory that are looked at. */
#define XSF_MAX_ATTACHMENTS 256
/* How long a command waits for another one to end. */
#define XSF_LOCK_SECONDS 10
/* What one path of a directory may be at most; the rest of PATH_MAX is for what lies in it. */
#define XSF_MAX_DIR (PATH_MAX - 128)

/* How a program is held on its interface. */
enum xsf_how { XSF_HOW_LINK, XSF_HOW_LIBXDP };

/* Written once by load, never by a program. Holds what a reader without rights cannot ask the kernel. */
struct xsf_about {
	struct xsf_config config;
	uint32_t prog_id;
	uint32_t ifindex;
	uint32_t how; /* enum xsf_how */
	uint32_t generic;
	uint32_t frags;
	uint32_t reserved;
	char ifname[IF_NAMESIZE]; /* at load */
	uint64_t reserved_more[4];
};
_Static_assert(sizeof(struct xsf_about) == 104, "read by other versions of the command");

/* /sys/fs/bpf/xdp-sflow/v<XSF_ABI> */
const char *xsf_pins_default(void);

/* dir/a or dir/a/b. 0, or -ENAMETOOLONG. */
int xsf_pins_path(char out[PATH_MAX], const char *dir, const char *a, const char *b);

/* Names of the if_* directories of `dir`, at most XSF_MAX_ATTACHMENTS; the caller frees *names (one
 * block). Returns their number (0 when there is no such directory) or negative errno. */
int xsf_pins_attachments(const char *dir, char (**names)[NAME_MAX + 1]);
/* Likewise of the directories that begin with `prefix`. */
int xsf_pins_list(const char *dir, const char *prefix, char (**names)[NAME_MAX + 1]);

/* Reads dir/name/file ("about" or "about_before"). 0 or negative errno; -EPROTO: another layout. */
int xsf_pins_about(const char *dir, const char *name, const char *file, struct xsf_about *about);

/* Reads the one value of the array map dir/a/file. 0 or negative errno; -EPROTO: of another size. */
int xsf_pins_read(const char *dir, const char *a, const char *file, void *value, size_t size);

/* Opens dir/a[/b] for reading only (a map or a program). fd or negative errno. */
int xsf_pins_open_readonly(const char *dir, const char *a, const char *b);

/* Makes `dir` on a BPF file system, mounting one at /sys/fs/bpf when nothing is mounted there, and takes its
 * lock. *mounted: 1 when it was mounted now. Returns the lock, to be closed, or negative errno. */
int xsf_pins_make(const char *dir, int *mounted, struct xsf_why *why);

/* Takes the lock of an existing `dir`. The lock, -ENOENT when there is none, or negative errno. */
int xsf_pins_lock(const char *dir, struct xsf_why *why);

/* Takes the lock of the directory `path`, which was opened as fd, when that is free now. 0, or what it is
 * not, or negative errno. */
#define XSF_LOCK_BUSY 1
#define XSF_LOCK_GONE 2 /* the directory was removed meanwhile */
int xsf_pins_try_lock(int fd, const char *path);

/* Gives a pin or directory its group and mode. 0 or negative errno. */
int xsf_pins_permit(const char *path, int is_dir);

/* Writes a name of the form if_NAME_ID, where the prefix is "if_". A '.' in NAME, which bpffs refuses, is
 * written %2e, '%' %25. */
void xsf_pins_name(char out[NAME_MAX + 1], const char *prefix, const char *ifname, uint32_t id);
/* The ID of such a name, 0 when there is none. */
uint32_t xsf_pins_name_id(const char *name);

/* Pins what `fd` is as dir/a/file, over what was there. 0 or negative errno. */
int xsf_pins_put(int fd, const char *dir, const char *a, const char *file);

/* Makes the map dir/a/about, over what was there. 0 or negative errno. */
int xsf_pins_put_about(const char *dir, const char *a, const struct xsf_about *about);

/* Makes the array map dir/a/file of one value, over what was there. 0 or negative errno. */
int xsf_pins_put_value(const char *dir, const char *a, const char *file, const void *value,
		       size_t size);

/* Removes dir/a with all in it (never what lies deeper). 0, also when it is not there, or negative errno. */
int xsf_pins_remove(const char *dir, const char *a);

/* Removes the maps of `dir`, then `dir` and the default one's parent where nothing else is in them. */
int xsf_pins_purge(const char *dir, struct xsf_why *why);

#endif
