#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# README's five steps against ghost drops, to the letter, where eth0 is a veth and a chip breaks checksums.
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/repair_lib.sh"
private "$@"
PATH=$ROOT/build:$PATH
cd "$ROOT" || exit 1

# does NAME: runs the block; output in $OUT.
does() {
	python3 "$PY/docs.py" block "$1" >"$T/block"
	if [ ! -s "$T/block" ]; then
		not_ok "$1" "README has no such block"
		return
	fi
	run bash -e "$T/block"
	if [ $RC = 0 ]; then ok "$1"; else not_ok "$1" "exit $RC: $(cat "$T/block")
$OUT$ERR"; fi
}
# count NAME: a number of a table that was printed: line NAME, column COLUMN.
cell() { awk -v name="$1" -v column="$2" '$1 == name { print $column; exit }' <<<"$OUT"; }

mkdir "$T/cgroup"
mount -t cgroup2 none "$T/cgroup" # for the ledger
collector eth0
start in_ns agent python3 "$PY/ipfix.py" agent0 100000 --rate 40 --checksum wrong
start in_ns agent python3 "$PY/ipfix.py" agent0 100000 --rate 60 --src 2001:db8::7
does ghost-see
like "tcpdump calls them bad" "$OUT" "*bad udp cksum 0x* -> 0x*!]*"
like "nstat counts" "$OUT" "*UdpInErrors *UdpInCsumErrors *Udp6InErrors *Udp6InCsumErrors *"
does ghost-name
like "the chip, and the command" "$OUT" "*2001:db8::1 *always wrong: a chip*2001:db8::7 *right*To repair: *"
is "which is the one of the next step" "$(sed -n 's/^To repair: //p' <<<"$OUT")" \
	"$(python3 "$PY/docs.py" block ghost-repair)"
does ghost-repair
errors=$(checksum_errors)
sleep 2
is "the counter stands" "$(($(checksum_errors) - errors))" 0
does ghost-prove
is "repaired" "$(($(cell 2001:db8::1 5) >= 40)) $(cell 2001:db8::7 5)" "1 0"
like "the ledger agrees" "$OUT" "*repaired*"
does ghost-remove
like "observes, then is gone" "$OUT" "eth0: observing 4739, 6343, 2055
eth0: detached"
is "nothing is left at tc" "$(tc qdisc show dev eth0 clsact)$(tc filter show dev eth0 ingress)" ""
does ghost-tc
like "what tc attached is read" "$OUT" '*eth0 *repairing its default ports from any source, by tc*"repaired_wrong":*'
is "nothing is left" "$(find -L /sys/fs/bpf/tc -name 'xsf_*')$(tc qdisc show dev eth0 clsact)" ""
"$XSF" unload --all --purge >/dev/null
finish
