#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# libFuzzer targets over the native build: fuzz.sh [-r RUNS] [-t SECONDS] [-o FOLDER] [TARGET...]
#
# -r RUNS     executions of each target (default 4000000)
# -t SECONDS  at most that long for each (default: no limit)
# -o FOLDER   objects, corpus and findings (default build/fuzz); the corpus grows from run to run
# TARGET      datagram, frame, packet, csum, flow (default: all)
#
# Prints one line per target; a finding is kept as FOLDER/TARGET-* and makes the exit code 1. One process at
# a time, at low priority. To run one again: build/fuzz/fuzz_TARGET FILE
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

runs=4000000 seconds=0 out=build/fuzz
while getopts r:t:o: option; do
	case $option in
	r) runs=$OPTARG ;;
	t) seconds=$OPTARG ;;
	o) out=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- datagram frame packet csum flow

FUZZ_CC=${FUZZ_CC:-clang-14}
command -v "$FUZZ_CC" >/dev/null || {
	echo "fuzz.sh: no $FUZZ_CC; install clang-14 and libclang-rt-14-dev" >&2
	exit 1
}
mkdir -p "$out" || exit 1

flags=(-std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-function -D_GNU_SOURCE -Iinclude -Iuser)
san=(-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined)

# newer FILE: something that goes into it was changed since.
newer() {
	[ ! -e "$1" ] || [ -n "$(find include user/model user/cmd/capture.c tests/fuzz tests/progrun tests/unit \
		tests/bench -name '*.[ch]' -newer "$1" -print -quit)" ]
}

build() {
	local target common=()

	newer "$out/seeds" || return 0
	# Comparing is not what is tested: without the sanitizers it costs a third.
	for target in tests/fuzz/check.c tests/progrun/{compare,compare_places,events}.c user/model/fields.c user/model/snapshot.c; do
		"$FUZZ_CC" "${flags[@]}" -c "$target" -o "$out/$(basename "$target" .c).o" || return 1
		common+=("$out/$(basename "$target" .c).o")
	done
	for target in datagram frame; do
		"$FUZZ_CC" "${flags[@]}" "${san[@]}" -fsanitize=fuzzer -o "$out/fuzz_$target" \
			"tests/fuzz/fuzz_$target.c" tests/progrun/reference*.c "${common[@]}" || return 1
	done
	"$FUZZ_CC" "${flags[@]}" "${san[@]}" -fsanitize=fuzzer -o "$out/fuzz_packet" \
		tests/fuzz/fuzz_packet.c tests/progrun/reference_packet.c user/model/packet_fields.c || return 1
	"$FUZZ_CC" "${flags[@]}" "${san[@]}" -fsanitize=fuzzer -o "$out/fuzz_csum" \
		tests/fuzz/fuzz_csum.c tests/progrun/csum_{native,reference}.c || return 1
	"$FUZZ_CC" "${flags[@]}" "${san[@]}" -fsanitize=fuzzer -o "$out/fuzz_flow" tests/fuzz/fuzz_flow.c \
		user/model/flow{,_rows,_key,_filter,_pattern,_field}.c user/model/{packet_fields,prefix,number,snapshot,fields,utf8}.c \
		-lm || return 1
	"$FUZZ_CC" "${flags[@]}" -o "$out/seeds" tests/fuzz/seeds.c tests/bench/mix.c user/cmd/capture.c \
		tests/progrun/{built,captures,mutate,csum_packets,csum_reference}.c -lpcap || return 1
}

build || exit 1
mkdir -p "$out/seed"
"$out/seeds" "$out/seed" || exit 1

status=0
for target; do
	mkdir -p "$out/corpus-$target"
	known=()
	[ ! -d "tests/fuzz/found/$target" ] || known=("tests/fuzz/found/$target")
	rc=0
	nice -n 10 "$out/fuzz_$target" -runs="$runs" -max_total_time="$seconds" -max_len=4096 -seed=1 \
		-artifact_prefix="$out/$target-" -print_final_stats=1 -verbosity=1 -reload=0 \
		"$out/corpus-$target" "$out/seed/$target" "${known[@]}" >"$out/$target.log" 2>&1 || rc=$?
	executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$target.log")
	covered=$(grep -oE 'cov: [0-9]+' "$out/$target.log" | tail -1)
	echo "$target: ${executed:-0} executions, $(($(find "$out/corpus-$target" -type f | wc -l))) inputs, ${covered:-cov: 0}, exit $rc"
	if [ $rc != 0 ]; then
		grep -E 'FOUND|ERROR|runtime error|SUMMARY|Test unit written' "$out/$target.log" | head
		status=1
	fi
done
exit $status
