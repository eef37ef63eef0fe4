#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Event rings: every reader sees every notification, what a ring has no room for is counted as shed, a reader
# that died leaves its place to others, all places taken is told, programs are replaced under readers.
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/load_lib.sh"
private "$@"
PINS=/sys/fs/bpf/xdp-sflow/v2
READER=$ROOT/build/tests/tools/event_reader
LAB=$GOLDEN/lab/c_hsflow_c4.pcap
pair agent xsf0 xsf1
# What was shed is told on the CPU that it came to: all come to one.
taskset -pc "$(taskset -pc $$ | grep -oE '[0-9]+' | sed -n 2p)" $$ >/dev/null

ready() { grep -qx ready "$1"; }
# listen NAME OPTION...: a reader that ends with $T/stop; its output is in $T/NAME, its pid in ${reader[NAME]}.
declare -A reader
listen() {
	local name=$1
	shift
	start "$READER" --stop "$T/stop" "$@"
	reader[$name]=$PID
	ln -sf "$STARTED_LOG" "$T/$name"
	wait_for 10 ready "$T/$name" || not_ok "reader $name" "$(cat "$T/$name")"
}
# ended NAME...: they have read all there is; then $T/NAME.drops has what they say of drops, and so on.
ended() {
	local name
	touch "$T/stop"
	for name; do wait_for 10 gone "${reader[$name]}" || not_ok "reader $name does not end"; done
	rm -f "$T/stop"
}
said() { grep "^$2 " "$T/$1" | tail -1 | cut -d' ' -f2-; }
drops() { grep $'^drop\t' "$T/$1"; }
# column NAME N: how often each value was in that column of the drops.
column() { awk -F'\t' -v n="$2" '$1 == "drop" { c[$n]++ } END { for (v in c) print v, c[v] }' "$T/$1" | sort; }
places() { find $PINS -name 'reader_*' -printf '%f ' | tr ' ' '\n' | sort | tr '\n' ' '; }
wanted() { bpftool -j map dump pinned $PINS/xsf_event_wanted | json '[int(x, 16) > 0 for x in d[0]["value"]].count(True)'; }
drop_samples() { "$XSF" status --json | json 'd["totals"]["drop_samples"]'; }
total() { "$XSF" status --json | json "d['totals']['events']['$1']"; }

fails_with "no programs, no reader" 1 "no map xsf_event_rings is pinned in $PINS: *; first: xdp-sflow load IFACE" \
	"$READER" --drops 65536

check "load" "$XSF" load xsf0
listen one --drops 4194304
listen two --drops 4194304
listen three --drops 4194304 --samples 4194304
is "three places" "$(places)" "reader_0 reader_1 reader_2 "
is "wanted" "$(wanted)" 4
is "a capture" "$(send agent xsf1 "$LAB")" 118
ended one two three
for name in one two three; do
	is "$name: every notification, once" "$(said $name drops)" "sent 320 shed 0 got 320 for 320"
	is "$name: its rings are the ones pinned" "$(said $name current)" 1
done
is "the same to all" "$(drops one | sort | comm -12 - <(drops two | sort) | wc -l)" 320
is "flow samples to who asked" "$(said one samples) $(said three samples)" \
	"sent 0 shed 0 got 0 for 0 sent 163 shed 0 got 163 for 163"
is "places are given back" "$(places)$(wanted)" 0
# truth_of FILE CAPTURE KEY: what stands behind the key, and how often.
truth_of() {
	awk -F'\t' -v f="$2" -v k="$3." '$1 == f && $2 == "own" && index($3, k) == 1 {
		print substr($3, length(k) + 1), $4 }' "$1" | sort
}
truth() { truth_of "$GOLDEN/lab/truth.tsv" c_hsflow_c4.pcap "discard.$1"; }
is "reasons" "$(column one 10)" "$(truth reason)"
is "functions" "$(drops one | cut -f13 | sed 's/%2e/./g; s/%.*//' | sort | uniq -c |
	awk '{ print $2, $1 }' | sort)" \
	"$(truth function)"
is "Linux reasons" "$(column one 16)" "$(truth linux_reason)"

# Cases and captures of others, exactly.
events_of() { # CAPTURE: what a reader got of it, in $T/got
	listen got --drops 4194304 --samples 4194304
	send agent xsf1 "$1" >/dev/null
	sleep 0.2
	ended got
}
events_of "$GOLDEN/pcaps/04a-discard-among-others.pcap"
is "04a: input, reason" "$(drops got | cut -f8,10 | tr '\t' ' ')" "3 258"
like "04a: the header" "$(drops got | cut -f20)" "*450000*0a0800010a0800029c4001bb*"
events_of "$GOLDEN/pcaps/04b-discard-only.pcap"
is "04b: input, reason, own total" "$(drops got | cut -f7,8,10 | tr '\t' ' ' | tr '\n' ';')" "5 3 259;5 3 259;5 3 259;"
events_of "$GOLDEN/pcaps/04c-discard-of-roce.pcap"
is "04c: input, reason" "$(drops got | cut -f8,10 | tr '\t' ' ')" "3 260"
like "04c: RoCE" "$(drops got | cut -f20)" "*c00612b7*"

