#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `drops --read`: usage, and what it says of captures against other decoders' counts; texts that would break a
# line, a string or a file; pcapng as tshark reads it. Public captures are read from ../shared when it is there.
set -u
. "$(dirname "$0")/../lib.sh"
export TZ=UTC
SHARED=$ROOT/../shared/captures
LAB=$GOLDEN/lab
ONE=$GOLDEN/pcaps/04a-discard-among-others.pcap

drops() { "$XSF" drops "$@"; }
# shows NAME WANT OPTION...: exactly these lines.
shows() {
	local name=$1 want=$2
	shift 2
	run "$XSF" drops "$@"
	is "$name" "$RC $OUT" "0 $want"
}
# ends NAME SHOWN NOT-MATCHING: what the last run said at its end.
ends() { is "$1" "$ERR" "xdp-sflow: $2 shown, $3 did not match, 0 shed by a full ring; $(($2 + $3)) notified"; }
fields() { tshark -n -r "$1" -T fields -E separator=/t "${@:2}" 2>/dev/null; }

# ---- usage ----
usage() { # PATTERN OPTION...
	local pattern=$1
	shift
	fails_with "usage: drops $*" 2 "xdp-sflow: $pattern; see: xdp-sflow drops --help" "$XSF" drops "$@"
}
usage "unknown option '--nonsense'" --nonsense
usage "--write needs a value" --write
usage "--count is a number from 1" --count 0
usage "--seconds is a number from 1 to 31536000" --seconds 0.5
usage "--buffer is a power of two from 4096 to 1073741824, not '5000'" --buffer 5000
usage "--buffer is a power of two *" --buffer 2048
usage "--json and --top are two forms: give one" --json --top
usage "--write - and --json both want standard output" --json --write -
usage "--port: '0' is no list of *" --port 0
usage "--reason: no reason is called 'nonsense'; they look like acl, *; or give a code" --reason acl,nonsense
usage "--agent: an empty item" --agent ,
usage "--agent: longer than 8192 bytes" --agent "$(printf '%05000d' 0)" --agent "$(printf '%05000d' 0)"
usage "'lo' is no filter; drops takes no interface, *" lo
usage "filter: can't parse filter expression: syntax error" --read "$ONE" tcp and
usage "filter: illegal port number 70000 > 65535" port 70000
usage "--maps needs a directory" --maps ''
fails_with "no such capture" 1 "xdp-sflow: $T/none: No such file or directory" "$XSF" drops --read "$T/none"
fails_with "no capture" 1 "xdp-sflow: $0: *" "$XSF" drops --read "$0"
fails_with "nowhere to write" 1 "xdp-sflow: cannot write $T/none/f: No such file or directory" \
	"$XSF" drops --read "$ONE" --write "$T/none/f"

# ---- what is there already stays where nothing can be read; pipes ----
echo keep >"$T/there"
fails_with "nothing to read" 1 "xdp-sflow: $T/none: No such file or directory" "$XSF" drops --read "$T/none" --write "$T/there"
fails_with "nothing loaded" 1 "xdp-sflow: no map xsf_event_rings is pinned in $T/none: *" \
	"$XSF" drops --maps "$T/none" --write "$T/there"
is "the file is as it was" "$(cat "$T/there")" keep
cp "$ONE" "$T/one.pcap"
ln -s one.pcap "$T/link.pcap"
for to in one link; do
	fails_with "not what is read: $to" 1 "xdp-sflow: cannot write $T/$to.pcap: it is what --read reads" \
		"$XSF" drops --read "$T/one.pcap" --write "$T/$to.pcap"
done
check "it is as it was" cmp "$ONE" "$T/one.pcap"
mkfifo "$T/pipe"
fails_with "a pipe without a reader" 1 "xdp-sflow: cannot write $T/pipe: nobody reads that pipe" \
	timeout 10 "$XSF" drops --read "$ONE" --write "$T/pipe"
