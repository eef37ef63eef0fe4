#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Grafana dashboards and Prometheus rules of contrib/.

dashboards.py lint FAMILIES FILE...     structure of dashboards; names and use of metrics in them and in rules
dashboards.py run URL INTERVAL FILE...  every query of the dashboards on a Prometheus server; prints "N queries"
dashboards.py rules URL                 rules of the server that failed, or of recording ones, that gave nothing
dashboards.py covered RULES TEST...     alerts without a test that fires and one that does not, records without
                                        a test

FAMILIES has lines "NAME TYPE". Prints one line for each fault; exit 1 when there is one."""
import json
import re
import sys
import urllib.parse
import urllib.request

# What Grafana knows by itself; the others are the dashboard's variables.
BUILT_IN = {"__rate_interval", "__range"}
PANELS = {"row", "timeseries", "stat", "table", "heatmap"}
nr_faults = 0


def fault(text):
    global nr_faults
    nr_faults += 1
    print(text)


def load(path):
    with open(path, encoding="utf-8") as f:
        try:
            return json.load(f)
        except ValueError as e:
            fault(f"{path}: {e}")
            return None


def targets(dashboard):
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel, target


def variables(dashboard):
    return [v for v in dashboard["templating"]["list"] if v["type"] == "query"]


# ---- lint ----


def lint_metrics(where, families, expr):
    """Names exist, and rate() and increase() are of counters, nothing else is."""
    for found in re.finditer(r"(\w+ ?\( ?)?\b((?:xdp_sflow|sflow_ai|sflow_collector_ai)_\w+)", expr):
        name = found.group(2)
        base = re.sub("_(bucket|sum|count)$", "", name)
        kind = families.get(name) or (families.get(base) if families.get(base) == "histogram" else None)
        if not kind:
            fault(f"{where}: there is no {name}")
            continue
        counted = (found.group(1) or "").rstrip("( ") in ("rate", "increase")
        if counted != (kind in ("counter", "histogram")):
            fault(f"{where}: {name} is a {kind}: {expr}")


def lint_layout(path, dashboard):
    taken, ids = set(), set()
    for panel in dashboard["panels"]:
        where = f"{path}: {panel.get('title')}"
        if panel["type"] not in PANELS:
            fault(f"{where}: type {panel['type']}")
        if panel["id"] in ids:
            fault(f"{where}: id {panel['id']} twice")
        ids.add(panel["id"])
        pos = panel["gridPos"]
        cells = {(x, y) for x in range(pos["x"], pos["x"] + pos["w"]) for y in range(pos["y"], pos["y"] + pos["h"])}
        if cells & taken or pos["x"] < 0 or pos["x"] + pos["w"] > 24:
            fault(f"{where}: overlaps")
        taken |= cells
        if panel["type"] != "row" and not (panel.get("targets") and panel["fieldConfig"]["defaults"].get("unit")):
            fault(f"{where}: no query or no unit")
        refs = [t["refId"] for t in panel.get("targets", [])]
        if len(refs) != len(set(refs)):
            fault(f"{where}: refId twice")
        for part in [panel] * bool(refs) + panel.get("targets", []):
            if part.get("datasource") != {"type": "prometheus", "uid": "${datasource}"}:
                fault(f"{where}: data source is not the variable")


def lint_variables(path, dashboard):
    defined = {v["name"] for v in dashboard["templating"]["list"]}
    used = {"datasource"}
    texts = [t["expr"] for _, t in targets(dashboard)] + [v["query"]["query"] for v in variables(dashboard)]
    for text in texts:
        used |= set(re.findall(r"\$\{?(\w+)", text))
    for name in sorted(used - defined - BUILT_IN):
        fault(f"{path}: ${name} is not defined")
    for name in sorted(defined - used):
        fault(f"{path}: ${name} is not used")


def lint_dashboard(path, families, uids):
    dashboard = load(path)
    if dashboard is None:
        return
    if dashboard["uid"] in uids or dashboard.get("id") is not None:
        fault(f"{path}: uid twice, or id set")
    uids.add(dashboard["uid"])
    lint_layout(path, dashboard)
    lint_variables(path, dashboard)
    for panel, target in targets(dashboard):
        lint_metrics(f"{path}: {panel['title']}", families, target["expr"])


def expressions(text):
    """expr of every rule in a rules file as ours are written: on one line, or indented under "|"."""
    for first, block in re.findall(r"^ *expr: (.*)\n((?: {10,}.*\n)*)", text, re.M):
        yield first if first != "|" else " ".join(block.split())


def lint(families_path, *paths):
    with open(families_path, encoding="utf-8") as f:
        families = dict(line.split() for line in f)
    uids = set()
    for path in paths:
        if path.endswith(".json"):
            lint_dashboard(path, families, uids)
            continue
        with open(path, encoding="utf-8") as f:
            found = list(expressions(f.read()))
        if not found:
            fault(f"{path}: no rules")
        for expr in found:
            # The last time an agent was seen is a gauge that is looked at over an hour.
            lint_metrics(path, families, expr)


# ---- a real server ----


def ask(url, path, **query):
    with urllib.request.urlopen(f"{url}{path}?{urllib.parse.urlencode(query)}", timeout=20) as reply:
        return json.load(reply)["data"]


def values(url, query, known):
    """Of label_values(SELECTOR, LABEL), as a panel gets "All" of them: regular expressions, joined."""
    selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
    found = {row["metric"].get(label, "") for row in
             ask(url, "/api/v1/query", query=f"count by ({label}) ({put(selector, known)})")["result"]}
    return sorted(re.escape(v).replace("\\-", "-").replace("\\", "\\\\") for v in found if v)


def put(text, known):
    return re.sub(r"\$\{?(\w+)\}?", lambda m: known[m.group(1)], text)


def run(url, interval, *paths):
    nr = 0
    for path in paths:
        dashboard = load(path)
        known = {"__rate_interval": interval, "__range": interval}
        for v in variables(dashboard):
            found = values(url, v["query"]["query"], known)
            if not found:
                fault(f"{path}: ${v['name']} has no values: {v['query']['query']}")
            known[v["name"]] = "(" + "|".join(found) + ")"
        for panel, target in targets(dashboard):
            nr += 1
            expr = put(target["expr"], known)
            try:
                result = ask(url, "/api/v1/query", query=expr)["result"]
            except urllib.error.HTTPError as e:
                fault(f"{path}: {panel['title']}: {expr}: {json.load(e).get('error')}")
                continue
            numbers = [row["value"][1] for row in result]
            if not numbers:
                fault(f"{path}: {panel['title']}: nothing for {expr}")
            elif not set(numbers) - {"NaN", "+Inf", "-Inf"}:
                fault(f"{path}: {panel['title']}: {numbers[0]} for {expr}")
            # A name in braces that the result does not have would be an empty legend.
            wanted = set(re.findall(r"{{(\w+)}}", target.get("legendFormat", "")))
            for label in wanted - {label for row in result for label in row["metric"]}:
                if numbers and label != "ifname":
                    fault(f"{path}: {panel['title']}: no label {label} for {expr}")
    print(f"{nr} queries")


def rules(url):
    nr = 0
    for group in ask(url, "/api/v1/rules")["groups"]:
        for rule in group["rules"]:
            nr += 1
            if rule["health"] != "ok":
                fault(f"{rule['name']}: {rule['health']} {rule.get('lastError', '')}")
            elif rule["type"] == "recording" and \
                    not ask(url, "/api/v1/query", query='{__name__="%s",instance=""}' % rule["name"])["result"] and \
                    not ask(url, "/api/v1/query", query=rule["name"])["result"]:
                fault(f"{rule['name']}: nothing")
    print(f"{nr} rules")


# ---- tests of rules ----


def covered(rules_path, *tests):
    with open(rules_path, encoding="utf-8") as f:
        text = f.read()
    said = ""
    for path in tests:
        with open(path, encoding="utf-8") as f:
            said += f.read() + "\n"
    blocks = re.findall(r"^ *alertname: (\w+)\n(.*?)(?=^ *- (?:eval_time|expr|interval|name):|\Z)", said, re.M | re.S)
    for name in re.findall(r"^ *- alert: (\w+)$", text, re.M):
        mine = [b for n, b in blocks if n == name]
        if not any("exp_labels:" in b for b in mine):
            fault(f"{name}: no test that fires")
        if not any("exp_alerts: []" in b for b in mine):
            fault(f"{name}: no test that does not")
    for name in re.findall(r"^ *- record: ([\w:]+)$", text, re.M):
        if not re.search(rf"^ *- expr: {re.escape(name)}\b", said, re.M):
            fault(f"{name}: no test")


def main():
    {"lint": lint, "run": run, "rules": rules, "covered": covered}[sys.argv[1]](*sys.argv[2:])
    sys.exit(nr_faults > 0)


main()
