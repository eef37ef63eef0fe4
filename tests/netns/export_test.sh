#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `export`: what it serves is what was counted, whoever it runs as, and whatever becomes of the pins.
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"
DIR=/sys/fs/bpf/xdp-sflow/v2
FILL=$ROOT/build/tests/tools/fill_maps
python3 "$PY/feed_pcap.py" "$T/feed.pcap"

# export_as COMMAND...: starts it; URL is where it serves.
export_as() {
	start "$@"
	wait_for 10 grep -q ' serving ' "$STARTED_LOG" || diag "$(cat "$STARTED_LOG")"
	EXPORTER=$PID EXPORT_LOG=$STARTED_LOG
	URL=$(sed -n 's,.* serving \(http://.*\)/metrics$,\1,p' "$STARTED_LOG")
}
# metric NAME: its value, empty when there is none; NAME with its labels, a basic regular expression.
metric() { curl -sf --max-time 10 "$URL/metrics" | sed -n "s/^xdp_sflow_$1 //p"; }
# fed: the capture is sent, and counted.
fed() {
	send agent xsf1 "$T/feed.pcap" >"$T/sent"
	wait_for 3 has datagrams_total 97
}
# shellcheck disable=SC2317 # called by wait_for
has() { [ "$(metric "$1")" = "$2" ]; }
# What two documents of the same counts have in common: no times, nothing of the exporter's own.
counts() {
	grep -vE "^(# (HELP|TYPE) )?xdp_sflow_($own)" "$1"
}
own='http_|flow_(events|definitions|records|counted|tables)|checksum_|topology_|groups_|maps_opened|'
own+='snapshot_failures|program_|table_capacity'
own+='|period_|agent_last_seen|interface_counters_timestamp'
interfaces() { curl -s "$URL/metrics" | grep -c ^xdp_sflow_interface_in_bytes_total; }
status_of() { awk -v key="$1:" '$1 == key { $1 = ""; print substr($0, 2) }' "/proc/$EXPORTER/status"; }
# shellcheck disable=SC2317 # called by check
promtool_silent() { [ -z "$(curl -s "$URL/metrics" | promtool check metrics 2>&1)" ]; }

fails_with "no pins" 1 "xdp-sflow: no map * is pinned in $DIR; *xdp-sflow load*" "$XSF" export
fails_with "no such directory" 1 "xdp-sflow: no map * is pinned in /nowhere;*" \
	"$XSF" export --maps /nowhere
pair agent xsf0 xsf1
check "load" "$XSF" load xsf0
fails_with "unknown option" 2 "xdp-sflow: unknown option '--nope'; see: xdp-sflow export --help" \
	"$XSF" export --nope
fails_with "option without its value" 2 "xdp-sflow: option '--listen' needs a value; *" \
	"$XSF" export --listen
fails_with "argument" 2 "xdp-sflow: unexpected 'xsf0'; *" "$XSF" export xsf0
fails_with "no interfaces at all" 2 "xdp-sflow: '0' is not a number from 1 to 65536; *" \
	"$XSF" export --max-interfaces 0
fails_with "no seconds" 2 "xdp-sflow: --stale is a number from 1 to 31536000, not '-1'*" "$XSF" export --stale -1
fails_with "bad address" 2 "xdp-sflow: cannot listen on 'nowhere:1': *" \
	"$XSF" export --listen nowhere:1
fails_with "unknown user" 1 "xdp-sflow: no user is called 'no one'*" \
	"$XSF" export --listen 127.0.0.1:0 --user 'no one'
run "$XSF" export --help
like "--help" "$RC $OUT" "0 Usage: xdp-sflow export *--listen*"

export_as "$XSF" export
is "default address" "$URL" http://127.0.0.1:8008
fails_with "address in use" 1 "xdp-sflow: cannot listen on 127.0.0.1:8008: Address already in use; *" \
	"$XSF" export
