# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For tests/netns/load_*_test.sh, after tests/lib.sh.

# datagrams NS IFACE COUNT [OPTION...]: prints how many were sent.
datagrams() {
	local ns=$1
	shift
	in_ns "$ns" python3 "$PY/datagrams.py" "$@"
}

# counted: datagrams in the maps (of $MAPS_DIR), through the command.
counted() {
	"$XSF" status --json --maps "${MAPS_DIR:-/sys/fs/bpf/xdp-sflow/v2}" 2>&1 |
		json 'd["totals"]["datagrams"]' 2>&1
}

counted_is() { [ "$(counted)" = "$1" ]; }

# adds NAME WANT NS IFACE COUNT [OPTION...]: sending that many adds WANT to the count.
adds() {
	local name=$1 want=$2 before after sent
	shift 2
	before=$(counted)
	sent=$(datagrams "$@")
	# veth hands over at once; what is still on its way after 2 s is lost.
	wait_for 5 counted_is $((before + want))
	after=$(counted)
	is "$name (sent $sent)" "$((after - before))" "$want"
}

# programs IFACE: names of XDP programs on an interface, one a line.
programs() {
	local id
	for id in $(prog_id "$1"); do
		bpftool -j prog show id "$id" | json 'd["name"]'
	done
}

# prog_id IFACE
prog_id() { ip -d link show dev "$1" | grep -oE 'prog/xdp id [0-9]+' | cut -d' ' -f3; }

# attachments: how many are pinned.
attachments() { find /sys/fs/bpf/xdp-sflow/v2 -name 'if_*' 2>/dev/null | wc -l; }
