#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Topologies: uploaded, kept, refused; and what the kernel counts by fabric and role from then on.
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"
STATE=$T/state
TOPO=/topology/json
APP=/app/topology/scripts/topology.js
fabric=(--leaves 3 --spines 2 --ports 4) # 12 interfaces of hosts, 12 ends of links

pair agent xsf0 xsf1 || { not_ok "veth pair"; finish; }
ip link set xsf0 arp on
in_ns agent ip link set xsf1 arp on
ip addr add 192.0.2.1/24 dev xsf0
in_ns agent ip addr add 192.0.2.2/24 dev xsf1

# export_with OPTION...: starts it; URL is where it serves.
export_with() {
	start "$XSF" export --state-dir "$STATE" --listen 127.0.0.1:0 "$@"
	wait_for 10 grep -q ' serving ' "$STARTED_LOG" || diag "$(cat "$STARTED_LOG")"
	EXPORTER=$PID EXPORT_LOG=$STARTED_LOG
	URL=$(sed -n 's,.* serving \(http://.*\)/metrics$,\1,p' "$STARTED_LOG")
}
# ask PATH [OPTION...]: sets STATUS, and OUT to the body.
ask() {
	local path=$1
	shift
	STATUS=$(curl -sS --max-time 30 -o "$T/body" -w '%{http_code}' "$@" "$URL$path" 2>"$T/curl") ||
		STATUS="$STATUS $(cat "$T/curl")"
	OUT=$(cat "$T/body" 2>/dev/null)
	: >"$T/body"
}
# put NAME FILE WANT [OPTION...]: WANT is a glob on "STATUS BODY".
put() {
	local name=$1 file=$2 want=$3
	shift 3
	ask "${TO:-$TOPO}" -X PUT --data-binary "@$file" "$@"
	like "$name" "$STATUS $OUT" "$want"
}
# roles: "EDGE CORE NONE": interfaces by what the kernel counts them as.
roles() {
	"$XSF" status --json | json '" ".join(str(sum(i.get("role", "none") == r for i in d["interfaces"]))
		for r in ("edge", "core", "none"))'
}
roles_are() { [ "$(roles)" = "$1" ]; }
status() { # EXPRESSION: of the topology application
	ask $APP/status/json
	json "$1" <<<"$OUT"
}
simulate() { in_ns agent "$XSF" simulate --to 192.0.2.1 --polling 1 "${fabric[@]}" "$@" >"$T/sent"; }
# by_role: RoCE packets by fabric, role and direction, from /metrics.
by_role() {
	curl -sf "$URL/metrics" | sed -nE \
		's/^xdp_sflow_roce_operation_packets_total\{fabric="([^"]*)",role="([^"]*)",direction="([^"]*)".* ([0-9]+)$/\1 \2 \3 \4/p' |
		awk '{ n[$1 " " $2 " " $3] += $4 } END { for (k in n) print k, n[k] }' | sort
}
# of_interfaces: the same sums, from the interfaces and the roles that were asked for.
of_interfaces() {
	curl -sf "$URL/status.json" | python3 -c 'import json, sys
sums = {}
for i in json.load(sys.stdin)["interfaces"]:
    for direction, n in i["sampled"].items():
        key = "%s %s %s" % (i.get("fabric", "none"), i.get("role", "none"), direction)
        sums[key] = sums.get(key, 0) + n.get("roce_packets", 0)
for key in sorted(sums):
    if sums[key]: print(key, sums[key])'
}

"$XSF" simulate "${fabric[@]}" --print-topology full >"$T/full.json"
"$XSF" simulate "${fabric[@]}" --print-topology links >"$T/links.json"
is "the simulated fabric: links" "$(json 'len(d["links"])' "$T/links.json")" 6
is "links alone" "$(json 'list(d)' "$T/links.json")" "['links']"
is "and all of it" "$(json 'sum(len(n["ports"]) for n in d["nodes"].values())' "$T/full.json")" 24

check "load" "$XSF" load xsf0

# ---- uploaded while agents send, as containerlab's topo.py does

