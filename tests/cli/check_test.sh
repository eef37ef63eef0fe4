#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Style, layering and static analysis as a test; and the layering check finds what it should.
set -u
. "$(dirname "$0")/../lib.sh"
cd "$ROOT" || exit 1

git rev-parse --git-dir >/dev/null 2>&1 || skip_all "not a git work tree"

for check in format shell python layers lines tidy; do
	check "scripts/check.sh $check" scripts/check.sh "$check"
done

# A copy with one fault each.
mkdir -p "$T/copy"
git ls-files --cached --others --exclude-standard include bpf user scripts .clang-format |
	tar -cf - -T - | tar -xf - -C "$T/copy"
git -C "$T/copy" init -q
faulty() { # NAME FILE LINE WANTED
	local out
	cp "$T/copy/$2" "$T/saved" 2>/dev/null || : >"$T/saved"
	mkdir -p "$T/copy/$(dirname "$2")"
	printf '%s\n' "$3" >>"$T/copy/$2"
	out=$("$T/copy/scripts/check.sh" layers 2>&1)
	like "found: $1" "$? $out" "1 *$4*$2*"
	cp "$T/saved" "$T/copy/$2"
}
is "the copy is sound" "$("$T/copy/scripts/check.sh" layers)" ""
faulty "libbpf in model/" user/model/snapshot.c '#include <bpf/libbpf.h>' "model/ sees"
faulty "kernel/ in serve/" user/serve/zz.c '#include "kernel/maps.h"' "serve/ sees"
faulty "cmd/ in kernel/" user/kernel/zz.c '#include "../cmd/cmd.h"' "kernel/ sees"
faulty "user/ in bpf/" bpf/maps.bpf.h '#include "../user/model/snapshot.h"' "bpf/ and user/"
faulty "bpf/ in user/" user/cmd/status.c '#include "../../bpf/maps.bpf.h"' "bpf/ and user/"
faulty "stdio in include/xsf" include/xsf/walk.h '#include <stdio.h>' "include/xsf includes"
faulty "printf in model/" user/model/snapshot.c '	printf("x");' "only cmd/"
faulty "a folder beside the repository" scripts/zz.sh "ls ../shared" "for tests only"
finish
