#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A plain receiver that gets nothing of 1,000 datagrams with wrong UDP checksums over IPv6, then all, then
# nothing again; what status says about it; the policy, on a running program.
# Functions for wait_for.
# shellcheck disable=SC2317
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/repair_lib.sh"
private "$@"
collector xsf0

# What is there before
send_ipfix 100 --checksum right --payloads "$T/sent"
received 100
is "right checksums are received" "$(size)" "$(stat -c %s "$T/sent")"
errors=$(checksum_errors)
send_ipfix 1000 --checksum wrong
is "of 1000 wrong ones none is" "$(size)" "$(stat -c %s "$T/sent")"
is "the kernel counts them" "$(($(checksum_errors) - errors))" 1000

# Observing
run "$XSF" load xsf0
like "load observes, and says so" "$RC $OUT" \
	"0 *xsf0: checksum program attached, observing 4739, 6343, 2055, tc preference 10, program *; made a clsact*"
errors=$(checksum_errors)
send_ipfix 1000 --checksum wrong
is "observing: still none" "$(size)" "$(stat -c %s "$T/sent")"
is "the kernel counts them" "$(($(checksum_errors) - errors))" 1000
is "so does the program" "$(audit port 4739 observed_wrong) $(audit source 2001:db8::1 observed_wrong)" "1000 1000"
run "$XSF" status
like "status names the source, what it is, and how often" "$OUT" "*2001:db8::1 *always wrong: a chip; 100 % of 1000 in * s*"
advice=$(sed -n 's/^To repair: //p' <<<"$OUT")
is "and the command that repairs" "$advice" \
	"xdp-sflow repair set xsf0 --repair 4739 --repair-from 2001:db8::1"

doctor() { # CHECK LENGTH WORD: its findings with the word, cut
	"$XSF" doctor xsf0 --seconds 0 --json | json "[(f['level'], f['text'][:$2], f.get('mend')) for f in d['checks']
		if f['check'] == '$1' and '$3' in f['text']]"
}
is "doctor says so, with the same command" "$(doctor checksum 16 2001:db8::1)" "[('warn', 'wrong UDP checks', '$advice')]"
like "and that the program observes" "$(doctor tc 99 '')" "*'ok', 'the checksum program at preference 10 observes; *"

# Repairing
# shellcheck disable=SC2086 # words
run "$XSF" ${advice#xdp-sflow }
is "that command" "$RC $OUT" "0 xsf0: repairing 4739 from 1 prefix, observing 6343, 2055"
is "doctor: nothing more to be repaired" "$(doctor checksum 2 '')" "[('ok', 'no', None)]"
is "what it advises keeps the repair" "$(doctor listener 8 6343)" "[('warn', 'UDP 6343', 'xdp-sflow doctor xsf0 --port 4739')]"
is "also where nobody listens on another port" "$("$XSF" doctor xsf0 --seconds 0 --port 6343 --json |
	json '[f["mend"] for f in d["checks"] if f["check"] == "listener"]')" \
	"['xdp-sflow load xsf0 --consume --port 6343 --repair 4739 --repair-from 2001:db8::1']"
errors=$(checksum_errors)
send_ipfix 1000 --checksum wrong --first 5000 --payloads "$T/sent"
received 1100
check "repairing: all of 1000, byte for byte" cmp "$T/sent" "$T/received"
is "InCsumErrors stand still" "$(($(checksum_errors) - errors))" 0
is "counted" "$(audit port 4739 repaired_wrong) $(audit source 2001:db8::1 repaired_wrong)" "1000 1000"
is "no more advice" "$("$XSF" repair show | grep -c 'To repair')" 0
is "the table has the numbers of JSON: right, wrong, zero, repaired, left" \
	"$("$XSF" repair show | awk '$1 == "4739" || $1 == "2001:db8::1" { print $2, $3, $4, $5, $6 }' | uniq)" \
	"0 2000 0 1000 0"
is "JSON" "$("$XSF" repair show --json |
	json '[d["checksum"]["sources"][0][k] for k in ("good", "wrong", "observed_zero", "repaired", "left")]')" \
	"[0, 2000, 0, 1000, 0]"
