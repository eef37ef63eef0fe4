#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# doctor on real interfaces: what is wrong is found, the command it prints is run, and then it is right.
# timeout: 400
# Functions for wait_for; names that a shell would expand.
# shellcheck disable=SC2317,SC2016
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"
. "$(dirname "$0")/load_lib.sh"
PINS=/sys/fs/bpf/xdp-sflow/v2
PATH=$ROOT/build:$PATH

# Users and groups are made in a copy.
cp -a /etc "$T/etc"
mount --bind "$T/etc" /etc
for name in user group; do "${name}del" xdp-sflow 2>/dev/null; done

# examine IFACE [OPTION...]: the findings in $T/doctor.json, the exit code in $RC. Rates are not measured unless
# the options say so.
examine() {
	run "$XSF" doctor --seconds 0 "$@" --json
	cp "$T/out" "$T/doctor.json"
	[ -z "$ERR" ] || diag "$ERR"
}

# of CHECK KEY [TEXT]: "LEVEL", "text" or "mend" of its worst finding (one whose text has TEXT).
of() {
	json "(lambda c: c and max(c, key=lambda x: ['ok', 'unknown', 'warn', 'fail'].index(x['level'])).get('$2', '') or '-')(
		[x for x in d['checks'] if x['check'] == '$1' and '${3:-}' in x['text']])" "$T/doctor.json"
}

# finds NAME CHECK LEVEL PATTERN [TEXT]: in what was examined last.
finds() {
	local level said
	level=$(of "$2" level "${5:-}") said=$(of "$2" text "${5:-}")
	# shellcheck disable=SC2053
	if [ "$level" = "$3" ] && [[ $said == $4 ]]; then ok "$1"; else not_ok "$1" "$2: $level: $said
want: $3: $4"; fi
}

# mends CHECK IFACE [OPTION...]: runs the command that was printed; then the check is ok. COMMAND_IS: a glob
# for it.
mends() {
	local check=$1 command
	shift
	command=$(of "$check" mend)
	# shellcheck disable=SC2053
	if [[ $command != ${COMMAND_IS:-?*} ]]; then
		not_ok "$check: mended" "command: $command
want: ${COMMAND_IS:-}"
		return
	fi
	run bash -c "$command"
	[ $RC = 0 ] || diag "$command: exit $RC: $ERR"
	examine "$@"
	is "$check: mended by: $command" "$(of "$check" level)" ok
}

# state: everything that doctor could have changed here.
state() {
	ip -d link show
	ip address show
	for i in /sys/class/net/*; do
		tc qdisc show dev "${i##*/}"
		tc filter show dev "${i##*/}" ingress
		ethtool -k "${i##*/}"
		ethtool -l "${i##*/}"
	done 2>/dev/null
	find /sys/fs/bpf -printf '%p %m %u %g %y\n' | sort
	sysctl -a --pattern '^net\.' 2>/dev/null | grep -v -e conntrack_count -e nf_conntrack_buckets
	cat /proc/mounts
	cat /proc/net/ip_tables_names /proc/net/ip6_tables_names
	nft list ruleset
}

# ---- usage ----
fails_with "no interface" 2 "*no interface given; see: *doctor --help" "$XSF" doctor
fails_with "two" 2 "*one interface at a time*" "$XSF" doctor lo eth0
fails_with "a port that is none" 2 "*'0' is no list*" "$XSF" doctor lo --port 0
fails_with "no time" 2 "*--seconds is a number from 0 to 60, not '61'*" "$XSF" doctor lo --seconds 61
fails_with "another option" 2 "*unknown option '--mend'*" "$XSF" doctor lo --mend
fails_with "an interface that is not there" 1 "*no interface nix0 in this network namespace*" \
	"$XSF" doctor nix0
fails_with "nor one of a shell's" 1 '*no interface a;$(b)*' "$XSF" doctor 'a;$(b)'