start "$XSF" drops --read "$T/pipe"
reader=$PID said=$STARTED_LOG
exec 9>"$T/pipe"
cat "$ONE" >&9
check "a pipe is shown as it comes" wait_for 5 grep -q ' | ' "$said"
kill "$reader"
check "a signal ends the wait for more" wait_for 5 grep -q ' shown, ' "$said"
exec 9>&-
start "$XSF" drops --read "$T/pipe"
sleep 0.3
kill "$PID"
check "and that for a writer" wait_for 5 grep -q '^xdp-sflow: 0 shown, ' "$STARTED_LOG"
run "$XSF" drops --read "$T/one.pcap" --port 4739
like "nothing of sFlow" "$RC $ERR" "0 xdp-sflow: $T/one.pcap: no frame of * is sFlow to UDP port 4739; for another port: --port
xdp-sflow: 0 shown, *"
run "$XSF" drops --help
like "--help" "$RC $OUT$ERR" "0 Usage: xdp-sflow drops *"

# ---- one notification, three, RoCE ----
TCP="IP 10.8.0.1.40000 > 10.8.0.2.443: TCP [.] seq 1 ack 1, length 94"
shows "a notification among others" "22:13:20.000000 192.0.2.1 3 acl | $TCP" --read "$ONE"
ends "its summary" 1 0
shows "three, without a flow sample" "$(for _ in 1 2 3; do
	echo "22:13:20.000000 192.0.2.1 3 no_buffer_space | $TCP"
done)" --read "$GOLDEN/pcaps/04b-discard-only.pcap"
shows "of RoCE" "22:13:20.000000 192.0.2.1 3 red | IP 10.9.0.1.49158 > 10.9.0.2.4791: UDP RoCE RC RDMA WRITE \
First qp 0x000011 psn 7 dma 0, length 118" --read "$GOLDEN/pcaps/04c-discard-of-roce.pcap"

# ---- each field and kind of packet ----
python3 "$PY/drops_pcap.py" fields "$T/fields.pcap"
at="22:13:20.000000 leaf1"
shows "fields" "$at swp3 acl output=4 function=function+0x1/0x2 linux=REASON group=group trap=trap queue=5 depth=123456 \
delay=789ns | IP 10.9.0.1.49200 > 10.9.0.2.4791: UDP RoCE RC RDMA WRITE First qp 0x000012 psn 9 dma 4096 CE, length 1070
$at swp3 acl | IP 10.3.0.1 > 10.3.0.2: ICMP echo request type 8 code 0, length 42
$at swp3 acl | vlan 100, IP 10.8.0.1.1234 > 10.8.0.2.80: TCP [S] seq 5, length 58
$at swp3 acl | 02:00:00:00:00:01 > 02:00:00:00:00:02, ARP who-has 10.1.0.2 tell 10.1.0.1, length 42
$at swp3 acl | IP6 fe80::1 > ff02::1: ICMP6 neighbor solicitation type 135 code 0, length 78
$at swp3 acl | IP 10.4.0.1 > 10.4.0.2: frag 1480+ UDP, length 98
$at swp3 acl | IP 10.7.0.1.40001 > 10.7.0.2.4789: UDP VXLAN vni 5000: IP 10.9.0.1.49169 > 10.9.0.2.4791: UDP RoCE RC \
Acknowledge qp 0x000011 psn 7 syndrome 0, length 168
$at swp3 acl | mpls 16/17, IP 10.8.0.1.40000 > 10.8.0.2.443: TCP [.] seq 1 ack 1, length 102
$at swp3 acl | IP 10.7.0.1 > 10.7.0.2: GRE, length 118
$at swp3 acl | 02:00:00:00:00:01 > 02:00:00:00:00:02, RoCE RC SEND Only qp 0x000011 psn 7, length 130
$at swp3 acl | 02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype 0x88cc, length 60
$at swp3 acl | IP 10.8.0.1.40000 > 10.8.0.2.443: TCP [.] seq 1 ack 1, length 80
$at swp3 acl | IP6 fe80::1 > ff02::1: ICMP6 neighbor solicitation type 135 code 0, length 64
$at swp3 acl | header protocol 7, length 20
$at swp3 acl | IP 10.9.0.1.49200 > 10.9.0.2.4791: UDP RoCE RC Acknowledge qp 0x000011 psn 7 syndrome 31, length 58
$at swp3 acl | IP6 2001:db8:1::1.1 > 2001:db8:1::2.2: frag 0 UDP, length 70
$at ? no_buffer_space delay>=4294967295ns | no header" --read "$T/fields.pcap"
drops --json --read "$T/fields.pcap" >"$T/fields.json" 2>/dev/null
line() { sed -n "$1p" "$T/fields.json" | json "$2"; }
is "JSON: place and reason" "$(line 1 '[d[k] for k in ("time", "switch", "port", "reason", "reason_code", "agent",
	"sub_agent", "source", "sequence", "drops", "input", "output")]')" "['2023-11-14T22:13:20.000000000Z', 'leaf1', \
'swp3', 'acl', 258, '192.0.2.1', 0, {'class': 0, 'index': 3}, 1, 2, 3, 4]"
is "JSON: records" "$(line 1 '[d[k] for k in ("function", "trap_group", "trap", "linux_reason", "queue",
	"queue_depth_bytes", "transit_delay_ns", "timestamp")]')" \
	"['function+0x1/0x2', 'group', 'trap', 'REASON', 5, 123456, 789, '1700000000000000123']"
