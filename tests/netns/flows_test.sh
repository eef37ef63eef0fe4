#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 400
# Flows as sFlow-RT's Prometheus exporter gives them: a real Prometheus with README's configuration scrapes what two
# switches send at known rates; definitions over HTTP; hostile requests; shedding; replaced maps.
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/prometheus.sh"
private "$@"
url=http://127.0.0.1:8008
flows=/app/prometheus/scripts/export.js/flows
send=$PY/flow_send.py

pair agent xsf0 xsf1 9000
ip link set xsf0 arp on
in_ns agent ip link set xsf1 arp on
ip addr add 192.0.2.1/24 dev xsf0
in_ns agent ip addr add 192.0.2.2/24 dev xsf1
check "load" "$XSF" load --consume --yes xsf0
start "$XSF" export --state-dir "$T"
export_pid=$PID export_log=$STARTED_LOG
wait_for 10 curl -sf -o /dev/null $url/metrics || not_ok "export serves" "$(cat "$export_log")"

metric() { # NAME: of /metrics, with its labels
	curl -s $url/metrics | awk -v name="$1" '$1 == name { print $2 }'
}
feed() { # OPTION...: in the background; sets PID
	start nsenter --net=/run/netns/agent python3 "$send" 192.0.2.1 "$@"
}
got() { # QUERY [PATH]: what is answered, with the status in a line of its own
	curl -s -w '%{http_code}' "$url${2:-$flows/ALL/txt}?$1"
}
method() { # METHOD PATH [BODY]
	curl -s -w '%{http_code}' -X "$1" ${3+-d "$3"} "$url$2"
}

# ---- nobody asks: nothing is read ----

feed --seconds 2
wait_for 10 gone "$PID"
is "no definition, no event" "$(metric 'xdp_sflow_flow_events_read_total{kind="drop"}')" 0
is "rings are there" "$(metric xdp_sflow_flow_events_open)" 1

# ---- the scrape of README, by Prometheus ----

python3 "$PY/docs.py" block flows >"$T/prometheus.yml"
sed -i '1i global:\n  scrape_interval: 1s\n  scrape_timeout: 1s' "$T/prometheus.yml"
prometheus_with "$T/prometheus.yml"
asked "scraped" 'up{job="sflow-rt-dropped-packets"}' 1
feed --seconds 1000
feed_pid=$PID
sleep 60 # four times t: 98 % of what is sent

python3 "$send" x --truth >"$T/truth.json"
curl -sfG --data-urlencode 'query=dropped_packets' http://127.0.0.1:9099/api/v1/query >"$T/rows.json"
cat >"$T/compare.py" <<'PY'
import json, sys
rows = [(dict(r["metric"]), float(r["value"][1])) for r in json.load(open(sys.argv[2]))["data"]["result"]]
for labels, rate in json.load(open(sys.argv[1])):
    found = [v for m, v in rows if all(m.get(k) == w for k, w in labels.items())]
    if len(found) != 1 or abs(found[0] / rate - 0.98) > 0.08:
        print(labels, "sent", rate, "a second, got", found, "of", rows)
print(len(rows), "rows, sums", round(sum(v for _, v in rows), 1))
labels = {"switch", "port", "reason", "stack", "macsource", "macdestination", "vlan", "src", "dst", "protocol"}
for m, _ in rows:
    if set(m) - {"__name__", "job", "instance"} != labels:
        print("labels", m)