is "nothing yet" "$(metric datagrams_total)" 0
fed
is "all sent" "$(cat "$T/sent")" 97
curl -s "$URL/metrics" >"$T/metrics"
"$XSF" replay --metrics "$T/feed.pcap" >"$T/replayed"
is "/metrics is what replay counts" "$(diff <(counts "$T/metrics") <(counts "$T/replayed") 2>&1)" ""
is "flow samples" "$(metric 'samples_total{type="flow"}')" 192
check "promtool is silent" promtool_silent
curl -s "$URL/status.json" >"$T/status.json"
is "/status.json is what status prints" "$(json 'd["totals"]' "$T/status.json")" \
	"$("$XSF" status --json | json 'd["totals"]')"
is "/status.json has the interfaces" "$(json 'len(d["interfaces"])' "$T/status.json")" 4
like "content type of /metrics" "$(curl -sI "$URL/metrics")" \
	"*Content-Type: text/plain; version=0.0.4; charset=utf-8*"
like "content type of /status.json" "$(curl -sI "$URL/status.json")" "*Content-Type: application/json*"
like "index" "$(curl -s "$URL/")" "*/metrics*/status.json*"
before=$(metric 'http_requests_total{code="404"}')
curl -s "$URL/nope" >/dev/null
is "requests are counted" "$(metric 'http_requests_total{code="404"}')" $((before + 1))
is "capabilities: CAP_SYS_ADMIN alone" "$(status_of CapPrm)" 0000000000200000
is "no new privileges" "$(status_of NoNewPrivs)" 1

# The pins go, come back, and are replaced.
check "load again" "$XSF" load xsf0
is "counts go on" "$(metric datagrams_total) $(metric maps_opened_total)" "97 1"
check "unload --purge" "$XSF" unload --all --purge
is "nothing to read" "$(metric up)" 0
is "and no counts" "$(metric datagrams_total)" ""
check "promtool is silent" promtool_silent
like "/status.json says why" "$(curl -s -w '%{http_code}' "$URL/status.json")" \
	"no map * is pinned in $DIR; *xdp-sflow load*503"
is "still healthy" "$(curl -s "$URL/-/healthy")" healthy
check "load anew" "$XSF" load xsf0
is "read again" "$(metric up) $(metric datagrams_total) $(metric maps_opened_total)" "1 0 2"
fed
is "the new maps" "$(metric datagrams_total)" 97
mount -t bpf bpf /sys/fs/bpf
is "another bpffs on top: nothing to read" "$(metric up)" 0
umount /sys/fs/bpf
is "and off again" "$(metric up) $(metric datagrams_total)" "1 97"
is "one line for each change" "$(grep -c . "$EXPORT_LOG")" 5
# A reply that began goes on with the maps that it began with.
check "tables full" "$FILL" $DIR 2047 32
curl -s --limit-rate 20M "$URL/status.json" >"$T/slow.json" &
slow=$!
sleep 0.5
check "unload --purge during a reply" "$XSF" unload --all --purge
is "nothing to read" "$(metric up)" 0
wait $slow
is "the reply is whole" "$(json 'len(d["interfaces"])' "$T/slow.json" 2>&1)" 65504
check "load anew" "$XSF" load xsf0

