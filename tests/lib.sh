# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For tests/*/*_test.sh: sourced first, with `set -u` and not `-e` (a test goes on after a failure).
#
#   . "$(dirname "$0")/../lib.sh"
#   private "$@"                        # own net, mount and pid namespaces; nothing outlives the test
#   pair agent xsf0 xsf1                # namespace "agent" has xsf1, the other end of our xsf0
#   send agent xsf1 some.pcap           # exact frames
#   is "two datagrams" "$(totals datagrams)" 2
#   finish
#
# $ROOT the repository, $XSF the command, $OBJ the programs, $GOLDEN tests/golden, $T a directory of the
# test's own that is removed at its end.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
XSF=${XSF:-$ROOT/build/xdp-sflow}
# shellcheck disable=SC2034
OBJ=$ROOT/build/xdp_sflow.bpf.o GOLDEN=$ROOT/tests/golden PY=$ROOT/tests/py
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
nr_results=0 nr_failed=0
started=()
exit_hooks=()

diag() { # TEXT: each line as a TAP comment
	local line
	while IFS= read -r line; do printf '# %s\n' "$line"; done <<<"$*"
}

ok() { # NAME
	nr_results=$((nr_results + 1))
	printf 'ok %d - %s\n' $nr_results "$1"
}

not_ok() { # NAME [DETAIL]
	nr_results=$((nr_results + 1)) nr_failed=$((nr_failed + 1))
	printf 'not ok %d - %s\n' $nr_results "$1"
	[ -z "${2:-}" ] || diag "$2"
}

skip() { # NAME REASON: tests/skips.txt must allow it
	nr_results=$((nr_results + 1))
	printf 'ok %d - %s # SKIP %s\n' $nr_results "$1" "$2"
}

# check NAME COMMAND...: ok when the command succeeds; its output only when not.
check() {
	local name=$1 said rc=0
	shift
	said=$("$@" 2>&1) || rc=$?
	if [ $rc = 0 ]; then ok "$name"; else not_ok "$name" "exit $rc: $*
$said"; fi
}

# is NAME GOT WANT: equal as text.
is() {
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got:  $2
want: $3"; fi
}

# like NAME GOT PATTERN: a glob.
like() {
	# shellcheck disable=SC2053
	if [[ $2 == $3 ]]; then ok "$1"; else not_ok "$1" "got:  $2
want: $3"; fi
}

# unlike NAME GOT PATTERN
unlike() {
	# shellcheck disable=SC2053
	if [[ $2 != $3 ]]; then ok "$1"; else not_ok "$1" "got:  $2
not:  $3"; fi
}

# run COMMAND...: sets RC, OUT (stdout) and ERR (stderr). At most 60 s.
run() {
	RC=0
	timeout -k 5 "${RUN_TIMEOUT:-60}" "$@" >"$T/out" 2>"$T/err" </dev/null || RC=$?
	OUT=$(tr -d '\0' <"$T/out") ERR=$(tr -d '\0' <"$T/err")
}

# fails_with NAME EXIT PATTERN COMMAND...: that exit code, nothing on stdout, one line on stderr that
# matches the glob.
fails_with() {
	local name=$1 want=$2 pattern=$3
	shift 3
	run "$@"
	# shellcheck disable=SC2053
	if [ $RC = "$want" ] && [ -z "$OUT" ] && [ "$(wc -l <"$T/err")" = 1 ] && [[ $ERR == $pattern ]]; then
		ok "$name"
	else
		not_ok "$name" "exit $RC (want $want): $*
stdout: $(head -c 300 "$T/out" | tr -d '\0')
stderr: $ERR
want:   $pattern"
	fi
}

# finish: the plan; exits. Every test ends with it.
finish() {
	printf '1..%d\n' $nr_results
	[ $nr_failed = 0 ]
	exit
}

skip_all() { # REASON: instead of any result
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

# wait_for SECONDS COMMAND...: tries every 50 ms until it succeeds; fails after SECONDS.
wait_for() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "${EPOCHREALTIME/./}" -lt $end ] || return 1
		sleep 0.05
	done
}

# at_exit COMMAND: evaluated at the end, last one first.
at_exit() { exit_hooks=("$1" "${exit_hooks[@]}"); }