# ---- a veth with a large MTU ----
pair agent xsf0 xsf1 9000
sysctl -q -w net.ipv6.conf.xsf0.disable_ipv6=0
examine xsf0 --seconds 1
is "nothing fails on a veth" "$RC $(json 'd["fail"]' "$T/doctor.json")" "0 0"
is "the counts are right" "$(json 'd["ok"] + d["warn"] + d["unknown"] == len(d["checks"])' "$T/doctor.json")" True
finds "kernel" kernel ok "$(uname -r) *"
finds "capabilities" capabilities ok "CAP_BPF*"
finds "bpffs" bpffs ok "mounted*"
finds "driver" driver ok "veth: native XDP*"
finds "MTU 9000" mtu ok "9000* above one buffer (3506): load takes the program for several*"
finds "XDP" xdp ok "no XDP program*"
finds "tc" tc ok "no filters*"
finds "buffers: the arithmetic" buffers ok "rmem_default * / 4352 bytes a datagram = * datagrams; *"
run "$XSF" doctor xsf0
is "as text: a line each" "$(grep -cE '^(ok|warn|fail|unknown) +[a-z_-]+ +.' "$T/out")" \
	"$(json 'len(d["checks"])' "$T/doctor.json")"
like "and the counts" "$(tail -n 1 "$T/out")" "* ok, * warn, 0 fail, * unknown"

finds "addresses" addresses warn "this host has none*"
COMMAND_IS='ip address add * dev xsf0' mends addresses xsf0
ip link set xsf0 down
examine xsf0
is "down: exit 1" "$RC" 1
finds "down" interface fail "xsf0 is down*"
mends interface xsf0
is "exit 0 again" "$RC" 0
in_ns agent ip link set xsf1 down
examine xsf0
finds "no carrier" interface fail "*no carrier*(veth)*"
in_ns agent ip link set xsf1 up

# What is loaded for it agrees: the program for several buffers.
ip link add big0 mtu 3506 type veth peer name big1 mtu 3506
ip link set big0 up
ip link set big1 up
for mtu in 3506 3507; do
	ip link set big1 mtu $mtu
	examine big0
	said=$(of mtu text)
	"$XSF" load big0 >"$T/said" 2>&1 || diag "$(cat "$T/said")"
	is "MTU $mtu: doctor and load agree on the buffers" \
		"$([[ $said == *"above one buffer"* ]] && echo _frags)" "$(programs big0 | sed 's/^xsf_xdp//')"
	"$XSF" unload big0 >/dev/null
done
ip link del big0

# ---- the BPF file system ----
"$XSF" unload --all --purge >/dev/null 2>&1
umount /sys/fs/bpf
examine xsf0
finds "no BPF file system" bpffs warn "no BPF file system*"
mends bpffs xsf0
mount -o remount,ro /sys/fs/bpf
examine xsf0
finds "read-only" bpffs fail "*read-only*"
is "exit 1" "$RC" 1
mends bpffs xsf0
umount /sys/fs/bpf
mount -t tmpfs tmpfs /sys/fs/bpf
examine xsf0
finds "another file system" bpffs fail "another file system*"
mends bpffs xsf0
is "load agrees" "$("$XSF" load xsf0 2>&1 | grep -c 'xsf0: attached')" 1

# ---- types ----
: >"$T/btf"
mount --bind "$T/btf" /sys/kernel/btf/vmlinux
examine xsf0
finds "empty BTF" btf fail "*holds no type information*"
is "exit 1" "$RC" 1
head -c 4096 /dev/urandom >"$T/btf"
examine xsf0
finds "no BTF" btf fail "*holds no type information*"
umount /sys/kernel/btf/vmlinux
head -c 1000000 /sys/kernel/btf/vmlinux >"$T/btf"
mount --bind "$T/btf" /sys/kernel/btf/vmlinux
examine xsf0
finds "half of BTF" btf fail "*holds no type information*"
umount /sys/kernel/btf/vmlinux
examine xsf0
finds "BTF" btf ok "*is there"

