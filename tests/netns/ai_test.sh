#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The AI metrics, and the other paths by sFlow-RT's names: of a fabric whose truth is known, scraped by a real
# Prometheus as the articles about sFlow-RT configure it.
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/prometheus.sh"
private "$@"
AI=/app/ai-metrics/scripts/metrics.js
fabric=(--leaves 16 --spines 4 --ports 8) # 128 interfaces of hosts, 128 ends of links

pair agent xsf0 xsf1 || { not_ok "veth pair"; finish; }
ip link set xsf0 arp on
in_ns agent ip link set xsf1 arp on
ip addr add 192.0.2.1/24 dev xsf0
in_ns agent ip addr add 192.0.2.2/24 dev xsf1
simulate() { in_ns agent "$XSF" simulate --to 192.0.2.1 "${fabric[@]}" "$@"; }
# ask PATH: sets STATUS, OUT (the body) and TYPE.
ask() {
	read -r STATUS TYPE < <(curl -sS --max-time 30 -o "$T/body" -w '%{http_code} %{content_type}\n' "$URL$1")
	OUT=$(cat "$T/body")
}
value() { ask "$AI/prometheus/txt" && sed -n "s/^sflow_ai_$1 //p" "$T/body"; }
strict() { python3 "$PY/exposition.py" "$T/body" "$@"; }
# shellcheck disable=SC2317 # called by wait_for
above() { python3 -c "import sys; sys.exit(not $(value "$1") > $2)"; }
# shellcheck disable=SC2317
interfaces_heard() { [ "$(ask /prometheus/metrics/ALL/ifinoctets/txt && wc -l <"$T/body")" = "$1" ]; }

check "load" "$XSF" load xsf0
start "$XSF" export --state-dir "$T/state"
exporter=$PID export_log=$STARTED_LOG
wait_for 10 grep -q ' serving ' "$export_log" || not_ok "export serves" "$(cat "$export_log")"
URL=http://127.0.0.1:8008

# ---- nothing yet: every series is there, and 0

ask $AI/prometheus/txt
is "status and type" "$STATUS $TYPE" "200 text/plain; version=0.0.4; charset=utf-8"
keys="bps rdma_ops rdma_bytes aeth_credits_avg aeth_credits_min aeth_credits_max"
for role in core edge; do
	for q in min q1 med q3 max; do keys+=" ${role}_${q}_bps"; done
done
keys+=" discards_in errors_in discards_out errors_out ecn_pps cnp_pps trim_pps period"
# shellcheck disable=SC2086
is "24 series in their order, all 0" "$OUT" "$(printf 'sflow_ai_%s 0\n' $keys)"
check "a strict reader takes it" strict
ask $AI/trend/json
is "300 points of trend" "$STATUS $(json 'len(d["trend"]["times"]), len(d["trend"]["trends"]["bps"])' "$T/body")" "200 (300, 300)"

# ---- a fabric without topology: all zeros still

simulate --rate 2000 --seconds 4 --polling 1 --seed 1 >"$T/sent"
wait_for 5 interfaces_heard 256
ask $AI/prometheus/txt
# shellcheck disable=SC2086
is "without a topology all is 0" "$OUT" "$(printf 'sflow_ai_%s 0\n' $keys)"

# ---- with its topology, what is sent is what is shown

"$XSF" simulate "${fabric[@]}" --print-topology links >"$T/links.json"
is "PUT of links alone" "$(python3 "$PY/topo_put.py" "$URL/topology/json" "$T/links.json")" 204
sleep 1.2 # a tick: roles are in the kernel's map
ask $AI/trend/json
cp "$T/body" "$T/before.json"
simulate --rate 3000 --seconds 12 --polling 2 --seed 2 --cycle 4 --truth "$T/truth.json" >"$T/sent" &
sender=$!
sleep 6
for key in bps rdma_ops rdma_bytes aeth_credits_avg core_q1_bps core_med_bps edge_min_bps edge_max_bps; do
	if above $key 0; then ok "$key is above 0"; else not_ok "$key is above 0" "$(value $key)"; fi