PY
run python3 "$T/compare.py" "$T/truth.json" "$T/rows.json"
like "rates within 8 %, at most 20 rows" "$RC $OUT$ERR" "0 20 rows, sums [89]?.?"
diag "$OUT"
get=$(python3 "$PY/docs.py" block flows | python3 -c '
import re, sys, urllib.parse
text = sys.stdin.read()
path = re.search(r"metrics_path: (\S+)", text).group(1)
pairs = []
for name, values in re.findall(r"^ {6}(\w+): \[(.*)\]$", text, re.M):
    pairs += [(name, v) for v in re.findall(r"\x27([^\x27]*)\x27", values)]
print(path + "?" + urllib.parse.urlencode(pairs))')
curl -s "$url$get" >"$T/text"
is "rows in falling order" "$(sed 's/.*} //' "$T/text")" "$(sed 's/.*} //' "$T/text" | sort -gr)"
is "20 of them" "$(wc -l <"$T/text")" 20
is "a hostile name is escaped" "$(sed -n '1s/,stack=.*//p' "$T/text")" \
	'dropped_packets{switch="leaf\"1\\\n?",port="swp\"1\\\"}\n",reason="acl"'
is "one definition" "$(metric 'xdp_sflow_flow_definitions{of="scrape"}')" 1
is "content type" "$(curl -sI "$url$get" | tr -d '\r' | grep -i '^content-type')" \
	"Content-Type: text/plain; version=0.0.4; charset=utf-8"
is "nothing to complain about" "$(cat "$prometheus_log")" ""
is "only drops were asked for" "$(metric 'xdp_sflow_flow_events_read_total{kind="sample"}')" 0

# ---- aggregation, agents, bounds of rows ----

row() { # QUERY AGENTS: rows of a scrape with t=1, once it had time
	got "metric=d&key=reason&value=frames&dropped=true&t=1&$1" "$flows/$2/txt" >/dev/null
	sleep 4
	got "metric=d&key=reason&value=frames&dropped=true&t=1&$1" "$flows/$2/txt"
}
like "one switch" "$(row "" 10.0.0.2)" 'd{reason="ttl_exceeded"} *
d{reason="9999"} *
200'
is "a list of switches" "$(row "minValue=15" '10.0.0.2;10.0.0.1' | sed 's/ .*//')" 'd{reason="acl"}
d{reason="no_buffer_space"}
200'
is "maxFlows" "$(row "maxFlows=1" ALL | sed 's/ .*//')" 'd{reason="acl"}
200'
is "nobody" "$(row "" 10.9.9.9)" 200
is "EDGE without a topology" "$(row "" EDGE)" 200
echo '{"nodes":{"one":{"agent":"10.0.0.2"}}}' >"$T/topology.json"
is "a topology" "$(curl -s -w '%{http_code}' -X PUT --data-binary "@$T/topology.json" $url/topology/json)" 204
is "TOPOLOGY" "$(row "" TOPOLOGY | sed 's/ .*//')" 'd{reason="ttl_exceeded"}
d{reason="9999"}
200'
is "and its names" "$(got 'metric=d&key=node:inputifindex&value=frames&dropped=true&t=1' >/dev/null
	sleep 2
	got 'metric=d&key=node:inputifindex&value=frames&dropped=true&t=1' | sed 's/ .*//' | sort)" \
	'200
d{node_inputifindex="leaf\"1\\\n?"}
d{node_inputifindex="one"}'

# ---- flow samples ----

stop "$feed_pid"
feed --seconds 1000 --drops 0 --samples 300
feed_pid=$PID
pairs='metric=b&key=ipsource,ipdestination&label=from,to&value=bytes&t=1'
got "$pairs" >/dev/null
sleep 6
python3 - "$(got "$pairs&scale=8")" >"$T/said" <<'PY'
import re, sys
want = {("10.1.0.1", "10.1.0.2"): 300 * 100 * 1000 * 8, ("10.1.0.3", "10.1.0.4"): 100 * 100 * 1000 * 8}
rows = re.findall(r'^b\{from="(\S+)",to="(\S+)"\} (\S+)$', sys.argv[1], re.M)
print(len(rows), "rows", [round(float(v) / want[f, t], 2) for f, t, v in rows])
print(all(abs(float(v) / want[f, t] - 1) < 0.08 for f, t, v in rows))
PY
is "bits a second within 8 %" "$(tail -n 1 "$T/said")" True
like "of two pairs" "$(head -n 1 "$T/said")" "2 rows*"
diag "$(cat "$T/said")"