# ---- pins ----
examine xsf0
finds "pins" pins ok "$PINS has maps of this version*"
finds "no group" group warn "no group xdp-sflow*"
run bash -c "$(of group mend)"
examine xsf0
finds "a group after the pins" group warn "*made after them*"
run bash -c "$(of group mend)"
chmod o-x /sys/fs/bpf
examine xsf0
finds "a closed file system" group warn "*pass through*"
mends group xsf0
"$XSF" unload --all --purge >/dev/null
mkdir -p /sys/fs/bpf/xdp-sflow/v1
bpftool map create /sys/fs/bpf/xdp-sflow/v1/xsf_agents type array key 4 value 4 entries 1 name xsf_agents
examine xsf0
finds "another version's pins" pins warn "*(v1)*"
mends pins xsf0
mkdir -p $PINS
bpftool map create $PINS/xsf_agents type array key 4 value 4 entries 1 name xsf_agents
examine xsf0
finds "another layout" pins fail "*xsf_agents*"
mends pins xsf0

# ---- XDP programs ----
cat >"$T/pass.c" <<'C'
__attribute__((section("xdp.frags"), used)) int someone_elses(void *ctx) { return 2; }
__attribute__((section("tc"), used)) int their_filter(void *ctx) { return 0; }
char _license[] __attribute__((section("license"), used)) = "GPL";
C
clang -O2 -g -target bpf -c "$T/pass.c" -o "$T/pass.o"
ip link set dev xsf0 xdp obj "$T/pass.o" sec xdp.frags
examine xsf0
is "a foreign program: exit 1" "$RC" 1
finds "a foreign program" xdp fail "another's program, someone_elses (id *, native)*"
COMMAND_IS='ip link set dev xsf0 xdp off' mends xdp xsf0
ip link set dev xsf0 xdpgeneric obj "$T/pass.o" sec xdp.frags
examine xsf0
finds "a foreign one in generic mode" xdp fail "*generic*"
mends xdp xsf0
ip link set dev xsf0 xdp obj "$OBJ" sec xdp.frags
examine xsf0
finds "ours, by hand" xdp warn "xsf_xdp_frags (id *) was attached by hand*"
mends xdp xsf0
"$XSF" load xsf0 --maps /sys/fs/bpf/elsewhere >/dev/null 2>&1
examine xsf0
finds "ours, pinned elsewhere" xdp warn "*another pin directory, /sys/fs/bpf/elsewhere"
mend=$(of xdp mend)
is "the command" "$mend" "xdp-sflow doctor xsf0 --maps /sys/fs/bpf/elsewhere"
examine xsf0 --maps /sys/fs/bpf/elsewhere
finds "seen from there" xdp ok "*counts here"
"$XSF" unload xsf0 --purge --maps /sys/fs/bpf/elsewhere >/dev/null
"$XSF" load xsf0 --mode generic >/dev/null 2>&1
examine xsf0
finds "generic without need" driver warn "*generic mode, which is slower*"
mends driver xsf0
finds "ours, native" xdp ok "xsf_xdp_frags (id *, native, pass) counts here"
"$XSF" unload --all --purge >/dev/null

# A port of a bridge, where it counts already
ip link add br0 type bridge
ip link set xsf0 master br0
ip link set br0 up
"$XSF" load br0 --mode generic >/dev/null 2>&1
examine xsf0
finds "a bridge above counts already" load fail "it would be refused: xsf0 stands below br0*"
run bash -c "$(of load mend)"
examine xsf0
is "mended" "$(of load level)" -
ip link set xsf0 nomaster
ip link del br0

