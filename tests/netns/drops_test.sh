#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `drops` live: every reader shows every notification of a simulated fabric or says that it was shed, at 50,000
# a second too; killed, without rights, with nobody who reads it, with programs that come and go.
# timeout: 400
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"
PINS=/sys/fs/bpf/xdp-sflow/v2

pair agent xsf0 xsf1 || { not_ok "veth pair"; finish; }
ip link set xsf0 arp on
in_ns agent ip link set xsf1 arp on
ip addr add 192.0.2.1/24 dev xsf0
in_ns agent ip addr add 192.0.2.2/24 dev xsf1

places() { find $PINS -name 'reader_*' 2>/dev/null | wc -l; }
places_are() { [ "$(places)" = "$1" ]; }
# listen OPTION...: drops in the background, PID and OUTPUT (stdout), SAID (stderr); it listens already.
nr_listening=0 dead=0
into() { # OUTPUT SAID COMMAND...
	exec >"$1" 2>"$2" "${@:3}"
}
listen() {
	OUTPUT=$T/out.$((++nr_listening)) SAID=$T/said.$nr_listening
	local before
	before=$(places)
	start into "$OUTPUT" "$SAID" "$XSF" drops "$@"
	wait_for 10 places_are $((before + 1 - dead)) || not_ok "drops $*" "$(cat "$SAID")"
	dead=0
	sleep 0.2
}
# simulate OPTION...: sends; SENT is how many notifications.
simulate() {
	in_ns agent "$XSF" simulate --to 192.0.2.1 --polling 1 --truth "$T/truth" "$@" >"$T/sim" 2>&1 ||
		not_ok "simulate $*" "$(cat "$T/sim")"
	SENT=$(json 'd["totals"]["drop_samples"]' "$T/truth")
}
# summary FILE: "shown filtered shed left notified" of what drops said at its end.
summary() {
	local n="([0-9]+)"
	sed -nE "s/^xdp-sflow: $n shown, $n did not match, $n shed by a full ring(, $n left[^;]*)?; $n notified\$/\1 \2 \3 0\5 \6/p" "$1"
}
adds_up() { # NAME FILE: shown + filtered + shed + left = notified
	local shown filtered shed left notified
	read -r shown filtered shed left notified < <(summary "$2")
	is "$1" "$((shown + filtered + shed + 10#$left))" "${notified:-?}"
}

# ---- nothing there ----
fails_with "no programs" 1 "xdp-sflow: no map xsf_event_rings is pinned in $PINS: *; first: xdp-sflow load IFACE" \
	"$XSF" drops
check "load" "$XSF" load xsf0 --consume --yes
fails_with "a user without rights" 1 "xdp-sflow: *; run as root" \
	setpriv --reuid 65534 --regid 65534 --clear-groups "$XSF" drops
is "no place is taken" "$(places)" 0

# ---- two at once ----
listen
one=$PID one_out=$OUTPUT one_said=$SAID
listen --json
two=$PID two_out=$OUTPUT two_said=$SAID
listen --write "$T/live.pcapng" ip6
three=$PID three_said=$SAID
simulate --rate 2000 --seconds 3 --drops 2000
check "some thousands were sent" test "$SENT" -gt 4000
wait_for 5 grep -qc . "$one_out"
for pid in $one $two $three; do
	stop "$pid" INT
	is "SIGINT ends it in order" "$?" 0
done
is "text: every notification" "$(summary "$one_said")" "$SENT 0 0 0 $SENT"
is "a line each" "$(wc -l <"$one_out")" "$SENT"
is "JSON: every notification as well" "$(summary "$two_said")" "$SENT 0 0 0 $SENT"
is "an object each" "$(python3 -c '
import collections, json, sys
c = collections.Counter(json.loads(line)["reason"] for line in open(sys.argv[1]))
print(sorted(c.items()))' "$two_out")" "$(json 'sorted(d["totals"]["drop_reasons"].items())' "$T/truth")"
adds_up "pcapng of IPv6 alone" "$three_said"
is "as tshark counts them" "$(tshark -n -r "$T/live.pcapng" -Y ipv6 -T fields -e frame.comment 2>/dev/null | grep -c ' at ')" \
	"$(grep -c '| IP6 ' "$one_out")"
