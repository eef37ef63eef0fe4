#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# load --confirm: undone by itself, kept by confirm, whatever happens to the process that waits.
# Functions for wait_for.
# shellcheck disable=SC2317
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/load_lib.sh"
private "$@"
PINS=/sys/fs/bpf/xdp-sflow/v2
pair agent xsf0 xsf1

waiting() { grep -lx xdp-sflow-wait /proc/[0-9]*/comm 2>/dev/null | cut -d/ -f3 | grep .; }
waiter() { wait_for 5 waiting && waiting; }
no_program() { [ -z "$(programs xsf0)" ]; }
none_waits() { ! waiting >/dev/null; }
tc_state() { tc filter show dev xsf0 ingress 2>/dev/null | grep handle; tc qdisc show dev xsf0 | grep -o clsact; }
how() { "$XSF" status --json | json '[(a["how"], a["verdict"]) for a in d["attached"]]'; }

# A first attachment
run "$XSF" load xsf0 --confirm 5
like "load --confirm: says what will happen" "$RC $OUT" \
	"0 *xsf0: undone in 5 seconds unless: xdp-sflow confirm xsf0"
is "it is attached" "$(programs xsf0)" xsf_xdp
is "status says that it waits" "$(how)" "[('unconfirmed', 'pass')]"
adds "and counts" 5 agent xsf1 5
is "what waits holds nothing but the link" \
	"$(for fd in /proc/"$(waiter)"/fd/*; do readlink "$fd"; done | sort | uniq -c | tr -s ' \n' ' ')" \
	" 3 /dev/null 1 anon_inode:bpf_link "
check "undone in time" wait_for 8 no_program
check "the process has ended" wait_for 5 none_waits
is "no attachment is left" "$(attachments)" 0
is "the counts are" "$(counted)" 5
fails_with "confirm comes too late" 1 "*nothing waits for confirmation on xsf0: *" "$XSF" confirm xsf0
fails_with "confirm of nothing" 1 "*nothing waits for confirmation: *" "$XSF" confirm

check "load --confirm" "$XSF" load xsf0 --confirm 5
fails_with "confirm of another interface" 1 "*nothing waits for confirmation on lo: *" "$XSF" confirm lo
run "$XSF" confirm xsf0
is "confirm" "$RC $OUT" "0 confirmed: 1 interface"
check "the process ends" wait_for 5 none_waits
sleep 5.5
is "it stays" "$(programs xsf0) $(how)" "xsf_xdp [('link', 'pass')]"
adds "and counts" 5 agent xsf1 5 --first 6
check "unload" "$XSF" unload xsf0

check "load --confirm" "$XSF" load xsf0 --confirm 60
kill -9 "$(waiter)"
check "the process is killed: undone at once" wait_for 5 no_program
is "status: nothing is attached" "$(how)" "[]"
# The tc filter cannot go with that process.
like "but the tc program, and that nothing undoes it" "$("$XSF" status xsf0)" \
	"*xsf0 *by a load --confirm that was killed, *not confirmed, and nothing undoes it: xdp-sflow unload xsf0*"
is "JSON" "$("$XSF" status --json | json '[a["how"] for a in d["checksum"]["attached"]]')" "['abandoned']"
like "doctor says it" "$("$XSF" doctor xsf0 --seconds 0)" "*warn*tc *by a load --confirm that was killed*xdp-sflow unload xsf0*"
check "load works after it" "$XSF" load xsf0
is "one attachment" "$(attachments)" 1
is "the tc program is of this load" "$("$XSF" status --json | json '[a["how"] for a in d["checksum"]["attached"]]')" "['load']"
check "unload" "$XSF" unload xsf0
is "with what load made" "$(tc_state)" ""
check "load --confirm" "$XSF" load xsf0 --confirm 60 --repair 4739
kill -9 "$(waiter)"
check "killed once more" wait_for 5 no_program
check "unload clears it" "$XSF" unload xsf0
is "no filter, no qdisc, no pin" "$(tc_state)$(find $PINS -name 'tc_*' -o -name 'if_*')" ""
check "load --confirm" "$XSF" load xsf0 --confirm 60
kill -9 "$(waiter)"
check "and once more" wait_for 5 no_program
pair agent xsf2 xsf3
check "load of another interface clears it" "$XSF" load xsf2
is "no filter, no qdisc" "$(tc_state)" ""
check "unload" "$XSF" unload xsf2
ip link del xsf2

check "load --confirm" "$XSF" load xsf0 --confirm 60
run "$XSF" unload xsf0
is "unload while it waits" "$RC $(programs xsf0)" "0 "
check "the process ends" wait_for 5 none_waits

check "load --confirm" "$XSF" load xsf0 --confirm 60
run "$XSF" load xsf0
like "another load confirms" "$RC $OUT" "0 *program replaced*"
check "the process ends" wait_for 5 none_waits
is "it stays" "$(programs xsf0) $(how)" "xsf_xdp [('link', 'pass')]"
check "unload" "$XSF" unload xsf0

check "load --confirm" "$XSF" load xsf0 --confirm 60
check "and once more, shorter" "$XSF" load xsf0 --confirm 5
adds "counts" 5 agent xsf1 5
check "the shorter one undoes" wait_for 8 no_program
check "and nobody waits" wait_for 5 none_waits

# A replacement: what was there comes back
check "load" "$XSF" load xsf0
id=$(prog_id xsf0)
run "$XSF" load xsf0 --consume --confirm 5
like "load --confirm over it" "$RC $OUT" "0 *program replaced*"
is "the new one counts" "$(how)" "[('unconfirmed', 'consume')]"
back() { [ "$(prog_id xsf0)" = "$id" ]; }
check "the old one is back in time" wait_for 8 back
check "nobody waits" wait_for 5 none_waits
is "as it was" "$(how)" "[('link', 'pass')]"
is "pins as before" "$(cd $PINS/if_* && echo *)" "about link prog"
adds "counts go on" 5 agent xsf1 5 --first 6
check "load --confirm" "$XSF" load xsf0 --consume --confirm 5
check "confirm" "$XSF" confirm
check "nobody waits" wait_for 5 none_waits
sleep 5.5
is "the new one stays" "$(how)" "[('link', 'consume')]"
is "pins as before" "$(cd $PINS/if_* && echo *)" "about link prog"
id=$(prog_id xsf0)
check "load --confirm" "$XSF" load xsf0 --confirm 60
check "twice" "$XSF" load xsf0 --confirm 5
check "goes back to the confirmed one" wait_for 8 back
check "nobody waits" wait_for 5 none_waits
check "load --confirm" "$XSF" load xsf0 --confirm 60
kill -9 "$(waiter)"
is "killed: the new one stays, and says that it waits" "$(programs xsf0) $(how)" \
	"xsf_xdp [('unconfirmed', 'pass')]"
is "so does the tc program" "$("$XSF" status --json | json '[a["how"] for a in d["checksum"]["attached"]]')" "['unconfirmed']"
check "confirm" "$XSF" confirm xsf0
is "confirmed" "$(how)" "[('link', 'pass')]"
adds "one count each" 5 agent xsf1 5 --first 11

# The shell that started it goes away
check "unload" "$XSF" unload xsf0
{ setsid bash -c "'$XSF' load xsf0 --confirm 8 >/dev/null; kill -HUP 0"; } 2>/dev/null
is "it outlives its session" "$(programs xsf0)" xsf_xdp
check "and undoes in time" wait_for 14 no_program
check "unload --all --purge" "$XSF" unload --all --purge
finish
