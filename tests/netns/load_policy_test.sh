#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What load writes for the program: ports, this host's addresses, the allow-list.
# Functions for wait_for.
# shellcheck disable=SC2317
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/load_lib.sh"
private "$@"
PINS=/sys/fs/bpf/xdp-sflow/v2
pair agent xsf0 xsf1

total() { "$XSF" status --json | json "$1"; }
outcome() { total 'd["totals"]["datagrams_by_outcome"]["'"$1"'"]'; }
consumed() { total 'd["totals"]["events"]["consumed"]'; }
denied_dropped() { total 'd["totals"]["events"]["denied_dropped"]'; }

# Ports
check "load --port" "$XSF" load xsf0 --port 7000,7001 --port 6343
adds "the second port" 3 agent xsf1 3 --port 7001
adds "the default, named" 3 agent xsf1 3 --first 4
adds "another one does not" 0 agent xsf1 3 --port 7002
is "status tells the ports" "$("$XSF" status xsf0 | grep -o 'port [0-9].*')" "port 7000, 7001, 6343"
check "load with other ports" "$XSF" load xsf0
adds "replaces them" 0 agent xsf1 3 --port 7001

# Consuming only what is for this host
ip addr add 192.0.2.2/24 dev xsf0
sysctl -q -w net.ipv6.conf.xsf0.disable_ipv6=0 net.ipv6.conf.xsf0.addr_gen_mode=1
ip addr add 2001:db8::2/64 dev xsf0 nodad
check "load --consume" "$XSF" load xsf0 --consume
is "addresses of this host, loopback ones left out" \
	"$(bpftool -j map dump pinned $PINS/xsf_local | json 'len(d)')" "$(ip -o addr show dev xsf0 | wc -l)"
before=$(consumed)
adds "to this host" 4 agent xsf1 4
is "is consumed" "$(($(consumed) - before))" 4
adds "over IPv6" 4 agent xsf1 4 --src 2001:db8::1 --dst 2001:db8::2
is "as well" "$(($(consumed) - before))" 8
adds "to another host" 4 agent xsf1 4 --dst 192.0.2.3
is "is counted and passed" "$(($(consumed) - before))" 8
ip addr del 192.0.2.2/24 dev xsf0
ip addr add 192.0.2.3/24 dev xsf0
check "load again: the addresses are read anew" "$XSF" load xsf0 --consume
before=$(consumed)
adds "the old address" 4 agent xsf1 4
is "passes" "$(($(consumed) - before))" 0
adds "the new one" 4 agent xsf1 4 --dst 192.0.2.3
is "is consumed" "$(($(consumed) - before))" 4
check "load without --consume" "$XSF" load xsf0
before=$(consumed)
adds "counts" 4 agent xsf1 4 --dst 192.0.2.3
is "and passes" "$(($(consumed) - before))" 0

# Allowed sources
check "load --allow" "$XSF" load xsf0 --allow 192.0.2.0/25 --allow 2001:db8::/32
before=$(outcome denied)
sound=$(outcome sound)
adds "allowed" 4 agent xsf1 4 --src 192.0.2.1
adds "allowed, IPv6" 4 agent xsf1 4 --src 2001:db8::1 --dst 2001:db8::2
is "are read" "$(($(outcome sound) - sound)) $(($(outcome denied) - before))" "8 0"
adds "others" 4 agent xsf1 4 --src 192.0.2.129
adds "others, IPv6" 4 agent xsf1 4 --src 2001:db9::1 --dst 2001:db8::2
is "are denied" "$(($(outcome sound) - sound)) $(($(outcome denied) - before)) $(denied_dropped)" "8 8 0"
check "load --drop-denied, another list" "$XSF" load xsf0 --allow 192.0.2.128/25 --drop-denied
adds "what was allowed" 4 agent xsf1 4 --src 192.0.2.1
is "is dropped now" "$(denied_dropped)" 4
adds "what was denied" 4 agent xsf1 4 --src 192.0.2.129
is "is read now" "$(($(outcome sound) - sound))" 12
check "load without a list" "$XSF" load xsf0
adds "all" 4 agent xsf1 4 --src 203.0.113.5
is "are read" "$(($(outcome sound) - sound))" 16

# Silence
check "load --stale 5" "$XSF" load xsf0 --stale 5
adds "an agent" 1 agent xsf1 1 --agent 192.0.2.77
is "is shown" "$(total '"192.0.2.77" in [a["agent"] for a in d["agents"]]')" True
none_shown() { [ "$(total 'd["agents"]')" = "[]" ]; }
check "and is not when it is silent" wait_for 15 none_shown
check "unload --all --purge" "$XSF" unload --all --purge
finish