send_ipfix 50 --checksum zero --first 7000 --payloads "$T/sent"
received 1150
check "zero ones too" cmp "$T/sent" "$T/received"
is "which are wrong ones in the table" "$("$XSF" repair show | awk '$1 == "4739" { print $2, $3, $4, $5, $6 }')" \
	"0 2050 50 1050 0"
is "counted apart" "$(audit port 4739 repaired_zero)" 50
send_ipfix 200 --checksum right --first 8000 --payloads "$T/sent"
received 1350
check "right ones pass" cmp "$T/sent" "$T/received"
is "as good" "$(audit port 4739 good)" 200

# The policy: other sources, other ports, back
send_ipfix 20 --checksum wrong --src 2001:db8::99
is "another source is not repaired" "$(audit source 2001:db8::99 observed_wrong) $(size)" \
	"20 $(stat -c %s "$T/sent")"
check "sources alone: every watched port" "$XSF" repair set xsf0 --repair-from 2001:db8::/32
is "show" "$("$XSF" repair show xsf0 --json |
	json '[(p["port"], p["repair"]) for p in d["checksum"]["attached"][0]["ports"]], d["checksum"]["attached"][0]["repair_from"]')" \
	"([(4739, True), (6343, True), (2055, True)], ['2001:db8::/32'])"
send_ipfix 20 --checksum wrong --src 2001:db8::99 --first 100 --payloads "$T/sent"
received 1370
check "now it is" cmp "$T/sent" "$T/received"
check "a port of one's own" "$XSF" repair set xsf0 --repair 9995 --repair 4739,9995
send_ipfix 30 --checksum wrong --port 9995
is "counts in a row of its own" "$(audit port 9995 repaired_wrong)" 30
row=$(bpftool -j map dump pinned "$(echo $PINS/tc_xsf0_*)/xsf_csum_policy" |
	json '[w["row"] for w in d[0]["formatted"]["value"]["watch"] if w["port"] == 9995]')
check "observe" "$XSF" repair set xsf0 --observe
send_ipfix 30 --checksum wrong
is "nothing is repaired" "$(size)" "$(stat -c %s "$T/sent")"
check "the port again" "$XSF" repair set xsf0 --repair 9995
is "has its row again" "$(bpftool -j map dump pinned "$(echo $PINS/tc_xsf0_*)/xsf_csum_policy" |
	json '[w["row"] for w in d[0]["formatted"]["value"]["watch"] if w["port"] == 9995]')" "$row"
is "one program all the while" "$(filters | wc -l)" 1

# Loaded again, with the options in the first place
id=$(filter_id)
run "$XSF" load xsf0 --repair 4739
like "load again replaces" "$RC $OUT" "0 *checksum program replaced, counts kept, repairing 4739, observing*"
like "and says what it ends" "$OUT" "*; before it was repairing 9995"
run "$XSF" load xsf0 --repair 4739,9995
unlike "nothing is ended: nothing is said" "$OUT" "*before*"
run "$XSF" load xsf0
like "load without options ends a repair, and says so" "$RC $OUT" \
	"0 *replaced, counts kept, observing 4739, 6343, 2055, *; before it was repairing 4739, 9995"
check "sources" "$XSF" load xsf0 --repair 4739 --repair-from 2001:db8::/32 --repair-from fd00::/8
run "$XSF" load xsf0 --repair 4739 --repair-from 2001:db8::/32
like "other sources end some as well" "$OUT" "*; before it was repairing 4739 from 2 prefixes"
run "$XSF" load xsf0 --repair 4739
unlike "from all: nothing is ended" "$OUT" "*before*"
run "$XSF" load xsf0 --repair-from 2001:db8::/32
like "from some, no longer from all" "$OUT" "*; before it was repairing 4739"
check "repairing" "$XSF" repair set xsf0 --repair 4739
run "$XSF" load xsf0 --no-checksum
like "nor is it watched any more" "$RC $OUT" "0 *xsf0: checksum program detached; before it was repairing 4739"
run "$XSF" load xsf0 --repair 4739
like "attached anew" "$RC $OUT" "0 *checksum program attached, repairing 4739, observing *"
is "one filter, another program" "$(filters | wc -l) $(($(filter_id) != id))" "1 1"
is "one directory" "$(find $PINS -name 'tc_*' | wc -l)" 1
send_ipfix 40 --checksum wrong --first 9000 --payloads "$T/sent"
received 1410
check "repaired" cmp "$T/sent" "$T/received"
is "counts go on" "$(audit port 4739 repaired_wrong)" 1060
"$XSF" export --listen 127.0.0.1:0 >/dev/null 2>"$T/export" &
export_pid=$!
check "export serves" wait_for 5 grep -q 'serving http' "$T/export"
curl -sf "$(grep -oE 'http://[^ ]+' "$T/export")" >"$T/metrics"
kill $export_pid
is "metrics by port" "$(grep -E 'checksum_datagrams_total.*4739.*repaired_wrong' "$T/metrics")" \
	'xdp_sflow_checksum_datagrams_total{port="4739",outcome="repaired_wrong"} 1060'
