#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The checksum options and `repair` on the command line: what is wrong usage, and what it says.
set -u
. "$(dirname "$0")/../lib.sh"

run "$XSF" repair --help
like "--help" "$RC $OUT" "0 Usage: xdp-sflow repair show *xdp-sflow repair set IFACE *--repair PORT*--observe*--json*"
is "nothing on stderr" "$ERR" ""
run "$XSF" repair show --help
like "after the word too" "$RC $OUT" "0 Usage: *"

usage() { # NAME PATTERN ARGUMENT...
	local name=$1 pattern=$2
	shift 2
	fails_with "$name" 2 "xdp-sflow: $pattern; see: xdp-sflow ${1} --help" "$XSF" "$@"
}
usage "neither show nor set" "show or set[?]" repair
usage "something else" "show or set, not 'get'" repair get
usage "show of two" "one interface at most" repair show eth0 eth1
usage "show that sets" "show changes nothing*" repair show --repair 4739
usage "set of none" "set needs an interface" repair set --observe
usage "set of two" "set one interface at a time" repair set eth0 eth1 --observe
usage "set without what" "set what*" repair set eth0
usage "set as JSON" "--json is for show" repair set eth0 --observe --json
usage "an unknown option" "unknown option '--repairs'" repair set eth0 --repairs 1
usage "no --no-checksum here" "unknown option '--no-checksum'" repair set eth0 --no-checksum
usage "no value" "--repair needs a value" repair set eth0 --repair
for command in "repair set" load run; do
	read -ra words <<<"$command"
	for port in 0 65536 '' '4739,' ,4739 47a 1,2,3,4,5,6,7,8,9; do
		usage "$command: port '$port'" "'$port' is no list of at most 8 ports from 1 to 65535" "${words[@]}" eth0 \
			--repair "$port"
	done
	usage "$command: nine ports in two lists" "'8,9' is no list of at most 8 ports*" "${words[@]}" eth0 \
		--repair 1,2,3,4,5,6,7 --repair 8,9
	for prefix in 192.0.2.0/24 2001:db8::/129 2001:db8::1/64 2001:db8::/ '' ::g eth0; do
		usage "$command: prefix '$prefix'" "'$prefix' is no IPv6 prefix*" "${words[@]}" eth0 --repair-from "$prefix"
	done
	usage "$command: observe and repair" "--observe repairs nothing*" "${words[@]}" eth0 --observe --repair 4739
	usage "$command: observe and sources" "--observe repairs nothing*" "${words[@]}" eth0 --repair-from ::/0 --observe
done
for command in load run; do
	usage "$command: none and repair" "--no-checksum goes without*" $command eth0 --no-checksum --repair 4739
	usage "$command: none and observe" "--no-checksum goes without*" $command eth0 --no-checksum --observe
done
prefixes=()
for n in $(seq 0 1024); do prefixes+=(--repair-from "2001:db8:$(printf %x "$n")::/48"); done
usage "more than 1024 prefixes" "more than 1024 prefixes" repair set eth0 "${prefixes[@]}"
fails_with "nothing is pinned" 1 "*no checksum maps are pinned in /sys/fs/bpf/xdp-sflow/v[0-9]*; first: xdp-sflow load *" \
	unshare --user --map-root-user --mount bash -c "mount -t tmpfs none /sys/fs 2>/dev/null; exec '$XSF' repair show"
finish