is "JSON: header" "$(line 1 '[*(d[k] for k in ("header_protocol", "frame_length", "stripped", "header_length")),
	len(d["header"]), d["header"][:28]]')" "[1, 1074, 4, 128, 256, '0200000000020200000000010800']"
is "JSON: RoCE" "$(line 1 'd["packet"]["roce"]')" "{'opcode': 6, 'transport': 'RC', 'operation': 'RDMA_WRITE', \
'name': 'RDMA WRITE First', 'dest_qp': 18, 'psn': 9, 'pkey': 65535, 'ack_request': False, 'dma_length': 4096}"
is "JSON: inside VXLAN" "$(line 7 '[d["packet"]["stack"], d["packet"]["vxlan_vni"], d["packet"]["inner"]["source"]]')" \
	"['eth.ip.udp.vxlan.eth.ip.udp.ibbt', 5000, '10.9.0.1']"
is "JSON: what was not sent is absent" "$(line 17 'sorted(d)')" "['agent', 'drops', 'input', 'output', 'reason', \
'reason_code', 'sequence', 'source', 'sub_agent', 'switch', 'time', 'transit_delay_at_least', 'transit_delay_ns']"

# ---- lab captures: other decoders' counts ----
for name in c_hsflow_c4 c_hsflowhw_c4; do
	drops --json --read "$LAB/$name.pcap" >"$T/$name.json" 2>"$T/err"
	check "truth of $name" python3 "$PY/check_drops.py" "$LAB/truth.tsv" $name.pcap "$T/$name.json"
done
is "a switch by its host name, a port by its name" "$(json '"%s %s" % (d["switch"], d["port"])' \
	<(head -1 "$T/c_hsflowhw_c4.json"))" "roce eth0"

# shellcheck disable=SC2016 # Python's
check "README's lines are of it" python3 -c '
import re, sys
readme = open(sys.argv[1]).read().split("## Drops\n")[1]
lines = re.search("```text\n(.*?)```", readme, re.S).group(1).splitlines()
assert len(lines) == 3 and not set(lines) - set(sys.stdin.read().splitlines())' "$ROOT/README.md" \
	< <(drops --read "$LAB/c_hsflow_c4.pcap" 2>/dev/null)

