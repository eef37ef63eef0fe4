#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# serve/http against clients with bad manners: tests/tools/http_server.c and http_client.py.
# timeout: 240
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"
SERVER=${HTTP_SERVER:-$ROOT/build/tests/tools/http_server}

# serve OPTION...: starts a server; HOST and PORT are where it listens, PID who.
serve() {
	start "$SERVER" "$@"
	wait_for 10 grep -q ^listening "$STARTED_LOG" || diag "$(cat "$STARTED_LOG")"
	HOST=$(sed -n 's/^listening \(.*\):[0-9]*$/\1/p' "$STARTED_LOG" | tr -d '[]')
	PORT=$(sed -n 's/^listening .*:\([0-9]*\)$/\1/p' "$STARTED_LOG")
}

# client NAME SCENARIO [ARGUMENT]...
client() {
	local name=$1 said rc=0
	shift
	said=$(timeout 100 python3 "$ROOT/tests/cli/http_client.py" "$HOST" "$PORT" "$@" 2>&1) || rc=$?
	if [ $rc = 0 ]; then
		ok "$name"
		[ -z "$said" ] || echo "$said"
	else
		not_ok "$name" "exit $rc
$said"
	fi
}

# ends NAME: the server that runs ends by SIGTERM with 0, and held no body any more.
ends() {
	local rc=0
	stop "$PID" || rc=$?
	is "$1" "$rc $(tail -n 1 "$STARTED_LOG")" "0 bodies 0"
}

serve
client "index, health, a body" basic
client "unknown paths: 404" unknown_path
client "other methods: 405 with Allow" bad_method
client "HEAD: no body" head
client "a request body is not read" unread_body
client "request line of 100 kB: 414" long_line
client "headers of 1 MB: 431" large_headers
client "what is not HTTP" noise
client "half-closed clients are answered" half_closed
client "HTTP/1.0" http10
client "pipelined requests, in order" pipelined
client "kept-alive connection" keep_alive
client "a body that fails is reset, not ended" broken
client "a handler that fails: 500, 503" failing_handler
client "memory does not grow with what is streamed" memory 8 "$PID"
client "a turn writes more than one block" turns
client "idle clients cost nothing" quiet "$PID"
client "10,000 idle connections" flood_idle 10000 "$PID"
client "10,000 requests that never end" flood_partial 10000 "$PID"
client "300 clients that do not read a large body" unread_streams 300
client "300 pipelines that are not read" unread_pipeline 300
client "request bodies: to the bound, and beyond" uploads
client "a refused body that never ends" upload_that_never_ends "$PID"
client "four bodies at once" many_uploads 4
client "who writes: this host under its own names" who_writes 200 403
client "variables and arguments" parts
client "still healthy" basic
ends "SIGTERM ends it"

serve head_ms=3000 stall_ms=1500 reply_ms=4000
client "a byte a second is cut, others are served" slow_head 3000
client "an idle kept-alive connection is closed" idle_keep_alive 3000
client "slow readers are cut" slow_reader 1500 4000
client "slow senders are cut" slow_upload 1500 4000
# Without descriptors it waits instead of spinning, and goes on when there are some.
prlimit --pid "$PID" --nofile=5:20000
run timeout 2 python3 "$ROOT/tests/cli/http_client.py" "$HOST" "$PORT" healthy
is "no descriptor left: nobody is answered" "$RC" 124
used=$(awk '{ print $14 + $15 }' "/proc/$PID/stat")
sleep 1
is "and no time is spent" "$(($(awk '{ print $14 + $15 }' "/proc/$PID/stat") - used < 20))" 1
prlimit --pid "$PID" --nofile=1000:20000
client "descriptors again: served again" healthy
ends "SIGTERM ends it"

ip address add 192.0.2.1/32 dev lo
serve listen=192.0.2.1:0 per_host=40
client "a host holds no more than its share" per_host 40
client "and is served at its limit" healthy
client "who writes: nobody, where it is not loopback" who_writes 403 403
ends "SIGTERM ends it"
serve listen=192.0.2.1:0 allow_write=1
client "unless that is allowed" who_writes 200 200
ends "SIGTERM ends it"

serve 'listen=[::1]:0'
client "IPv6" basic
client "IPv6: who writes" who_writes 200 403
ends "SIGTERM ends it"
serve 'listen=[::]:0'
HOST=127.0.0.1 client "[::] takes IPv4 too" basic
HOST=::1 client "and IPv6" basic
ends "SIGTERM ends it"

serve listen=0.0.0.0:0
fails_with "address in use" 1 \
	"http_server: cannot listen on 127.0.0.1:$PORT: Address already in use; see * 'ss -ltnp'*" \
	"$SERVER" "listen=127.0.0.1:$PORT"
stop "$PID"
fails_with "not an address of this host" 1 \
	"http_server: cannot listen on 198.51.100.1:80: Cannot assign*; *'ip address'" \
	"$SERVER" listen=198.51.100.1:80
fails_with "privileged port without the right" 1 \
	"http_server: cannot listen on 127.0.0.1:80: Permission denied; *choose a higher one" \
	capsh --drop=cap_net_bind_service -- -c "exec $SERVER listen=127.0.0.1:80"
fails_with "no address" 1 "http_server: cannot listen on ':80': the address is missing*" \
	"$SERVER" listen=:80
fails_with "a name" 1 "http_server: cannot listen on 'here:80': write a numeric address*" \
	"$SERVER" listen=here:80
fails_with "bad port" 1 "http_server: cannot listen on '127.0.0.1:65536': the port must be*" \
	"$SERVER" listen=127.0.0.1:65536
fails_with "too few open files allowed" 1 \
	"http_server: 320 connections need 448 open files and the hard limit is 100;*" \
	prlimit --nofile=100:100 "$SERVER"
fails_with "a limit out of range" 1 "http_server: cannot start*" "$SERVER" connections=1
finish