# ---- tc ----
tc qdisc add dev xsf0 clsact
tc filter add dev xsf0 ingress pref 5 protocol ipv6 u32 match u32 0 0 flowid 1:1
examine xsf0
finds "a filter before ours ends the chain" tc warn "u32 at preference 5 ends the chain*"
mends tc xsf0
tc filter add dev xsf0 ingress pref 6 protocol ipv6 u32 match u32 0 0 \
	action mirred egress mirror dev lo action mirred egress redirect dev lo
examine xsf0
finds "by what its actions say" tc warn "u32 at preference 6 ends the chain*"
mends tc xsf0
tc filter add dev xsf0 ingress pref 7 bpf da obj "$T/pass.o" sec tc
examine xsf0
finds "a program decides itself" tc warn "bpf pass.o* at preference 7 runs before*may end*"
like "looked at by the command" "$(bash -c "$(of tc mend)")" "*their_filter*"
tc filter del dev xsf0 ingress pref 7
tc filter add dev xsf0 ingress pref 20 protocol ipv6 u32 match u32 0 0 flowid 1:1
examine xsf0
finds "one behind ours is in nobody's way" tc ok "1 preference(s)*"
tc filter add dev xsf0 ingress pref 10 bpf da obj "$ROOT/build/csum6.bpf.o" sec tc
examine xsf0
finds "ours" tc ok "the checksum program at preference 10 is there*"
tc filter add dev xsf0 ingress pref 2 protocol ipv6 u32 match u32 0 0 flowid 1:1
examine xsf0
finds "behind one that ends the chain" tc fail "u32 at preference 2*reach the checksum program at 10"
mends tc xsf0
finds "which load refuses, by hand" load fail "*attached by hand*"
run bash -c "$(of load mend)"
examine xsf0
is "mended" "$(of load level)" -
tc qdisc del dev xsf0 clsact