export_with
ask $TOPO
is "without a topology" "$STATUS $OUT" "200 {}"
start in_ns agent "$XSF" simulate --to 192.0.2.1 --polling 1 "${fabric[@]}" --seconds 60 --rate 2000
sender=$PID
wait_for 10 roles_are "0 0 24"
is "every interface is heard, none has a role" "$(roles)" "0 0 24"
is "PUT of links alone" "$(python3 "$PY/topo_put.py" "$URL$TOPO" "$T/full.json")" 204
wait_for 2 roles_are "12 12 0"
is "edge and core within two polling intervals" "$(roles)" "12 12 0"
is "links and nodes are monitored" \
	"$(status '[d["links"][k] for k in ("total", "monitored", "up", "down")] + [d["nodes"][k] for k in ("total", "flows")]')" \
	"[6, 6, 6, 0, 5, 5]"
# Interfaces are of 400 and 800 Gbit/s; what they carry is less, and something. (Between exchanges it is little.)
traffic() {
	curl -s "$URL$APP/prometheus/txt" | awk '/^sflow_topology_traffic_/ {
		sub("sflow_topology_traffic_", "", $1)
		print $1, ($1 == "speed" ? $2 : $2 >= 0 && $2 < 12 * 400e9 + 12 * 800e9), ($1 ~ /ps$/ ? $2 > 1e3 : "-") }'
}
traffic_is() {
	[ "$(traffic)" = "$1" ]
}
check "the traffic" wait_for 15 traffic_is 'bps 1 1
speed 14400000000000 -
pps 1 1
discards 1 -
errors 1 -'
stop "$sender"
ask $APP/prometheus/txt
is "as Prometheus text" "$(grep -v _traffic_ <<<"$OUT")" 'sflow_topology_links{status="unmonitored"} 0
sflow_topology_links{status="up"} 6
sflow_topology_links{status="down"} 0
sflow_topology_nodes{status="unmonitored"} 0
sflow_topology_nodes{status="noflows"} 0
sflow_topology_nodes{status="flows"} 5'
ask $APP/agents/json
is "agents" "$(json 'sorted(d.items())' <<<"$OUT")" \
	"[('10.1.0.1', 'leaf1'), ('10.1.0.2', 'leaf2'), ('10.1.0.3', 'leaf3'), ('10.2.0.1', 'spine1'), ('10.2.0.2', 'spine2')]"
ask "$APP/locate/json?address=10.2.0.2"
is "an agent is located" "$OUT" '[{"node":"spine2","agent":"10.2.0.2"}]'
ask "$APP/locate/json"
like "locate without an address" "$STATUS" 400
ask $APP/nothing/json
is "nothing of that name" "$STATUS" 404

# What is counted from now on is counted by role, and by nothing else.
by_role >"$T/before"
of_interfaces >"$T/interfaces"
simulate --seconds 2 --rate 3000 --seed 7
by_role >"$T/after"
of_interfaces >"$T/interfaces2"
cat >"$T/grown.py" <<'END'
import sys
def read(path):
    return {k: int(v) for k, v in (line.rstrip("\n").rsplit(" ", 1) for line in open(path))}
before, after = read(sys.argv[1]), read(sys.argv[2])
for key in sorted(after):
    if after[key] - before.get(key, 0):
        print(key, after[key] - before.get(key, 0))
END
python3 "$T/grown.py" "$T/before" "$T/after" >"$T/grown"
python3 "$T/grown.py" "$T/interfaces" "$T/interfaces2" >"$T/grown2"
is "operations by role are those of its interfaces" "$(cat "$T/grown")" "$(cat "$T/grown2")"
like "of edge and core" "$(cut -d' ' -f1-3 "$T/grown" | tr '\n' ' ')" \
	"default core ingress default edge egress default edge ingress "

# ---- refused, and the old one stays