# ---- definitions by name ----

is "PUT" "$(method PUT /flow/pairs/json '{"keys":"ipsource,ipdestination","value":"frames","t":1,"fs":"_SEP_","log":true}')" 204
is "GET" "$(method GET /flow/pairs/json)" \
	'{"keys":"ipsource,ipdestination","value":"frames","filter":"","n":5,"t":1,"fs":"_SEP_","dropped":false,"aggMode":"max"}200'
is "all names" "$(curl -s $url/flow/json | json 'sorted(d)')" "['pairs']"
sleep 6
curl -s "$url/activeflows/ALL/pairs/json" >"$T/active.json"
is "keys" "$(json '[f["key"] for f in d]' "$T/active.json")" "['10.1.0.1_SEP_10.1.0.2', '10.1.0.3_SEP_10.1.0.4']"
is "places" "$(json '[(f["agent"], f["dataSource"], f["flowN"]) for f in d]' "$T/active.json")" \
	"[('10.0.0.1', '1', 1), ('10.0.0.1', '1', 1)]"
is "values within 8 %" "$(json '[abs(f["value"] / w - 1) < 0.08 for f, w in zip(d, (30000, 10000))]' "$T/active.json")" \
	"[True, True]"
is "minValue" "$(curl -s "$url/activeflows/ALL/pairs/json?minValue=20000" | json 'len(d)')" 1
is "maxFlows" "$(curl -s "$url/activeflows/ALL/pairs/json?maxFlows=1" | json 'len(d)')" 1
like "a bad number" "$(got maxFlows=0 /activeflows/ALL/pairs/json)" "maxFlows: 0 is not from 1 to 1000
400"
like "no such definition" "$(got "" /activeflows/ALL/other/json)" "no definition*404"
like "a bad key" "$(method PUT /flow/pairs/json '{"keys":"ipsource,nosuchkey","value":"frames"}')" "key, at offset 9: *400"
like "a bad filter" "$(method PUT /flow/pairs/json '{"keys":"ipsource","value":"frames","filter":"ipsource=(a"}')" \
	"filter, at offset *400"
like "a bad value" "$(method PUT /flow/pairs/json '{"keys":"ipsource","value":"nosuchkey"}')" "value, at offset *400"
like "a bad document" "$(method PUT /flow/pairs/json '{"keys":')" "line 1, column *400"
is "the definition is as it was" "$(curl -s $url/flow/pairs/json | json 'd["keys"]')" "ipsource,ipdestination"
page() { # METHOD: by a web page
	curl -s -o /dev/null -w '%{http_code}' -X "$1" -H 'Origin: http://x' -d '{"value":"frames"}' $url/flow/pairs/json
}
is "not from a web page" "$(page PUT)" 403
is "nor that way deleted" "$(page DELETE)" 403
head -c 70000 /dev/zero | tr '\0' ' ' >"$T/long"
is "a long one" "$(curl -s -o /dev/null -w '%{http_code}' -X PUT --data-binary "@$T/long" $url/flow/x/json)" 413
is "DELETE" "$(method DELETE /flow/pairs/json)" 204
like "once" "$(method DELETE /flow/pairs/json)" "*404"
like "it is gone" "$(method GET /flow/pairs/json)" "*404"

# ---- groups of addresses, maps ----

is "a group" "$(method PUT /group/lf/json '{"first":["10.1.0.1","fd00::/8"],"racks":["10.1.0.0/24"],"all":["0.0.0.0/0"]}')" 204
is "a map" "$(method PUT /map/hosts/json '{"10.1.0.2":"gpu \"2\"","10.1.0.4":4}')" 204
is "keys of them" "$(method PUT /flow/tables/json \
	'{"keys":"group:ipsource:none:lf,map:ipdestination:hosts","value":"frames","t":1}')" 204
