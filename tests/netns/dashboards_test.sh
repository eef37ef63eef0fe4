#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A real Prometheus with the configuration of contrib/ scrapes `xdp-sflow export` while a simulated fabric sends:
# every query of every dashboard has a result, every rule can be evaluated. A second one does with that for several
# collectors.
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"
mount -t cgroup2 none /sys/fs/cgroup
contrib=$ROOT/contrib url=http://127.0.0.1:9098
ai=/app/ai-metrics/scripts/metrics.js/prometheus/txt

pair agent xsf0 xsf1
ip link set xsf0 arp on
in_ns agent ip link set xsf1 arp on
ip addr add 192.0.2.1/24 dev xsf0
in_ns agent ip addr add 192.0.2.2/24 dev xsf1
sysctl -qw net.ipv6.conf.xsf0.disable_ipv6=0
in_ns agent sysctl -qw net.ipv6.conf.xsf1.disable_ipv6=0 net.ipv6.conf.xsf1.keep_addr_on_down=1
ip addr add 2001:db8::1/64 dev xsf0 nodad
in_ns agent ip addr add 2001:db8::2/64 dev xsf1 nodad
check "load" "$XSF" load --consume --yes xsf0
"$XSF" simulate --print-topology links >"$T/topology.json"
start "$XSF" export --topology "$T/topology.json" --state-dir "$T" --prog-stats --ledger
export_log=$STARTED_LOG
wait_for 10 curl -sf -o /dev/null http://127.0.0.1:8008/metrics || not_ok "export serves" "$(cat "$export_log")"

# The configurations as they are, only faster; one collector is all the several there are.
cp -r "$contrib/prometheus" "$T/config"
sed -i -E 's/^( +([a-z]+_)?interval): 10s/\1: 1s/; s/"collector1:8008", "collector2:8008"/"127.0.0.1:8008"/' \
	"$T"/config/*.yml
logs=()
serve() { # CONFIG PORT
	start prometheus --config.file="$T/config/$1" --storage.tsdb.path="$T/data.$2" \
		--web.listen-address="127.0.0.1:$2" --log.level=warn
	logs+=("$STARTED_LOG")
}
serve prometheus.yml 9098
serve prometheus-several.yml 9097
# Cycles that are short against the 2 s of smoothing: one look at a gauge is then near its mean.
start nsenter --net=/run/netns/agent "$XSF" simulate --to 192.0.2.1 --polling 2 --cycle 0.25 --seconds 0 \
	--drops 2000 --drop-limit 200
# Where nobody listens, some with wrong checksums: for the ledger and the checksum program.
start nsenter --net=/run/netns/agent "$XSF" simulate --to '[2001:db8::1]:4739' --rate 100 --seconds 0 --wrong-checksums 30
sleep 5
# Some of it lost, so that losses have series.
in_ns agent ip link set xsf1 down
sleep 0.2
in_ns agent ip link set xsf1 up
sleep 35 # longer than any range of the rules

for file in "$contrib"/grafana/*.json; do
	run python3 "$PY/dashboards.py" run $url 15s "$file"
	like "queries of ${file##*/}" "$RC $OUT$ERR" "0 [1-9]* queries"
done
for port in 9098 9097; do
	run python3 "$PY/dashboards.py" rules http://127.0.0.1:$port
	like "rules, port $port" "$RC $OUT$ERR" "0 [1-9]* rules"
done
value() { # PROMQL: of its one result
	curl -sfG --data-urlencode "query=$1" $url/api/v1/query | json 'd["data"]["result"][0]["value"][1]'
}
is "every target answers" "$(value 'sum(up) == count(up)')" 5
is "dropped packets by flow" "$(value 'count(dropped_packets) > bool 0')" 1
is "no more than asked for" "$(value 'count(dropped_packets) <= bool 20')" 1
placed='count(dropped_packets{switch=~"(leaf|spine)[0-9]+",port=~"swp[0-9]+"})'
is "each at a switch of the fabric" "$(value "count(dropped_packets) - $placed")" 0
# Read one after the other while they grow.
near() { echo "abs($1 / $2 - 1) < bool 0.01"; }
by_agent='sum(xdp_sflow_agent_drop_notifications_total)'
is "drops by place are those by agent" "$(value "$(near 'sum(xdp_sflow_place_drop_notifications_total)' "$by_agent")")" 1
is "and those by reason" "$(value "$(near 'sum(xdp_sflow_drop_notifications_total)' "$by_agent")")" 1
is "each at a port of a name, or none is told" "$(value 'count(xdp_sflow_place_drop_notifications_total{
	ifname!~"swp[0-9]+",ifindex!="0"}) or vector(0)')" 0
is "switches with a limit suppress" "$(value 'min(xdp_sflow_agent_suppressed_drop_notifications_total) > bool 0')" 1
is "interfaces by sFlow-RT's names" "$(value 'count(sflow_ifinutilization{instance=~"10.*:.*"})')" 48
is "the collector likewise" "$(value 'sflow_analyzer_agent_count')" 6
# 4 leaves with 8 ports for hosts, each with a link to 2 spines.
is "ports at the edge" "$(value 'count(xdp_sflow_interface_role{fabric="default",role="edge"})')" 32
is "ports in the core" "$(value 'count(xdp_sflow_interface_role{fabric="default",role="core"})')" 16
is "each by name" "$(value 'xdp_sflow_interface_role{agent="10.1.0.1",ifindex="3",ifname="swp1",role="edge"}')" 1
is "compatible names, in their order" "$(curl -sf "http://127.0.0.1:8008$ai" | sed 's/[{ ].*//' | uniq)" \
	"$(cat "$GOLDEN/prometheus/sflow_ai.txt")"
run python3 "$PY/dashboards.py" run http://127.0.0.1:9097 15s "$contrib/grafana/sflow-ai-metrics.json"
like "compatible names, merged" "$RC $OUT$ERR" "0 [1-9]* queries"
url=http://127.0.0.1:9097
is "quantiles as the collector has them" "$(value 'abs(avg_over_time(sflow_ai_edge_med_bps[5s])
	/ on () avg_over_time(sflow_collector_ai_edge_med_bps[5s]) - 1) < bool 0.3')" 1
is "and only merged" "$(value 'count({__name__=~"sflow_ai_.*",job!=""}) or vector(0)')" 0
is "nothing to complain about" "$(cat "${logs[@]}")" ""
finish