put "not JSON" /bin/true "400 line 1*"
printf '{"links":\n{"L1": {"node1": }}}' >"$T/bad"
put "a mistake, and where" "$T/bad" "400 line 2, column 18*"
echo '{"links":{"L1":{"node1":"a","port1":"p","node2":"b"}}}' >"$T/bad"
put "half a link" "$T/bad" "400 link 'L1': port2 is missing*"
echo '{"nodes":{"a":{},"a":{}}}' >"$T/bad"
put "a node twice" "$T/bad" "400 *duplicate*"
echo '[]' >"$T/bad"
put "no object" "$T/bad" "400 *no object*"
: >"$T/bad"
put "nothing" "$T/bad" "400 *"
python3 -c 'print("{\"links\":{" + ",".join("\"L%d\":{\"node1\":\"a\",\"port1\":\"p%d\",\"node2\":\"b\",\"port2\":\"q%d\"}"
	% (i, i, i) for i in range(40000)) + "}}")' >"$T/bad"
put "40,000 links" "$T/bad" "400 40000 links, more than 32768*"
head -c 8000000 /dev/zero | tr '\0' '[' >"$T/bad"
put "8,000,000 deep" "$T/bad" "400 *depth*"
python3 -c 'print("{\"links\":{" + ",".join("\"L%d\":{\"node1\":\"a\",\"port1\":\"p%d\",\"node2\":\"b\",\"port2\":\"q%d\"}"
	% (i, i, i) for i in range(900000)) + "}}")' >"$T/bad"
put "$(($(stat -c %s "$T/bad") / 1000000)) MB of JSON" "$T/bad" "413 the body is longer than 8388608 bytes*"
put "and in chunks" "$T/bad" "413 *" -H "Transfer-Encoding: chunked" -H Expect:
like "little memory for all that" "$(awk '/^VmRSS/ { print ($2 < 150000) ? "little" : $2 }' "/proc/$EXPORTER/status")" little
is "the old one stays" "$(roles) $(status 'd["links"]["total"]')" "12 12 0 6"
ask $TOPO
is "and is what was sent" "$(json 'd == json.load(open("'"$T/links.json"'"))' <<<"$OUT")" True
put "a web page" "$T/full.json" "403 *" -H "Origin: http://example.org"
put "another Host" "$T/full.json" "403 *" -H "Host: example.org"
put "another fabric" "$T/full.json" "404 *" -H "Host: localhost" --url-query fabric=b --url-query x=
is "refused ones are counted" \
	"$(curl -s "$URL/metrics" | sed -n 's/^xdp_sflow_topology_uploads_total//p' | tr '\n' ' ')" \
	'{result="refused"} 8 {result="taken"} 1 '

# ---- names that are not, or half, there

echo '{"links":{"L1":{"node1":"x","port1":"p","node2":"y","port2":"q"}}}' >"$T/none.json"
put "matches nothing" "$T/none.json" "204 "
is "no roles" "$(roles)" "0 0 24"
is "says so" "$(status '[d["links"]["unmonitored"], d["nodes"]["unmonitored"], d["ports"]["unknown"]]')" "[1, 2, 2]"
python3 -c 'import json, sys
d = json.load(sys.stdin)
d["links"]["half"] = {"node1": "leaf1", "port1": "swp77", "node2": "leaf99", "port2": "swp1"}
del d["links"]["link1"]
print(json.dumps(d))' <"$T/links.json" >"$T/half.json"
put "half matches" "$T/half.json" "204 "
is "what it does not name is edge" "$(roles)" "14 10 0"
is "what is not there" \
	"$(status '[d["links"]["details"]["unmonitored"], d["nodes"]["details"]["unmonitored"], d["ports"]["unknown"]]')" \
	"[['half'], ['leaf99'], 2]"
ask $APP/unknown/json
is "unknown" "$(json 'd["nodes"] + d["ports"]' <<<"$OUT")" "['leaf99', {'node': 'leaf1', 'port': 'swp77'}]"
run "$XSF" status --state-dir "$STATE"
like "status" "$OUT" \
	"*Topology of fabric default: 6 links (5 up, 0 down, 1 unmonitored), 6 nodes (5 with flows, 0 without, 1 unmonitored), *
*Links not up:
  half * unmonitored*leaf99 * unmonitored*"
is "status --json" "$("$XSF" status --json --state-dir "$STATE" | json 'd["topology"][0]["ports"]')" \
	"{'total': 12, 'unknown': 2}"

