# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A Prometheus server of the test's own on 127.0.0.1:9099, and questions to it. Sourced behind lib.sh.

# prometheus_with CONFIG: checked, started on data of its own; its log is $prometheus_log.
prometheus_with() {
	check "promtool check config" promtool check config "$1"
	mkdir -p "$T/data"
	start prometheus --config.file="$1" --storage.tsdb.path="$T/data" \
		--web.listen-address=127.0.0.1:9099 --log.level=warn
	prometheus_log=$STARTED_LOG
}

# query PROMQL: the value of its one result, else all of them.
query() {
	curl -sfG --data-urlencode "query=$1" http://127.0.0.1:9099/api/v1/query |
		json '(lambda r: r[0]["value"][1] if len(r) == 1 else r)(d["data"]["result"])'
}

# shellcheck disable=SC2317 # by wait_for
answers() { [ "$(query "$1")" = "$2" ]; }

# asked NAME PROMQL WANT: that is the answer within 20 s.
asked() {
	if wait_for 20 answers "$2" "$3"; then
		ok "$1"
	else
		not_ok "$1" "$2: got $(query "$2"), want $3
$(tail -n 5 "$prometheus_log")"
	fi
}
