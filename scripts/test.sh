#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs what is missing, builds, runs every test: sudo scripts/test.sh [--yes] [PATTERN]
# The last line is "N passed, N failed, N skipped"; exit 1 when anything failed.
set -euo pipefail
cd "$(dirname "$0")/.."

setup=()
case ${1:-} in
--yes | -y)
	setup=(--yes)
	shift
	;;
-h | --help)
	sed -n '3,4s/^# //p' "$0"
	exit 0
	;;
esac
if [ "$(id -u)" != 0 ]; then
	echo "test.sh: needs root (namespaces, BPF): sudo scripts/test.sh" >&2
	exit 1
fi
scripts/setup.sh "${setup[@]}" build run test
make -s -j"$(nproc)" all tests-bin
exec tests/run.sh "$@"
