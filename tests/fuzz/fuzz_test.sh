#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The fuzz targets for some seconds each, from their corpus. `make fuzz` runs them for long.
set -u
. "$(dirname "$0")/../lib.sh"

cd "$ROOT" || exit 1
out=build/fuzz-test
# The same start every time.
rm -rf $out/corpus-* $out/seed

for target in datagram frame packet csum flow; do
	RUN_TIMEOUT=200 run tests/fuzz/fuzz.sh -r 40000 -t 5 -o $out $target
	check "$target: nothing found" [ "$RC" = 0 ]
	[ "$RC" = 0 ] || diag "$OUT
$ERR"
	diag "$OUT"
	executions=${OUT#*: } executions=${executions%% *}
	# Below this the corpus alone was not run.
	check "$target: executed at least 500 times" [ "${executions:-0}" -ge 500 ]
done
finish
