#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 900
# Every capture of tests/golden/pcaps gives its row of expected.tsv and its expected/*.json, replayed and
# sent onto a veth with the program attached; kernel and replay agree on every count. Then all of them in
# one go, in each mode.
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/xdp.sh"
private "$@"

cases=()
for file in "$GOLDEN"/pcaps/*.pcap; do cases+=("$(basename "$file" .pcap)"); done

mkdir "$T/made" "$T/replay"
python3 "$GOLDEN/build.py" "$T/made"
for file in "$T"/made/*.pcap; do
	check "build.py makes $(basename "$file")" cmp "$file" "$GOLDEN/pcaps/$(basename "$file")"
done
is "a row for every capture" "$(tail -n +2 "$GOLDEN/expected.tsv" | cut -f1 | sort)" \
	"$(printf '%s\n' "${cases[@]}" | sort)"

replays() { # NAME
	"$XSF" replay --json "$GOLDEN/pcaps/$1.pcap" >"$T/replay/$1.json" &&
		python3 "$PY/compare_totals.py" golden "$1" "$T/replay/$1.json"
}
for name in "${cases[@]}"; do check "replay $name" replays "$name"; done

through_xdp() { # NAME
	count_capture "$GOLDEN/pcaps/$1.pcap" "$(awk -F'\t' -v n="$1" '$1 == n { print $2 }' \
		"$GOLDEN/expected.tsv")" &&
		python3 "$PY/compare_totals.py" golden "$1" "$T/status.json" &&
		python3 "$PY/compare_totals.py" same "$T/status.json" "$T/replay/$1.json"
}

pair agent xsf0 xsf1 9100
mtu() { ip link set xsf0 mtu "$1" && in_ns agent ip link set xsf1 mtu "$1"; }
mtu 1500
small=()
for name in "${cases[@]}"; do
	case $name in 41-* | 48-*) continue ;; esac
	small+=("$name")
	check "XDP $name" through_xdp "$name"
done
is "the plain program" "$(json '(d["attached"][0]["mode"], d["attached"][0]["frags"])' "$T/status.json")" \
	"('native', False)"

# Which DSCPs mean trimmed, by interface: one sample has 11, two have 26, the others 0.
trimmed() { # OPTION...
	count_capture "$GOLDEN/pcaps/43-rdma.pcap" 4 "$@" >"$T/said" 2>&1 || cat "$T/said"
	json '(sum(t.get("trimmed_packets", 0) for i in d["interfaces"] for t in i["sampled"].values()),
		sum(t["packets"] for i in d["interfaces"] for t in i["sampled"].values()))' "$T/status.json"
}
is "trimmed: DSCP 11" "$(trimmed)" "(1000, 13301)"
is "none is of DSCP 12 and 63" "$(trimmed --trim-dscp 12,63)" "(0, 13301)"
is "DSCP 0 is another, 11 too" "$(trimmed --trim-dscp 0,11)" "(11301, 13301)"
is "without 11" "$(trimmed --trim-dscp 0)" "(10301, 13301)"
fails_with "no DSCP" 2 "xdp-sflow: --trim-dscp is a list of numbers from 0 to 63, not '64'; *" \
	"$XSF" load xsf0 --trim-dscp 64

mtu 9100
check "XDP 41-jumbo" through_xdp 41-jumbo
check "XDP 48-longest" through_xdp 48-longest
is "the program for several buffers" \
	"$(json '(d["attached"][0]["mode"], d["attached"][0]["frags"])' "$T/status.json")" "('native', True)"

together() { # OPTION...: all small cases in one go
	count_capture "$T/all.pcap" "$nr_frames" "$@" &&
		python3 "$PY/compare_totals.py" same "$T/status.json" "$T/all.json"
}
files=("${small[@]/#/"$GOLDEN/pcaps/"}")
python3 "$PY/merge_pcap.py" "$T/all.pcap" "${files[@]/%/.pcap}"
nr_frames=$(tail -n +2 "$GOLDEN/expected.tsv" | awk -F'\t' '$1 !~ /^4[18]/ { n += $2 } END { print n }')
"$XSF" replay --json "$T/all.pcap" >"$T/all.json"
check "all together, several buffers" together
mtu 1500
check "all together, native" together
check "all together, generic" together --mode generic
is "generic mode" "$(json 'd["attached"][0]["mode"]' "$T/status.json")" generic

finish