# ---- offloads, channels ----
for feature in rx-udp-gro-forwarding rx-gro-list; do
	check=gro-${feature#rx-}
	check=${check/gro-udp-gro-forwarding/gro-forward}
	check=${check/gro-gro-list/gro-list}
	ethtool -K xsf0 $feature on
	examine xsf0
	finds "$feature" "$check" warn "$feature is on*"
	mends "$check" xsf0
done
finds "VLAN tags in the frames" vlan ok "*"
ip link add q0 numrxqueues 2 numtxqueues 2 type veth peer name q1 numrxqueues 2 numtxqueues 2
ip link set q0 up
ip link set q1 up
ethtool -L q0 rx 1
examine q0
finds "a veth with fewer queues than its other end" channels fail "1 receive queue(s), and the other end sends on 2*"
run "$XSF" load q0
like "which load meets" "$RC $ERR" "1 *q0: native XDP was refused*"
mends channels q0
check "so that load works" "$XSF" load q0
"$XSF" unload --all --purge >/dev/null
ip link del q0

# ---- reverse path ----
sysctl -q -w net.ipv4.conf.xsf0.rp_filter=1
examine xsf0
finds "a strict reverse-path filter" rp_filter warn "strict (all 0, xsf0 1)*"
mends rp_filter xsf0
ip link set xsf0 down
ip link set xsf0 name xsf.5
ip link set xsf.5 up
sysctl -q -w net/ipv4/conf/xsf.5/rp_filter=1
examine xsf.5
COMMAND_IS='sysctl -w net/ipv4/conf/xsf.5/rp_filter=2' mends rp_filter xsf.5
ip link set xsf.5 down
ip link set xsf.5 name "xs';f"
sysctl -q -w "net/ipv4/conf/xs';f/rp_filter=1"
examine "xs';f"
finds "a name that a shell would take apart" interface fail "xs';f is down*"
mends interface "xs';f"
mends rp_filter "xs';f"
ip link set "xs';f" down
ip link set "xs';f" name xsf0
ip link set xsf0 up

# ---- firewall ----
nft add table inet filter
nft add chain inet filter input '{ type filter hook input priority 0; policy drop; }'
nft add rule inet filter input ct state established accept
nft add rule inet filter input udp dport 6343 accept
examine xsf0
finds "a policy" firewall warn "nftables inet filter input: policy drop; UDP to 4739, 2055 may not*"
mends firewall xsf0
examine xsf0 --port 6343
finds "a port that its rules accept" firewall ok "*accepts the telemetry ports*"
nft flush chain inet filter input
nft chain inet filter input '{ policy accept; }'
nft add rule inet filter input udp dport 4739 drop
nft add rule inet filter input udp dport 4739 accept
examine xsf0 --port 4739
finds "accepted behind a rule that drops" firewall warn "*1 rule(s) that drop*UDP to 4739*"
mends firewall xsf0 --port 4739
nft flush chain inet filter input
nft add rule inet filter input ip saddr 192.0.2.0/24 udp dport 4739 accept
nft add chain inet filter other
nft add rule inet filter input jump other
nft add rule inet filter other reject
examine xsf0 --port 4739
finds "accepted from somewhere only; rejected in another chain" firewall warn "*1 rule(s) that drop or reject*"
nft add table netdev early
nft add chain netdev early in "{ type filter hook ingress device lo priority 0; policy drop; }"
nft delete table inet filter
examine xsf0
finds "another device's chain is none of ours" firewall ok "nftables drops nothing*"
examine lo
finds "it is lo's" firewall warn "nftables netdev early in: policy drop*"
nft delete table netdev early

# ---- listeners ----
examine xsf0
finds "nobody listens" listener warn "UDP 4739: nobody listens*" "UDP 4739"
like "for NetFlow a collector" "$(of listener mend 2055)" "nfcapd -D -l * -p 2055"
start socat -u UDP6-RECV:4739 /dev/null
listens() { grep -q ":$(printf %04X "$1") " /proc/net/udp /proc/net/udp6; }
wait_for 5 listens 4739
examine xsf0
finds "somebody listens" listener ok "UDP 4739 over IPv6: socat (pid $PID)" "UDP 4739"
is "ports in use" "$(of listener mend 'UDP 2055')" "xdp-sflow doctor xsf0 --port 4739"
mends listener xsf0 --port 4739
stop "$PID"
start socat -u UDP4-RECV:6343,bind=127.0.0.1 /dev/null
wait_for 5 listens 6343
examine xsf0 --port 6343
finds "on a loopback address only" listener warn "*loopback*"
COMMAND_IS='xdp-sflow load xsf0 --consume --port 6343' mends listener xsf0 --port 6343
examine xsf0
finds "consumed" xdp ok "*consume*"
stop "$PID"
"$XSF" unload --all --purge >/dev/null
"$XSF" load xsf0 --port 7000 >/dev/null 2>&1
examine xsf0
finds "ports of the program are looked at" listener warn "UDP 7000: nobody*" "UDP 7000"
"$XSF" unload --all --purge >/dev/null
mkdir "$T/flows"
examine xsf0 --port 2055
if command -v nfcapd >/dev/null; then
	run bash -c "$(of listener mend | sed "s|/var/cache/nfdump|$T/flows|; s| -D||") & echo \$! >$T/nfcapd; sleep 1"
	examine xsf0 --port 2055
	finds "a collector that was started by the command" listener ok "*nfcapd*"
	kill "$(cat "$T/nfcapd")"
fi

# Who does not read loses: the rate is measured, and what the socket drops.
cat >"$T/deaf.py" <<'P'
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 9995))
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    for _ in range(40):
        out.sendto(b"x" * 1000, ("127.0.0.1", 9995))
    time.sleep(0.05)
P
start python3 "$T/deaf.py"
loses() { awk '/:270B / && $NF > 0 { found = 1 } END { exit !found }' /proc/net/udp; }
wait_for 10 loses
examine lo --port 9995 --seconds 1
is "a socket that is losing: exit 1" "$RC" 1
finds "a socket that is losing" listener fail "UDP 9995 over IPv4: python3* has dropped *"
finds "the rate is more than the buffer bears" buffers warn "*/s were seen*needs * bytes*"
like "the command: two settings" "$(of buffers mend)" \
	"sysctl -w net.core.rmem_max=* net.core.rmem_default=1048576"