is "a filter" "$(method PUT /flow/filtered/json \
	'{"keys":"ipsource","value":"frames","t":1,"filter":"group:ipsource:lf=racks&map:ipdestination:hosts=4"}')" 204
sleep 2
keys() { # NAME
	curl -s "$url/activeflows/ALL/$1/json" | json '[f["key"] for f in d]'
}
# shellcheck disable=SC2317 # called by wait_for
keys_are() { # NAME PATTERN
	# shellcheck disable=SC2053 # a pattern is what it is
	[[ $(keys "$1") == $2 ]]
}
is "the longest prefix; what is mapped" "$(keys tables)" "['first,gpu \"2\"', 'racks,4']"
is "filtered by both" "$(keys filtered)" "['10.1.0.3']"
is "another table of the name" "$(method PUT /group/lf/json '{"all":["0.0.0.0/0"]}')" 204
wait_for 15 keys_are tables "??all,gpu*"
like "counts from then on" "$(keys tables)" "\['all,gpu \"2\"'*"
like "a bad table" "$(method PUT /group/lf/json '{"all":["0.0.0.0/0"],"x":["10.0.0.0/40"]}')" \
	"'x': '10.0.0.0/40', number 1, is no prefix *400"
is "GET" "$(method GET /group/lf/json)" '{"all":["0.0.0.0/0"]}200'
is "all groups" "$(method GET /group/json)" '{"lf":{"all":["0.0.0.0/0"]}}200'
is "all maps" "$(method GET /map/json)" '{"hosts":{"10.1.0.2":"gpu \"2\"","10.1.0.4":"4"}}200'
is "counted" "$(metric 'xdp_sflow_flow_tables{kind="group"}') $(metric 'xdp_sflow_flow_tables{kind="map"}')" "1 1"
is "a group is not set by a web page" \
	"$(curl -s -o /dev/null -w '%{http_code}' -X PUT -H 'Origin: http://x' -d '{}' $url/group/lf/json)" 403
head -c 1100000 /dev/zero | tr '\0' ' ' >"$T/long"
is "a long one" "$(curl -s -o /dev/null -w '%{http_code}' -X PUT --data-binary "@$T/long" $url/map/x/json)" 413
for i in $(seq 15); do method PUT "/map/m$i/json" '{}'; done >"$T/said"
like "as many as there may be" "$(cat "$T/said")" "$(printf '204%.0s' $(seq 14))there are 16 tables, *503"
for i in $(seq 14); do method DELETE "/map/m$i/json"; done >"$T/said"
is "DELETE" "$(method DELETE /map/hosts/json)$(cat "$T/said")" "$(printf '204%.0s' $(seq 15))"
like "once" "$(method DELETE /map/hosts/json)" "no map has that name*404"
wait_for 15 keys_are tables "\[\]"
is "without the map there is no key" "$(keys tables)" "[]"
is "end" "$(method DELETE /flow/tables/json)$(method DELETE /flow/filtered/json)$(method DELETE /group/lf/json)" 204204204

# ---- names that are shown alike ----

for name in 'a%ff' 'a%c2%80' 'a%e2%80%ae' 'a%01' 'a%c3'; do
	like "a name that cannot be shown: $name" "$(method PUT "/flow/$name/json" '{"value":"frames"}')" "a name is 1 to 64 bytes *400"
	like "nor of a group: $name" "$(method PUT "/group/$name/json" '{}')" "a name is 1 to 64 bytes *400"
done
is "one that can" "$(method PUT /flow/a%c3%bf/json '{"value":"frames"}')" 204
is "is listed" "$(curl -s $url/flow/json | json 'list(d)')" "['aÿ']"
is "and deleted" "$(method DELETE /flow/a%c3%bf/json)" 204

# ---- the heaviest filter: it sheds, and all else is answered ----

heavy=$(printf '(a|.|a*|.*)*%.0s' {1..20})Z
heavy="concat::stack:stack:stack:stack:stack:stack:stack:stack~$heavy"
like "patterns have a bound" "$(method PUT /flow/heavy/json "{\"value\":\"frames\",\"filter\":\"$heavy|$heavy|$heavy|$heavy|$heavy\"}")" \
	"filter, at offset *: patterns of more than 1024 bytes