# ---- real and published notifications ----
published() { # NAME WANT
	if [ -e "$SHARED/$1" ]; then
		shows "$1" "$2" --read "$SHARED/$1"
	else
		skip "$1" "../shared absent"
	fi
}
published Cistern_sflow__event_discarded_packet.dump.pcap \
	"22:13:20.000000 10.30.1.254 2 unknown_l4 function=__udp4_lib_rcv+0xbed/0xd90 linux=NOT_SPECIFIED | \
IP 192.168.1.31.63055 > 255.255.255.255.3289: UDP, length 56"
published netsampler_goflow2__sflow_test.go.vec.pcap \
	"22:13:22.000000 192.168.119.184 1 host_unreachable output=2 queue=42 | no header
22:13:23.000000 192.168.119.184 1 host_unreachable output=2 duplicate | no header
22:13:24.000000 192.168.119.184 1 host_unreachable output=2 function=foobar duplicate | no header"
published influxdata_telegraf__sflow_issue_15375_sflow_drop_1036.bin.pcap \
	"22:13:20.000000 192.168.119.184 1 host_unreachable output=2 queue=42 | no header"

# ---- reasons ----
python3 "$PY/drops_pcap.py" reasons "$T/reasons.pcap" >"$T/reasons"
is "133 reasons and two aliases, 1,000 other codes" "$(grep -c '[a-z]' "$T/reasons") $(wc -l <"$T/reasons")" "135 1135"
drops --read "$T/reasons.pcap" 2>/dev/null | cut -d' ' -f4 >"$T/got"
is "each by its name, or its number" "$(cut -d' ' -f2 "$T/reasons" | cmp - "$T/got" 2>&1)" ""
drops --json --read "$T/reasons.pcap" 2>/dev/null | sed -E 's/.*"reason":"([^"]*)","reason_code":([0-9]*),.*/\2 \1/' >"$T/got"
is "in JSON as well" "$(cmp "$T/reasons" "$T/got" 2>&1)" ""

# ---- filters ----
count() { # NAME WANT OPTION...
	local name=$1 want=$2
	shift 2
	run "$XSF" drops --read "$LAB/c_hsflow_c4.pcap" "$@"
	is "$name" "$RC $(wc -l <"$T/out")" "0 $want"
	ends "$name: summary" "$want" $((320 - want))
}
count "--reason by name" 10 --reason acl
count "--reason by code, and another" 55 --reason 258,traffic_shaping
count "--reason twice" 55 --reason 258 --reason traffic_shaping
count "--agent by address" 320 --agent 10.9.1.1
count "--agent by name" 320 --agent spine9,roce
count "another agent" 0 --agent 10.9.1.2
inputs=$(json 'sum(e["input"] in (2, 4) for e in d)' <(echo "[$(paste -sd, "$T/c_hsflow_c4.json")]"))
check "there are some of interfaces 2 and 4" test "$inputs" -gt 1 -a "$inputs" -lt 300
count "--interface by ifIndex" "$inputs" --interface 4,2
roce=$(awk -F'\t' '$1 == "c_hsflow_c4.pcap" && $2 == "sflowtool" && $3 ~ /^discard.roce.reason/ { n += $4 } END { print n }' \
	"$LAB/truth.tsv")
count "a filter expression" "$roce" udp dst port 4791
count "in one word" "$roce" "udp dst port 4791"
count "all together" 45 --reason traffic_shaping --agent roce udp
count "IPv6" "$(grep -c 'eth.ip6' "$T/c_hsflow_c4.json")" ip6
run "$XSF" drops --read "$LAB/c_hsflow_c4.pcap" --count 7
is "--count" "$RC $(wc -l <"$T/out")" "0 7"
like "--count: what came after" "$ERR" "*: 7 shown, 0 did not match, 0 shed by a full ring*; * notified"
run "$XSF" drops --read "$LAB/c_hsflow_c4.pcap" --seconds 5
is "--seconds, of the capture" "$(wc -l <"$T/out")" \
	"$(python3 -c '
import sys, datetime
t = [datetime.datetime.strptime(l.split()[0], "%H:%M:%S.%f") for l in open(sys.argv[1])]
first = float(sys.argv[2]) % 86400
print(sum((x.hour * 3600 + x.minute * 60 + x.second + x.microsecond / 1e6) - first < 5 for x in t))' \
		<(drops --read "$LAB/c_hsflow_c4.pcap" 2>/dev/null) \
		"$(tshark -r "$LAB/c_hsflow_c4.pcap" -c 1 -T fields -e frame.time_epoch 2>/dev/null)")"

