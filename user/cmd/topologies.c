// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/topologies.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"

const char xsf_topology_options_help[] =
	"      --topology [NAME=]FILE the fabric's topology, JSON as sFlow-RT has it; repeat with\n"
	"                             other NAMEs for more fabrics, at most 16 and as many as\n"
	"                             load --fabrics made room for; the first answers the paths\n"
	"                             of sFlow-RT\n"
	"      --no-topology all-edge while there is none, every interface is at the edge\n"
	"      --state-dir DIR        where a topology that was PUT is kept (default\n"
	"                             " XSF_STATE_DIR "; $STATE_DIRECTORY if set)\n";

int xsf_topology_arg(struct xsf_topology_options *o, const char *command, int opt,
		     const char *value)
{
	char name[XSF_FABRIC_NAME_LEN] = XSF_DEFAULT_FABRIC;
	size_t len = strcspn(value, "=");

	switch (opt) {
	case XSF_OPT_STATE_DIR:
		if (!*value)
			return xsf_usage(command, "--state-dir needs a directory");
		o->state_dir = value;
		return 0;
	case XSF_OPT_NO_TOPOLOGY:
		if (strcmp(value, "all-edge") != 0)
			return xsf_usage(command, "--no-topology takes all-edge, not '%s'", value);
		o->all_edge = 1;
		return 0;
	}
	if (value[len]) {
		char prefix[XSF_FABRIC_NAME_LEN] = "";

		if (len < sizeof(prefix))
			memcpy(prefix, value, len);
		/* Else the sign belongs to the file's name. */
		if (xsf_fabric_name_ok(prefix)) {
			memcpy(name, prefix, sizeof(name));
			value += len + 1;
		}
	}
	if (!*value)
		return xsf_usage(command, "--topology needs a file");
	for (uint32_t i = 0; i < o->nr_fabrics; i++) {
		if (!strcmp(o->fabric[i].name, name))
			return xsf_usage(command,
					 "--topology: two topologies for fabric '%s'; "
					 "give each a name: --topology NAME=FILE",
					 name);
	}
	if (o->nr_fabrics == XSF_FABRICS_MAX)
		return xsf_usage(command, "--topology: at most %d fabrics", XSF_FABRICS_MAX);
	memcpy(o->fabric[o->nr_fabrics].name, name, sizeof(name));
	o->fabric[o->nr_fabrics++].file = value;
	return 0;
}

/* ---- files ---- */

static const char *state_dir(const struct xsf_topology_options *o)
{
	static char first[PATH_MAX];
	const char *dir = o->state_dir, *listed;

	if (dir)
		return dir;
	/* systemd.exec(5): several are separated by colons. */
	listed = getenv("STATE_DIRECTORY");
	if (!listed || !*listed || *listed == ':')
		return XSF_STATE_DIR;
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(listed, ":"), listed);
	return first;
}

static int kept_path(const struct xsf_topology_options *o, const char *fabric, const char *suffix,
		     char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/topology-%s.json%s", state_dir(o), fabric, suffix) <
			       PATH_MAX ?
		       0 :
		       -ENAMETOOLONG;
}

/* A whole file, as far as a topology may be long and one byte more. 0 or negative errno. */
static int read_file(const char *path, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	ssize_t n = 1;

	*text = NULL;
	*len = 0;
	if (fd < 0)
		return -errno;
	*text = malloc(XSF_TOPOLOGY_BYTES + 1);
	if (!*text)
		err = -ENOMEM;
	while (!err && n && *len <= XSF_TOPOLOGY_BYTES) {
		n = read(fd, *text + *len, XSF_TOPOLOGY_BYTES + 1 - *len);
		if (n >= 0)
			*len += (size_t)n;
		else if (errno != EINTR)
			err = -errno;
	}
	close(fd);
	if (err)
		free(*text);
	return err;
}

/* 0, or negative errno with what is wrong with the file; -ENOENT: there is none. */
static int load_file(const char *path, struct xsf_topology **out, char *why, size_t why_len)
{
	char *text;
	size_t len;
	int err = read_file(path, &text, &len);

	if (err) {
		snprintf(why, why_len, "%s", strerror(-err));
		return err;
	}
	err = xsf_topology_parse(text, len, out, why, why_len);
	free(text);
	return err;
}

/* Was `a` written after `b`? Also when there is no `b`. */
static int younger(const char *a, const char *b)
{
	struct stat x, y;

	if (stat(a, &x))
		return 0;
	if (!b || stat(b, &y))
		return 1;
	return x.st_mtim.tv_sec != y.st_mtim.tv_sec ? x.st_mtim.tv_sec > y.st_mtim.tv_sec :
						      x.st_mtim.tv_nsec > y.st_mtim.tv_nsec;
}