400"
is "as much as there may be" "$(method PUT /flow/heavy/json "{\"value\":\"frames\",\"filter\":\"$heavy|$heavy|$heavy|$heavy\"}")" 204
feed --burst 4000
burst_pid=$PID
for _ in $(seq 20); do
	curl -s -m 5 -o "$T/body" -w '%{http_code} %{time_total}\n' $url/version
done >"$T/took"
is "answers meanwhile within 5 s each" "$(grep -c '^200 ' "$T/took")" 20
diag "slowest of 20: $(sort -gk2 "$T/took" | tail -n 1) s"
wait_for 20 gone "$burst_pid"
is "the end of it" "$(method DELETE /flow/heavy/json)" 204

# ---- a reader that is killed ----

start "$XSF" drops --buffer 4096
reader=$PID
listens() { find /sys/fs/bpf/xdp-sflow -name 'reader_*' | grep -c . | grep -qx 2; }
wait_for 10 listens || not_ok "drops listens" "$(cat "$STARTED_LOG")"
kill -KILL "$reader"
wait_for 5 gone "$reader"
alone() { find /sys/fs/bpf/xdp-sflow -name 'reader_*' | grep -c . | grep -qx 1; }
check "its place is free within seconds" wait_for 5 alone
shed=$(metric xdp_sflow_drops_shed_total)
feed --seconds 2
wait_for 10 gone "$PID"
is "and nothing is shed for it" "$(metric xdp_sflow_drops_shed_total)" "$shed"

# For later: a definition that remembers for long.
bursts='metric=s&key=ipsource&value=bytes&t=500&filter=ipsource=10.1.0.5'
is "the first scrape is empty" "$(got "$bursts")" 200

# ---- what is wrong, where ----

like "no metric" "$(got 'key=reason&value=frames')" "metric is missing
400"
like "no key" "$(got 'metric=a&value=frames')" "key is missing
400"
like "a bad key of two" "$(got 'metric=a&key=reason&key=null:bad:x&value=frames')" "key 2 'null:bad:x', at offset *400"
like "a bad number" "$(got 'metric=a&key=reason&value=frames&n=many')" "n: 'many' is no number
400"
like "more labels than keys" "$(got 'metric=a&key=reason&value=frames&label=a,b')" "label: 2 labels for 1 keys
500"
like "a bad agent" "$(got 'metric=a&key=reason&value=frames' "$flows/%0a/txt")" "*400"
definitions() { curl -s $url/metrics | awk '/^xdp_sflow_flow_definitions{/ { n += $2 } END { print n }'; }
before=$(definitions)
for i in $(seq 70); do
	got "metric=a&key=reason&value=frames&t=$i&label=a,b" >/dev/null
	got "metric=a&key=reason&value=frames&t=$i&label=__name__" >/dev/null
	got "metric=a&key=reason&value=frames&t=$i" "$flows/nosuch/txt" >/dev/null
done
is "what is refused is not kept" "$(definitions)" "$before"
is "and takes nobody's place" "$(got 'metric=a&key=reason&value=frames&t=71' | tail -n 1)" 200
is "no such path" "$(got 'metric=a&key=reason&value=frames' "$flows/ALL/json" | tail -n 1)" 404

# ---- hostile: all within a second each, and the server lives ----

