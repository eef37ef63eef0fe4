#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A flood of invented sources fills the table of the audit; once they are silent, others get their places, and
# every reader's sums still add up.
# timeout: 120
# Functions for wait_for.
# shellcheck disable=SC2317
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/repair_lib.sh"
private "$@"
collector xsf0

# of EXPRESSION: of `checksum` in the JSON document, c.
of() { "$XSF" status --json | json "(lambda c: $1)(d['checksum'])"; }
# Outcomes of all sources and of `other`, against the datagrams.
OUTCOMES="('good', 'observed_wrong')"
SUM="sum(r.get(k, 0) for r in c['sources'] + [c['other_sources']] for k in $OUTCOMES)"
# metric NAME [LABELS]: the sum of its values, scraped now.
metric() {
	curl -sf "$url" >"$T/metrics"
	awk -v name="$1" '$1 !~ /^#/ && index($1, name) == 1 { n += $2 } END { print n + 0 }' "$T/metrics"
}

check "load --stale 3" "$XSF" load --stale 3 xsf0
"$XSF" export --listen 127.0.0.1:0 >/dev/null 2>"$T/export" &
export_pid=$!
check "export serves" wait_for 5 grep -q 'serving http' "$T/export"
url=$(grep -oE 'http://[^ ]+' "$T/export")

send_ipfix 4200 --sources 4200 --src 2001:db8::1:0 --rate 20000
is "full" "$(of "len(c['sources'])") $(of "c['sources_full'] + c['sources_reclaimed']")" "4096 104"
is "it adds up" "$(of "$SUM - c['datagrams']") $(of "c['datagrams']")" "0 4200"
is "so do the metrics" "$(metric xdp_sflow_checksum_source_datagrams_total)" 4200
sleep 3.5
full=$(of "c['sources_full']") reclaimed=$(of "c['sources_reclaimed']")

# The switch that one looks for comes after the flood.
send_ipfix 100 --checksum wrong --src 2001:db8::99
is "a newcomer is audited" "$(audit source 2001:db8::99 observed_wrong)" 100
send_ipfix 600 --sources 600 --src 2001:db8::2:0
is "600 more are" "$(of "sum(r['source'].startswith('2001:db8::2:') for r in c['sources'])")" 600
is "places taken over" "$(of "c['sources_reclaimed']")" $((reclaimed + 601))
is "none found no place" "$(of "c['sources_full']")" "$full"
is "as many sources" "$(of "len(c['sources'])")" 4096
is "it adds up" "$(of "$SUM - c['datagrams']") $(of "c['datagrams']")" "0 4900"
is "so do the metrics" "$(metric xdp_sflow_checksum_source_datagrams_total)" 4900
is "the counter" "$(metric xdp_sflow_checksum_sources_reclaimed_total)" $((reclaimed + 601))
like "status says so" "$("$XSF" repair show)" "*other *$((reclaimed + 601)) silent sources lost their places*"
kill "$export_pid"
check "unload" "$XSF" unload --all --purge
finish
