#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# xdp-sflow simulate as a user types it: options, files that repeat, what others make of them, sending.
set -u
. "$(dirname "$0")/../lib.sh"

simulate() { "$XSF" simulate "$@"; }

# ---- wrong options ----
bad_value() { # OPTION VALUE
	fails_with "--$1 '$2'" 2 \
		"xdp-sflow: bad value '${2//[/\\[}' for --$1; see: xdp-sflow simulate --help" \
		"$XSF" simulate "--$1" "$2"
}
for bad in "leaves 0" "leaves 1025" "leaves x" "leaves -1" "spines 0" "spines 257" "ports 0" "ports 513" \
	"rate 10000001" "rate 1.5" "seconds -1" "seconds 1." "seconds .5" "seconds 1.0000000001" \
	"seconds 99999999999" "count 1x" "cycle 0.0009" "polling x" "seed 18446744073709551616" \
	"drops 0" "drops 1000001" "drop-limit 0" "to 1.2.3" "to localhost" "to 127.0.0.1:0" "to 127.0.0.1:65536" "to 127.0.0.1:" "to [::1" \
	"to [::1]x" "to [127.0.0.1:6343" "to ::1:x"; do
	bad_value "${bad%% *}" "${bad#* }"
done
bad_value to ""
bad_value write ""
fails_with "unknown option" 2 "xdp-sflow: unknown option '--what'; see: *" "$XSF" simulate --what
fails_with "unknown short option" 2 "xdp-sflow: unknown option '-x'; see: *" "$XSF" simulate -x
fails_with "value missing" 2 "xdp-sflow: option '--rate' needs a value; see: *" "$XSF" simulate --rate
fails_with "an argument" 2 "xdp-sflow: unexpected argument 'eth0'; see: *" "$XSF" simulate eth0
fails_with "too many interfaces" 2 "xdp-sflow: more than 262144 interfaces*" \
	"$XSF" simulate --leaves 1024 --ports 512
fails_with "a file without end" 2 "xdp-sflow: --write needs an end*" \
	"$XSF" simulate --write "$T/x.pcap" --seconds 0
fails_with "a limit without drops" 2 "xdp-sflow: --drop-limit goes with --drops; see: *" \
	"$XSF" simulate --drop-limit 10
fails_with "--write into nowhere" 1 "xdp-sflow: cannot write *$T/no/such*" \
	"$XSF" simulate --write "$T/no/such" --count 1
fails_with "--truth into nowhere" 1 "xdp-sflow: cannot write *$T/no/such*" \
	"$XSF" simulate --truth "$T/no/such" --write "$T/x.pcap" --count 1
fails_with "a full disk" 1 "xdp-sflow: cannot write /dev/full*" \
	"$XSF" simulate --write /dev/full --count 1000
run "$XSF" simulate --truth /dev/full --write "$T/x.pcap" --count 10
is "truth on a full disk: exit" $RC 1
like "truth on a full disk" "$ERR" "xdp-sflow: cannot write /dev/full: No space left on device"

run "$XSF" simulate --help
is "--help: exit" "$RC" 0
is "--help: stderr" "$ERR" ""
for option in leaves spines ports rate seconds count cycle polling drops drop-limit to seed ipv6-agents write truth; do
	like "--help names --$option" "$OUT" "*--$option *"
done

# ---- same seed, same bytes ----
simulate --seconds 3 --write "$T/a.pcap" --truth "$T/a.json" >"$T/a.out"
simulate --seconds 3 --write "$T/b.pcap" --truth "$T/b.json" >/dev/null
check "the same twice: packets" cmp "$T/a.pcap" "$T/b.pcap"
check "the same twice: truth" cmp "$T/a.json" "$T/b.json"
simulate --seconds 3 --seed 2 --write "$T/b.pcap" >/dev/null
cmp -s "$T/a.pcap" "$T/b.pcap"
is "another seed: other packets" $? 1
simulate --seconds 0 --count 3000 --write "$T/b.pcap" >/dev/null
check "--count: the same stream" cmp "$T/a.pcap" "$T/b.pcap"
simulate --seconds 3 --write - >"$T/b.pcap" 2>"$T/err"
check "to stdout: the same" cmp "$T/a.pcap" "$T/b.pcap"
like "to stdout: the report is on stderr" "$(cat "$T/err")" "wrote 3000 datagrams, *"
like "the report" "$(cat "$T/a.out")" "wrote 3000 datagrams, * flow, * counter, * drop samples; 0 send errors"

