#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# contrib/: configurations and rules that promtool takes, rules that do what they say, dashboards that are sound
# and name what there is.
set -u
. "$(dirname "$0")/../lib.sh"
contrib=$ROOT/contrib cases=$GOLDEN/prometheus

for file in "$contrib"/prometheus/prometheus*.yml; do
	check "promtool check config ${file##*/}" promtool check config --lint-fatal "$file"
done
for file in "$contrib"/prometheus/{xdp-sflow-alerts,sflow-ai-merge}.yml; do
	check "promtool check rules ${file##*/}" promtool check rules --lint-fatal "$file"
done
for name in alerts merge; do
	check "promtool test rules $name" promtool test rules "$cases/$name.yml"
done

# agrees NAME COMMAND...: no output, exit 0.
agrees() {
	local name=$1
	shift
	run "$@"
	is "$name" "$RC $OUT$ERR" "0 "
}
tool=$PY/dashboards.py
agrees "every alert fires in a test, and does not in one" \
	python3 "$tool" covered "$contrib/prometheus/xdp-sflow-alerts.yml" "$cases/alerts.yml"
agrees "every record has a test" \
	python3 "$tool" covered "$contrib/prometheus/sflow-ai-merge.yml" "$cases/merge.yml"

# Metrics that there are: README's tables, which docs_test.sh compares with /metrics, and sFlow-RT's.
awk -F'|' '/^\| `xdp_sflow_/ {
	gsub(/ /, "", $3)
	n = split($2, part, "`")
	for (i = 2; i <= n; i += 2) print part[i], $3
}' "$ROOT/README.md" >"$T/families"
sed 's/$/ gauge/' "$cases/sflow_ai.txt" >>"$T/families"
sed 's/^sflow_ai_/sflow_collector_ai_/; s/$/ gauge/' "$cases/sflow_ai.txt" >>"$T/families"
agrees "dashboards and rules" python3 "$tool" lint "$T/families" "$contrib"/grafana/*.json \
	"$contrib"/prometheus/{xdp-sflow-alerts,sflow-ai-merge}.yml
merged=$(sed -n 's/^ *- record: \(sflow_ai_.*\)/\1/p' "$contrib/prometheus/sflow-ai-merge.yml" | sort)
is "every compatible name is merged" "$merged" "$(sort "$cases/sflow_ai.txt")"
spec=$ROOT/../shared/spec/ai_metrics.tsv
if [ -e "$spec" ]; then
	is "compatible names" "$(cat "$cases/sflow_ai.txt")" "$(tail -n +2 "$spec" | cut -f1)"
else
	skip "compatible names" "../shared absent"
fi

# A difference is seen: each of these breaks one thing in a copy.
mkdir "$T/copy"
broken() { # NAME FILE SED-EXPRESSION PATTERN
	cp "$contrib"/*/*.{json,yml} "$T/copy"
	sed -i "$3" "$T/copy/$2"
	run python3 "$tool" lint "$T/families" "$T/copy/$2"
	like "$1" "$RC $OUT" "1 *$4*"
}
broken "no JSON" xdp-sflow-drops.json '2s/,$//' "xdp-sflow-drops.json: Expecting*"
broken "an unknown metric" xdp-sflow-drops.json 's/roce_drop_notifications/roce_drop_events/' \
	"there is no xdp_sflow_roce_drop_events_total"
broken "an unknown metric in a rule" xdp-sflow-alerts.yml 's/agent_restarts_total/agent_boots_total/' \
	"there is no xdp_sflow_agent_boots_total"
broken "a rate of a gauge" xdp-sflow-alerts.yml 's/expr: xdp_sflow_interfaces_hidden/expr: rate(xdp_sflow_interfaces_hidden[5m])/' \
	"is a gauge: rate("
broken "a counter without rate" xdp-sflow-alerts.yml 's/increase(xdp_sflow_agent_restarts_total\[30m\])/xdp_sflow_agent_restarts_total/' \
	"xdp_sflow_agent_restarts_total is a counter"
# shellcheck disable=SC2016 # Grafana's variable
broken "an unknown variable" xdp-sflow-drops.json 's/\$agent/$switch/' '$switch is not defined'
broken "panels that overlap" xdp-sflow-fabric.json '0,/"x": 3/s//"x": 2/' "overlaps"
# shellcheck disable=SC2016
broken "a fixed data source" xdp-sflow-fabric.json '0,/"uid": "${datasource}"/! s/"uid": "${datasource}"/"uid": "P1"/' \
	"data source is not the variable"
sed '/alertname: RoceCnpStorm/,/exp_annotations/ s/exp_labels/exp_lables/' "$cases/alerts.yml" >"$T/alerts.yml"
run python3 "$tool" covered "$contrib/prometheus/xdp-sflow-alerts.yml" "$T/alerts.yml"
is "an alert without a test" "$RC $OUT" "1 RoceCnpStorm: no test that fires"
mkdir -p "$T/r/tests/golden/prometheus" "$T/r/contrib"
cp -r "$contrib/prometheus" "$T/r/contrib"
cp "$cases"/*.yml "$T/r/tests/golden/prometheus"
sed -i 's/> 0.05$/> 0.5/' "$T/r/contrib/prometheus/xdp-sflow-alerts.yml"
run promtool test rules "$T/r/tests/golden/prometheus/alerts.yml"
like "another threshold" "$RC $OUT$ERR" "1 *FAILED*RoceCongestion*"
finish