# README's commands.
cp "$T/links.json" "$T/fabric.json"
start "$XSF" export --state-dir "$STATE"
wait_for 10 grep -q ' serving ' "$STARTED_LOG"
python3 "$PY/docs.py" block topology >"$T/block"
run env --chdir="$T" PATH="$ROOT/build:$PATH" bash -e "$T/block"
like "README's commands" "$RC $OUT" '0 {"links":{"total":6,*'
stop "$PID"

is "in /metrics" "$(curl -s "$URL/metrics" | grep '^xdp_sflow_topology_[lnpi]')" \
	'xdp_sflow_topology_links{fabric="default",status="unmonitored"} 1
xdp_sflow_topology_links{fabric="default",status="up"} 5
xdp_sflow_topology_links{fabric="default",status="down"} 0
xdp_sflow_topology_nodes{fabric="default",status="unmonitored"} 1
xdp_sflow_topology_nodes{fabric="default",status="noflows"} 0
xdp_sflow_topology_nodes{fabric="default",status="flows"} 5
xdp_sflow_topology_ports_unknown{fabric="default"} 2
xdp_sflow_topology_interfaces{fabric="default",role="edge"} 14
xdp_sflow_topology_interfaces{fabric="default",role="core"} 10'

# ---- kept

put "all of it" "$T/full.json" "204 " -X POST
is "is kept" "$(cmp "$STATE/topology-default.json" "$T/full.json" && ls "$STATE")" topology-default.json
stop "$EXPORTER"
is "roles stay without the exporter" "$(roles)" "12 12 0"
export_with
like "after a restart" "$(cat "$EXPORT_LOG")" \
	"*topology of fabric default: $STATE/topology-default.json, 6 links, 5 nodes*"
ask $TOPO
is "the same bytes" "$(cmp - "$T/full.json" < <(curl -s "$URL$TOPO") && echo same)" same
echo '{}' >"$T/empty.json"
put "taken away" "$T/empty.json" "204 "
is "no roles" "$(roles)" "0 0 24"
is "nothing is kept" "$(ls "$STATE")" ""
put "taken away again" "$T/empty.json" "204 "
put "and back" "$T/links.json" "204 "
is "roles" "$(roles)" "12 12 0"
stop "$EXPORTER"

# The younger of what was PUT and the file of --topology.
touch "$T/full.json"
export_with --topology "$T/full.json"
like "a younger file" "$(cat "$EXPORT_LOG")" "*topology of fabric default: $T/full.json,*"
put "something else" "$T/none.json" "204 "
stop "$EXPORTER"
export_with --topology "$T/full.json"
like "a younger PUT" "$(cat "$EXPORT_LOG")" "*$STATE/topology-default.json, 1 links, 2 nodes; it was PUT after*"
put "none, instead of the file" "$T/empty.json" "204 "
stop "$EXPORTER"
export_with --topology "$T/full.json"
is "which outlasts a restart" "$(roles)" "0 0 24"
stop "$EXPORTER"
echo broken >"$STATE/topology-default.json"
export_with --topology "$T/full.json"
like "one that is broken is left" "$(cat "$EXPORT_LOG")" \
	"*cannot read the topology kept in $STATE/topology-default.json: line 1*--topology is in force*$T/full.json,*"
check "roles" wait_for 10 roles_are "12 12 0"
stop "$EXPORTER"
rm -r "$STATE"
fails_with "a file that is broken" 1 "xdp-sflow: cannot read the topology $T/bad: 8388609 bytes, more than 8388608" \
	"$XSF" export --listen 127.0.0.1:0 --state-dir "$STATE" --topology "$T/bad"
fails_with "no such file" 1 "xdp-sflow: cannot read the topology /nowhere: No such file*" \
	"$XSF" export --listen 127.0.0.1:0 --state-dir "$STATE" --topology /nowhere
fails_with "two of one name" 2 "xdp-sflow: --topology: two topologies for fabric 'default'; *" \
	"$XSF" export --topology a --topology b
fails_with "no file" 2 "xdp-sflow: --topology needs a file; *" "$XSF" run xsf0 --topology a=
fails_with "another word" 2 "xdp-sflow: --no-topology takes all-edge, not 'edge'; *" "$XSF" export --no-topology edge

