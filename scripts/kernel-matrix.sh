#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every compiler's BPF objects against the running kernel's verifier, and what they cost it against
# tests/golden/budget.tsv. Prints TAP and the figures. Needs root.
#
#	kernel-matrix.sh                 build with each compiler, load, check the budget
#	kernel-matrix.sh --build         only build: build/matrix/clang-N/*.bpf.o
#	kernel-matrix.sh --check FILE N  check figures from elsewhere (vmtest.sh), results numbered after N
#	kernel-matrix.sh --update        record the figures of the last runs as the budget: those of this
#	                                 kernel and, after vmtest.sh, of the one in qemu
#
# A compiler that is not installed is skipped by name, a kernel without recorded figures likewise.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
cd "$(dirname "$0")/.."

readonly COMPILERS="clang-14 clang-16 clang-19" # of Debian 12's packages of the same names
readonly OUT=build/matrix
readonly BUDGET=tests/golden/budget.tsv

n=0 failed=0
result() { # result STATUS NAME
	n=$((n + 1))
	if [[ $1 -eq 0 ]]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		failed=1
	fi
}

build() {
	local flags compiler source
	# shellcheck disable=SC2016 # make's variable, not the shell's
	flags=$(make -s --no-print-directory --eval='print-flags: ; @echo $(BPF_CFLAGS)' print-flags)
	for compiler in $COMPILERS; do
		command -v "$compiler" >/dev/null || continue
		mkdir -p "$OUT/$compiler"
		for source in bpf/*.bpf.c; do
			# shellcheck disable=SC2086 # a list of flags
			"$compiler" $flags -c "$source" -o "$OUT/$compiler/$(basename "$source" .c).o"
		done
	done
}

load() { # ROWS
	local compiler object status
	for compiler in $COMPILERS; do
		if ! command -v "$compiler" >/dev/null; then
			n=$((n + 1))
			echo "ok $n - $compiler # SKIP not installed: apt-get install $compiler"
			continue
		fi
		for object in "$OUT/$compiler"/*.bpf.o; do
			status=0
			build/tests/tools/verify "$compiler" "$object" >>"$1" 2>"$OUT/log" || status=1
			result "$status" "$(uname -r): $(basename "$object") of $compiler loads"
			sed 's/^/# /' "$OUT/log"
		done
	done
}

# One result per kernel, compiler and program; the functions' figures are part of it. Figures may grow
# by a quarter; ones under the floors, which any edit changes by much, are measured against the floor.
# shellcheck disable=SC2016 # awk's variables
readonly CHECK='
	function budget(recorded, floor) { return 1.25 * (recorded < floor ? floor : recorded) }
	function judge(id, key,    line) {
		line = "#   " $4 ": " $5 " insns, " $6 " bytes of stack"
		if (!(key in insns)) {
			if ($4 == "*")
				bad[id] = bad[id] ", none recorded"
			return line "; none recorded\n"
		}
		if ($5 + 0 > budget(insns[key], 256))
			bad[id] = bad[id] ", insns of " $4
		if ($6 + 0 > budget(stack[key], 64))
			bad[id] = bad[id] ", stack of " $4
		return line "; recorded " insns[key] ", " stack[key] "\n"
	}
	/^#/ { next }
	{ key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4 }
	FILENAME == ARGV[1] { insns[key] = $5; stack[key] = $6; known[$1] = 1; next }
	{
		id = $1 " " $2 " " $3
		if (!(id in text)) {
			name[++nr] = id
			kernel[nr] = $1
		}
		text[id] = text[id] judge(id, key)
	}
	END {
		for (i = 1; i <= nr; i++) {
			id = name[i]
			printf "%s", text[id]
			if (!(kernel[i] in known))
				printf "ok %d - budget of %s # SKIP nothing recorded for it\n", ++n, id
			else if (!(id in bad))
				printf "ok %d - budget of %s\n", ++n, id
			else
				printf "not ok %d - budget of %s: %s\n", ++n, id, substr(bad[id], 3)
		}
		if (!nr)
			printf "not ok %d - budget: no program gave figures\n", ++n
		print "1.." n
		for (id in bad)
			failed = failed || known[substr(id, 1, index(id, " ") - 1)]
		exit failed || !nr
	}'

check() { # ROWS
	awk -F'\t' -v n="$n" "$CHECK" "$BUDGET" "$1" || failed=1
}

update() {
	local files=("$OUT"/figures-*.tsv)
	if [[ ! -f ${files[0]} ]]; then
		echo "kernel-matrix: no figures in $OUT; first run kernel-matrix.sh and vmtest.sh" >&2
		exit 1
	fi
	{
		grep '^#' "$BUDGET"
		# What was measured replaces the rows of the same kernel and compiler.
		awk -F'\t' 'FNR == 1 { file++ }
			/^#/ { next }
			file < ARGC - 1 { fresh[$1, $2] = 1; print; next }
			!(($1, $2) in fresh)' "${files[@]}" "$BUDGET" |
			LC_ALL=C sort -t "$(printf '\t')" -k1,1V -k2,2 -k3,3 -k4,4
	} >"$BUDGET.new"
	mv "$BUDGET.new" "$BUDGET"
}

case ${1-} in
--build)
	build
	;;
--check)
	n=$3
	check "$2"
	;;
--update)
	update
	;;
"")
	if [[ $(id -u) != 0 ]]; then
		echo "1..0 # SKIP needs root"
		exit 0
	fi
	rows=$OUT/figures-$(uname -r | cut -d. -f1,2).tsv
	mkdir -p "$OUT"
	: >"$rows.new"
	make -s all build/tests/tools/verify >&2
	build
	load "$rows.new"
	mv "$rows.new" "$rows"
	check "$rows"
	;;
*)
	sed -n '3,14s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
exit "$failed"