quick() { # NAME QUERY STATUS
	local status
	status=$(curl -s -m 2 -o "$T/body" -w '%{http_code}' --globoff "$url$flows/ALL/txt?$2")
	like "$1" "$status" "$3"
}
long=$(head -c 7000 /dev/zero | tr '\0' '[')
quick "7,000 brackets" "metric=a&value=frames&key=$long" 400
quick "7,000 commas" "metric=a&value=frames&key=${long//[/,}" 400
quick "a target of 9,000 bytes" "metric=a&value=frames&key=$long${long:0:2000}" 414
quick "a pattern that backtracks" "metric=a&key=stack&value=frames&filter=stack~((((e*)*)*)*)*b" 200
quick "another" "metric=a&key=stack&value=frames&filter=stack~(.*.*.*.*.*.*.*.*.*.*)*x" 200
quick "one that no library should compile" "metric=a&key=stack&value=frames&filter=stack~$(printf '(e*)*%.0s' {1..50})" 200
slow="stack~$(printf '(.|t)*e.%.0s' {1..30})"
quick "one of many ways" "metric=a&key=stack&value=frames&filter=$slow%7C$slow%7C$slow%7C$slow" 200
quick "intervals" "metric=a&key=stack&value=frames&filter=stack~((a{1,99}){1,99}){1,99}" 400
sleep 2 # with events
quick "the server lives" "metric=a&key=reason&value=frames" 200
quick "nested" "metric=a&value=frames&key=$(printf 'null:[%.0s' {1..500})" 400
quick "percent signs" "metric=%25s%25n&key=%25n&value=%25s" 400
feed_flood() { python3 - "$1" <<'PY'
import http.client, sys
c, codes = http.client.HTTPConnection("127.0.0.1", 8008, timeout=5), {}
for n in range(int(sys.argv[1])):
    c.request("GET", f"/app/prometheus/scripts/export.js/flows/ALL/txt?metric=a&key=stack&value=frames&minValue=1&filter=stack=x{n}")
    r = c.getresponse()
    r.read()
    codes[r.status] = codes.get(r.status, 0) + 1
print(codes)
PY
}
before=$(metric 'xdp_sflow_flow_definitions_refused_total')
said=$(feed_flood 10000)
like "10,000 definitions" "$said" "{200: *, 503: 99*}"
diag "$said"
is "64 are there" "$(definitions)" 64
is "and all others counted" "$(($(metric 'xdp_sflow_flow_definitions_refused_total') - before))" \
	"$(grep -oP '503: \K\d+' <<<"$said")"
like "why" "$(got 'metric=a&key=reason&value=frames&t=99')" "there are 64 definitions of flows*503"
stop "$feed_pid"

# ---- more than can be read: shed and counted, and the shares stay right ----

events() { # KIND: read and shed
	echo $(($(metric "xdp_sflow_flow_events_read_total{kind=\"$1\"}") + $(metric "xdp_sflow_flow_events_shed_total{kind=\"$1\"}")))
}
sent() { "$XSF" status --json | json 'd["totals"]["flow_samples"]'; }
settled() { [ $(($(events sample) - read_before)) = $(($(sent) - sent_before)) ]; }
sleep 1
read_before=$(events sample) sent_before=$(sent)
kill -STOP "$export_pid"
feed --burst 4000
wait_for 20 gone "$PID"
kill -CONT "$export_pid"
wait_for 10 settled
is "read + shed = sent" "$(($(events sample) - read_before))" "$(($(sent) - sent_before))"
is "40,000 samples" "$(($(sent) - sent_before))" 40000
shed=$(metric 'xdp_sflow_flow_events_shed_total{kind="sample"}')
like "some of them shed" "$((shed > 0))" 1
diag "$shed shed"
# What is kept stands for what was shed before it: 40,000 samples of 100,000 bytes, over 500 s.
python3 - "$(got "$bursts")" >"$T/said" <<'PY'
import re, sys
value = float(re.match(r'^s\{ipsource="10.1.0.5"\} (\S+)\n200$', sys.argv[1]).group(1))
print(value, value / (40000 * 100000 / 500))
print(abs(value / (40000 * 100000 / 500) - 1) < 0.05)
PY
is "their sum within 5 %" "$(tail -n 1 "$T/said")" True
diag "$(cat "$T/said")"

# ---- maps that are replaced ----