# A directory that is a file: refused, and nothing changes.
echo >"$T/file"
start "$XSF" export --state-dir "$T/file" --listen 127.0.0.1:0 --topology "$T/full.json"
wait_for 10 grep -q ' serving ' "$STARTED_LOG"
URL=$(sed -n 's,.* serving \(http://.*\)/metrics$,\1,p' "$STARTED_LOG")
put "cannot be kept" "$T/none.json" "500 cannot keep the topology in $T/file: *--state-dir DIR*"
is "the old one stays" "$(roles)" "12 12 0"
stop "$PID"

# As systemd names it, where there may be several.
mkdir "$T/systemd"
STATE_DIRECTORY=$T/systemd:$T/other start "$XSF" export --listen 127.0.0.1:0
wait_for 10 grep -q ' serving ' "$STARTED_LOG"
URL=$(sed -n 's,.* serving \(http://.*\)/metrics$,\1,p' "$STARTED_LOG")
put "\$STATE_DIRECTORY" "$T/full.json" "204 "
is "is where it is kept" "$(ls "$T/systemd")" topology-default.json
like "for status too" "$(STATE_DIRECTORY=$T/systemd "$XSF" status)" "*Topology of fabric default: 6 links (6 up, *"
like "without it, that there are roles" "$("$XSF" status --state-dir /nowhere)" \
	"*Topology: not known here, but 24 interfaces have roles; see --topology, --state-dir*"
stop "$PID"

# ---- several fabrics

python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
for name, node in d["nodes"].items(): node["agent"] = node["agent"] if name != "leaf3" else "192.0.2.99"
json.dump(d, open(sys.argv[2], "w"))
json.dump({"nodes": {"leaf3": {}}}, open(sys.argv[3], "w"))' "$T/full.json" "$T/a.json" "$T/b.json"
export_with --topology "a=$T/a.json" --topology "b=$T/b.json"
is "roles of two fabrics" \
	"$(curl -s "$URL/status.json" | json 'sorted(set((i["fabric"], i["role"], sum((j.get("fabric"), j.get("role")) ==
		(i["fabric"], i["role"]) for j in d["interfaces"])) for i in d["interfaces"]))')" \
	"[('a', 'core', 10), ('a', 'edge', 8), ('b', 'edge', 6)]"
simulate --seconds 1 --rate 2000
like "counted by fabric" "$(by_role | cut -d' ' -f1,2 | sort -u | tr '\n' ' ')" "*a core a edge b edge *"
TO="$TOPO?fabric=b" put "the second one is set" "$T/none.json" "204 "
is "its interfaces have no role" "$(roles)" "8 10 6"
is "kept under its name" "$(ls "$STATE")" topology-b.json
ask "$APP/status/json?fabric=b"
is "its status" "$(json 'd["links"]["total"]' <<<"$OUT")" 1
stop "$EXPORTER"
rm -r "$STATE"
fails_with "three fabrics in maps for two" 1 \
	"*xdp-sflow: 3 topologies, but the pinned maps have room for 2 fabrics; load anew with --fabrics 3,*" \
	bash -c "'$XSF' export --listen 127.0.0.1:0 --state-dir '$STATE' --topology a='$T/a.json' --topology b='$T/b.json' \
		--topology c='$T/none.json' 2>&1 | tail -n 1 >&2; exit \${PIPESTATUS[0]}"

# ---- who may

export_with --no-topology all-edge
wait_for 5 roles_are "24 0 0"
is "all edge" "$(roles)" "24 0 0"
put "a topology" "$T/full.json" "204 "
is "counts instead" "$(roles)" "12 12 0"
put "until it is taken away" "$T/empty.json" "204 "
is "all edge again" "$(roles)" "24 0 0"
stop "$EXPORTER"
export_with --no-topology all-edge
is "also after a restart" "$(roles)" "24 0 0"
stop "$EXPORTER"
export_with
is "and not" "$(roles)" "0 0 24"
stop "$EXPORTER"
start "$XSF" export --state-dir "$STATE" --listen 192.0.2.1:0
wait_for 10 grep -q ' serving ' "$STARTED_LOG"
URL=$(sed -n 's,.* serving \(http://.*\)/metrics$,\1,p' "$STARTED_LOG")
put "not through another address" "$T/full.json" "403 *--allow-write*"
stop "$PID"
start "$XSF" export --state-dir "$STATE" --listen 192.0.2.1:0 --allow-write
wait_for 10 grep -q ' serving ' "$STARTED_LOG"
URL=$(sed -n 's,.* serving \(http://.*\)/metrics$,\1,p' "$STARTED_LOG")
put "with --allow-write" "$T/full.json" "204 "
put "but no web page" "$T/full.json" "403 *" -H "Origin: http://192.0.2.1"
stop "$PID"