is "times are now" "$(tail -n 1 "$two_out" | json 'abs(__import__("datetime").datetime.fromisoformat(
	d["time"][:26] + "+00:00").timestamp() - __import__("time").time()) < 60')" True
is "names are learnt" "$(tail -n 1 "$two_out" | json 'd["switch"][:4] in ("leaf", "spin")')" True
is "sequences are whole: nothing twice, nothing missing" "$(python3 -c '
import collections, json, sys
seen = collections.defaultdict(list)
for line in open(sys.argv[1]):
    d = json.loads(line)
    seen[d["agent"], d["sub_agent"]].append(d["sequence"])
print(all(s == list(range(s[0], s[0] + len(s))) for s in seen.values()), len(seen) > 3)' "$two_out")" "True True"
is "places are given back" "$(places)" 0

# ---- faster than it is read ----
counted() { "$XSF" status --json | json 'd["totals"]["drop_samples"]'; }
before=$(counted)
listen
burst=$PID burst_said=$SAID burst_out=$OUTPUT
listen --buffer 4096 --json
tiny=$PID tiny_said=$SAID
simulate --rate 20000 --seconds 3 --drops 50000
check "50,000 a second" test "$SENT" -gt 120000
stop $burst INT
stop $tiny INT
is "each is counted" "$(($(counted) - before))" "$SENT"
adds_up "shown and shed" "$burst_said"
is "are what was sent" "$(summary "$burst_said" | cut -d' ' -f5)" "$SENT"
is "a line for each shown" "$(wc -l <"$burst_out")" "$(summary "$burst_said" | cut -d' ' -f1)"
diag "50,000 a second: shown, filtered, shed, left, notified: $(summary "$burst_said"); with a ring of 4096 bytes: $(summary "$tiny_said")"
check "most are shown" test "$(summary "$burst_said" | cut -d' ' -f1)" -gt $((SENT / 2))
adds_up "a ring of 4096 bytes: shown and shed" "$tiny_said"
is "are what was sent, there as well" "$(summary "$tiny_said" | cut -d' ' -f5)" "$SENT"
check "it did shed" test "$(summary "$tiny_said" | cut -d' ' -f3)" -gt 1000

# ---- nobody takes what is written ----
mkfifo "$T/stuck"
exec 8<>"$T/stuck"
before=$(places)
start into "$T/stuck" "$T/stuck.said" "$XSF" drops --json --seconds 4
stuck=$PID
wait_for 10 places_are $((before + 1)) || not_ok "drops" "$(cat "$T/stuck.said")"
simulate --rate 2000 --seconds 2 --drops 2000
check "--seconds ends a blocked output" wait_for 6 gone $stuck
stop $stuck
is "in order" "$?" 0
like "and says that it took no more" "$(cat "$T/stuck.said")" \
	"xdp-sflow: * shown, 0 did not match, 0 shed by a full ring, the last not written since standard output took no more; * notified"
exec 8>&-
start bash -c "exec '$XSF' drops --seconds 4 >&- 2>'$T/closed.said'"
closed=$PID
wait_for 10 places_are $((before + 1)) || not_ok "drops" "$(cat "$T/closed.said")"
simulate --rate 2000 --seconds 1 --drops 2000
check "a closed output ends it" wait_for 6 gone $closed
stop $closed
is "as a failure" "$?" 1
is "and is told" "$(cat "$T/closed.said")" "xdp-sflow: cannot write to standard output: Bad file descriptor"

# ---- ends ----
listen --count 10
count=$PID count_said=$SAID count_out=$OUTPUT
simulate --rate 2000 --seconds 1 --drops 2000
wait_for 5 gone $count
stop $count
is "--count: so many lines" "$? $(wc -l <"$count_out")" "0 10"
adds_up "and the rest is told" "$count_said"
run "$XSF" drops --seconds 1
is "--seconds" "$RC $OUT$ERR" "0 xdp-sflow: 0 shown, 0 did not match, 0 shed by a full ring; 0 notified"
start bash -c "'$XSF' drops 2>'$T/pipe.said' | head -n 1"
pipe=$PID
wait_for 5 places_are 1
sleep 0.2
simulate --rate 2000 --seconds 1 --drops 2000
wait_for 5 gone $pipe
stop $pipe
is "who reads one line ends it quietly" "$? $(cat "$T/pipe.said") $(places)" "0  0"
mkfifo "$T/fifo"
start bash -c "exec '$XSF' drops >'$T/fifo'"
stuck=$PID
exec 7<"$T/fifo"
wait_for 5 places_are 1
sleep 0.2
simulate --rate 20000 --seconds 1 --drops 20000
began=$EPOCHSECONDS
stop $stuck INT
is "nobody reads its pipe: SIGINT ends it all the same" "$? $((EPOCHSECONDS - began < 5))" "0 1"
exec 7<&-
is "and it gave its place back" "$(places)" 0

