// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

/* No capability but `keep`, and that only as far as it is there (-1: none). */
static int keep_only(cap_value_t keep)
{
	cap_t now = cap_get_proc(), then = cap_init();
	cap_flag_value_t has = CAP_CLEAR;
	int err = 0;

	if (!now || !then)
		err = -ENOMEM;
	if (!err && keep >= 0)
		err = cap_get_flag(now, keep, CAP_PERMITTED, &has);
	if (!err && has == CAP_SET)
		err = cap_set_flag(then, CAP_PERMITTED, 1, &keep, CAP_SET) ||
		      cap_set_flag(then, CAP_EFFECTIVE, 1, &keep, CAP_SET);
	if (!err && cap_set_proc(then))
		err = -errno;
	if (now)
		cap_free(now);
	if (then)
		cap_free(then);
	return err > 0 ? -EINVAL : err;
}

static int become(const char *user, char *why, size_t len)
{
	const struct passwd *entry;

	errno = 0;
	entry = getpwnam(user);
	if (!entry) {
		snprintf(why, len, "no user is called '%s'%s%s", user, errno ? ": " : "",
			 errno ? strerror(errno) : "; see 'getent passwd'");
		return errno ? -errno : -ENOENT;
	}
	if (geteuid() != 0) {
		snprintf(why, len, "only root can go on as user '%s'; leave --user out", user);
		return -EPERM;
	}
	if (initgroups(user, entry->pw_gid) ||
	    setresgid(entry->pw_gid, entry->pw_gid, entry->pw_gid) ||
	    setresuid(entry->pw_uid, entry->pw_uid, entry->pw_uid)) {
		snprintf(why, len, "cannot go on as user '%s': %s", user, strerror(errno));
		return -errno;
	}
	return 0;
}

int xsf_drop_privileges(const char *user, char *why, size_t len)
{
	int err;

	if (user) {
		err = become(user, why, len);
		if (err)
			return err;
	}
	err = keep_only(user ? -1 : CAP_SYS_ADMIN);
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	if (err)
		snprintf(why, len, "cannot give up capabilities: %s", strerror(-err));
	return err;
}