is "by source" "$(grep -E 'checksum_source_datagrams_total.*::99.*repaired_wrong' "$T/metrics")" \
	'xdp_sflow_checksum_source_datagrams_total{source="2001:db8::99",outcome="repaired_wrong"} 20'
like "the program" "$(grep '^xdp_sflow_checksum_program_info' "$T/metrics")" \
	'xdp_sflow_checksum_program_info{ifname="xsf0",ifindex="*",mode="repair",how="load",pref="10",filters_before="0",prog_id="*"} 1'
check "promtool" bash -c "promtool check metrics <'$T/metrics'"

# Gone again
run "$XSF" unload xsf0
is "unload" "$RC $OUT" "0 xsf0: detached"
is "the qdisc that load made is gone" "$(tc qdisc show dev xsf0 clsact)" ""
errors=$(checksum_errors)
send_ipfix 1000 --checksum wrong
is "none of 1000 after unload" "$(size)" "$(stat -c %s "$T/sent")"
is "the kernel counts them" "$(($(checksum_errors) - errors))" 1000
is "the audit stays" "$("$XSF" repair show --json | json 'd["checksum"]["ports"][0]["repaired_wrong"]')" 1060
fails_with "set without a program" 1 "*xsf0 has no checksum program that xdp-sflow attached; first: *" \
	"$XSF" repair set xsf0 --observe
check "load --no-checksum" "$XSF" load xsf0 --no-checksum
is "attaches none" "$(filters)$(tc qdisc show dev xsf0 clsact)" ""
check "load" "$XSF" load xsf0
run "$XSF" load xsf0 --no-checksum
like "load --no-checksum takes it off" "$RC $OUT" "0 *xsf0: checksum program detached*"
is "and the qdisc" "$(filters)$(tc qdisc show dev xsf0 clsact)" ""
check "run" timeout --preserve-status -s INT 3 "$XSF" run xsf0 --listen 127.0.0.1:0 --repair 4739
is "run leaves nothing" "$(filters)$(tc qdisc show dev xsf0 clsact)" ""

# simulate sends wrong checksums too
addressed agent0 2001:db8::1/64 agent
ip neigh add 2001:db8::1 lladdr "$(in_ns agent cat /sys/class/net/agent0/address)" dev xsf0
in_ns agent ip neigh add 2001:db8::2 lladdr 02:00:00:00:00:02 dev agent0
check "load" "$XSF" load xsf0 --repair 6343
start socat -u UDP6-RECV:6343,rcvbuf=4000000 "OPEN:$T/sflow,creat,append"
wait_for 5 listening 6343
run nsenter --net=/run/netns/agent "$XSF" simulate --to '[2001:db8::2]' --count 1000 --rate 2000 --wrong-checksums 25 --truth "$T/truth"
wrong=$(json 'd["totals"]["wrong_checksums"]' "$T/truth")
like "simulate: sent" "$RC $OUT" "0 sent 1000 datagrams, *$wrong of them with a wrong UDP checksum"
all_seen() { [ "$(audit port 6343 checked)" -ge 1000 ]; }
check "all arrive" wait_for 5 all_seen
is "as many are repaired, the others right" "$(audit port 6343 repaired_wrong) $(audit port 6343 good)" \
	"$wrong $((1000 - wrong))"
is "about a quarter" "$((wrong > 180 && wrong < 320))" 1
all_bytes() { [ "$(stat -c %s "$T/sflow")" = "$(json 'd["totals"]["bytes"]' "$T/truth")" ]; }
check "every byte is received" wait_for 5 all_bytes

