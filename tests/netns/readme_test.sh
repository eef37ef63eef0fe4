#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# README's commands, in its order and to the letter, where eth0 is a veth.
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"
. "$(dirname "$0")/load_lib.sh"
PINS=/sys/fs/bpf/xdp-sflow/v2 GLOBALS=/sys/fs/bpf/xdp/globals
PATH=$ROOT/build:$PATH
cd "$ROOT" || exit 1

# Users and groups are made in a copy.
cp -a /etc "$T/etc"
mount --bind "$T/etc" /etc
for name in user group; do "${name}del" xdp-sflow 2>/dev/null; done

block() { python3 "$PY/docs.py" block "$1"; }
# does NAME: runs the block; output in $OUT.
does() {
	block "$1" >"$T/block"
	if [ ! -s "$T/block" ]; then
		not_ok "$1" "README has no such block"
		return
	fi
	run bash -e "$T/block"
	if [ $RC = 0 ]; then ok "$1"; else not_ok "$1" "exit $RC: $(cat "$T/block")
$OUT$ERR"; fi
}
# serves NAME: starts it; the counts are served at the default address.
serves() {
	local command
	rm -f "$T/metrics"
	command=$(block "$1" | sed 's/ *#.*//')
	# Words are wanted.
	# shellcheck disable=SC2086
	start $command
	wait_for 10 curl -sf -o "$T/metrics" http://127.0.0.1:8008/metrics || diag "$(cat "$STARTED_LOG")"
	is "$1" "$(grep '^xdp_sflow_up' "$T/metrics" 2>&1)" "xdp_sflow_up 1"
}
metric() { sed -n "s/^xdp_sflow_$1 //p" "$T/metrics"; }

pair agent eth0 xsf1
does load
like "load says what drivers do, and until when" "$OUT" \
	"*reset their rings*eth0: undone in 60 seconds unless: xdp-sflow confirm*confirmed: 1 interface*"
like "status" "$OUT" "*eth0 * native, pass, by link,*"
adds "counts" 9 agent xsf1 9
serves export
is "exports" "$(metric datagrams_total)" 9
sed -n 's/^# TYPE //p' "$T/metrics" >"$T/families"
is "exports nothing that README does not list" \
	"$(python3 "$PY/docs.py" metrics "$T/families" | grep 'not in README')" ""
stop "$PID"

does group
is "the pins are the group's" "$(stat -c '%a %G' $PINS $PINS/xsf_totals | tr '\n' ' ')" \
	"750 xdp-sflow 640 xdp-sflow "
serves export-user
like "as that user, with no right" "$(grep -E '^(Uid|CapEff)' "/proc/$PID/status" | tr -s '\t\n' ' ')" \
	"Uid: $(id -u xdp-sflow) * CapEff: 0000000000000000 "
is "reads the same counts" "$(metric datagrams_total)" 9
stop "$PID"
run setpriv --reuid xdp-sflow --regid xdp-sflow --init-groups xdp-sflow status
like "so can status" "$RC $OUT" "0 *eth0 * native, pass, by link, *Datagrams: 9*"

does doctor
like "doctor sees it all" "$OUT" "*ok * xdp * counts here*0 fail, *"

mount -t cgroup2 none /sys/fs/cgroup
does ledger
like "the ledger of an interface" "$OUT" "Ledger of eth0, 10.* s*eth0 * yes*Port 6343*Lost before it came here*"

does unload
is "nothing is left" "$(find /sys/fs/bpf -name '*xsf*' -o -name xdp-sflow)$(programs eth0)" ""

does ip
like "ip shows it" "$OUT" "*prog/xdp id * name xsf_xdp *"
MAPS_DIR=$GLOBALS adds "counts" 5 agent xsf1 5
does ip-read
like "status" "$OUT" "*Maps: $GLOBALS*eth0 * native, pass, by external,*Datagrams: 5*"
like "totals by name" "$OUT" '*"datagrams": *"datagram_sound": *"sample_flow": *"cpu": 1*'
like "an agent by name" "$OUT" '*"addr": \[0,0,0,0,0,0,0,0,0,0,255,255,*"sub_agent": *"own": {*"shared": {*'
# Every key of README's lines is one of the dump's.
while read -r key; do
	[[ $OUT == *"$key:"* ]] || not_ok "README's dump" "no $key"
done < <(sed -n '/^## With .ip/,/^## What/p' "$ROOT/README.md" | grep -oE '^ {8,}"[a-z_]+"' | tr -d ' ' | sort -u)
is "maps that README lists" \
	"$(sed -n '/^## With .ip/,/^## What/p' "$ROOT/README.md" | grep -E '^\| .xsf' | cut -d'|' -f2 | grep -oE 'xsf_\w+' | sort)" \
	"$(find -L $GLOBALS -name 'xsf_*' -printf '%f\n' | sort)"
does ip-off
is "nothing is left" "$(find -L /sys/fs/bpf -name 'xsf_*')$(programs eth0)" ""
block ip | sed 's/sec xdp$/sec xdp.frags/' >"$T/frags"
run bash -e "$T/frags"
like "sec xdp.frags" "$RC $(programs eth0)" "0 xsf_xdp_frags"
ip link set dev eth0 xdp off
block ip | sed 's/eth0 xdp /eth0 xdpgeneric /' >"$T/generic"
run bash -e "$T/generic"
like "xdpgeneric" "$RC $(ip link show eth0)" "0 *xdpgeneric*"
ip link set dev eth0 xdpgeneric off

check "both ways at once" "$XSF" load eth0
does remove
is "nothing is left" "$(find -L /sys/fs/bpf -name '*xsf*' -o -name xdp-sflow)$(programs eth0)" ""
finish