# ---- input and output ----
run bash -c "'$XSF' drops --read - <'$LAB/c_hsflow_c4.pcap'"
is "from a pipe" "$RC $(wc -l <"$T/out")" "0 320"
head -c 60000 "$LAB/c_hsflow_c4.pcap" >"$T/cut.pcap"
run "$XSF" drops --read "$T/cut.pcap"
like "a damaged capture: what came before it" "$RC $(wc -l <"$T/out") $ERR" \
	"1 [1-9]* xdp-sflow: $T/cut.pcap: damaged: *; what came before is shown
xdp-sflow: [1-9]* shown, 0 did not match, *"
gzip <"$T/one.pcap" >"$T/one.pcap.gz"
fails_with "a compressed capture" 1 \
	"xdp-sflow: $T/one.pcap.gz: unknown file format; it is compressed: zcat FILE | xdp-sflow ... -" \
	"$XSF" drops --read "$T/one.pcap.gz"
run bash -c "zcat '$T/one.pcap.gz' | '$XSF' drops --read -"
is "and through zcat" "$RC $(wc -l <"$T/out")" "0 1"
run bash -c "'$XSF' drops --read '$T/one.pcap' >&-"
like "a closed output" "$RC $ERR" "1 xdp-sflow: cannot write to standard output: Bad file descriptor"
run bash -c "'$XSF' drops --read - <&-"
like "a closed input" "$RC $ERR" "1 xdp-sflow: -: *Bad file descriptor*"
fails_with "--port is for a capture" 2 \
	"xdp-sflow: --port is for --read; ports of programs: xdp-sflow load --port; *" "$XSF" drops --port 6343
for option in --buffer=4096 --maps=/sys/fs/bpf/x; do
	fails_with "$option is not" 2 "xdp-sflow: ${option%%=*} is not for --read, *" \
		"$XSF" drops --read "$T/one.pcap" "$option"
done
# More than a pipe takes.
run bash -c "'$XSF' drops --json --read '$LAB/c_hsflowhw_c4.pcap' | head -n 1; exit \${PIPESTATUS[0]}"
is "who reads one line ends it quietly" "$RC $(wc -l <"$T/out") $ERR" "0 1 "
if [ -e /dev/full ]; then
	run bash -c "'$XSF' drops --read '$LAB/c_hsflow_c4.pcap' >/dev/full"
	is "a full disk is told" "$RC $ERR" "1 xdp-sflow: cannot write to standard output: No space left on device"
fi
run "$XSF" drops --top --read "$LAB/c_hsflow_c4.pcap"
is "--top: reasons and their totals" "$(awk '$3 == "REASON", !NF' "$T/out" | awk 'NF && $3 != "REASON" { print $3, $2 }' | sort)" \
	"$(json 'chr(10).join(sorted("%s %d" % kv for kv in __import__("collections").Counter(e["reason"] for e in d).items()))' \
		<(echo "[$(paste -sd, "$T/c_hsflow_c4.json")]"))"
is "--top: places" "$(awk '$3 == "PLACE", !NF' "$T/out" | awk '$3 != "PLACE" { n += $2 } END { print n }')" 320

