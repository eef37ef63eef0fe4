#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# load, unload and status on a veth: once, twice, again after kill -9, beside others, renamed, gone.
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/load_lib.sh"
private "$@"
PINS=/sys/fs/bpf/xdp-sflow/v2
pair agent xsf0 xsf1

run "$XSF" load xsf0
is "load: exit" $RC 0
like "load says what drivers do, before it attaches" "$OUT" \
	"*reset their rings*xsf0: attached, native mode, program *"
is "load: nothing on stderr" "$ERR" ""
adds "7 datagrams count 7" 7 agent xsf1 7
is "one program" "$(programs xsf0)" xsf_xdp

run "$XSF" load xsf0
is "load again: exit" $RC 0
like "load again says so" "$OUT" "xsf0: program replaced, counts kept, native mode, program *"
adds "7 more count 7 more" 7 agent xsf1 7 --first 8
is "counts are kept" "$(counted)" 14
is "still one program" "$(programs xsf0)" xsf_xdp
is "one attachment is pinned" "$(attachments)" 1

fails_with "the same interface twice in one command" 2 "*xsf0 is named twice*" "$XSF" load xsf0 xsf0
adds "still one count each" 3 agent xsf1 3 --first 15

# What can be seen
run "$XSF" status
like "status: attached" "$OUT" "*Attached: 1
  xsf0 * native, pass, by link, program *, port 6343
*"
like "status: the agent" "$OUT" "*192.0.2.9 *17 *"
run "$XSF" status xsf0 --json
is "status IFACE --json" \
	"$(json '[(a["ifname"], a["mode"], a["verdict"], a["how"]) for a in d["attached"]]' <<<"$OUT")" \
	"[('xsf0', 'native', 'pass', 'link')]"
fails_with "status of an interface without a program" 1 \
	"*no program that counts into $PINS is attached to lo;*" \
	"$XSF" status lo

# A command that is killed at any moment
nr_bad=0
# A load takes some 200 ms here, most of it in the verifier.
for ms in $(seq 0 20 240); do
	"$XSF" load xsf0 >/dev/null 2>&1 &
	pid=$!
	sleep "0.$(printf %03d "$ms")"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	[ "$(programs xsf0)" = xsf_xdp ] || nr_bad=$((nr_bad + 1))
done
is "killed at 13 moments of a reload: always one program" $nr_bad 0
adds "after that one count each" 5 agent xsf1 5 --first 18
check "load after it" "$XSF" load xsf0
is "and one attachment" "$(attachments)" 1
adds "one count each" 5 agent xsf1 5 --first 23

nr_bad=0
for ms in $(seq 0 20 240); do
	"$XSF" unload xsf0 >/dev/null 2>&1
	"$XSF" load xsf0 >/dev/null 2>&1 &
	pid=$!
	sleep "0.$(printf %03d "$ms")"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	"$XSF" load xsf0 >/dev/null 2>"$T/again" || nr_bad=$((nr_bad + 1))
	[ "$(programs xsf0)" = xsf_xdp ] || nr_bad=$((nr_bad + 1))
	[ "$(attachments)" = 1 ] || nr_bad=$((nr_bad + 1))
done
is "killed at 13 moments of a first load: the next one works $(cat "$T/again")" $nr_bad 0
adds "one count each" 5 agent xsf1 5 --first 28

# Two at once
"$XSF" load xsf0 >"$T/a" 2>&1 &
a=$!
"$XSF" load xsf0 >"$T/b" 2>&1 &
b=$!
wait $a
rc=$?
wait $b
is "two loads at the same time both succeed" "$rc $?" "0 0"
is "one program" "$(programs xsf0) $(attachments)" "xsf_xdp 1"

# Another name
ip link set dev xsf0 down
ip link set dev xsf0 name col.100
ip link set dev col.100 up
wait_for 5 carrier col.100
adds "renamed: goes on counting" 5 agent xsf1 5 --first 33
is "status knows the new name" "$("$XSF" status --json | json 'd["attached"][0]["ifname"]')" col.100
fails_with "unload by the old name tells the new one" 1 \
	"*xsf0 is called col.100 now: xdp-sflow unload col.100" \
	"$XSF" unload xsf0