done
check "operations and drops too" grep -q '^sflow_ai_operations{name="RC:RDMA_WRITE"} [1-9]' "$T/body"
check "a strict reader takes it" strict
# shellcheck disable=SC2086
is "24 series and 2 families" "$(strict --names | tr '\n' ' ')" \
	"$(printf 'sflow_ai_%s ' $keys)sflow_ai_operations sflow_ai_drops "
is "quartiles in order" "$(strict | python3 -c '
import sys
v = {k.split("{")[0]: float(x) for k, x in (line.split("\t") for line in sys.stdin)}
print(all(v["sflow_ai_%s_%s_bps" % (r, a)] <= v["sflow_ai_%s_%s_bps" % (r, b)]
	for r in ("core", "edge") for a, b in (("min", "q1"), ("q1", "med"), ("med", "q3"), ("q3", "max"))))')" True
wait $sender
sleep 1.5
ask $AI/trend/json
cp "$T/body" "$T/after.json"
run python3 "$PY/check_ai.py" "$T/before.json" "$T/after.json" "$T/truth.json"
is "what was sent is what was shown" "$RC $ERR" "0 "
diag "$OUT"
ask "$AI/trend/json?after=$(json 'd["trend"]["times"][-3]' "$T/after.json")"
is "trend after a moment" "$(json 'd["trend"]["times"][:2]' "$T/body")" \
	"$(json 'd["trend"]["times"][-2:]' "$T/after.json")"
ask "$AI/trend/json?after=x"
is "after nonsense" "$STATUS" 400
ask $AI/metric/json
is "current values" "$STATUS $(json 'len(d)' "$T/body")" "200 26"
ask $AI/metric/bps/json
like "one of them" "$STATUS $OUT" "200 [0-9]*"
ask $AI/metric/nope/json
is "none of that name" "$STATUS" 404
ask $AI/nope/json
is "no such path" "$STATUS" 404
ask $AI/period/json
is "period" "$STATUS $(json '"value" in d and "period" in d and "threshold" in d' "$T/body")" "200 True"

# ---- interfaces, agents, the collector

names=ifinoctets,ifoutoctets,ifspeed,ifinutilization,ifoututilization,ifinerrors,ifouterrors,ifindiscards,ifoutdiscards
simulate --rate 2000 --seconds 4 --polling 1 --seed 2 >"$T/sent"
ask /prometheus/metrics/ALL/$names/txt
is "status and type" "$STATUS $TYPE" "200 text/plain; version=0.0.4; charset=utf-8"
check "a strict reader takes it" strict
is "metrics in the order asked for" "$(strict --names | tr '\n' ' ')" "sflow_${names//,/ sflow_} "
is "of every interface" "$(grep -c ^sflow_ifinoctets "$T/body")" 256
check "as documented" grep -qE '^sflow_ifinoctets\{agent="10.1.0.1",datasource="3",ifname="swp1",host="leaf1"\} [0-9]' "$T/body"
is "ifspeed" "$(grep '^sflow_ifspeed{agent="10.2.0.4",datasource="18"' "$T/body")" \
	'sflow_ifspeed{agent="10.2.0.4",datasource="18",ifname="swp16",host="spine4"} 800000000000'
ask "/prometheus/metrics/leaf1;10.2.0.4/ifinoctets,nope,ifoperstatus/txt"
is "agents by name and address; names in words or of nothing are left out" "$STATUS $(wc -l <"$T/body")" "200 28"
ask /prometheus/metrics/EDGE/ALL/txt
check "a strict reader takes ALL" strict
is "edge interfaces" "$(grep -c ^sflow_ifindex "$T/body")" 128
ask /prometheus/metrics/ALL/nope/txt
is "nothing of that name" "$STATUS $OUT" "200 "
ask "/metric/ALL/ifinoctets,sum:ifspeed,any:ifoperstatus,med:ifinutilization,avg:nope/json"
is "aggregated" "$STATUS $(json '[(m["metricName"], m["metricN"]) for m in d]' "$T/body")" \
	"200 [('max:ifinoctets', 256), ('sum:ifspeed', 256), ('any:ifoperstatus', 256), ('med:ifinutilization', 256), ('avg:nope', 0)]"
