#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# 16 replacements of the program while datagrams arrive: none is lost, none counts twice.
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/load_lib.sh"
private "$@"
pair agent xsf0 xsf1

check "load" "$XSF" load xsf0
start in_ns agent python3 "$PY/datagrams.py" xsf1 --seconds 60 --rate 10000
replaced=0
for n in $(seq 16); do
	frags=$([ $((n % 2)) = 0 ] && echo no || echo yes)
	"$XSF" load xsf0 --frags "$frags" >"$T/out" 2>&1 && grep -q 'program replaced' "$T/out" &&
		replaced=$((replaced + 1))
done
stop "$PID"
sent=$(cat "$STARTED_LOG")
is "16 replacements" $replaced 16
check "a load worth the name ($sent datagrams)" test "$sent" -gt 10000
wait_for 5 counted_is "$sent"
is "sent = counted" "$(counted)" "$sent"
is "nothing lost by the agent's own numbers" \
	"$("$XSF" status --json | json '[(a["lost"], a["duplicate"], a["restarts"]) for a in d["agents"]]')" \
	"[(0, 0, 0)]"
is "one attachment" "$(attachments)" 1
finish