# ---- killed ----
listen
stop "$PID" KILL 2>/dev/null
is "killed: its place stays" "$(places)" 1
dead=1
listen
heir=$PID heir_said=$SAID
simulate --rate 2000 --seconds 1 --drops 2000
stop $heir INT
is "the next takes it over and shows all" "$(summary "$heir_said")" "$SENT 0 0 0 $SENT"
is "no place is left" "$(places)" 0

# ---- programs come and go ----
listen
running=$PID running_said=$SAID
simulate --rate 2000 --seconds 1 --drops 2000
sum=$SENT
check "load anew" "$XSF" load xsf0 --consume --yes
simulate --rate 2000 --seconds 1 --drops 2000
sum=$((sum + SENT))
sleep 0.5
check "purge under it" "$XSF" unload --all --purge
wait_for 5 grep -q waiting "$running_said"
like "it says so and waits" "$(cat "$running_said")" "xdp-sflow: no map xsf_event_rings is pinned in *; waiting"
check "other maps" "$XSF" load xsf0 --consume --yes
wait_for 5 places_are 1
sleep 0.2
simulate --rate 2000 --seconds 1 --drops 2000
sum=$((sum + SENT))
stop $running INT
is "and goes on with them" "$? $(summary "$running_said")" "0 $sum 0 0 0 $sum"

# ---- nothing is attached, the maps are there ----
check "unload, the counts stay" "$XSF" unload xsf0
run "$XSF" drops --seconds 1
like "no program: it says so" "$RC $ERR" "0 *no program is attached now, so nothing comes; first: xdp-sflow load IFACE; waiting*0 notified"
check "load again" "$XSF" load xsf0 --consume --yes

# ---- README's commands ----
while read -r line; do
	# shellcheck disable=SC2086 # words
	run ${line/#xdp-sflow/$XSF} --seconds 1
	like "README: $line" "$RC $ERR" "0 *0 notified"
done < <(cd "$T" && python3 "$PY/docs.py" block drops | sed 's/ *#.*//; s, drops.pcapng, '"$T"'/drops.pcapng,')

# ---- tables ----
listen --top --seconds 3
top=$PID top_out=$OUTPUT top_said=$SAID
simulate --rate 2000 --seconds 1 --drops 2000
ticks=$(cut -d' ' -f14,15 /proc/$top/stat | tr ' ' +)
check "it waits, and does not spin" test $((ticks)) -lt 50
wait_for 10 gone $top
stop $top
is "--top without a terminal ends by itself" "$? $(summary "$top_said")" "0 $SENT 0 0 0 $SENT"
# Backwards: flows, then the reasons that are wanted.
is "its last table has all" "$(tac "$top_out" | awk '$3 == "FLOW" { at = 1; next } $3 == "REASON" { exit } at { n += $2 }
	END { print n }')" "$SENT"
start in_ns agent "$XSF" simulate --to 192.0.2.1 --polling 1 --rate 2000 --seconds 30 --drops 2000
sim=$PID
run timeout 20 "$XSF" drops --top --count 3
is "--top --count: the last table has what was shown" \
	"$(awk '$3 == "REASON" { at = 1; next } !NF { at = 0 } at { n += $2 } END { print n }' <<<"$OUT")" 3
is "--top on a terminal: keys and rows" "$(timeout 40 python3 "$PY/drops_top.py" "$XSF" drops --top | tr '\n' ' ')" \
	"PLACE REASON FLOW PLACE REASON rows summary exit 0 "
stop $sim INT
check "unload" "$XSF" unload --all --purge
finish
