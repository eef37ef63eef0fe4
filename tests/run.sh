#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs what is built: tests/run.sh [PATTERN]; a pattern runs the files whose path contains it.
#
# Every file prints TAP: a plan "1..N" (anywhere) and N lines "ok", "not ok" or "ok ... # SKIP reason".
# A file fails once more when it ends without a plan, with fewer or more results than its plan, nonzero
# without a "not ok", or not within its time: 300 s, or what a line "# timeout: SECONDS" in a script says.
# A skip counts as a failure unless tests/skips.txt allows it.
# The last line is "N passed, N failed, N skipped"; exit 1 when anything failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

pattern=${1:-}
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log" "$log".*' EXIT
export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# skip_allowed FILE NAME REASON: prints why, or fails.
skip_allowed() {
	local file pat why
	if [ "$(id -u)" != 0 ] && [ "$3" = "needs root" ]; then
		echo "not root"
		return 0
	fi
	while IFS='|' read -r file pat why; do
		file=${file%"${file##*[! ]}"} pat=${pat# } pat=${pat%"${pat##*[! ]}"}
		case $file in '' | '#'*) continue ;; esac
		# Patterns by intent.
		# shellcheck disable=SC2053
		if [[ $1 == *$file* && "$2 ($3)" == $pat ]]; then
			echo "${why# }"
			return 0
		fi
	done <tests/skips.txt
	return 1
}

fail() { # FILE NAME
	failed=$((failed + 1))
	printf 'FAILED %s: %s\n' "$1" "$2"
}

# Prints what belongs to result line N of the log: the lines since the result before it, the line itself
# and the "#" lines that follow it; at most 60.
context() {
	awk -v n="$1" '
		NR < n { if (/^(not )?ok /) keep = ""; else keep = keep "    " $0 "\n" }
		NR == n { printf "%s    %s\n", keep, $0 }
		NR > n { if (!/^#/) exit; print "    " $0 }' "$log" | tail -n 60
}

run_file() {
	local file=$1 limit=300 rc=0 nr=0 plan=-1 results=0 bad=0 began=$SECONDS
	local line name reason why said
	if [[ $file == *.sh ]]; then
		said=$(sed -n '1,20s/^# timeout: \([0-9]*\).*/\1/p' "$file")
		limit=${said:-$limit}
	fi
	{ timeout -k 20 "$limit" "$file" >"$log" 2>&1 </dev/null || rc=$?; } 2>/dev/null

	while IFS= read -r line; do
		nr=$((nr + 1))
		if [[ $line =~ ^1\.\.([0-9]+)(.*)$ ]]; then
			[ $plan -ge 0 ] || plan=0
			plan=$((plan + BASH_REMATCH[1]))
			if [[ ${BASH_REMATCH[1]} = 0 && ${BASH_REMATCH[2]} =~ \#\ *SKIP\ *(.*)$ ]]; then
				plan=$((plan + 1))
				line="ok 1 - whole file # SKIP ${BASH_REMATCH[1]}"
			fi
		fi
		[[ $line =~ ^(not\ )?ok(\ |$) ]] || continue
		results=$((results + 1))
		name=$(sed -E 's/^(not )?ok *[0-9]* *-? *//; s/ *# *SKIP.*$//' <<<"$line")
		if [[ $line =~ \#\ *SKIP\ *(.*)$ ]]; then
			reason=${BASH_REMATCH[1]}
			# cmocka 1.1.5 prints the name in the place of the reason.
			[ -n "$name" ] || name=$reason reason="no reason given"
			if why=$(skip_allowed "$file" "$name" "$reason"); then
				skipped=$((skipped + 1))
				printf 'skipped %s: %s: %s (%s)\n' "$file" "$name" "$reason" "$why"
			else
				bad=1
				fail "$file" "$name: skipped ($reason); tests/skips.txt does not allow that"
				context $nr
			fi
		elif [[ $line == not\ ok* ]]; then
			bad=1
			fail "$file" "$name"
			context $nr
		else
			passed=$((passed + 1))
		fi
	done <"$log"

	why=
	if [ $((SECONDS - began)) -ge "$limit" ] && [ $rc != 0 ]; then
		why="not ended after $limit s"
	elif [ $plan -lt 0 ]; then
		why="ended without a plan, exit $rc"
	elif [ $plan != $results ]; then
		why="planned $plan results, gave $results, exit $rc"
	elif [ $rc != 0 ] && [ $bad = 0 ]; then
		why="exit $rc without a failed result"
	fi
	if [ -n "$why" ]; then
		fail "$file" "$why"
		tail -n 60 "$log" | sed 's/^/    /'
	fi
	printf '%-44s %3d results, %d s\n' "$file" $results $((SECONDS - began))
}

shopt -s nullglob
files=()
for file in build/tests/unit/*_test build/tests/progrun/*_test \
	tests/{cli,netns,vm,fuzz}/*_test.sh; do
	[[ $file == *"$pattern"* ]] || continue
	# A binary whose source is gone is left over from another commit.
	if [[ $file == build/* && ! -e ${file#build/}.c ]]; then
		continue
	fi
	files+=("$file")
done
if [ ${#files[@]} = 0 ]; then
	echo "run.sh: no test file's path contains '$pattern'" >&2
	failed=1
fi
for file in "${files[@]}"; do
	run_file "$file"
done

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