# start COMMAND...: in the background, in a process group of its own, output in $STARTED_LOG; sets PID.
# Ended at exit if still there.
start() {
	# shellcheck disable=SC2034
	STARTED_LOG=$T/started.${#started[@]}
	set -m # else it would ignore SIGINT
	"$@" >"$STARTED_LOG" 2>&1 </dev/null &
	PID=$!
	set +m
	started+=("$PID")
}

# stop PID [SIGNAL]: signals a started command's group and waits for it; after 10 s kills it. Returns its
# exit code.
stop() {
	local rc=0
	kill -"${2:-TERM}" -- -"$1" 2>/dev/null
	wait_for 10 gone "$1" || kill -KILL -- -"$1" 2>/dev/null
	wait "$1" 2>/dev/null || rc=$?
	return $rc
}

gone() { [[ ! -e /proc/$1 || $(cut -d' ' -f3 "/proc/$1/stat") = Z ]]; }

cleanup() {
	local rc=$? hook pid
	# A signal may reach a child between fork and exec, while it still has our traps.
	[ "$BASHPID" = $$ ] || exit $rc
	trap - EXIT
	for hook in "${exit_hooks[@]}"; do eval "$hook"; done
	for pid in "${started[@]}"; do
		kill -0 "$pid" 2>/dev/null && stop "$pid" >/dev/null 2>&1
	done
	rm -rf "$T"
	exit $rc
}

if [ -z "${XSF_PRIVATE:-}" ] || [ -z "${T:-}" ]; then
	T=$(mktemp -d "${TMPDIR:-/tmp}/xsf-test.XXXXXX")
fi
export T
# What is PUT to a server is kept here, not on this machine.
export STATE_DIRECTORY=$T/kept
mkdir -p "$STATE_DIRECTORY"
trap cleanup EXIT
trap 'exit 143' TERM INT HUP

# private "$@": the test starts again in network, mount and pid namespaces of its own, with its own /sys,
# bpffs (/sys/fs/bpf), /run/netns and /run/xdp-sflow. When it ends, however it ends, the kernel takes all
# of it away: processes, interfaces, pins, programs.
private() {
	if [ "$(id -u)" != 0 ]; then
		skip_all "needs root"
	fi
	if [ -z "${XSF_PRIVATE:-}" ]; then
		# No exec: this shell removes $T also when the inner one is killed.
		local rc=0
		XSF_PRIVATE=1 unshare --net --mount --pid --fork --kill-child --mount-proc \
			--propagation private "$0" "$@" &
		local inner=$!
		trap 'pkill -TERM -P $inner 2>/dev/null' TERM INT HUP
		while kill -0 $inner 2>/dev/null; do
			wait $inner
			rc=$?
		done
		exit $rc
	fi
	unset XSF_PRIVATE # not for what the test starts
	if ! { mount -t sysfs sysfs /sys &&
		mount -t bpf -o mode=0700 bpf /sys/fs/bpf &&
		mkdir -p /run/netns &&
		mount -t tmpfs tmpfs /run/netns &&
		ip link set lo up; }; then
		not_ok "private namespaces"
		finish
	fi
}

# quiet NS IFACE: a quiet interface: no IPv6 addresses, neighbours or multicast of its own, so that
# only the frames that a test sends arrive. NS "" is ours.
quiet() {
	in_ns "$1" sysctl -q -w "net.ipv6.conf.$2.disable_ipv6=1" 2>/dev/null
	in_ns "$1" ip link set "$2" arp off multicast off
}

# in_ns NS COMMAND...: `ip netns exec` would hide bpffs. NS "" is ours.
in_ns() {
	local ns=$1
	shift
	if [ -n "$ns" ]; then nsenter --net="/run/netns/$ns" "$@"; else "$@"; fi
}

# pair NS IFACE PEER [MTU]: veth IFACE here and PEER in the namespace NS (made when missing), both up and
# quiet, offloads off.
pair() {
	local ns=$1 here=$2 there=$3 mtu=${4:-1500}
	[ -e "/run/netns/$ns" ] || ip netns add "$ns" || return 1
	ip link add "$here" mtu "$mtu" type veth peer name "$there" mtu "$mtu" netns "$ns" || return 1
	quiet "" "$here"
	quiet "$ns" "$there"
	ethtool -K "$here" tx off rx off gro off >/dev/null 2>&1
	in_ns "$ns" ethtool -K "$there" tx off rx off gro off >/dev/null 2>&1
	in_ns "$ns" ip link set lo up
	in_ns "$ns" ip link set "$there" up && ip link set "$here" up &&
		wait_for 5 carrier "$here"
}

carrier() { [ "$(cat "/sys/class/net/$1/carrier" 2>/dev/null)" = 1 ]; }

# send NS IFACE FILE... [OPTION...]: every frame of the captures as it is (tests/py/send_pcap.py); prints
# how many.
send() {
	local ns=$1
	shift
	in_ns "$ns" python3 "$PY/send_pcap.py" "$@"
}

# json EXPRESSION [FILE]: the value of a Python expression over the object d, read from FILE or stdin;
# "?" and why when there is none. E.g. json 'd["totals"]["datagrams"]' status.json
json() {
	python3 -c 'import json, sys
try:
    d = json.load(open(sys.argv[2]) if len(sys.argv) > 2 else sys.stdin)
    print(eval(sys.argv[1]))
except Exception as e:
    print("?", type(e).__name__, e)' "$@"
}
