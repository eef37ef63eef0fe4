#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Pins: lost, hidden under a fresh file system, of another layout, unreadable, or nowhere to put them.
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/load_lib.sh"
private "$@"
PINS=/sys/fs/bpf/xdp-sflow/v2
pair agent xsf0 xsf1
pair agent xsf2 xsf3

# A fresh file system over the old one: programs go on counting into maps that nobody can open.
check "load" "$XSF" load xsf0 xsf2
adds "counts" 5 agent xsf1 5
mount -t bpf -o mode=0700 bpf /sys/fs/bpf
datagrams agent xsf1 4 --first 6 >/dev/null
run "$XSF" load xsf0
like "fresh bpffs: taken over" "$RC $OUT" \
	"0 *xsf0: program replaced, counts kept, *; its lost pins were made again*"
is "what was counted meanwhile is there" "$(counted)" 9
adds "one count each" 5 agent xsf1 5 --first 10
is "one program" "$(programs xsf0) $(attachments)" "xsf_xdp 1"
adds "the other interface counts into the same maps" 5 agent xsf3 5
run "$XSF" load xsf2
like "and is taken over as well" "$RC $OUT" "0 *xsf2: program replaced, counts kept, *"
is "two attachments" "$(attachments)" 2
adds "one count each" 5 agent xsf3 5 --first 6
run "$XSF" unload xsf0
is "unload" "$RC $(programs xsf0)" "0 "

# Hidden again, and unloaded without loading
mount -t bpf -o mode=0700 bpf /sys/fs/bpf
run "$XSF" unload xsf2
is "unload finds a program whose pins are hidden" "$RC $(programs xsf2)" "0 "
check "load one" "$XSF" load xsf0
mount -t bpf -o mode=0700 bpf /sys/fs/bpf
check "and another with maps of its own" "$XSF" load xsf2
fails_with "a program that counts into other maps than those pinned is not moved" 1 \
	"*xsf0: its program (id *) counts into other maps than those in $PINS: * xdp-sflow unload xsf0" \
	"$XSF" load xsf0
is "it goes on" "$(programs xsf0)" xsf_xdp
check "the command it names helps" "$XSF" unload xsf0
check "load then" "$XSF" load xsf0
adds "one count each" 5 agent xsf1 5
umount /sys/fs/bpf
check "unload --all --purge" "$XSF" unload --all --purge
is "no program" "$(programs xsf0)$(programs xsf2)" ""

# Single pins lost
check "load" "$XSF" load xsf0
adds "counts" 5 agent xsf1 5
rm $PINS/xsf_totals $PINS/xsf_agents
fails_with "status without a map says which" 1 "*no map xsf_agents is pinned in $PINS;*" "$XSF" status
run "$XSF" load xsf0
like "load pins the program's own maps again" "$RC $OUT" "0 *; its lost pins were made again*"
is "counts are kept" "$(counted)" 5
adds "one count each" 5 agent xsf1 5 --first 6
# The link's pin was all that held the program.
rm -r $PINS/if_*
# The kernel lets go of it a moment later.
gone() { [ -z "$(programs xsf0)" ]; }
check "without its link the program is gone" wait_for 5 gone
check "load attaches anew" "$XSF" load xsf0
adds "and counts go on" 5 agent xsf1 5 --first 11
is "from where they were" "$(counted)" 15

# Another layout
value_bytes() { bpftool -j map show pinned "$PINS/$1" | json 'd["bytes_value"]'; }
agent_bytes=$(value_bytes xsf_agents) total_bytes=$(value_bytes xsf_totals) row_bytes=$(value_bytes xsf_ops)
check "unload" "$XSF" unload xsf0 --purge
mkdir -p $PINS
bpftool map create $PINS/xsf_agents type array key 4 value 64 entries 4096 name xsf_agents flags 1024
fails_with "another value size: named, with both sizes and what to do" 1 \
	"*$PINS/xsf_agents is a map of another layout: value bytes 64, wanted $agent_bytes; *--all --purge" \
	"$XSF" load xsf0
is "and not wiped" "$(value_bytes xsf_agents)" 64
is "nothing is attached" "$(programs xsf0)" ""
fails_with "status likewise" 1 \
	"*$PINS/xsf_agents is a map of another layout: value bytes 64, wanted $agent_bytes;*" \
	"$XSF" status
