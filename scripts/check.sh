#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Style, layering and static analysis: scripts/check.sh [CHECK...]; all without names:
# format, shell, python, layers, lines, tidy. Prints what is wrong; exit 1 when something is.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

bad=0
problem() { # WHAT LINES: nothing when there are no lines
	[ -n "$2" ] || return 0
	printf 'check %s\n%s\n' "$1" "$2"
	bad=1
}

# What git tracks, and new files that it does not ignore.
files() {
	git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do
		[ ! -e "$file" ] || echo "$file"
	done
}

mapfile -t c_files < <(files '*.c' '*.h' | grep -v '^vmlinux/')
mapfile -t py_files < <(files '*.py')
mapfile -t sh_files < <(files '*.sh' .ci/run)

check_format() {
	problem "format: run clang-format -i" \
		"$(clang-format --dry-run -Werror "${c_files[@]}" 2>&1 | grep error:)"
}

check_shell() {
	problem shell "$(shellcheck "${sh_files[@]}" 2>&1)"
}

check_python() {
	local file
	for file in "${py_files[@]}"; do
		problem "python: $file" "$(python3 -c '
import ast, sys
ast.parse(open(sys.argv[1]).read())' "$file" 2>&1)"
	done
}

# included FOLDER: 'file:"header' or 'file:<header' for every #include under it.
included() {
	files "$1/*.c" "$1/*.h" | xargs -r grep -HoE '^# *include +["<][^">]+' |
		sed -E 's/# *include +//'
}

# forbid FOLDER PATTERN WHY: nothing under FOLDER includes a header that matches the extended expression.
forbid() {
	problem "layers: $3" "$(included "$1" | grep -E ":[\"<]($2)")"
}

check_layers() {
	local libbpf='bpf/|libbpf\.h|xdp/|linux/bpf\.h|.*\.skel\.h'

	problem "layers: include/xsf includes only itself and linux/types.h (string.h natively)" \
		"$(included include/xsf | grep -vE ':("[a-z0-9_]+\.h|<linux/types\.h|<string\.h)$')"
	forbid user/model "$libbpf|(.*/)?(kernel|serve|cmd)/" "model/ sees include/xsf only"
	forbid user/serve "$libbpf|(.*/)?(kernel|cmd)/" "serve/ sees model/ and include/xsf only"
	forbid user/kernel '(.*/)?(serve|cmd)/' "kernel/ sees neither serve/ nor cmd/"
	forbid bpf '.*(user|kernel|model|serve|cmd)/' "bpf/ and user/ do not include each other"
	forbid user '.*\.bpf\.[ch]' "bpf/ and user/ do not include each other"
	problem "layers: only cmd/ and main.c print or exit" "$(
		files 'user/kernel/*.c' 'user/model/*.c' 'user/serve/*.c' | xargs -r grep -nE \
			'(^|[^a-z_])(printf|puts|putchar|perror|_?exit|abort) ?\(|fprintf\(std' |
			grep -vE ':[0-9]+:[[:space:]]*(/?\*|//)'
	)"
	problem "layers: a folder beside the repository is for tests only" "$(
		files | grep -vE '^(tests/|scripts/check\.sh)' | xargs -r grep -nIE '\.\./shared'
	)"
}

check_lines() {
	local file
	# clang-format keeps code to 100 columns but does not break comments and strings.
	problem "lines: longer than 110 columns in C, 140 in scripts" "$(
		for file in "${c_files[@]}" "${sh_files[@]}" "${py_files[@]}"; do
			expand -t 8 "$file" | awk -v f="$file" -v max="$([[ $file == *.[ch] ]] && echo 110 || echo 140)" \
				'length > max { print f ":" NR ": " length " columns" }'
		done
	)"
	problem "lines: no SPDX line" "$(
		files '*.c' '*.h' '*.sh' '*.py' Makefile .ci/run |
			xargs -r grep -L 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause'
	)"
	problem "lines: white space at the end" "$(
		files | grep -vE '^LICENSE$|^tests/(golden|fuzz/corpus)' | xargs -r grep -nIE '[[:space:]]+$'
	)"
	problem "lines: more than 700 in a file" "$(
		wc -l "${c_files[@]}" | awk '$2 != "total" && $1 > 700 { print $2 ": " $1 }'
	)"
}

# tidy FLAGS FILE...: findings, from two files at a time. What was found clean is not read again until it or
# what it includes changes. The analyzer's budget is 30,000 nodes a function: its own of 225,000 takes
# minutes for some files and finds no more. Generated headers are not ours.
tidy() {
	local flags=$1
	shift
	mkdir -p build/tidy
	# shellcheck disable=SC2016 # the inner shell expands
	printf '%s\n' "$@" | FLAGS=$flags xargs -P2 -n1 sh -c '
		key=$({ cat .clang-tidy tests/.clang-tidy; clang -E $FLAGS "$1"; } 2>/dev/null | sha256sum | cut -c1-40)
		[ ! -e "build/tidy/$key" ] || exit 0
		said=$(clang-tidy --quiet "$1" -- $FLAGS -Xclang -analyzer-config \
			-Xclang max-nodes=30000 2>/dev/null | grep -E "^[^ ]+: (error|warning):" | grep -v "^build/")
		if [ -z "$said" ]; then touch "build/tidy/$key"; else printf "%s\n" "$said"; fi' tidy
}

check_tidy() {
	local user=() programs=() file flags
	for file in "${c_files[@]}"; do
		case $file in
		*.h) ;;
		*.bpf.c) programs+=("$file") ;;
		*) user+=("$file") ;;
		esac
	done
	# The skeleton is generated.
	problem "tidy: does not build" "$(make -s all 2>&1 >/dev/null)"
	flags=$(pkg-config --cflags libbpf libxdp libmicrohttpd jansson libpcap libcap ncursesw)
	flags="-std=gnu11 -D_GNU_SOURCE -DXSF_VERSION=\"0\" -Iinclude -Iuser -isystem build $flags"
	problem tidy "$(tidy "$flags" "${user[@]}")"
	problem tidy "$(tidy "-O2 -g -target bpf -mcpu=v3 -I/usr/include/$(gcc -print-multiarch)" \
		"${programs[@]}")"
}

[ $# -gt 0 ] || set -- format shell python layers lines tidy
for check; do
	case $check in
	format) check_format ;;
	shell) check_shell ;;
	python) check_python ;;
	layers) check_layers ;;
	lines) check_lines ;;
	tidy) check_tidy ;;
	*)
		echo "check.sh: no check '$check' (format, shell, python, layers, lines, tidy)" >&2
		exit 2
		;;
	esac
done
exit $bad
