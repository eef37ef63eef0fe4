// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/pins.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LOCK_DIR "lock"
#define STRING_(x) #x
#define STRING(x) STRING_(x)

const char *xsf_pins_default(void)
{
	return XSF_BPFFS "/xdp-sflow/v" STRING(XSF_ABI);
}

int xsf_pins_path(char out[PATH_MAX], const char *dir, const char *a, const char *b)
{
	int len = snprintf(out, PATH_MAX, "%s/%s%s%s", dir, a, b ? "/" : "", b ? b : "");

	return len < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int xsf_pins_list(const char *dir, const char *prefix, char (**names)[NAME_MAX + 1])
{
	char(*list)[NAME_MAX + 1];
	struct dirent *entry;
	int nr = 0;
	DIR *d;

	*names = NULL;
	d = opendir(dir);
	if (!d)
		return errno == ENOENT ? 0 : -errno;
	list = calloc(XSF_MAX_ATTACHMENTS, sizeof(*list));
	if (!list) {
		closedir(d);
		return -ENOMEM;
	}
	while (nr < XSF_MAX_ATTACHMENTS && (entry = readdir(d))) {
		if (!strncmp(entry->d_name, prefix, strlen(prefix)))
			snprintf(list[nr++], sizeof(*list), "%s", entry->d_name);
	}
	closedir(d);
	*names = list;
	return nr;
}

int xsf_pins_attachments(const char *dir, char (**names)[NAME_MAX + 1])
{
	return xsf_pins_list(dir, "if_", names);
}

int xsf_pins_open_readonly(const char *dir, const char *a, const char *b)
{
	LIBBPF_OPTS(bpf_obj_get_opts, opts, .file_flags = BPF_F_RDONLY);
	char path[PATH_MAX];
	int fd, err;

	err = xsf_pins_path(path, dir, a, b);
	if (err)
		return err;
	fd = bpf_obj_get_opts(path, &opts);
	return fd < 0 ? -errno : fd;
}

int xsf_pins_read(const char *dir, const char *a, const char *file, void *value, size_t size)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info), zero = 0;
	int fd, err = 0;

	fd = xsf_pins_open_readonly(dir, a, file);
	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		err = -errno;
	else if (info.type != BPF_MAP_TYPE_ARRAY || info.key_size != sizeof(zero) ||
		 info.value_size != size)
		err = -EPROTO;
	else if (bpf_map_lookup_elem(fd, &zero, value))
		err = -errno;
	close(fd);
	return err;
}

int xsf_pins_about(const char *dir, const char *name, const char *file, struct xsf_about *about)
{
	return xsf_pins_read(dir, name, file, about, sizeof(*about));
}

void xsf_pins_name(char out[NAME_MAX + 1], const char *prefix, const char *ifname, uint32_t id)
{
	/* An interface's name is at most 15 bytes, tripled at worst. */
	char escaped[3 * IF_NAMESIZE + 1];
	size_t len = 0;

	for (; *ifname && len + 3 < sizeof(escaped); ifname++) {
		if (*ifname == '.' || *ifname == '%')
			len += (size_t)sprintf(escaped + len, "%%%02x", *ifname);
		else
			escaped[len++] = *ifname;
	}
	escaped[len] = 0;
	snprintf(out, NAME_MAX + 1, "%s%s_%u", prefix, escaped, id);
}

uint32_t xsf_pins_name_id(const char *name)
{
	const char *id = strrchr(name, '_');

	return id ? (uint32_t)strtoul(id + 1, NULL, 10) : 0;
}

int xsf_pins_permit(const char *path, int is_dir)
{
	const struct group *group = getgrnam(XSF_PIN_GROUP);

	if (group && chown(path, (uid_t)-1, group->gr_gid))
		return -errno;
	return chmod(path, is_dir ? 0750 : 0640) ? -errno : 0;
}

int xsf_pins_put(int fd, const char *dir, const char *a, const char *file)
{
	char path[PATH_MAX], fresh[PATH_MAX], name[NAME_MAX + 1];
	int err;

	snprintf(name, sizeof(name), "%s_new", file);
	err = xsf_pins_path(path, dir, a, file);
	if (!err)
		err = xsf_pins_path(fresh, dir, a, name);
	if (err)
		return err;
	/* Pinned beside and renamed over, so that a reader finds the old one or the new one. A command
	 * that was killed may have left one beside. */
	if (unlink(fresh) && errno != ENOENT)
		return -errno;
	if (bpf_obj_pin(fd, fresh))
		return -errno;
	err = xsf_pins_permit(fresh, 0);
	if (!err && rename(fresh, path))
		err = -errno;
	if (err)
		unlink(fresh);
	return err;
}