SHARED=$ROOT/../shared
hw=$SHARED/lab-captures/c_hsflowhw_c4.pcap
if [ -r "$hw" ]; then
	hw_truth() { truth_of "$SHARED/lab-captures/truth.tsv" c_hsflowhw_c4.pcap "$1"; }
	flows() { grep $'^flow\t' "$T/got"; }
	events_of "$hw"
	is "traps" "$(drops got | awk -F'\t' '{ c[$14 "/" $15]++ } END { for (v in c) print v, c[v] }' | sort)" \
		"$(hw_truth discard.hw_trap)"
	is "their reasons" "$(column got 10)" "$(hw_truth discard.reason)"
	is "queues" "$(flows | awk -F'\t' '$17 != "-" { c[$17]++ } END { for (v in c) print v, c[v] }')" \
		"$(hw_truth flow.egress_queue)"
	is "queue depth" "$(flows | awk -F'\t' '{ n += $18 } END { print "sum", n }')" "$(hw_truth flow.queue_depth)"
	is "transit delay" "$(flows | awk -F'\t' '{ n += $19 } END { print "sum", n }')" \
		"$(hw_truth flow.transit_delay_ns)"
else
	skip "a capture of hardware traps" "../shared absent"
fi
if [ -r "$SHARED/captures/Cistern_sflow__event_discarded_packet.dump.pcap" ]; then
	events_of "$SHARED/captures/Cistern_sflow__event_discarded_packet.dump.pcap"
	is "a published real drop" "$(drops got | cut -f2,8,10,13,16 | tr '\t' ' ')" \
		"10.30.1.254 2 289 __udp4_lib_rcv%2b0xbed%2f0xd90 NOT_SPECIFIED"
else
	skip "a published real drop" "../shared absent"
fi

# Killed: its place stays taken until somebody looks, and is another's then.
before=$(drop_samples)
listen killed --drops 65536 --quiet
kill -KILL "${reader[killed]}"
wait_for 5 gone "${reader[killed]}"
is "a reader that died is still wanted" "$(places)$(wanted)" "reader_0 1"
send agent xsf1 "$LAB" >/dev/null
listen heir --drops 4194304 --quiet
is "its place is taken over" "$(places)$(wanted)" "reader_0 1"
send agent xsf1 "$LAB" >/dev/null
ended heir
is "with what came since, and nothing of before" "$(said heir drops)" "sent 320 shed 0 got 320 for 320"
listen killed --drops 65536 --quiet
kill -KILL "${reader[killed]}"
wait_for 5 gone "${reader[killed]}"
check "status" "$XSF" status
is "status frees it as well" "$(places)$(wanted)" 0
is "counts went on" "$(($(drop_samples) - before))" 640

# A ring that is full: nobody reads until all was sent.
shed=$(total drops_shed)
listen slow --drops 4096 --quiet --read "$T/read"
listen quick --drops 4194304 --quiet
send agent xsf1 "$LAB" >/dev/null
touch "$T/read"
ended slow quick
rm "$T/read"
read -r _ sent _ lost _ got _ < <(said slow drops)
is "full: sent + shed is what was notified" "$((sent + lost))" 320
is "what was sent was got" "$got" "$sent"
check "most was shed" test "$lost" -gt 300 -a "$sent" -gt 0
is "the other has all" "$(said quick drops)" "sent 320 shed 0 got 320 for 320"
is "it is in the totals" "$(($(total drops_shed) - shed))" "$lost"

# What was shed is told with the next event that fits.
listen told --drops 4096 --quiet --read "$T/read"
send agent xsf1 "$LAB" >/dev/null
touch "$T/read"
sleep 0.5
is "one more" "$(send agent xsf1 "$GOLDEN/pcaps/04b-discard-only.pcap")" 1
ended told
rm "$T/read"
read -r _ sent _ _ _ got _ stood < <(said told drops)
is "each event got stands for those shed before it" "$got $stood" "$sent 323"

# Places
for n in 1 2 3 4 5 6 7 8; do listen "r$n" --drops 4096 --quiet; done
is "eight readers" "$(places | wc -w)" 8
fails_with "the ninth is told" 1 \
	"all 8 places for readers of events in $PINS are taken; end one of those that run (*)" "$READER" --drops 4096
kill -KILL "${reader[r3]}"
wait_for 5 gone "${reader[r3]}"
listen ninth --drops 4096 --quiet
is "and gets the place of one that died" "$(places | wc -w)" 8
ended r1 r2 r4 r5 r6 r7 r8 ninth
is "all given back" "$(places)$(wanted)" 0
fails_with "a ring of a wrong size" 1 "a ring of 5000 bytes: must be a power of two, *" "$READER" --drops 5000

# Programs are replaced, and go, under a reader.
listen upgrade --drops 4194304 --quiet
check "load again" "$XSF" load xsf0
send agent xsf1 "$LAB" >/dev/null
check "unload" "$XSF" unload xsf0
check "load anew" "$XSF" load xsf0
send agent xsf1 "$LAB" >/dev/null
ended upgrade
is "new programs go on sending" "$(said upgrade drops)" "sent 640 shed 0 got 640 for 640"
is "its rings are the ones pinned" "$(said upgrade current)" 1
listen purged --drops 4194304 --quiet
check "purge" "$XSF" unload --all --purge
is "no pins are left" "$(find $PINS 2>/dev/null)" ""
check "load after it" "$XSF" load xsf0
listen new --drops 4194304 --quiet
ended purged new
is "the reader of before is told" "$(said purged current) $(said new current)" "0 1"
is "and takes nobody's place away" "$(places)" ""

# Maps of programs of before, which had no events.
check "unload" "$XSF" unload xsf0
rm $PINS/xsf_event_rings $PINS/xsf_sample_rings $PINS/xsf_event_counts $PINS/xsf_event_wanted $PINS/xsf_places
check "status without them" "$XSF" status
fails_with "a reader is told" 1 "no map xsf_event_rings is pinned in *" "$READER" --drops 65536
before=$(counted)
check "load adds what is missing" "$XSF" load xsf0
listen added --drops 4194304 --quiet
send agent xsf1 "$LAB" >/dev/null
ended added
is "counts were kept, events come" "$(($(counted) - before)) $(said added drops)" "118 sent 320 shed 0 got 320 for 320"
finish
