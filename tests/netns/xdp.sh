# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Captures through XDP on xsf0, whose peer xsf1 is in the namespace "agent"; sourced after lib.sh.

# Frames that the program has seen, whatever became of them.
seen() {
	"$XSF" status --json |
		json 'd["totals"]["datagrams"] + sum(d["totals"]["frames_by_outcome"].values())'
}
seen_are() { [ "$(seen)" = "$1" ]; }

# count_capture FILE FRAMES [OPTION...]: load with these options, send the capture, $T/status.json, purge.
# Fails unless exactly so many frames were sent and seen.
count_capture() {
	local file=$1 want=$2 sent rc=0
	shift 2
	"$XSF" load "$@" xsf0 || return 1
	sent=$(send agent xsf1 "$file") || rc=1
	if [ "$sent" != "$want" ]; then
		echo "sent $sent of $want frames"
		rc=1
	fi
	if ! wait_for 10 seen_are "$want"; then
		echo "seen $(seen) of $want frames"
		rc=1
	fi
	"$XSF" status --json >"$T/status.json" || rc=1
	"$XSF" unload --all --purge || rc=1
	return $rc
}