rate=$(of buffers text | grep -oE '[0-9]+/s')
is "about 800 a second ($rate)" "$((${rate%/s} > 400 && ${rate%/s} < 900))" 1
kill -STOP "$PID"
examine lo --port 9995 --seconds 1
finds "one that has lost" listener warn "*0 of them in the last*"
finds "no rate" buffers ok "*; 0/s were seen*"
kill -CONT "$PID"
stop "$PID"

examine lo --port 9995
finds "no rate was measured" buffers unknown "*--seconds 0*"

# ---- other devices ----
examine lo
finds "lo: no native XDP" driver fail "*no native XDP*"
mends driver lo
"$XSF" unload --all --purge >/dev/null
ip tuntap add tun0 mode tun
ip link set tun0 up
examine tun0
finds "a tun without a process" interface fail "*no carrier*"
finds "has no Ethernet header" driver fail "tun: *no Ethernet header*"
ip tuntap add tap0 mode tap
examine tap0
finds "a tap has" driver ok "tun: native XDP"
ip link add mv0 link xsf0 type macvlan
examine mv0
finds "a macvlan has not" driver fail "macvlan: no native XDP*"
if ip link add link xsf0 name vl0 type vlan id 5 2>/dev/null; then
	examine vl0
	finds "a VLAN device has not" driver fail "*no native XDP*"
fi

# ---- without rights ----
nobody() { # what of root's build is readable
	chmod 755 "$T"
	cp "$XSF" "$T/xdp-sflow"
	RC=0
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		"$T/xdp-sflow" doctor "$@" --json >"$T/doctor.json" 2>"$T/err" </dev/null || RC=$?
}
"$XSF" load xsf0 >/dev/null 2>&1
nobody xsf0
is "nobody: exit 0, no word" "$RC $(cat "$T/err")" "0 "
finds "nobody's capabilities" capabilities warn "this user lacks CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON, CAP_SYS_ADMIN*"
finds "does not know whose the program is" xdp unknown "*id *native*Operation not permitted*"
is "what would tell" "$(of xdp mend)" "sudo xdp-sflow doctor xsf0"
finds "nor the rules" firewall unknown "*Operation not permitted*" nftables
finds "but what needs no right" mtu ok "9000*"
finds "and filters" tc ok "the checksum program at preference 10 is there*"
run unshare --user --map-root-user "$XSF" doctor xsf0 --json
cp "$T/out" "$T/doctor.json"
finds "root of a user namespace of its own" capabilities fail "*user namespace*"
setpriv --bounding-set=-perfmon --inh-caps=-perfmon "$XSF" doctor xsf0 --json >"$T/doctor.json"
finds "root without one" capabilities fail "root without CAP_PERFMON,*"

# ---- it changes nothing ----
tc qdisc add dev xsf0 clsact
tc filter add dev xsf0 ingress pref 5 protocol ipv6 u32 match u32 0 0 flowid 1:1
nft add table inet filter
state >"$T/before"
for iface in xsf0 lo tun0 tap0; do examine $iface --seconds 1; done
state >"$T/after"
check "everything is as before" diff "$T/before" "$T/after"
is "that was something" "$(grep -cE 'clsact|xsf_agents|table inet filter|rp_filter|/sys/fs/bpf bpf' "$T/before" | sed 's/..*/many/')" many
"$XSF" unload --all --purge >/dev/null
umount /sys/fs/bpf
findmnt -rn -o TARGET >"$T/before"
examine xsf0
is "it mounts nothing" "$(findmnt -rn -o TARGET)" "$(cat "$T/before")"
finish