run "$XSF" load col.100
like "load by the new name replaces" "$OUT" "*col.100: program replaced*"
is "one attachment" "$(attachments)" 1
run "$XSF" unload col.100
is "unload by the new name" "$RC $OUT" "0 col.100: detached"
is "nothing is attached" "$(programs col.100)" ""
check "load a name with a dot" "$XSF" load col.100
is "its pin" "$(basename $PINS/if_*)" "$(basename $PINS/if_col%2e100_*)"
check "unload it" "$XSF" unload col.100
fails_with "unload twice" 1 "*col.100 has no program that xdp-sflow attached;*" "$XSF" unload col.100
before=$(counted)
datagrams agent xsf1 5 >/dev/null
is "counts stay, and grow no more" "$(counted)" "$before"

# The interface goes away
check "load again" "$XSF" load col.100
ip link del col.100
fails_with "load of an interface that is gone" 1 "*no interface col.100 in this network namespace;*" \
	"$XSF" load col.100
is "status: nothing is attached" "$("$XSF" status --json | json 'd["attached"]')" "[]"
run "$XSF" unload col.100
is "unload of an interface that is gone removes its pins" "$RC $(attachments)" "0 0"
pair agent xsf0 xsf1
check "load" "$XSF" load xsf0
ip link del xsf0
pair agent xsf0 xsf1
run "$XSF" load xsf0
like "the same name made anew" "$RC $OUT" "0 *xsf0: attached*"
is "what was left over is gone" "$(attachments)" 1
adds "and counts" 5 agent xsf1 5

# Others' things
check "unload" "$XSF" unload --all
cat >"$T/pass.c" <<'C'
__attribute__((section("xdp"), used)) int someone_elses(void *ctx) { return 2; }
char _license[] __attribute__((section("license"), used)) = "GPL";
C
clang -O2 -g -target bpf -c "$T/pass.c" -o "$T/pass.o"
ip link set dev xsf0 xdp obj "$T/pass.o" sec xdp
fails_with "a foreign program is refused" 1 \
	"*xsf0 already has another XDP program: someone_elses (id *, native); remove it with: ip link set \
dev xsf0 xdp off; or * --share" \
	"$XSF" load xsf0
is "and stays" "$(programs xsf0)" someone_elses
fails_with "unload leaves it" 1 "*xsf0 has no program that xdp-sflow attached;*" "$XSF" unload xsf0
check "unload --all leaves it" "$XSF" unload --all
is "it is there" "$(programs xsf0)" someone_elses
ip link set dev xsf0 xdp off
mkdir /sys/fs/bpf/other
bpftool map create /sys/fs/bpf/other/theirs type array key 4 value 4 entries 1 name theirs
bpftool map create $PINS/not_ours type array key 4 value 4 entries 1 name not_ours

# Everything away
pair agent xsf2 xsf3
check "load two" "$XSF" load xsf0 xsf2
run "$XSF" unload xsf0 --purge
like "purge while another interface counts is refused" "$RC $ERR" \
	"1 *counts in $PINS stay: 1 other interface still counts there;*"
is "which goes on" "$(programs xsf2)" xsf_xdp
id=$(prog_id xsf2)
check "unload --all --purge" "$XSF" unload --all --purge
is "a foreign pin among ours stays" "$(ls $PINS)" not_ours
rm $PINS/not_ours
check "load two again" "$XSF" load xsf0 xsf2
for name in if_a_1 if_z_1; do # whichever is read first
	mkdir $PINS/$name
	bpftool map create $PINS/$name/link type array key 4 value 4 entries 1 name no_link
done
fails_with "what is no link among ours is refused by --all" 1 "*if_[az]_1: cannot detach the program: *" \
	"$XSF" unload --all
is "but keeps no other attachment" "$(programs xsf0)$(programs xsf2)" ""
rm -r $PINS/if_a_1 $PINS/if_z_1
check "purge once more" "$XSF" unload --all --purge
is "nothing of ours is left" "$(find /sys/fs/bpf | grep -E 'xsf|xdp-sflow')" ""
is "theirs is" "$(ls /sys/fs/bpf/other)" theirs
run bpftool prog show id "$id"
unlike "the program has gone" "$RC" 0
fails_with "status then" 1 "*no map xsf_agents is pinned in $PINS;*" "$XSF" status
fails_with "unknown interface" 1 "*no interface nosuch0 in this network namespace;*" "$XSF" load nosuch0
is "a load that was refused leaves nothing" "$(find /sys/fs/bpf -name '*xsf*' -o -name 'xdp-sflow')" ""
finish