# Bounds on what is shown, and on memory.
check "tables full" "$FILL" $DIR 2047 32
is "interfaces shown by default" "$(interfaces)" 4096
rss=$(status_of VmRSS)
is "RSS at most 128 MB" "$((${rss% kB} < 128000))" 1
diag "RSS $rss: 4096 of 65504 interfaces"
port=${URL##*:}
run python3 "$ROOT/tests/cli/http_client.py" 127.0.0.1 "$port" crowd 10000 "$EXPORTER"
is "10,000 connections and 300 that do not read" "$RC $ERR" "0 "
echo "$OUT"
curl -s "$URL/metrics" >/dev/null &
slow=$!
rc=0
stop "$EXPORTER" INT || rc=$?
is "SIGINT, perhaps in the middle of a reply" $rc 0
wait $slow 2>/dev/null
export_as "$XSF" export --listen '[::1]:0' --max-interfaces 10
is "--max-interfaces" "$(interfaces)" 10
stop "$EXPORTER"
export_as "$XSF" export --listen 127.0.0.1:0 --all-interfaces
curl -s -o "$T/all" -w '# %{size_download} bytes in %{time_total} s\n' "$URL/metrics"
is "--all-interfaces" "$(grep -c ^xdp_sflow_interface_in_bytes_total "$T/all")" 65504
rm "$T/all"
rss=$(status_of VmRSS)
is "RSS at most 128 MB" "$((${rss% kB} < 128000))" 1
diag "RSS $rss: 65504 interfaces"
stop "$EXPORTER"
export_as "$XSF" export --listen 127.0.0.1:0 --prog-stats --stale 1
sleep 1.2
is "--stale" "$(interfaces)" 0
send agent xsf1 "$T/feed.pcap" >"$T/sent"
is "--prog-stats counts runs" "$(metric 'program_runs_total.*')" 97
unlike "--prog-stats measures time" "$(metric 'program_run_time_seconds_total.*')" 0.000000000
stop "$EXPORTER"
export_as "$XSF" export --listen 127.0.0.1:0
is "not without --prog-stats" "$(metric 'program_runs_total.*')" ""
stop "$EXPORTER"

# As another user: in the group, and only as far as the pins' rights go.
chmod 0700 /sys/fs/bpf
fails_with "a user that may not enter bpffs" 1 \
	"xdp-sflow: user 'nobody' may not enter /sys/fs/bpf, *; first: chmod o+x /sys/fs/bpf" \
	"$XSF" export --listen 127.0.0.1:0 --user nobody
chmod 0711 /sys/fs/bpf
fails_with "a user that is not in the group" 1 \
	"xdp-sflow: user 'nobody' may not read the maps pinned in $DIR; make it a member *" \
	"$XSF" export --listen 127.0.0.1:0 --user nobody
{ grep -v ^xdp-sflow: /etc/group && echo xdp-sflow:x:64999:nobody; } >"$T/group"
mount --bind "$T/group" /etc/group
"$XSF" unload --all --purge >"$T/unload"
check "load for the group" "$XSF" load xsf0
export_as "$XSF" export --listen 127.0.0.1:0 --user nobody
is "a user in the group" "$(status_of Uid | tr -s '\t ' ' ') $(status_of CapPrm)" \
	"65534 65534 65534 65534 0000000000000000"
fed
is "reads" "$(metric datagrams_total)" 97
"$XSF" unload --all --purge >"$T/unload"
check "load anew for the group" "$XSF" load xsf0
is "opens anew with the group's rights" "$(metric up) $(metric datagrams_total)" "1 0"
fed
curl -s "$URL/metrics" >"$T/metrics"
is "/metrics is what replay counts" "$(diff <(counts "$T/metrics") <(counts "$T/replayed") 2>&1)" ""
like "the program is shown" "$(grep ^xdp_sflow_program_info "$T/metrics")" "*xsf0*native*"
stop "$EXPORTER"
export_as setpriv --reuid nobody --regid 64999 --clear-groups --no-new-privs \
	"$XSF" export --listen 127.0.0.1:0
is "started without rights" "$(metric datagrams_total)" 97
stop "$EXPORTER"
fails_with "--user without root" 1 "xdp-sflow: only root can go on as user 'daemon'; *" \
	setpriv --reuid nobody --regid 64999 --clear-groups \
	"$XSF" export --listen 127.0.0.1:0 --user daemon
fails_with "--prog-stats without root" 1 "xdp-sflow: cannot have the kernel keep run times: *" \
	setpriv --reuid nobody --regid 64999 --clear-groups \
	"$XSF" export --listen 127.0.0.1:0 --prog-stats
finish