int xsf_pins_put_value(const char *dir, const char *a, const char *file, const void *value,
		       size_t size)
{
	__u32 zero = 0;
	int fd, err;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "xsf_about", sizeof(zero), (__u32)size, 1, NULL);
	if (fd < 0)
		return -errno;
	if (bpf_map_update_elem(fd, &zero, value, BPF_ANY))
		err = -errno;
	else
		err = xsf_pins_put(fd, dir, a, file);
	close(fd);
	return err;
}

int xsf_pins_put_about(const char *dir, const char *a, const struct xsf_about *about)
{
	return xsf_pins_put_value(dir, a, "about", about, sizeof(*about));
}

/* Unlinks the files of a directory that `match` (or all, NULL). */
static int unlink_files(const char *path, int (*match)(const char *name))
{
	struct dirent *entry;
	int err = 0, fd;
	DIR *d;

	d = opendir(path);
	if (!d)
		return errno == ENOENT ? 0 : -errno;
	fd = dirfd(d);
	while ((entry = readdir(d))) {
		struct stat st;

		if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || S_ISDIR(st.st_mode) ||
		    (match && !match(entry->d_name)))
			continue;
		if (unlinkat(fd, entry->d_name, 0) && !err)
			err = -errno;
	}
	closedir(d);
	return err;
}

int xsf_pins_remove(const char *dir, const char *a)
{
	char path[PATH_MAX];
	int err;

	err = xsf_pins_path(path, dir, a, NULL);
	if (!err)
		err = unlink_files(path, NULL);
	if (!err && rmdir(path) && errno != ENOENT)
		err = -errno;
	return err;
}

static int is_ours(const char *name)
{
	return !strncmp(name, "xsf_", 4);
}

/* Also those of readers that live: the maps that they read are gone, and they are told so. */
static void remove_readers(const char *dir)
{
	char path[PATH_MAX], name[32];

	for (uint32_t n = 0; n < XSF_EVENT_READERS; n++) {
		snprintf(name, sizeof(name), XSF_READER_PREFIX "%u", n);
		if (!xsf_pins_path(path, dir, name, NULL))
			rmdir(path);
	}
}

int xsf_pins_purge(const char *dir, struct xsf_why *why)
{
	char path[PATH_MAX];
	int err;

	err = xsf_pins_path(path, dir, LOCK_DIR, NULL);
	if (!err)
		err = unlink_files(dir, is_ours);
	if (!err) {
		remove_readers(dir);
		rmdir(path);
	}
	if (!err && rmdir(dir) && errno != ENOENT && errno != ENOTEMPTY && errno != EBUSY)
		err = -errno;
	if (err)
		return xsf_because(why, err, "cannot remove the pins in %s: %s", dir,
				   xsf_errno_text(err));
	snprintf(path, sizeof(path), "%s", dir);
	if (!strcmp(dir, xsf_pins_default()))
		rmdir(dirname(path)); /* stays while another version has pins */
	return 0;
}

static int on_bpffs(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) ? -errno : fs.f_type == BPF_FS_MAGIC;
}

/* Mounting where a mount namespace is not the machine's own would make pins that vanish with it: `ip netns
 * exec` makes such a one for each command. Unknown counts as the machine's own. */
static int is_own_mount_namespace(void)
{
	struct stat self, init;

	return stat("/proc/self/ns/mnt", &self) || stat("/proc/1/ns/mnt", &init) ||
	       (self.st_ino == init.st_ino && self.st_dev == init.st_dev);
}