check "unload" "$XSF" unload --all --purge
gone_now() { [ "$(got "$pairs" | tail -n 1)" = 503 ]; }
wait_for 5 gone_now
like "without maps: why" "$(got "$pairs")" "*503"
check "load again" "$XSF" load --consume --yes xsf0
back() { [ "$(got "$pairs" | tail -n 1)" = 200 ]; }
if wait_for 5 back; then ok "they are read again"; else not_ok "they are read again" "$(got "$pairs"; cat "$export_log")"; fi
feed --seconds 5 --drops 0 --samples 300
wait_for 10 gone "$PID"
like "and counted" "$(got "$pairs" | head -n 1)" 'b{from="10.1.0.1",to="10.1.0.2"} *'
is "told once" "$(grep -c "flows are not served" "$export_log")" 1
is "and once that it is over" "$(grep -c "events can be read again" "$export_log")" 1
curl -s $url/metrics >"$T/metrics"
is "promtool has nothing to say" "$(promtool check metrics <"$T/metrics" 2>&1)" ""
stop "$export_pid"
is "export ends on SIGTERM" $? 0

# ---- as another user, who reads what was opened before, and cannot open more ----

chmod 0711 /sys/fs/bpf
{ grep -v ^xdp-sflow: /etc/group && echo xdp-sflow:x:64999:nobody; } >"$T/group"
mount --bind "$T/group" /etc/group
"$XSF" unload --all --purge >"$T/unload"
check "load for the group" "$XSF" load --consume --yes xsf0
start "$XSF" export --state-dir "$T" --user nobody
export_pid=$PID export_log=$STARTED_LOG
wait_for 10 curl -sf -o /dev/null $url/metrics || not_ok "export serves" "$(cat "$export_log")"
got "$pairs" >/dev/null
feed --seconds 3 --drops 0 --samples 300
wait_for 10 gone "$PID"
like "a user in the group reads" "$(got "$pairs" | head -n 1)" 'b{from="10.1.0.1",to="10.1.0.2"} *'
"$XSF" unload --all --purge >"$T/unload"
check "load anew for the group" "$XSF" load --consume --yes xsf0
sleep 1.5
like "but opens no rings of others" "$(got "$pairs")" "cannot *503"
diag "$(got "$pairs")"
is "and says so once" "$(grep -c "flows are not served" "$export_log")" 1
is "all else is served" "$(metric xdp_sflow_up)$(metric xdp_sflow_flow_events_open)" 10
stop "$export_pid"

# ---- run: keeps its rights ----

"$XSF" unload --all --purge >"$T/unload"
start "$XSF" run --consume --yes xsf0 --state-dir "$T"
export_pid=$PID export_log=$STARTED_LOG
wait_for 10 curl -sf -o /dev/null $url/metrics || not_ok "run serves" "$(cat "$export_log")"
got "$pairs" >/dev/null
feed --seconds 3 --drops 0 --samples 300
wait_for 10 gone "$PID"
like "run counts flows" "$(got "$pairs" | head -n 1)" 'b{from="10.1.0.1",to="10.1.0.2"} *'

# ---- all places taken ----

readers=()
for ((n = 1; n < 8; n++)); do
	start "$XSF" drops --seconds 100
	readers+=("$PID")
done
all_there() { "$XSF" drops --seconds 0.1 2>&1 | grep -q "all 8 places"; }
wait_for 10 all_there
start "$XSF" export --state-dir "$T" --listen 127.0.0.1:8009
late_pid=$PID
wait_for 10 curl -sf -o /dev/null http://127.0.0.1:8009/metrics
url=http://127.0.0.1:8009
like "a ninth reader: why not" "$(got "$pairs")" "all 8 places*503"
stop "${readers[0]}"
back() { [ "$(got "$pairs" | tail -n 1)" = 200 ]; }
if wait_for 5 back; then ok "a place that is given back is taken"; else not_ok "a place that is given back is taken" "$(got "$pairs")"; fi
stop "$late_pid"
finish