simulate --seconds 1 --drops 5000 --drop-limit 100 --write "$T/a.pcap" --truth "$T/a.json" >/dev/null
simulate --seconds 1 --drops 5000 --drop-limit 100 --write "$T/b.pcap" --truth "$T/b.json" >/dev/null
check "drops, the same twice: packets" cmp "$T/a.pcap" "$T/b.pcap"
check "drops, the same twice: truth" cmp "$T/a.json" "$T/b.json"

# ---- the same parser as in the kernel counts exactly what was generated ----
# replayed NAME OPTION...
replayed() {
	local name=$1
	shift
	simulate --write "$T/r.pcap" --truth "$T/r.truth" "$@" >/dev/null &&
		"$XSF" replay --json "$T/r.pcap" >"$T/r.json"
	check "replay agrees: $name" python3 "$PY/compare_truth.py" "$T/r.truth" "$T/r.json"
}
replayed defaults --seconds 5
replayed "IPv6" --seconds 3 --ipv6-agents --to "[2001:db8::9]:6343"
replayed "one leaf" --seconds 3 --leaves 1
replayed "one host" --seconds 3 --leaves 1 --ports 1 --spines 1
replayed "2400 interfaces" --seconds 3 --leaves 30 --spines 8 --ports 64 --rate 5000
replayed "no phases, no polling" --seconds 3 --cycle 0 --polling 0
replayed "drops in bursts" --seconds 5 --drops 20000
replayed "drops above a limit" --seconds 10 --drops 5000 --drop-limit 100
replayed "few drops" --seconds 30 --drops 3 --ipv6-agents
replayed "slow" --seconds 60 --rate 2 --polling 5 --cycle 10

# ---- independent decoders ----
simulate --seconds 1 --drops 2000 --write "$T/a.pcap" --truth "$T/a.json" >/dev/null
if command -v tshark >/dev/null; then
	faults=$(tshark -r "$T/a.pcap" -Y '_ws.malformed || _ws.expert.severity >= error' \
		-T fields -e frame.number -e _ws.expert.message 2>/dev/null | head -5)
	is "tshark finds nothing malformed" "$faults" ""
	tshark -r "$T/a.pcap" -V 2>/dev/null >"$T/a.txt"
	is "tshark sees every flow sample" \
		"$(grep -cE '^    (Flow|Expanded flow) sample, seq' "$T/a.txt")" \
		"$(json 'd["totals"]["flow_samples"]' "$T/a.json")"
else
	skip "tshark finds nothing malformed" "no tshark"
fi

# ---- sending ----
# sink ADDR: a receiver; sets PORT.
sink() {
	rm -f "$T/port" "$T/got"
	start python3 "$PY/udp_sink.py" "$1" "$T/port" "$T/got"
	SINK=$PID
	wait_for 10 test -s "$T/port" || diag "no receiver: $(cat "$STARTED_LOG")"
	PORT=$(cat "$T/port")
}

# drained ADDR: ends the receiver once it has everything.
drained() {
	wait_for 10 python3 -c 'import socket, sys
f = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
s = socket.socket(f, socket.SOCK_DGRAM)
s.connect((sys.argv[1], int(sys.argv[2])))
s.send(b"end")' "$1" "$PORT"
	wait_for 10 gone "$SINK"
	wait "$SINK"
}

# payloads FILE: UDP payloads of a capture of simulate, a line each.
payloads() {
	PYTHONPATH=$PY python3 -c 'import pcap, sys
for _, frame, _ in pcap.frames(sys.argv[1]):
    print(frame[62 if frame[12:14] == b"\x86\xdd" else 42:].hex())' "$1"
}

sink 127.0.0.1
began=${EPOCHREALTIME/./}
run "$XSF" simulate --seconds 2 --rate 500 --to "127.0.0.1:$PORT" --truth "$T/sent.json"
took=$((${EPOCHREALTIME/./} - began))
drained 127.0.0.1
is "sent: exit" "$RC" 0
like "sent: said so" "$OUT" "sent 1000 datagrams, * 0 send errors"
check "the pace is kept" test $took -ge 1900000
simulate --seconds 2 --rate 500 --to "127.0.0.1:$PORT" --write "$T/sent.pcap" \
	--truth "$T/written.json" >/dev/null
payloads "$T/sent.pcap" >"$T/want"
check "what arrives is what --write writes" cmp "$T/got" "$T/want"
check "and the truth is the same" cmp "$T/sent.json" "$T/written.json"

if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
	sink ::1
	run "$XSF" simulate --count 100 --rate 2000 --ipv6-agents --to "[::1]:$PORT"
	drained ::1
	like "over IPv6" "$OUT" "sent 100 datagrams, * 0 send errors"
	is "over IPv6: all arrive" "$(wc -l <"$T/got")" 100
else
	skip "over IPv6" "no IPv6 on lo"
fi