# A chip is found among noise and beside a line, and what is advised repairs it alone, keeps what is in force
# and is the same wherever it is said
check "begin anew" "$XSF" unload --all --purge
check "load, repairing a port of its own" "$XSF" load xsf0 --repair 7001 --repair-from 2001:db8:7::/48
for n in $(seq 25); do send_ipfix 1 --checksum wrong --src "2001:db8:e::$n"; done
send_ipfix 300 --checksum right --src 2001:db8::d --port 6343
send_ipfix 2 --checksum wrong --src 2001:db8::d --port 6343
send_ipfix 40 --checksum wrong --src 2001:db8::c
run "$XSF" repair show
is "the chip first, then the line" "$(grep -A2 '^  source' <<<"$OUT" | awk '{ print $1 }' | paste -sd' ')" \
	"source 2001:db8::c 2001:db8::d"
advice="xdp-sflow repair set xsf0 --repair 4739,6343,7001 --repair-from 2001:db8:7::/48 --repair-from 2001:db8::c"
is "advised" "$(sed -n 's/^To repair: //p' <<<"$OUT")" "$advice"
mkdir -p /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
"$XSF" ledger xsf0 --seconds 3 --json >"$T/ledger" 2>"$T/ledger.err" &
ledger=$!
wait_for 5 grep -q counting "$T/ledger.err"
send_ipfix 20 --checksum wrong --src 2001:db8::c
send_ipfix 20 --checksum wrong --src 2001:db8::c --port 7001
wait $ledger
is "the ledger says the same" "$(json '{p["mend"].get("wrong_checksum") for p in d["ports"] if p["port"] in (4739, 7001)}' "$T/ledger")" \
	"{'$advice'}"
# shellcheck disable=SC2086 # words
run "$XSF" ${advice#xdp-sflow }
is "taken as it is" "$RC $OUT" \
	"0 xsf0: repairing 4739, 6343, 7001 from 2 prefixes, observing 2055"
is "then nothing more" "$("$XSF" repair show | grep -c 'To repair')" 0
check "all sources of one port" "$XSF" repair set xsf0 --repair 2055
like "the line cannot be left out there: said" "$("$XSF" repair show)" \
	"*To repair: xdp-sflow repair set xsf0 --repair 4739,2055
           also repairs 2001:db8::d, a line"

# Where the kernel does not take a new program the one that is there gets the options
id=$(filter_id)
: >"$T/empty"
without_btf=(unshare -m bash -c "mount --bind '$T/empty' /sys/kernel/btf/vmlinux && '$XSF' load xsf0 \$*" load)
run "${without_btf[@]}" --repair 4739
like "no BTF: the program stays, its policy is the new one" "$RC $OUT" \
	"0 *xsf0: the checksum program that is there stays, repairing 4739, observing 6343, 2055, *program $id: *BTF*"
is "as repair show says" \
	"$("$XSF" repair show xsf0 --json |
		json '[p["port"] for p in d["checksum"]["attached"][0]["ports"] if p["repair"]]') $(filter_id)" \
	"[4739] $id"
run "${without_btf[@]}"
like "without options it observes" "$RC $OUT" "0 *that is there stays, observing 4739, 6343, 2055, *"
is "as repair show says" "$("$XSF" repair show xsf0 --json | json 'd["checksum"]["attached"][0]["mode"]')" observe

# A clsact cannot be told from another's once our filter is not in it
tc filter del dev xsf0 ingress pref 10
run "$XSF" unload xsf0
like "the filter was removed by hand" "$RC $OUT" \
	"0 *xsf0: detached*xsf0: an empty clsact qdisc stays, *tc qdisc del dev xsf0 clsact"
is "it stays" "$(tc qdisc show dev xsf0 clsact | wc -l)" 1
tc qdisc del dev xsf0 clsact
run "$XSF" unload xsf0
unlike "nothing is said where there is none" "$OUT" "*clsact*"
check "load" "$XSF" load xsf0

# What was not said has not been done well
for command in "repair set xsf0 --observe" "load xsf0" "unload xsf0"; do
	# shellcheck disable=SC2086 # words
	"$XSF" $command >/dev/full 2>"$T/error"
	like "$command without room for its output" "$? $(cat "$T/error")" "1 *standard output: No space left on device*"
done
check "unload --all --purge" "$XSF" unload --all --purge
is "nothing of ours is left" "$(find /sys/fs/bpf | grep -E 'xsf|xdp-sflow')" ""
finish