# Without root: what was written stays, and it says what it cannot do.
chmod 0755 "$T" "$STATE"
chmod o+x /sys/fs/bpf
find /sys/fs/bpf/xdp-sflow -type d -exec chmod o+rx {} + -o -type f -exec chmod o+r {} +
start setpriv --reuid 65534 --regid 65534 --clear-groups "$XSF" export --state-dir "$STATE" --listen 127.0.0.1:0
wait_for 10 grep -q 'cannot count' "$STARTED_LOG"
like "without the right to write" "$(cat "$STARTED_LOG")" \
	"*cannot open the pinned map /sys/fs/bpf/xdp-sflow/v2/xsf_groups for writing: Permission denied; the kernel cannot count by*"
URL=$(sed -n 's,.* serving \(http://.*\)/metrics$,\1,p' "$STARTED_LOG")
is "says so in the metrics" "$(curl -s "$URL/metrics" | sed -n 's/^xdp_sflow_groups_writable //p')" 0
is "bound all the same" "$(status 'd["links"]["up"]')" 6
put "nor to keep" "$T/none.json" "500 *Permission denied*"
stop "$PID"
find /sys/fs/bpf/xdp-sflow -type d -exec chmod o-rx {} + -o -type f -exec chmod o-r {} +

# Rights are given up after the map was opened.
cp -a /etc "$T/etc" && mount --bind "$T/etc" /etc && groupdel xdp-sflow 2>/dev/null
groupadd --system xdp-sflow && useradd --system --gid xdp-sflow --no-create-home xsf-topology
"$XSF" load xsf0 >/dev/null 2>&1
export_with --user xsf-topology
is "as a user that may only read" "$(roles) $(curl -s "$URL/metrics" | sed -n 's/^xdp_sflow_groups_writable //p')" "12 12 0 1"
stop "$EXPORTER"

# ---- two that do not agree

"$XSF" unload --all --purge >/dev/null
"$XSF" load xsf0 >/dev/null 2>&1
export_with
first=$EXPORTER first_log=$EXPORT_LOG first_url=$URL
simulate --seconds 2 --rate 2000
wait_for 5 roles_are "12 12 0"
sleep 3
is "one alone is not told" "$(grep -c 'another exporter' "$first_log")" 0
start "$XSF" export --state-dir "$T/other" --listen 127.0.0.1:0 --no-topology all-edge
check "two of different minds are told" wait_for 10 grep -q 'another exporter sets fabric and role' "$first_log"
is "and counted" "$(($(curl -s "$first_url/metrics" | sed -n 's/^xdp_sflow_groups_overwritten_total //p') >= 36))" 1
stop "$PID"
stop "$first"

# ---- run does the same; the maps are replaced under an exporter

export_with
"$XSF" unload --all --purge >/dev/null
check "load anew" "$XSF" load xsf0
simulate --seconds 3 --rate 2000
wait_for 3 roles_are "12 12 0"
is "new maps, the same roles" "$(roles)" "12 12 0"
is "while it only reads, the exporter needs" "$(curl -s "$URL/metrics" | sed -n 's/^xdp_sflow_groups_writable //p')" 1
stop "$EXPORTER"
"$XSF" unload --all --purge >/dev/null
start "$XSF" run xsf0 --state-dir "$STATE" --topology "$T/full.json" --listen 127.0.0.1:0
wait_for 10 grep -q ' serving ' "$STARTED_LOG"
simulate --seconds 3 --rate 2000
wait_for 3 roles_are "12 12 0"
is "run" "$(roles)" "12 12 0"
stop "$PID"
finish
