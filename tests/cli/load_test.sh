#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# load, unload, confirm, run and status as a user mistypes them. Nothing is attached.
set -u
. "$(dirname "$0")/../lib.sh"

usage() { # NAME PATTERN ARGUMENT...
	local name=$1 pattern=$2
	shift 2
	fails_with "$name" 2 "xdp-sflow: $pattern; see: xdp-sflow $1 --help" "$XSF" "$@"
}

for command in load unload confirm run status; do
	run "$XSF" $command --help
	like "$command --help" "$RC $ERR $OUT" "0  Usage: xdp-sflow $command*"
	usage "$command: unknown option" "unknown option '--nonsense'" $command --nonsense
	usage "$command: option without its value" "--maps needs a value" $command --maps
	usage "$command: empty directory" "--maps needs a directory" $command --maps ""
done

for command in load run; do
	usage "$command without an interface" "no interface given" $command
	usage "$command: mode" "--mode is native or generic, not 'skb'" $command x --mode skb
	usage "$command: frags" "--frags is auto, yes or no, not ''" $command x --frags ""
	for port in 0 65536 -1 x 1,,2 "" 6343x 99999999999999999999; do
		usage "$command: port '$port'" "'*' is no list of at most 8 ports from 1 to 65535" $command x --port "$port"
	done
	usage "$command: ports" "'*' is no list of at most 8 ports from 1 to 65535" $command x --port 1,2,3,4,5,6,7,8,9
	for prefix in 10.0.0.1/24 10.0.0.0/33 2001:db8::/129 1.2.3 "" x/8 10.0.0.0/ 10.0.0.0/+8; do
		usage "$command: prefix '$prefix'" "'$prefix' is no prefix (*)" $command x --allow "$prefix"
	done
	usage "$command: stale" "--stale is a number from 1 to 31536000, not '0'" $command x --stale 0
	usage "$command: fabrics" "--fabrics is a number from 1 to 16, not '17'" $command x --fabrics 17
	usage "$command: drop-denied alone" "--drop-denied needs --allow" $command x --drop-denied
	usage "$command: generic with frags" "generic mode takes the plain program: *" \
		$command x --mode generic --frags yes
	usage "$command: the same twice" "lo is named twice" $command lo lo
	usage "$command: interfaces" "more than 64 interfaces" $command $(seq 65)
done
for command in export run; do
	for address in "" x 192.0.2.1: 192.0.2.1:65536 :80 "[::1" ::1:80 192.0.2.256; do
		usage "$command: listen '$address'" "cannot listen on '${address//[/\\[}': *" \
			$command --listen "$address"
	done
done
usage "replay: two formats" "--json and --metrics are two formats*" replay --json --metrics x
for said in "--help" "--version" "load --help" "export -h" "simulate --help"; do
	# shellcheck disable=SC2086
	run bash -c '"$@" >/dev/full' - "$XSF" $said
	is "$said that cannot be written" "$RC $ERR" "1 xdp-sflow: standard output: No space left on device"
done
for seconds in 0 86401 x ""; do
	usage "confirm '$seconds' seconds" "--confirm is a number of seconds from 1 to 86400" \
		load x --confirm "$seconds"
done
usage "unload of nothing" "name interfaces, or --all" unload
usage "unload of all and one" "--all goes without names of interfaces" unload --all x
usage "confirm of two" "one interface at most" confirm x y
usage "status of two" "one interface at most" status x y
finish