is "values" "$(json '[d[1]["metricValue"], d[2]["metricValue"], sorted(d[3]["quartiles"])]' "$T/body")" \
	"[$((128 * 400000000000 + 128 * 800000000000)), 'up', ['max', 'med', 'min', 'q1', 'q3']]"
ask /agents/json
is "agents" "$STATUS $(json 'len(d), d["10.1.0.1"]["sFlowDatagramSource"], d["10.1.0.1"]["sFlowCounterDatasources"]' "$T/body")" \
	"200 (20, ['192.0.2.2'], 13)"
ask /analyzer/json
is "the collector" "$(json 'd["sFlowAgents"], d["sFlowDatagramsReceived"] > 20000, d["sFlowParseErrors"]' "$T/body")" \
	"(20, True, 0)"
ask /prometheus/analyzer/txt
check "a strict reader takes it" strict
is "its series" "$(strict --names | tr '\n' ' ')" "$(printf 'sflow_analyzer_%s ' agent_count received_bytes \
	received_datagrams discarded_datagrams heap_used_bytes cpu_load_process)"
ask /version
like "version" "$STATUS $TYPE $OUT" "200 text/plain* [0-9]*.[0-9]*"

# ---- a real Prometheus, configured as for sFlow-RT

{ cat /etc/hosts && echo "127.0.0.1 sflow-rt"; } >"$T/hosts"
mount --bind "$T/hosts" /etc/hosts
cat >"$T/prometheus.yml" <<CONF
global:
  scrape_interval: 1s
  evaluation_interval: 1s
scrape_configs:
  - job_name: 'sflow-rt-ai-metrics'
    metrics_path: $AI/prometheus/txt
    scheme: http
    static_configs:
      - targets: ['sflow-rt:8008']
  - job_name: 'sflow-rt-analyzer'
    metrics_path: /prometheus/analyzer/txt
    scheme: http
    static_configs:
      - targets: ['sflow-rt:8008']
  - job_name: 'sflow-rt-interfaces'
    metrics_path: /prometheus/metrics/ALL/ifinutilization,ifoututilization,ifinerrors,ifouterrors,ifindiscards,ifoutdiscards/txt
    scheme: http
    static_configs:
      - targets: ['sflow-rt:8008']
    metric_relabel_configs:
      - source_labels: ['agent', 'datasource']
        separator: ':'
        target_label: instance
CONF
simulate --rate 1000 --seconds 60 --polling 2 --seed 3 >"$T/sent" &
sender=$!
prometheus_with "$T/prometheus.yml"
asked "all three jobs are up" 'sum(up)' 3
for key in $keys; do
	asked "sflow_ai_$key" "count(sflow_ai_$key{job=\"sflow-rt-ai-metrics\",instance=\"sflow-rt:8008\"})" 1
done
asked "operations by name" 'count(sflow_ai_operations{name="RC:RDMA_WRITE"} > 0)' 1
asked "agents" 'sflow_analyzer_agent_count' 20
asked "interfaces" 'count(sflow_ifinutilization)' 256
asked "by agent and data source" 'count(sflow_ifoutdiscards{instance="10.1.0.16:3",ifname="swp1",host="leaf16"})' 1
asked "no sample was refused" 'sum(scrape_samples_post_metric_relabeling - scrape_samples_scraped)' 0
is "Prometheus has nothing to complain about" "$(cat "$prometheus_log")" ""
kill $sender 2>/dev/null
wait $sender

stop "$exporter"
is "export ends on SIGTERM" $? 0
finish
