#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tests/run.sh itself: what it counts, what it calls a failure.
set -u
. "$(dirname "$0")/../lib.sh"

mkdir -p "$T/tests/cli"
cp "$ROOT/tests/run.sh" "$T/tests/"
printf '%s\n' '# comment' 'cli/f_test.sh | may (weather) | it is outside' >"$T/tests/skips.txt"

try() { # NAME WANTED-LAST-LINE WANTED-EXIT SCRIPT [WANTED-IN-OUTPUT]
	local out rc=0
	printf '#!/bin/bash\n%s\n' "$4" >"$T/tests/cli/f_test.sh"
	chmod +x "$T/tests/cli/f_test.sh"
	out=$("$T/tests/run.sh" 2>&1) || rc=$?
	is "$1" "$rc: $(tail -n 1 <<<"$out")" "$3: $2"
	[ -z "${5:-}" ] || like "$1: says so" "$out" "*$5*"
}

try "all pass" "2 passed, 0 failed, 0 skipped" 0 'echo ok 1 - a; echo ok 2 - b; echo 1..2'
try "a failure" "1 passed, 1 failed, 0 skipped" 1 \
	'echo 1..2; echo ok 1 - a; echo why; echo not ok 2 - b; echo "# because"; exit 1' \
	"FAILED tests/cli/f_test.sh: b"
try "its comments" "0 passed, 1 failed, 0 skipped" 1 \
	'echo 1..1; echo before; echo not ok 1 - b; echo "# because"; exit 1' "before*not ok 1 - b*# because"
try "died without a plan" "1 passed, 1 failed, 0 skipped" 1 'echo ok 1 - a; kill -9 $$' "without a plan"
try "died without a result" "0 passed, 1 failed, 0 skipped" 1 'exit 0' "without a plan"
try "fewer than planned" "1 passed, 1 failed, 0 skipped" 1 'echo 1..2; echo ok 1 - a' "planned 2"
try "more than planned" "2 passed, 1 failed, 0 skipped" 1 'echo 1..1; echo ok 1; echo ok 2' "planned 1"
try "exit code without a failure" "1 passed, 1 failed, 0 skipped" 1 'echo 1..1; echo ok 1; exit 3' "exit 3"
try "failure but exit 0" "0 passed, 1 failed, 0 skipped" 1 'echo 1..1; echo not ok 1 - x'
try "allowed skip" "1 passed, 0 failed, 1 skipped" 0 \
	'echo 1..2; echo ok 1 - a; echo "ok 2 - may # SKIP weather"' "it is outside"
try "skip for another reason" "0 passed, 1 failed, 0 skipped" 1 \
	'echo 1..1; echo "ok 1 - may # SKIP laziness"' "does not allow"
try "cmocka's skip" "0 passed, 1 failed, 0 skipped" 1 \
	'echo 1..1; echo "not ok 1 # SKIP test_x"' "test_x: skipped"
try "whole file skipped" "0 passed, 1 failed, 0 skipped" 1 'echo "1..0 # SKIP no mood"' "no mood"
try "two groups" "2 passed, 0 failed, 0 skipped" 0 'echo 1..1; echo ok 1 - a; echo 1..1; echo ok 1 - b'
try "too long" "0 passed, 1 failed, 0 skipped" 1 '# timeout: 1
sleep 30 & wait' "not ended after 1 s"
is "no pattern in skips.txt turns a parenthesis into an extended glob" \
	"$(grep -cE '^[^#]*[?*+@!]\(' tests/skips.txt)" 0

rc=0
out=$("$T/tests/run.sh" nothing-like-that 2>&1) || rc=$?
is "a pattern without a file fails" "$rc: $(tail -n 1 <<<"$out")" "1: 0 passed, 1 failed, 0 skipped"
finish