# ---- hostile names and texts ----
nr=$(python3 "$PY/drops_pcap.py" hostile "$T/hostile.pcap")
run "$XSF" drops --read "$T/hostile.pcap"
is "hostile texts: a line each" "$RC $(wc -l <"$T/out")" "0 $nr"
is "no control characters, nothing but UTF-8" "$(LC_ALL=C.UTF-8 grep -cavP '^[^\x00-\x1f\x7f-\x9f\x{ad}\x{200b}-\x{202e}]*$' "$T/out")" 0
run "$XSF" drops --json --read "$T/hostile.pcap"
check "JSON: an object each" python3 -c '
import json, sys
lines = open(sys.argv[1], "rb").read().split(b"\n")
assert lines.pop() == b"" and len(lines) == int(sys.argv[2]), len(lines)
for line in lines:
    d = json.loads(line.decode())
    assert d["reason"] == "acl" and d["packet"]["destination_port"] == 443
    for key in ("function", "trap_group", "trap", "linux_reason", "switch", "port"):
        assert len(d.get(key, "")) <= 64
    long = [k for k in d if k.endswith("_cut")]
    assert all(len(d[k[:-4]].encode()) <= 64 for k in long)
assert sum(k.endswith("_cut") for line in lines for k in json.loads(line)) > 50' "$T/out" "$nr"
is "backslash, quote and line feed come back" "$(grep -c '"switch":"a\\"b".*"linux_reason":"two\\nlines"' "$T/out")" 1
check "pcapng of them" "$XSF" drops --read "$T/hostile.pcap" --write "$T/hostile.pcapng"
fields "$T/hostile.pcapng" -e frame.comment -e frame.interface_name -e tcp.dstport >"$T/tshark"
is "tshark reads each, with its comment" "$(grep -cP '^acl \(258\) at .*\t.+\t443$' "$T/tshark") $(wc -l <"$T/tshark")" "$nr $nr"

# ---- pcapng ----
for name in c_hsflow_c4 c_hsflowhw_c4; do
	check "$name: --write" "$XSF" drops --read "$LAB/$name.pcap" --write "$T/$name.pcapng"
	fields "$T/$name.pcapng" -e frame.len -e frame.interface_name -e frame.comment >"$T/got"
	python3 -c '
import json, sys
for line in open(sys.argv[1]):
    d = json.loads(line)
    port = d.get("port", "?")
    print("%d\t%s %s\t%s (%d) at %s %s" % (d["packet"]["length"], d["switch"], port, d["reason"], d["reason_code"],
                                           d["switch"], port))' "$T/$name.json" >"$T/want"
	is "$name: length, interface and comment of each packet, in tshark" \
		"$(sed -E 's/ (function|linux|group|trap|output)=.*//' "$T/got" | cmp - "$T/want" 2>&1)" ""
	is "$name: the agent's own time, in ns" \
		"$(fields "$T/$name.pcapng" -e frame.time_epoch | tr -d . | cmp - <(json '"".join(e["timestamp"] + "\n" for e in d)' \
			<(echo "[$(paste -sd, "$T/$name.json")]") | grep .) 2>&1)" ""
done
is "comment of one" "$(fields "$T/c_hsflow_c4.pcapng" -e frame.comment | grep -m1 nft_do_chain | tr -d '\\"')" \
	"$(drops --read "$LAB/c_hsflow_c4.pcap" 2>/dev/null | grep -m1 nft_do_chain |
		sed -E 's/^[^ ]* ([^ ]*) ([^ ]*) acl (.*) \|.*/acl (258) at \1 \2 \3/' | tr -d '\\"')"
is "as many protocols as the capture has" "$(fields "$T/c_hsflow_c4.pcapng" -e udp.dstport | grep -c 4791)" \
	"$(grep -c '"destination_port":4791' "$T/c_hsflow_c4.json")"
run bash -c "'$XSF' drops --read '$T/fields.pcap' --write - |
	tshark -n -r - -T fields -e frame.interface_name -e frame.encap_type 2>/dev/null | sort | uniq -c"
is "link types, through a pipe" "$(sed 's/^ *//; s/\t/ /' <<<"$OUT")" "1 leaf1 ? 1
13 leaf1 swp3 1
1 leaf1 swp3 45
2 leaf1 swp3 7"
check "--write beside --json" bash -c "'$XSF' drops --json --write '$T/beside.pcapng' --read '$ONE' | grep -q '^{.*}\$'"
is "both have it" "$(fields "$T/beside.pcapng" -e frame.comment)" "acl (258) at 192.0.2.1 3"
finish