check "the command it names helps" "$XSF" unload --all --purge
check "load then" "$XSF" load xsf0
check "unload" "$XSF" unload --all --purge
while read -r what args; do
	mkdir -p $PINS
	# shellcheck disable=SC2086
	bpftool map create $PINS/xsf_totals name xsf_totals $args
	fails_with "another $what" 1 "*$PINS/xsf_totals is a map of another layout: *wanted*" "$XSF" load xsf0
	"$XSF" unload --all --purge >/dev/null
done <<EOF
type type array key 4 value $total_bytes entries 1
number_of_entries type percpu_array key 4 value $total_bytes entries 2
key_size type percpu_hash key 8 value $total_bytes entries 1
EOF
mkdir -p $PINS
bpftool map create $PINS/xsf_ops type percpu_array key 4 value "$row_bytes" entries 26 name xsf_ops
fails_with "rows that are no whole number of groups" 1 \
	"*$PINS/xsf_ops is a map of another layout: entries 26, *" \
	"$XSF" load xsf0
"$XSF" unload --all --purge >/dev/null

# Room for more fabrics
check "load --fabrics 3" "$XSF" load xsf0 --fabrics 3
is "rows" "$(bpftool -j map show pinned $PINS/xsf_ops | json 'd["max_entries"]')" 63
check "load without it keeps them" "$XSF" load xsf0
adds "counts" 5 agent xsf1 5
fails_with "another number is refused" 1 "*maps pinned in $PINS have room for 3 fabrics, not 4;*" \
	"$XSF" load xsf0 --fabrics 4
check "unload" "$XSF" unload --all --purge

# A directory of one's own
mkdir "$T/bpf"
mount -t bpf bpf "$T/bpf"
check "load --maps DIR" "$XSF" load xsf0 --maps "$T/bpf/mine/deep/"
is "nothing in the default place" "$(ls -d /sys/fs/bpf/xdp-sflow 2>&1)" \
	"ls: cannot access '/sys/fs/bpf/xdp-sflow': No such file or directory"
MAPS_DIR=$T/bpf/mine/deep adds "counts there" 5 agent xsf1 5
fails_with "load with other pins says where they are" 1 "*pinned in $T/bpf/mine/deep; add --maps *" \
	"$XSF" load xsf0
fails_with "unload with other pins likewise" 1 "*pinned in $T/bpf/mine/deep; add --maps *" \
	"$XSF" unload xsf0
run "$XSF" unload --all
is "unload --all leaves what another directory holds" "$RC $OUT $(programs xsf0 | wc -w)" \
	"0 0 interfaces detached 1"
run "$XSF" unload --all --maps /sys/fs/bpf/xdp/globals
is "also with a directory that has no maps" "$RC $OUT $(programs xsf0 | wc -w)" \
	"0 0 interfaces detached 1"
(cd "$T/bpf" && "$XSF" unload --all --purge --maps mine/deep >/dev/null)
is "a relative name; nothing left" "$(programs xsf0) $(ls "$T/bpf/mine")" " "
fails_with "a directory elsewhere is refused" 1 "*$T/plain is not on a BPF file system: *" \
	"$XSF" load xsf0 --maps "$T/plain"
is "and not made" "$(ls -d "$T/plain" 2>&1)" "ls: cannot access '$T/plain': No such file or directory"
umount "$T/bpf"

# No BPF file system
while umount /sys/fs/bpf 2>/dev/null; do :; done
run "$XSF" load xsf0
like "no bpffs: mounted, and said so" "$RC $OUT" "0 *mounted a BPF file system at /sys/fs/bpf*xsf0: attached*"
adds "counts" 5 agent xsf1 5
check "unload" "$XSF" unload --all --purge
umount /sys/fs/bpf
mount -t tmpfs tmpfs /sys/fs/bpf
fails_with "another file system there" 1 \
	"*another file system is mounted at /sys/fs/bpf; *mount -t bpf bpf /sys/fs/bpf" \
	"$XSF" load xsf0
umount /sys/fs/bpf
fails_with "another mount namespace: pins would vanish with it" 1 \
	"*no BPF file system at /sys/fs/bpf in this mount namespace*nsenter --net=*" \
	unshare --mount "$XSF" load xsf0
mount -t tmpfs tmpfs /sys
fails_with "no sysfs" 1 "*no directory /sys/fs/bpf: *" "$XSF" load xsf0
umount /sys
mount -t bpf -o mode=0700 bpf /sys/fs/bpf

