#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A real Prometheus server scrapes `xdp-sflow export`; queries through its HTTP API give the right numbers.
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/prometheus.sh"
private "$@"

pair agent xsf0 xsf1
check "load" "$XSF" load xsf0
send agent xsf1 "$GOLDEN/pcaps/43-rdma.pcap" "$GOLDEN/pcaps/45-interfaces.pcap" \
	"$GOLDEN/pcaps/46-names.pcap" "$GOLDEN/pcaps/04a-discard-among-others.pcap" >/dev/null

start "$XSF" export
export_pid=$PID export_log=$STARTED_LOG
wait_for 10 curl -sf -o "$T/metrics" http://127.0.0.1:8008/metrics ||
	not_ok "export serves" "$(cat "$export_log")"
check "promtool check metrics succeeds" promtool check metrics <"$T/metrics"
is "promtool check metrics is silent" "$(promtool check metrics <"$T/metrics" 2>&1)" ""
like "content type" "$(curl -sI http://127.0.0.1:8008/metrics | tr -d '\r' | grep -i '^content-type')" \
	"*text/plain; version=0.0.4*"

cat >"$T/prometheus.yml" <<CONF
global:
  scrape_interval: 1s
  scrape_timeout: 1s
scrape_configs:
  - job_name: xdp-sflow
    static_configs:
      - targets: ["127.0.0.1:8008"]
CONF
prometheus_with "$T/prometheus.yml"

asked "scraped" 'up{job="xdp-sflow"}' 1
asked "datagrams" 'sum(xdp_sflow_datagrams_total)' 17
# Six of rate 100 in 43, one of rate 1000 in 04a.
asked "operations" 'sum(xdp_sflow_roce_operation_packets_total{opcode="17"})' 1600
asked "operations by name" 'sum(xdp_sflow_roce_operation_samples_total{operation="ACK"})' 7
asked "RETH histogram" 'sum(xdp_sflow_rdma_length_bytes_sum)' 4295041025
asked "drop notifications" 'sum(xdp_sflow_drop_notifications_total{reason="acl"})' 1
asked "an interface" 'xdp_sflow_interface_in_bytes_total{ifname="Ethernet3"}' $((1 << 40))
asked "unknown values have no series" \
	'count(xdp_sflow_interface_in_bytes_total{ifname="xe-0/0/4"}) or vector(0)' 0
asked "a hostile name" 'count(xdp_sflow_agent_info{agent="192.0.2.10"})' 1

send agent xsf1 "$GOLDEN/pcaps/43-rdma.pcap" --repeat 10 >/dev/null
asked "counters grow" 'sum(xdp_sflow_roce_operation_packets_total{opcode="17"})' 7600
asked "and increase() sees it" 'sum(increase(xdp_sflow_datagrams_total[1h])) > bool 0' 1

stop "$export_pid"
is "export ends on SIGTERM" $? 0
finish