# wrong_in FILE: datagrams whose UDP checksum tshark calls wrong.
wrong_in() {
	tshark -r "$1" -o udp.check_checksum:TRUE -T fields -e udp.checksum.status -E occurrence=f 2>/dev/null |
		grep -c '^0'
}
run "$XSF" simulate --count 1000 --to '[2001:db8::2]' --wrong-checksums 30 --write "$T/wrong.pcap" --truth "$T/wrong.json"
wrong=$(json 'd["totals"]["wrong_checksums"]' "$T/wrong.json")
like "wrong checksums: said" "$RC $OUT" "0 *$wrong of them with a wrong UDP checksum"
is "as many as tshark finds" "$(wrong_in "$T/wrong.pcap")" "$wrong"
is "about so many of a hundred" "$((wrong > 240 && wrong < 360))" 1
"$XSF" simulate --count 1000 --to '[2001:db8::2]' --wrong-checksums 30 --write "$T/again.pcap" >/dev/null
check "the same seed, the same bytes" cmp "$T/wrong.pcap" "$T/again.pcap"
"$XSF" simulate --count 1000 --to '[2001:db8::2]' --wrong-checksums 30 --seed 2 --write "$T/again.pcap" >/dev/null
check "another seed, others" bash -c "! cmp -s '$T/wrong.pcap' '$T/again.pcap'"
"$XSF" simulate --count 1000 --to '[2001:db8::2]' --write "$T/right.pcap" >/dev/null
is "without the option none" "$(wrong_in "$T/right.pcap")" 0
is "the datagrams are the same" "$("$XSF" replay --json "$T/wrong.pcap" | md5sum)" \
	"$("$XSF" replay --json "$T/right.pcap" | md5sum)"
fails_with "wrong checksums over IPv4" 2 "*--wrong-checksums is about UDP over IPv6*" "$XSF" simulate --wrong-checksums 5
fails_with "more than all" 2 "* is a percentage from 0 to 100 with at most 3 decimals, not '101'*" \
	"$XSF" simulate --to '[::1]' --wrong-checksums 101

for bad in 100.001 0.0001 .5 5. -1 5%; do
	fails_with "no percentage: $bad" 2 "*from 0 to 100 with at most 3 decimals, not '$bad'*" \
		"$XSF" simulate --to '[::1]' --wrong-checksums "$bad"
done
"$XSF" simulate --seconds 0 --count 20000 --to '[2001:db8::2]' --wrong-checksums 0.5 --write "$T/half.pcap" \
	--truth "$T/half.json" >/dev/null
wrong=$(json 'd["totals"]["wrong_checksums"]' "$T/half.json")
is "half a percent of 20,000 is about 100" "$((wrong > 60 && wrong < 140))" 1
is "as many as tshark finds: half a percent" "$(wrong_in "$T/half.pcap")" "$wrong"
if [ "$(id -u)" = 0 ]; then
	fails_with "an address that was meant with a port" 1 "*cannot send to fd5f::1:6343: *; with a port: ?fd5f::1?:6343" \
		unshare -n "$XSF" simulate --to fd5f::1:6343 --count 1
else
	skip "an address that was meant with a port" "needs root"
fi
run "$XSF" simulate --to fd5f::1:6343 --count 1 --write "$T/hint.pcap"
like "said also when it goes" "$ERR" "*fd5f::1:6343 is an address as it stands; with a port: ?fd5f::1?:6343"
run "$XSF" simulate --to '[::1]:6343' --count 1 --write "$T/hint.pcap"
is "not where it is plain" "$RC$ERR" 0

run "$XSF" simulate --seconds 1 --rate 500 --to 127.0.0.1:9
is "nobody listens: exit" "$RC" 0
like "nobody listens: all sent, said so" "$OUT" "sent 500 datagrams, * send errors, nobody listens there"
run "$XSF" simulate --rate 0 --seconds 0.2 --to 127.0.0.1:9
is "as fast as it goes: exit" "$RC" 0
unlike "as fast as it goes" "$OUT" "sent 0 *"
fails_with "no way there" 1 "xdp-sflow: cannot send to *: *" "$XSF" simulate --to 255.255.255.255 --count 1

for signal in INT TERM; do
	start "$XSF" simulate --rate 200 --seconds 0 --to 127.0.0.1:9 --truth "$T/early.json"
	sleep 0.5
	stop "$PID" $signal
	is "SIG$signal: exit" $? 0
	like "SIG$signal: the report" "$(cat "$STARTED_LOG")" "sent * datagrams, *"
	is "SIG$signal: the truth is of what was sent" \
		"sent $(json 'd["totals"]["datagrams"]' "$T/early.json") datagrams" \
		"$(sed 's/,.*//' "$STARTED_LOG")"
done
finish