# Rights
fails_with "no capability" 1 "*xdp-sflow: *; run as root*" capsh --drop=all -- -c "exec '$XSF' load xsf0"
fails_with "another user" 1 "*xdp-sflow: *run as root*" setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$XSF" load xsf0
is "nothing is attached" "$(programs xsf0)" ""
run prlimit --memlock=65536 "$XSF" load xsf0
is "a small ulimit -l" "$RC" 0
run unshare --mount bash -c "mount -t tmpfs tmpfs /sys/kernel/btf && exec '$XSF' load xsf0"
is "a kernel without BTF" "$RC" 0

# Readers with the group's read right and nothing else, where bpf(2) is closed to them
is "unprivileged bpf(2) is off" "$(($(cat /proc/sys/kernel/unprivileged_bpf_disabled) > 0))" 1
adds "counts" 5 agent xsf1 5
chmod 0711 /sys/fs/bpf
is "modes of the pins" \
	"$(cd $PINS && stat -c %a .. . xsf_* if_* if_*/* lock | sort | uniq -c | tr -s ' \n' ' ')" \
	" 30 640 1 700 3 750 "
reader=(setpriv --reuid 65534 --regid 65533 --clear-groups "$XSF")
fails_with "no such group yet" 1 "*cannot open the pinned map *: Permission denied; run as root or *" \
	"${reader[@]}" status
grep -v '^xdp-sflow:' /etc/group >"$T/group"
echo 'xdp-sflow:x:65533:' >>"$T/group"
mount --bind "$T/group" /etc/group
check "load again gives the pins to the group" "$XSF" load xsf0
is "but the lock, and to nobody else" "$(find /sys/fs/bpf/xdp-sflow ! -gid 65533 -o -perm /o=rwx)" \
	"$PINS/lock"
run "${reader[@]}" status --json
is "a reader of the group sees the counts" "$(json 'd["totals"]["datagrams"]' <<<"$OUT")" 5
is "and who is attached" "$(json '[(a["ifname"], a["mode"], a["how"]) for a in d["attached"]]' <<<"$OUT")" \
	"[('xsf0', 'native', 'link')]"
is "agents as well" "$(json '[a["agent"] for a in d["agents"]]' <<<"$OUT")" "['192.0.2.9']"
is "the same as root sees" "$(json 'd["totals"]' <<<"$OUT")" "$("$XSF" status --json | json 'd["totals"]')"
run "${reader[@]}" unload xsf0
like "but may not unload" "$RC $ERR" "1 *run as root*"
is "it is there" "$(programs xsf0)" xsf_xdp
run "${reader[@]}" load xsf0
like "nor load" "$RC $ERR" "1 *run as root*"
run setpriv --reuid 65534 --regid 65533 --clear-groups flock -n $PINS/lock true
like "nor keep the lock" "$RC $ERR" "* cannot open lock file *Permission denied"
reader=(setpriv --reuid 65534 --regid 65534 --clear-groups "$XSF")
fails_with "others may not read" 1 \
	"*cannot open the pinned map *: Permission denied; run as root or as a member of group xdp-sflow" \
	"${reader[@]}" status
umount /etc/group
check "unload" "$XSF" unload --all --purge

# By ip alone
ip link set dev xsf0 xdp obj "$OBJ" sec xdp
is "ip link attaches" "$(programs xsf0)" xsf_xdp
GLOBALS=/sys/fs/bpf/xdp/globals
MAPS_DIR=$GLOBALS adds "status --maps reads its pins" 6 agent xsf1 6
is "and sees the program" \
	"$("$XSF" status --json --maps $GLOBALS | json '[(a["ifname"], a["how"]) for a in d["attached"]]')" \
	"[('xsf0', 'external')]"
fails_with "load tells how to remove it" 1 \
	"*xsf0 already has xsf_xdp (id *), attached by hand, without a link of ours*ip link set dev xsf0 xdp off" \
	"$XSF" load xsf0
ip link set dev xsf0 xdp off
ip link set dev xsf0 xdp obj "$OBJ" sec xdp.frags
is "ip link attaches the other section" "$(programs xsf0)" xsf_xdp_frags
MAPS_DIR=$GLOBALS adds "into the same maps" 6 agent xsf1 6 --first 7
is "which kept their counts" "$(MAPS_DIR=$GLOBALS counted)" 12
ip link set dev xsf0 xdp off
check "purge what ip pinned" "$XSF" unload --purge --maps $GLOBALS
is "nothing of ours is left" "$(find /sys/fs/bpf -name 'xsf*')" ""
finish