/* /sys/fs/bpf is a BPF file system; mounted now when it can be. */
static int ensure_bpffs(int *mounted, struct xsf_why *why)
{
	struct statfs fs;

	if (statfs(XSF_BPFFS, &fs))
		return xsf_because(why, -errno,
				   "no directory " XSF_BPFFS
				   ": %s; mount sysfs (mount -t sysfs sysfs /sys) or "
				   "give --maps DIR on a BPF file system",
				   strerror(errno));
	if (fs.f_type == BPF_FS_MAGIC)
		return 0;
	if (fs.f_type != SYSFS_MAGIC)
		return xsf_because(why, -EINVAL,
				   "another file system is mounted at " XSF_BPFFS
				   "; unmount it, or: mount -t bpf bpf " XSF_BPFFS);
	if (!is_own_mount_namespace())
		return xsf_because(why, -EINVAL,
				   "no BPF file system at " XSF_BPFFS
				   " in this mount namespace ('ip netns exec' "
				   "hides it; use nsenter --net=/run/netns/NAME); or: mount -t bpf "
				   "bpf " XSF_BPFFS);
	if (mount("bpf", XSF_BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755"))
		return xsf_because(why, -errno,
				   "no BPF file system at " XSF_BPFFS
				   " and cannot mount one: %s; as root: "
				   "mount -t bpf bpf " XSF_BPFFS,
				   strerror(errno));
	*mounted = 1;
	return 0;
}

/* Creates the missing directories of `dir` below a BPF file system. */
static int make_directories(const char *dir, struct xsf_why *why)
{
	char path[PATH_MAX];
	size_t at;

	snprintf(path, sizeof(path), "%s", dir);
	for (at = 1; at <= strlen(dir); at++) {
		char end = path[at];

		if (end && end != '/')
			continue;
		path[at] = 0;
		if (!mkdir(path, 0700)) {
			int err = on_bpffs(path) == 1 ? xsf_pins_permit(path, 1) : -EINVAL;

			if (err) {
				rmdir(path);
				return xsf_because(why, err,
						   "%s is not on a BPF file system: programs and "
						   "maps cannot be "
						   "pinned there; mount one (mount -t bpf bpf DIR) "
						   "or leave --maps out",
						   dir);
			}
		} else if (errno != EEXIST) {
			return xsf_because(why, -errno, "cannot make the directory %s: %s%s", path,
					   strerror(errno),
					   errno == EACCES || errno == EPERM ? "; run as root" :
									       "");
		}
		path[at] = end;
	}
	if (on_bpffs(dir) != 1)
		return xsf_because(
			why, -EINVAL,
			"%s is not on a BPF file system: programs and maps cannot be pinned "
			"there; mount one (mount -t bpf bpf %s) or leave --maps out",
			dir, dir);
	return 0;
}

int xsf_pins_try_lock(int fd, const char *path)
{
	struct stat locked, named;

	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? XSF_LOCK_BUSY : -errno;
	if (fstat(fd, &locked) || stat(path, &named))
		return XSF_LOCK_GONE;
	return locked.st_ino != named.st_ino || locked.st_dev != named.st_dev ? XSF_LOCK_GONE : 0;
}

int xsf_pins_lock(const char *dir, struct xsf_why *why)
{
	char path[PATH_MAX];
	int fd, err, tries;

	err = xsf_pins_path(path, dir, LOCK_DIR, NULL);
	if (err)
		return xsf_because(why, err, "directory name too long");
	for (tries = 0; tries < XSF_LOCK_SECONDS * 10; tries++) {
		err = mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
		fd = err ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		/* Another command's purge may have come in between. */
		if (!err && fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return xsf_because(why, err ? err : -errno, "cannot lock %s: %s%s", dir,
					   strerror(errno),
					   errno == EACCES || errno == EPERM ? "; run as root" :
									       "");
		err = xsf_pins_try_lock(fd, path);
		if (!err)
			return fd;
		close(fd);
		if (err < 0)
			return xsf_because(why, err, "cannot lock %s: %s", dir,
					   xsf_errno_text(err));
		usleep(100000);
	}
	return xsf_because(
		why, -EBUSY,
		"another xdp-sflow command has held %s for %d seconds; try again when it has ended",
		dir, XSF_LOCK_SECONDS);
}

int xsf_pins_make(const char *dir, int *mounted, struct xsf_why *why)
{
	char parent[PATH_MAX];
	int err, fd, tries;

	*mounted = 0;
	if (strlen(dir) >= XSF_MAX_DIR)
		return xsf_because(why, -ENAMETOOLONG, "directory name too long");
	if (!strncmp(dir, XSF_BPFFS "/", sizeof(XSF_BPFFS))) {
		err = ensure_bpffs(mounted, why);
		if (err)
			return err;
	}
	/* Another command's purge may take the directory away between the two. */
	for (tries = 0; tries < 10; tries++) {
		err = make_directories(dir, why);
		if (err)
			return err;
		fd = xsf_pins_lock(dir, why);
		if (fd == -ENOENT)
			continue;
		/* The group may be younger than the directories. */
		if (fd >= 0 && !strcmp(dir, xsf_pins_default())) {
			snprintf(parent, sizeof(parent), "%s", dir);
			xsf_pins_permit(dir, 1);
			xsf_pins_permit(dirname(parent), 1);
		}
		return fd;
	}
	return -ENOENT;
}
