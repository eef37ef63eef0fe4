#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# README.md and the man page say what the command does, by name and by number.
set -u
. "$(dirname "$0")/../lib.sh"
docs=$PY/docs.py MAN=$ROOT/man/xdp-sflow.8

# agrees NAME COMMAND...: no output, exit 0.
agrees() {
	local name=$1
	shift
	run "$@"
	is "$name" "$RC $OUT$ERR" "0 "
}

agrees "every command, option and default" python3 "$docs" options "$XSF"
{
	"$ROOT/build/tests/tools/families" | awk '!seen[$1]++'
	# The exporter's own: gauges say so.
	cat "$ROOT"/user/cmd/exporter{,_flows}.c | tr -d '\n\t' | grep -oE '\.name = "xdp_sflow_[^}]*' |
		sed -E 's/^\.name = "([a-z_]*)".*\.gauge = 1.*/\1 gauge/; s/^\.name = "([a-z_]*)".*/\1 counter/'
} >"$T/families"
is "families of the exporter itself" "$(grep -cE '^xdp_sflow_(http|maps|snapshot|flow)_' "$T/families")" 20
agrees "every metric and its type" python3 "$docs" metrics "$T/families"
"$XSF" simulate --count 3000 --seconds 0 --polling 0.1 --write "$T/sim.pcap" >"$T/said"
"$XSF" replay --metrics "$T/sim.pcap" | sed -n 's/^# TYPE //p' >"$T/replayed"
is "a replay has no others" "$(sort "$T/replayed" | comm -23 - <(sort "$T/families"))" ""
agrees "outcomes and kinds" python3 "$docs" totals
agrees "limits" python3 "$docs" bounds
agrees "stages of the ledger" python3 "$docs" stages
agrees "fields of flows" python3 "$docs" fields
"$XSF" replay --json "$T/sim.pcap" >"$T/sim.json"
agrees "the JSON example" python3 "$docs" json "$T/sim.json"

# A difference is seen: each of these breaks one thing in a copy.
mkdir -p "$T/copy/tests/py" "$T/copy/man"
cp "$docs" "$T/copy/tests/py"
cp -r "$ROOT/include" "$ROOT/user" "$T/copy"
broken() { # NAME FILE SED-EXPRESSION PATTERN WHAT [ARGUMENT]
	local name=$1 file=$2 edit=$3 pattern=$4
	shift 4
	cp "$ROOT/README.md" "$T/copy"
	cp "$MAN" "$T/copy/man"
	sed -i "$edit" "$T/copy/$file"
	like "$name" "$(python3 "$T/copy/tests/py/docs.py" "$@" 2>&1)" "$pattern"
}
broken "an option too few" man/xdp-sflow.8 's/^.It Fl -drop-denied/.It Fl -drop-refused/' \
	"*load: --drop-denied is in --help, not in the man page*--drop-refused*" options "$XSF"
broken "another default" man/xdp-sflow.8 's/is 600 seconds/is 300 seconds/' \
	"*load --stale: default 600 is not in the man page*" options "$XSF"
broken "a command too many" README.md 's/^\(| .\)export\(. |\)/\1import\2/' "*command: import is in README*" \
	options "$XSF"
broken "a metric too few" README.md '/^| .xdp_sflow_agent_bytes_total/d' \
	"metrics: xdp_sflow_agent_bytes_total is in /metrics, not in README" \
	metrics "$T/families"
broken "another limit" README.md 's/| 9000 |/| 1500 |/' "*XSF_MAX_PAYLOAD is 1500, the headers 9000" bounds
broken "another limit of the server" README.md 's/^| connections | 256/| connections | 255/' \
	"bounds: HTTP server: *" bounds
broken "a field too few" README.md '/^| .ibbtdestqp. /d' "fields: *ibbtdestqp*is in flow_field.h*" fields
broken "a kind too few" README.md '/^| .header_overrun. /d' "FAULTS: header_overrun is in totals.h*" totals

broken "another word for a stage" README.md 's/^| wrong IPv6, repaired /| repaired /' \
	"stages repaired: *" stages

# The man page is well formed; whether pages it refers to are installed here is another matter.
is "mandoc is silent" "$(mandoc -T lint -W all "$MAN" 2>&1 | grep -v 'mandoc.db')" ""
unlike "and renders it" "$(mandoc -T ascii "$MAN" | head -n 5)" ""

python3 "$docs" block prometheus >"$T/prometheus.yml"
check "the Prometheus configuration" promtool check config --lint-fatal "$T/prometheus.yml"
python3 "$docs" block promql | awk 'BEGIN { print "groups:\n- name: readme\n  rules:" }
	NF { gsub(/'\''/, "'\'''\''"); print "  - record: readme:query" NR "\n    expr: '\''" $0 "'\''" }' >"$T/rules.yml"
is "queries" "$(grep -c expr: "$T/rules.yml")" 4
check "promtool understands them" promtool check rules "$T/rules.yml"

# Files and make targets that README names are there.
missing=
while read -r file; do
	[ -e "$ROOT/$file" ] || missing+="$file "
done < <(grep -oP '(?<![\w/])(scripts|tests|include|user|bpf|man|contrib)/[\w./-]*\w' "$ROOT/README.md" | sort -u)
is "files that README names" "$missing" ""
targets=$(sed -n 's/^\([a-z-]*\):.*/\1/p' "$ROOT/Makefile")
while read -r target; do
	like "make $target" " ${targets//$'\n'/ } " "* $target *"
done < <(grep -oP '(^    |`)make \K[a-z-]+' "$ROOT/README.md" | sort -u)

check "make install" make -s -C "$ROOT" install DESTDIR="$T/root"
is "what it installs" "$(cd "$T/root/usr/local" && find . -type f | sort | tr '\n' ' ')" \
	"./lib/xdp-sflow/csum6.bpf.o ./lib/xdp-sflow/xdp_sflow.bpf.o ./sbin/xdp-sflow ./share/man/man8/xdp-sflow.8 $(cd "$ROOT/contrib" &&
		find . -type f -printf './share/xdp-sflow/%P\n' | sort | tr '\n' ' ')"
check "make uninstall" make -s -C "$ROOT" uninstall DESTDIR="$T/root"
is "nothing is left" "$(find "$T/root" -type f -o -name 'xdp-sflow')" ""
finish
