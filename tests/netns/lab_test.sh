#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 600
# Captures of real agents (Open vSwitch, Host sFlow, pmacct) with real RoCE traffic give what truth.tsv says,
# replayed and through XDP; public captures give the sample counts of other decoders. The latter and the
# larger of the former are read from ../shared when it is there.
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/xdp.sh"
private "$@"

SHARED=$ROOT/../shared
pair agent xsf0 xsf1 9000
ip link set xsf0 address 02:00:00:00:00:02

ports() { # NAME: as options
	case $1 in b_vxlan_outer*) echo "--port 6344" ;; esac
}

truth() { # TRUTH CAPTURE
	local name
	name=$(basename "$2")
	# shellcheck disable=SC2046 # options are words
	"$XSF" replay --json $(ports "$name") "$2" >"$T/replay.json" || return 1
	python3 "$PY/check_truth.py" "$1" "$name" "$T/replay.json"
}

through_xdp() { # CAPTURE, after truth of the same
	# shellcheck disable=SC2046
	count_capture "$1" "$(capinfos -T -m -c -r "$1" | cut -d, -f2)" $(ports "$(basename "$1")") &&
		python3 "$PY/compare_totals.py" same "$T/status.json" "$T/replay.json"
}

lab() { # DIRECTORY
	local file
	for file in "$1"/[bcd]_*.pcap; do
		# IPFIX is not sFlow.
		case $file in *_ipfix_* | *_edge_*) continue ;; esac
		# Those of the repository have had their turn, with more to compare.
		[ "$1" = "$GOLDEN/lab" ] || ! cmp -s "$file" "$GOLDEN/lab/$(basename "$file")" || continue
		check "truth of $(basename "$file")" truth "$1/truth.tsv" "$file"
		check "XDP as replay: $(basename "$file")" through_xdp "$file"
	done
}

lab "$GOLDEN/lab"
if [ -d "$SHARED/lab-captures" ]; then
	lab "$SHARED/lab-captures"
else
	skip "all lab captures" "../shared/lab-captures absent"
fi

if [ -d "$SHARED/captures" ]; then
	mkdir "$T/public"
	cut -f1 "$SHARED/captures/INDEX.tsv" | tail -n +2 >"$T/names"
	nr=0
	while read -r name; do
		"$XSF" replay --json "$SHARED/captures/$name" >"$T/public/$name.json" 2>"$T/err" ||
			not_ok "replay $name" "$(cat "$T/err")"
		nr=$((nr + 1))
	done <"$T/names"
	is "all captures replayed" "$nr" "$(find "$T/public" -size +0 -name '*.json' | wc -l)"
	while IFS= read -r line; do
		case $line in
		"ok - "*) ok "counts of ${line#ok - }" ;;
		"not ok - "*) not_ok "counts of ${line#not ok - }" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done < <(python3 "$PY/check_index.py" "$SHARED/captures/INDEX.tsv" "$GOLDEN/captures.tsv" \
		"$T/public" 2>&1)
else
	skip "public captures" "../shared/captures absent"
fi
finish
