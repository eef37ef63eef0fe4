#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Kernel memory: what README says, against the maps' memlock, and the bound of 64 MB + 0.5 MB a possible CPU.
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"
PINS=/sys/fs/bpf/xdp-sflow/v2
README=$ROOT/README.md

# Possible CPUs: "0-3" or "0,2-7".
cpus=$(python3 -c 'import sys
print(sum(int(r.split("-")[-1]) - int(r.split("-")[0]) + 1 for r in sys.argv[1].split(",")))' \
	"$(cat /sys/devices/system/cpu/possible)")

# said NAME: fixed and per-CPU MB of a line of README's formula, "NAME   55.1 MB + 0.45 MB x possible CPUs".
said() {
	sed -nE "s/^ *$1 +(([0-9.]+) MB )?\+ ([0-9.]+) MB x possible CPUs$/\2 \3/p" "$README"
}
read -r maps_fixed maps_cpu <<<"$(said 'pinned maps, one set per host')"
read -r fabric_fixed fabric_cpu <<<"$(said 'each fabric beyond two')"
read -r if_fixed if_cpu <<<"$(said 'each interface')"
like "README has the formula" "$maps_fixed $maps_cpu $fabric_fixed $fabric_cpu $if_fixed $if_cpu" \
	"*.* *.* *.* *.* *.* *.*"

# maps_of IFACE: JSON of all maps of the program there.
maps_of() {
	local prog id
	prog=$("$XSF" status "$1" --json | json 'd["attached"][0]["prog_id"]')
	echo "["
	for id in $(bpftool -j prog show id "$prog" | json '" ".join(map(str, d["map_ids"]))'); do
		bpftool -j map show id "$id"
		echo ,
	done
	bpftool -j prog show id "$prog"
	echo "]"
}

# near NAME BYTES MB: the formula holds, and is no more than 3 % or 20 KB above the truth. Kernels before 6.4
# leave out of memlock what hash tables add to their values.
near() {
	local under=0.97 kernel
	kernel=$(uname -r)
	[ "$(printf '%s\n6.4\n' "${kernel%%-*}" | sort -V | head -n 1)" = 6.4 ] || under=0.85
	is "$1: $2 bytes, $3 MB" "$(python3 -c 'import sys
got, said, under = int(sys.argv[1]), float(sys.argv[2]) * 1e6, float(sys.argv[3])
print("holds" if got <= said else "too little", "close" if got >= said * under - 20000 else "too much")' \
		"$2" "$3" "$under")" "holds close"
}

# parts FILE EXPRESSION: sum of an expression over the maps m of FILE; n CPUs, own: not pinned.
parts() {
	python3 -c 'import json, sys
n = int(sys.argv[2])
total = 0
for m in json.load(open(sys.argv[1])):
    own = "map_ids" in m or not m["name"].startswith("xsf_") or m["name"] in (
        "xsf_scratch", "xsf_event_scrat", "xsf_hints")
    lock, percpu = m["bytes_memlock"], 0
    if m.get("type") == "percpu_array":
        percpu = (m["bytes_value"] + 7) // 8 * 8 * m["max_entries"]
        # The rest is pointers; if the kernel charged less, the formula would mean nothing.
        assert percpu * n <= lock <= percpu * n * 1.02 + 4096 + 4096 * (n > 1), m
    total += eval(sys.argv[3])
print(total)' "$1" "$cpus" "$2"
}

# compare FILE FABRICS: all of the formula.
compare() {
	local fixed per_cpu all
	fixed=$(python3 -c "print($maps_fixed + ($2 - 2) * $fabric_fixed)")
	per_cpu=$(python3 -c "print($maps_cpu + ($2 - 2) * $fabric_cpu)")
	near "$2 fabrics: pinned maps, fixed" "$(parts "$1" '0 if own or percpu else lock')" "$fixed"
	near "$2 fabrics: pinned maps, a CPU" "$(parts "$1" '0 if own else percpu')" "$per_cpu"
	near "$2 fabrics: an interface, fixed" "$(parts "$1" 'lock if own and not percpu else 0')" "$if_fixed"
	near "$2 fabrics: an interface, a CPU" "$(parts "$1" 'percpu if own else 0')" "$if_cpu"
	all=$(parts "$1" lock)
	near "$2 fabrics: all on $cpus CPUs" "$all" \
		"$(python3 -c "print($fixed + $if_fixed + $cpus * ($per_cpu + $if_cpu))")"
	diag "$all bytes on $cpus possible CPUs"
}

pair agent xsf0 xsf1
check "load" "$XSF" load xsf0
maps_of xsf0 >"$T/maps.json"
is "maps pinned" "$(parts "$T/maps.json" 'not own')" "$(find $PINS -maxdepth 1 -name 'xsf_*' ! -name 'xsf_csum_*' | wc -l)"
compare "$T/maps.json" 2
is "at most 64 MB and 0.5 MB a CPU" \
	"$(python3 -c "print($(parts "$T/maps.json" lock) <= 64e6 + 0.5e6 * $cpus)")" True
# The same by the formula, where there are more CPUs than here, and interfaces.
is "also with 2 interfaces on 256 CPUs" "$(python3 -c "
print($maps_fixed + 2 * $if_fixed + 256 * ($maps_cpu + 2 * $if_cpu) <= 64 + 0.5 * 256)")" True
before=$(cat "$T/maps.json")
send agent xsf1 "$(python3 "$PY/feed_pcap.py" "$T/feed.pcap" && echo "$T/feed.pcap")" >"$T/sent"
maps_of xsf0 >"$T/maps.json"
is "nothing grows with what is counted" "$(json 'sum(m["bytes_memlock"] for m in d)' "$T/maps.json")" \
	"$(json 'sum(m["bytes_memlock"] for m in d)' <<<"$before")"
check "unload" "$XSF" unload xsf0 --purge

# The most: 16 fabrics, and an allow-list that is full.
allow=()
for n in $(seq 0 1023); do allow+=(--allow "10.$((n / 256)).$((n % 256)).0/24"); done
check "load with 16 fabrics and 1024 prefixes" "$XSF" load xsf0 --fabrics 16 "${allow[@]}"
maps_of xsf0 >"$T/maps.json"
compare "$T/maps.json" 16
check "unload" "$XSF" unload xsf0 --purge
finish
