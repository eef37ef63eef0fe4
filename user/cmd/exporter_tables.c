// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables that keys of flows look up, over HTTP: /group/{name}/json, /map/{name}/json and their lists. */
#include <errno.h>
#include <string.h>

#include "cmd/exporter_state.h"
#include "model/flow_set.h"
#include "model/flow_tables.h"

static const char *const what[] = { [XSF_FLOW_GROUPS] = "group", [XSF_FLOW_MAPS] = "map" };

static int put(const struct xsf_exporter *e, enum xsf_flow_table_kind kind,
	       const struct xsf_http_request *request, struct xsf_http_reply *reply)
{
	const char *name = xsf_http_variable(request, 0), *body;
	char why[XSF_FLOW_TABLE_WHY];
	size_t len;
	int err;

	if (!xsf_flow_name_ok(name))
		return xsf_exporter_refuse_name(reply);
	body = xsf_http_body(request, &len);
	err = xsf_flow_tables_put(e->tables, kind, name, body ? body : "", body ? len : 0, why);
	if (err == -EINVAL)
		return xsf_http_reply_line(reply, 400, "%s", why);
	if (err == -ENOSPC)
		return xsf_http_reply_line(reply, 503,
					   "there are %d tables, groups and maps together; DELETE "
					   "/group/{name}/json or /map/{name}/json",
					   XSF_FLOW_TABLES);
	reply->status = 204;
	return err;
}

static int get(const struct xsf_exporter *e, enum xsf_flow_table_kind kind, const char *name,
	       struct xsf_http_reply *reply)
{
	int err;
	char *text = xsf_flow_tables_json(e->tables, kind, name, &err);

	if (text)
		return xsf_http_reply_bytes(reply, XSF_CONTENT_JSON, text, strlen(text));
	return err == -ENOENT ? xsf_http_reply_line(reply, 404, "no %s has that name", what[kind]) :
				err;
}

static int forget(const struct xsf_exporter *e, enum xsf_flow_table_kind kind,
		  const struct xsf_http_request *request, struct xsf_http_reply *reply)
{
	if (xsf_flow_tables_delete(e->tables, kind, xsf_http_variable(request, 0)))
		return xsf_http_reply_line(reply, 404, "no %s has that name", what[kind]);
	reply->status = 204;
	return 0;
}

int xsf_handle_group_put(void *arg, const struct xsf_http_request *request,
			 struct xsf_http_reply *reply)
{
	return put(arg, XSF_FLOW_GROUPS, request, reply);
}

int xsf_handle_group_get(void *arg, const struct xsf_http_request *request,
			 struct xsf_http_reply *reply)
{
	return get(arg, XSF_FLOW_GROUPS, xsf_http_variable(request, 0), reply);
}

int xsf_handle_group_delete(void *arg, const struct xsf_http_request *request,
			    struct xsf_http_reply *reply)
{
	return forget(arg, XSF_FLOW_GROUPS, request, reply);
}

int xsf_handle_group_list(void *arg, const struct xsf_http_request *request,
			  struct xsf_http_reply *reply)
{
	(void)request;
	return get(arg, XSF_FLOW_GROUPS, NULL, reply);
}

int xsf_handle_map_put(void *arg, const struct xsf_http_request *request,
		       struct xsf_http_reply *reply)
{
	return put(arg, XSF_FLOW_MAPS, request, reply);
}

int xsf_handle_map_get(void *arg, const struct xsf_http_request *request,
		       struct xsf_http_reply *reply)
{
	return get(arg, XSF_FLOW_MAPS, xsf_http_variable(request, 0), reply);
}

int xsf_handle_map_delete(void *arg, const struct xsf_http_request *request,
			  struct xsf_http_reply *reply)
{
	return forget(arg, XSF_FLOW_MAPS, request, reply);
}

int xsf_handle_map_list(void *arg, const struct xsf_http_request *request,
			struct xsf_http_reply *reply)
{
	(void)request;
	return get(arg, XSF_FLOW_MAPS, NULL, reply);
}