/* The topology of one fabric, NULL where there is none. 0 or the exit code. */
static int load_one(const struct xsf_topology_options *o, int say, const char *fabric,
		    const char *file, struct xsf_topology **out)
{
	char kept[PATH_MAX], why[512];
	const char *path = file;
	int err;

	*out = NULL;
	err = kept_path(o, fabric, "", kept);
	if (!err && younger(kept, file))
		path = kept;
	if (!path)
		return 0;
	err = load_file(path, out, why, sizeof(why));
	if (err && path == kept) {
		/* It was good when it was kept; what does not depend on it goes on. */
		xsf_error("cannot read the topology kept in %s: %s%s", kept, why,
			  file ? "; the one of --topology is in force" : "");
		path = file;
		err = path ? load_file(path, out, why, sizeof(why)) : 0;
	}
	if (err) {
		xsf_error("cannot read the topology %s: %s", path, why);
		return XSF_EXIT_FAILURE;
	}
	if (say && path)
		xsf_error("topology of fabric %s: %s, %u links, %u nodes%s", fabric, path,
			  (*out)->nr_links, (*out)->nr_nodes,
			  file && path == kept ? "; it was PUT after --topology was written" : "");
	return 0;
}

int xsf_topologies_load(const struct xsf_topology_options *o, int say, struct xsf_bindings **out)
{
	struct xsf_bindings *b = xsf_bindings_new();
	uint32_t nr = o->nr_fabrics ? o->nr_fabrics : 1;
	int ret = 0;

	*out = NULL;
	if (!b) {
		xsf_error("no memory for the topology");
		return XSF_EXIT_FAILURE;
	}
	xsf_bindings_all_edge(b, o->all_edge);
	for (uint32_t i = 0; i < nr && !ret; i++) {
		const char *name = o->nr_fabrics ? o->fabric[i].name : XSF_DEFAULT_FABRIC;
		struct xsf_topology *t = NULL;
		int fabric = xsf_bindings_add(b, name);

		ret = load_one(o, say, name, o->nr_fabrics ? o->fabric[i].file : NULL, &t);
		if (!ret && (fabric < 0 || xsf_bindings_set(b, (uint32_t)fabric, t))) {
			xsf_error("no memory for the topology");
			ret = XSF_EXIT_FAILURE;
		}
		xsf_topology_put(t);
	}
	if (ret)
		xsf_bindings_free(b);
	else
		*out = b;
	return ret;
}

/* ---- keeping ---- */

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return fsync(fd) ? -errno : 0;
}

static int sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd))
		err = -errno;
	close(fd);
	return err;
}

static int cannot_keep(const struct xsf_topology_options *o, int err, char *why, size_t why_len)
{
	snprintf(why, why_len, "cannot keep the topology in %s: %s; another place: --state-dir DIR",
		 state_dir(o), strerror(-err));
	return err;
}

int xsf_topologies_keep(const struct xsf_topology_options *o, const char *fabric, const char *text,
			size_t len, char *why, size_t why_len)
{
	char path[PATH_MAX], draft[PATH_MAX];
	const char *dir = state_dir(o);
	int err, fd = -1;

	err = kept_path(o, fabric, "", path);
	if (!err)
		err = kept_path(o, fabric, ".new", draft);
	if (!err && mkdir(dir, 0755) && errno != EEXIST)
		err = -errno;
	if (!err) {
		fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
		err = fd < 0 ? -errno : write_all(fd, text, len);
	}
	if (fd >= 0) {
		close(fd);
		if (!err && rename(draft, path))
			err = -errno;
		if (err)
			unlink(draft);
	}
	if (!err)
		err = sync_dir(dir);
	return err ? cannot_keep(o, err, why, why_len) : 0;
}

int xsf_topologies_forget(const struct xsf_topology_options *o, const char *fabric, char *why,
			  size_t why_len)
{
	char path[PATH_MAX];
	int err;

	for (uint32_t i = 0; i < o->nr_fabrics; i++) {
		if (o->fabric[i].file && !strcmp(o->fabric[i].name, fabric))
			return xsf_topologies_keep(o, fabric, "{}", 2, why, why_len);
	}
	err = kept_path(o, fabric, "", path);
	if (!err && unlink(path))
		return errno == ENOENT ? 0 : cannot_keep(o, -errno, why, why_len);
	if (!err)
		err = sync_dir(state_dir(o));
	return err ? cannot_keep(o, err, why, why_len) : 0;
}
