#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A client with bad manners, for http_test.sh: http_client.py HOST PORT SCENARIO [ARGUMENT]...

Exits 0 when the server behaved, else 1 with the reason on stdout."""
import resource
import select
import socket
import sys
import threading
import time

HOST, PORT = sys.argv[1], int(sys.argv[2])
BODY = 50 << 20


class Wrong(Exception):
    pass


def want(what, got, expected):
    if got != expected:
        raise Wrong(f"{what}: got {got!r}, want {expected!r}")


def connect(receive_buffer=0):
    s = socket.socket(socket.AF_INET6 if ":" in HOST else socket.AF_INET)
    if receive_buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    s.settimeout(20)
    s.connect((HOST, PORT))
    return s


def request(target, method="GET", version="1.1", headers=""):
    return (f"{method} {target} HTTP/{version}\r\nHost: here\r\n{headers}\r\n").encode()


def dechunk(data):
    out = []
    at = 0
    while True:
        end = data.index(b"\r\n", at)
        size = int(data[at:end], 16)
        if not size:
            return b"".join(out), end + 4
        chunk = data[end + 2:end + 2 + size]
        if len(chunk) < size:
            raise EOFError
        out.append(chunk)
        at = end + 2 + size + 2


def parse(data, head=False):
    """One reply at the start of data: status, headers, body, what follows."""
    top, found, rest = data.partition(b"\r\n\r\n")
    if not found:
        raise EOFError(data[:200])
    lines = top.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    status = int(lines[0].split()[1])
    if head:
        return status, headers, b"", rest
    if "content-length" in headers:
        size = int(headers["content-length"])
        if len(rest) < size:
            raise EOFError(data[:200])
        return status, headers, rest[:size], rest[size:]
    if headers.get("transfer-encoding") == "chunked":
        body, end = dechunk(rest)
        return status, headers, body, rest[end:]
    return status, headers, rest, b""


def drain(s):
    """Everything until the server closes; a reset ends it too."""
    out = []
    try:
        while True:
            data = s.recv(1 << 18)
            if not data:
                break
            out.append(data)
    except ConnectionError:
        pass
    return b"".join(out)


def raw(data):
    s = connect()
    try:
        s.sendall(data)
    except ConnectionError:
        pass
    return drain(s)


def get(target, **kwargs):
    kwargs.setdefault("headers", "Connection: close\r\n")
    data = raw(request(target, **kwargs))
    return parse(data, head=kwargs.get("method") == "HEAD")


def counts():
    return {a: int(b) for a, b in (x.split() for x in get("/counts")[2].decode().splitlines())}


def check_body(body, size):
    want("bytes of the body", len(body), size)
    lines = body.split(b"\n")
    for i in (0, 1, size // 32, size // 16 - 1):
        want("line", int(lines[i]), i)


def scrape(size=1 << 20, patience=5.0):
    """As a well-behaved scraper does it; again on 503, which says so. Seconds it took."""
    began = time.monotonic()
    while True:
        status, _, body, _ = get(f"/body?bytes={size}")
        took = time.monotonic() - began
        if status == 503 and took < patience:
            time.sleep(0.2)
            continue
        want("status of a scrape", status, 200)
        check_body(body, size)
        if took > patience:
            raise Wrong(f"a scrape took {took:.1f} s")
        return took


def closed(s):
    """The server has ended this connection (an unread end or reset lies there)."""
    try:
        s.settimeout(0)
        return not s.recv(1)
    except BlockingIOError:
        return False
    except OSError:
        return True


# ---- scenarios ----

def basic():
    status, headers, body, _ = get("/")
    want("index", status, 200)
    want("content type", headers["content-type"], "text/plain; charset=utf-8")
    for path in (b"/body", b"/-/healthy"):
        if path not in body:
            raise Wrong(f"{path} is not in the index: {body}")
    want("healthy", get("/-/healthy")[0], 200)
    status, headers, body, _ = get("/body?bytes=160")
    want("body", status, 200)
    check_body(body, 160)
    want("absolute form", get("http://here:1/-/healthy")[0], 200)
    want("absolute form of the index", get("HTTP://here")[0], 200)
    want("argument that is not known", get("/-/healthy?x=1&y")[0], 200)


def unknown_path():
    for path in ("/nope", "/body/", "//body", "/./body", "/BODY", "/../etc/passwd", "*", "http://here/nope"):
        want(f"GET {path}", get(path)[0], 404)
    for path in ("/%00", "/body%00x", "/body?bytes=16%00"):
        want(f"GET {path}", get(path)[0], 400)


def bad_method():
    for method in ("POST", "DELETE", "OPTIONS", "TRACE", "BREW", "get", "PROPFIND", "CONNECT"):
        status, headers, _, _ = get("/counts", method=method)
        want(f"{method} /counts", status, 405)
        want(f"Allow after {method}", headers.get("allow"), "GET, HEAD, PUT")
    want("Allow", get("/body", method="PUT")[1].get("allow"), "GET, HEAD")
    want("PUT", get("/counts", method="PUT")[0], 200)


def head():
    for target in ("/", "/body", "/counts"):
        data = raw(request(target, method="HEAD", headers="Connection: close\r\n"))
        status, _, _, rest = parse(data, head=True)
        want(f"HEAD {target}", (status, rest), (200, b""))
    want("HEAD of nothing", get("/nope", method="HEAD")[0], 404)
    want("bodies left", counts()["bodies"], 0)


def unread_body():
    """A body that nobody asked for is not read, and does not become a second request."""
    before = counts()
    for headers in ("Content-Length: 100000000\r\n", "Transfer-Encoding: chunked\r\n"):
        s = connect()
        s.sendall(request("/counts", method="POST", headers=headers))
        want("POST", parse(drain(s))[0], 405)
    inner = request("/-/healthy")
    s = connect()
    s.sendall(request("/-/healthy", headers=f"Content-Length: {len(inner)}\r\n") + inner)
    data = drain(s)
    status, _, _, rest = parse(data)
    want("GET with a body", (status, rest), (200, b""))
    want("replies", counts()["200"] - before["200"], 2)


def long_line():
    want("100 kB request line", parse(raw(request("/" + "a" * 100000)))[0], 414)
    want("9 kB request line", parse(raw(request("/" + "a" * 9000)))[0], 414)
    want("8 kB query", get("/-/healthy?" + "a" * 8000)[0], 200)
    want("method of 100 kB", parse(raw(request("/", method="A" * 100000)))[0] in (400, 414, 431),
         True)


def large_headers():
    line = "X-Filler: " + "y" * 990 + "\r\n"
    data = raw(request("/", headers=line * 1000))
    # The reset that follows unread input may overtake the reply.
    if data:
        want("1 MB of headers", parse(data)[0], 431)
    data = raw(request("/", headers="".join(f"A{i}: b\r\n" for i in range(50000))))
    if data:
        want("50,000 headers", parse(data)[0], 431)
    want("answers 431", counts()["431"] >= 2, True)
    # What just fits is served, from what memory is left.
    for size in range(20, 34):
        data = raw(request("/body?bytes=1600000", headers="Connection: close\r\n" + line * size))
        status, _, body, _ = parse(data)
        if status == 200:
            check_body(body, 1600000)
        else:
            want(f"{size} kB of headers", status, 431)
    want("least room for a reader", counts()["least_room"] >= 4096, True)


def noise():
    for data, codes in (
            (b"GET / HTTP/1.1\r\n\r\n", (400,)),
            (b"GET / HTTP/9.1\r\nHost: x\r\n\r\n", (505,)),
            (b"GET / HTTP/0.9\r\nHost: x\r\n\r\n", (505,)),
            (b"GET /\r\n\r\n", (400, 505)),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)), ()),
            (bytes(range(256)) * 4, ()),
            (b"\r\n" * 10000, ()),
            (b"\0" * 10000, ()),
            (b"GET / HTTP/1.1\r\nHost: x\r\nA\0B: c\r\nConnection: close\r\n\r\n", (200, 400)),
            (b"GET / HTTP/1.1\nHost: x\nConnection: close\n\n", (200, 400)),
            (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", (200, 400)),
            (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
             (200, 400, 413)),
            (b"PUT /counts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
             (200, 400)),
    ):
        s = connect()
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
        except ConnectionError:
            pass
        reply = drain(s)
        if codes and (not reply or parse(reply)[0] not in codes):
            raise Wrong(f"{data[:80]!r}: {reply[:200]!r}")
        if not codes and reply and parse(reply)[0] not in (400, 414, 431, 505):
            raise Wrong(f"{data[:80]!r}: {reply[:200]!r}")
    want("still healthy", get("/-/healthy")[0], 200)


def half_closed():
    for version in ("1.0", "1.1"):
        s = connect()
        s.sendall(request("/body?bytes=1600000", version=version))
        s.shutdown(socket.SHUT_WR)
        status, _, body, _ = parse(drain(s))
        want("status", status, 200)
        check_body(body, 1600000)
    s = connect()
    s.sendall(b"GET / HT")
    s.shutdown(socket.SHUT_WR)
    want("half a request", drain(s), b"")


def http10():
    data = raw(request("/body?bytes=1600000", version="1.0", headers=""))
    status, headers, body, _ = parse(data)
    want("status", status, 200)
    want("transfer encoding", headers.get("transfer-encoding"), None)
    check_body(body, 1600000)
    want("no Host header", parse(raw(b"GET /-/healthy HTTP/1.0\r\n\r\n"))[0], 200)


def pipelined():
    nr = 50
    s = connect()
    s.sendall(b"".join(request(f"/body?bytes={160 * i}") for i in range(1, nr + 1)) +
              request("/nope", headers="Connection: close\r\n"))
    data = drain(s)
    for i in range(1, nr + 1):
        status, _, body, data = parse(data)
        want("status", status, 200)
        check_body(body, 160 * i)
    want("last", parse(data)[0], 404)


def keep_alive():
    s = connect()
    before = counts()["accepted"]
    for _ in range(20):
        s.sendall(request("/-/healthy"))
        want("status", parse(s.recv(65536))[0], 200)
    want("connections", counts()["accepted"] - before, 1)


def broken():
    for version in ("1.0", "1.1"):
        s = connect()
        s.sendall(request("/broken?bytes=1000000", version=version))
        ended = "end"
        try:
            while s.recv(65536):
                pass
        except ConnectionError:
            ended = "reset"
        want(f"a body that fails, HTTP/{version}", ended, "reset")
    want("counted", counts()["read_error"], 2)
    want("bodies left", counts()["bodies"], 0)


def failing_handler():
    want("EIO", get("/fails")[0], 500)
    status, headers, _, _ = get("/fails?busy=1")
    want("EBUSY", (status, headers.get("retry-after")), (503, "1"))


def slow_head(head_ms):
    """One byte of a request a second, ten such clients, while others are served."""
    slow = [connect() for _ in range(10)]
    began = time.monotonic()
    line = request("/-/healthy", headers="X: " + "y" * 1000 + "\r\n")
    sent = 0
    while not all(closed(s) for s in slow):
        for s in slow:
            try:
                s.send(line[sent:sent + 1])
            except OSError:
                pass
        sent += 1
        took = scrape()
        if took > 2:
            raise Wrong(f"beside slow clients a scrape took {took:.1f} s")
        if time.monotonic() - began > head_ms / 1000 + 5:
            raise Wrong("slow clients were not cut")
        time.sleep(1)
    if time.monotonic() - began < head_ms / 1000:
        raise Wrong("slow clients were cut too early")
    want("counted", counts()["head_timeout"] >= 10, True)


def idle_keep_alive(head_ms):
    s = connect()
    s.sendall(request("/-/healthy"))
    want("status", parse(s.recv(65536))[0], 200)
    began = time.monotonic()
    want("then", s.recv(1), b"")
    want("closed in time", head_ms / 1000 - 0.5 < time.monotonic() - began < head_ms / 1000 + 3, True)


def slow_reader(stall_ms, reply_ms):
    """One client reads nothing, one a little all the time: the first stalls, the other is too slow."""
    stuck, slow = connect(4096), connect(4096)
    for s in (stuck, slow):
        s.sendall(request("/body"))
    began = time.monotonic()
    nr = 0
    while not (closed_for_writing(stuck) and closed_for_writing(slow)):
        if not closed_for_writing(slow):
            try:
                nr += len(slow.recv(200000))
            except OSError:
                pass
        time.sleep(0.1)
        took = time.monotonic() - began
        if took > (stall_ms + reply_ms) / 1000 + 5:
            raise Wrong("slow readers were not cut")
    if took < reply_ms / 1000 - 0.5:
        raise Wrong(f"the reader that went on was cut after {took:.1f} s")
    now = counts()
    want("stalled, reply timeout", (now["stalled"], now["reply_timeout"]), (1, 1))
    want("bodies left", now["bodies"], 0)


def closed_for_writing(s):
    """A reset has come, whatever lies unread."""
    poll = select.poll()
    poll.register(s, select.POLLERR | select.POLLHUP)
    return bool(poll.poll(0))


def raise_files(nr):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < nr:
        resource.setrlimit(resource.RLIMIT_NOFILE, (nr, max(nr, hard)))


def flood(nr, first, pid):
    """nr connections that say `first` and no more, all kept open, while a scraper scrapes."""
    raise_files(nr + 200)
    before = counts()
    cpu_before = cpu(pid)
    stop = threading.Event()
    said = []
    took = []

    def scraper():
        try:
            while not stop.is_set():
                took.append(scrape())
                time.sleep(0.05)
        except Exception as e:  # pylint: disable=broad-except
            said.append(f"{type(e).__name__}: {e}")

    thread = threading.Thread(target=scraper)
    thread.start()
    conns = []
    limit = time.monotonic() + 60
    try:
        while len(conns) < nr:
            s = connect()
            conns.append(s)
            if first:
                try:
                    s.send(first)
                except OSError:
                    pass
            if time.monotonic() > limit:
                raise Wrong(f"only {len(conns)} connections in 60 s")
        time.sleep(0.5)
    finally:
        stop.set()
        thread.join()
    if said:
        raise Wrong(f"after {len(took)} scrapes: {said[0]}")
    if len(took) < 3:
        raise Wrong(f"only {len(took)} scrapes in the time")
    scrape()
    now = counts()
    print(f"# {nr} connections; {len(took)} scrapes meanwhile, the slowest {max(took) * 1000:.0f} ms;"
          f" RSS {rss(pid)} KiB, CPU {cpu(pid) - cpu_before:.2f} s")
    if now["accepted"] - before["accepted"] < nr:
        raise Wrong("not all were accepted")
    if now["evicted"] - before["evicted"] < nr - 300:
        raise Wrong(f"evicted only {now['evicted'] - before['evicted']}")
    want("open within the limit", now["open"] <= 256, True)


def unread_streams(nr):
    """nr clients ask for 50 MB and read nothing; a scraper still gets its own."""
    conns = []
    for _ in range(nr):
        s = connect(4096)
        s.sendall(request("/body"))
        conns.append(s)
    took = scrape()
    print(f"# beside {nr} clients that do not read: {took * 1000:.0f} ms")
    now = counts()
    want("streams within the limit", now["streams"] <= 32, True)
    want("some were cut for it", now["stream_limit"] > 0, True)


def unread_pipeline(nr):
    """nr clients send requests for ever and read no reply: their places are given to others."""
    conns = []
    for _ in range(nr):
        s = connect(4096)
        s.setblocking(False)
        try:
            while True:
                s.send(request("/-/healthy") * 100)
        except OSError:
            pass
        conns.append(s)
    took = scrape()
    print(f"# beside {nr} pipelines that are not read: {took * 1000:.0f} ms")


def rss(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int([x for x in f if x.startswith("VmRSS")][0].split()[1])


def cpu(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def memory(nr, pid):
    """nr clients read 50 MB each at the same time."""
    before = rss(pid)
    conns = [connect() for _ in range(nr)]
    for s in conns:
        s.sendall(request("/body", version="1.0"))
    sizes = {s: 0 for s in conns}
    tails = {s: b"" for s in conns}
    most = before
    while conns:
        for s in select.select(conns, [], [], 20)[0]:
            data = s.recv(1 << 18)
            if not data:
                conns.remove(s)
            sizes[s] += len(data)
            tails[s] = (tails[s] + data)[-16:]
        most = max(most, rss(pid))
    for s, size in sizes.items():
        want("whole body", (size > BODY, tails[s]), (True, b"%015d\n" % (BODY // 16 - 1)))
    print(f"# {nr} times 50 MB at once: RSS {before} KiB before, {most} KiB at most")
    if most > before + 8 * 1024:
        raise Wrong(f"RSS went from {before} to {most} KiB")


def turns():
    """A body is written by several blocks a turn, so other work of the loop doesn't stretch it."""
    size = 16 << 20
    s = connect()
    s.sendall(request(f"/body?bytes={size}", headers="Connection: close\r\n"))
    check_body(parse(drain(s))[2], size)
    seen = counts()
    if not 0 < seen["turns"] < seen["reads"]:
        raise Wrong(f"{seen['reads']} blocks took {seen['turns']} turns")


def quiet(pid):
    """Clients that do nothing, or do not read, cost no time."""
    conns = [connect() for _ in range(50)]
    for _ in range(20):
        s = connect(4096)
        s.sendall(request("/body"))
        conns.append(s)
    time.sleep(0.5)
    before = cpu(pid)
    time.sleep(2)
    used = cpu(pid) - before
    want("seconds of CPU in 2 s", used < 0.2, True)


def crowd(nr, pid):
    """Against `export`: nr connections that say nothing, 300 that ask for /metrics and do not read it, and a
    scraper among them."""
    raise_files(nr + 500)
    conns = []
    took = []
    for i in range(nr + 300):
        s = connect(4096)
        conns.append(s)
        if i % (nr // 300) == 0:
            try:
                s.send(request("/metrics"))
            except OSError:
                pass
        if i % 2000 == 0 or i == nr + 299:
            began = time.monotonic()
            status = 503
            while status == 503 and time.monotonic() < began + 5:
                status, _, body, _ = get("/metrics")
            want("status of a scrape", status, 200)
            want("up", b"\nxdp_sflow_up 1\n" in body, True)
            took.append(time.monotonic() - began)
    print(f"# {nr} idle, 300 that do not read: scrapes of {len(body)} bytes took at most "
          f"{max(took) * 1000:.0f} ms; RSS {rss(pid)} KiB")
    want("seconds a scrape took, within 5", max(took) < 5, True)
    want("RSS within 128 MB", rss(pid) < 128000, True)


def per_host(nr):
    """One host holds no more than its share, the newest; another host is untouched by that."""
    conns = [connect() for _ in range(nr + 50)]
    time.sleep(0.5)
    want("oldest closed", [closed(s) for s in conns[:50]], [True] * 50)
    want("newest open", [closed(s) for s in conns[50:]], [False] * nr)


# ---- request bodies ----


def put_head(length=None, headers="", host="127.0.0.1", version="1.1"):
    size = "" if length is None else f"Content-Length: {length}\r\n"
    return f"PUT /upload HTTP/{version}\r\nHost: {host}\r\n{size}{headers}\r\n".encode()


def put(body, headers="", host="127.0.0.1", length=None):
    """Status and text of the answer, which is there although the body was sent to its end."""
    s = connect()
    s.sendall(put_head(len(body) if length is None else length, headers + "Connection: close\r\n", host))
    for at in range(0, len(body), 1 << 20):
        s.sendall(body[at:at + (1 << 20)])
    status, _, text, rest = parse(drain(s))
    want("after the answer", rest, b"")
    return status, text.decode().strip()


def chunked(body, size):
    parts = (body[at:at + size] for at in range(0, len(body), size))
    return b"".join(b"%x\r\n%s\r\n" % (len(x), x) for x in parts) + b"0\r\n\r\n"


def uploads():
    """Bodies up to the bound of 1 MiB, and beyond it, in every form."""
    for size in (0, 1, 4095, 4096, 65537, (1 << 20) - 1, 1 << 20):
        body = bytes(i % 251 for i in range(1000)) * (size // 1000) + b"x" * (size % 1000)
        want(f"{size} bytes", put(body), (200, f"{size} {sum(body)}"))
    too_long = (413, "the body is longer than 1048576 bytes")
    for size in ((1 << 20) + 1, 50_000_000):
        want(f"{size} bytes", put(b"y" * size), too_long)
    body = b"z" * 300_000
    for size in (1, 999, 100_000):
        head = put_head(headers="Transfer-Encoding: chunked\r\nConnection: close\r\n")
        s = connect()
        s.sendall(head + chunked(body[:3000] if size == 1 else body, size))
        n = 3000 if size == 1 else len(body)
        want(f"chunks of {size}", parse(drain(s))[2], f"{n} {n * ord('z')}\n".encode())
    s = connect()
    s.sendall(put_head(headers="Transfer-Encoding: chunked\r\nConnection: close\r\n"))
    s.sendall(chunked(b"y" * 50_000_000, 1 << 20))
    want("50 MB in chunks", parse(drain(s))[0], 413)
    # who waits to be told gets the answer, and nothing is read
    s = connect()
    s.sendall(put_head(50_000_000, "Expect: 100-continue\r\n"))
    want("50 MB announced", parse(drain(s))[0], 413)
    s = connect()
    s.sendall(put_head(3, "Expect: 100-continue\r\nConnection: close\r\n"))
    want("told to go on", s.recv(100).startswith(b"HTTP/1.1 100 "), True)
    s.sendall(b"abc")
    want("then answered", parse(drain(s))[2], b"3 294\n")
    # the connection goes on, and the body is no request
    s = connect()
    inner = request("/-/healthy")
    s.sendall(put_head(len(inner)) + inner + put_head(1) + b"a" +
              request("/-/healthy", headers="Connection: close\r\n"))
    data = drain(s)
    for expected in (f"{len(inner)} {sum(inner)}\n".encode(), b"1 97\n", b"healthy\n"):
        status, _, text, data = parse(data)
        want("kept alive", (status, text), (200, expected))
    want("a length that is no number", parse(raw(put_head("3x") + b"abc"))[0], 400)
    want("no body at all", parse(raw(put_head(headers="Connection: close\r\n")))[2], b"0 0\n")
    want("uploads left", counts()["uploads"], 0)


def upload_that_never_ends(pid):
    """Of a refused body only so much is read."""
    before = rss(pid)
    s = connect()
    sent = 0
    s.sendall(put_head(headers="Transfer-Encoding: chunked\r\n"))
    try:
        while sent < 400 << 20:
            s.sendall(b"100000\r\n" + b"a" * (1 << 20) + b"\r\n")
            sent += 1 << 20
    except OSError:
        pass
    want("cut after 128 MiB", 100 << 20 < sent < 200 << 20, True)
    want("counted", counts()["upload_limit"], 1)
    want("memory", rss(pid) < before + 8192, True)


def many_uploads(nr):
    """nr at a time; one more is told so."""
    conns = [connect() for _ in range(nr)]
    for s in conns:
        s.sendall(put_head(10, "Connection: close\r\n") + b"12345")
    time.sleep(0.3)
    want("under way", counts()["uploads"], nr)
    want("one more", put(b"abc"), (503, "too many request bodies at once; try again"))
    want("a scrape meanwhile", get("/body?bytes=160")[0], 200)
    conns.pop().close()
    time.sleep(0.3)
    want("room again", put(b"abc"), (200, "3 294"))
    for s in conns:
        s.sendall(b"12345")
        want("finished", parse(drain(s))[2], b"10 510\n")
    want("uploads left", counts()["uploads"], 0)


def slow_upload(stall_ms, reply_ms):
    """A body that stops, and one that comes a byte at a time, are cut."""
    for pause, limit in ((None, stall_ms), (0.1, reply_ms)):
        before = counts()["upload_timeout"]
        s = connect()
        began = time.monotonic()
        s.sendall(put_head(1000) + b"a")
        s.settimeout(pause or 30)
        data = None
        while data is None and time.monotonic() - began < 30:
            try:
                data = s.recv(1000)
            except TimeoutError:
                try:
                    s.sendall(b"a")
                except OSError:
                    data = b""
            except OSError:
                data = b""
        took = (time.monotonic() - began) * 1000
        want("cut without an answer", data, b"")
        want(f"cut after {took:.0f} ms, in time", limit - 100 < took < limit + 1500, True)
        want("counted", counts()["upload_timeout"], before + 1)
    want("uploads left", counts()["uploads"], 0)


def who_writes(plain, foreign):
    """Statuses of a write under this host's name and under another; a web page never may."""
    names = ("127.0.0.1", "127.0.0.1:8008", "127.1.2.3", "localhost", "LOCALHOST:1", "[::1]", "[::1]:80",
             "[::ffff:127.0.0.1]", "localhost:")
    for host in names:
        want(host, put(b"abc", host=host)[0], plain)
        want(f"{host} from a page", put(b"abc", "Origin: http://127.0.0.1:8008\r\n", host)[0], 403)
    for host in ("example.org", "localhost.example.org", "127.0.0.1.example.org", "10.0.0.1", "localhos",
                 "[::2]", "[::1", "127.0.0.1x", "0.0.0.0", "a" * 200, "localhost@x", "[localhost]:99", "[127.0.0.1]",
                 "[::1]x", "localhost:evil.com", "127.0.0.1:8008.evil.com", "[::1]:8x", "::1"):
        want(host, put(b"abc", host=host)[0], foreign)
    want("Origin: null", put(b"abc", "Origin: null\r\n")[0], 403)
    want("without a body", parse(raw(put_head(headers="Connection: close\r\n", host="example.org")))[0], foreign)
    want("HTTP/1.0 without Host", parse(raw(b"PUT /upload HTTP/1.0\r\nContent-Length: 1\r\n\r\na"))[0], plain)
    want("reading under any name", get("/counts")[0], 200)
    for target, expected in (("localhost", plain), ("127.0.0.1:8008", plain), ("example.org", foreign),
                             ("localhost@example.org", foreign), ("localhost:example.org", foreign)):
        head = put_head(3, "Connection: close\r\n").replace(b"/upload", f"http://{target}/upload".encode(), 1)
        want(f"target http://{target}", parse(raw(head + b"abc"))[0], expected)
    for hosts in ("Host: localhost\r\nHost: example.org\r\n", "Host: localhost\r\nhost: localhost\r\n"):
        for method in ("GET /counts", "PUT /upload"):
            head = f"{method} HTTP/1.1\r\n{hosts}Content-Length: 0\r\nConnection: close\r\n\r\n"
            want(f"two hosts, {method}", parse(raw(head.encode()))[0], 400)


def parts():
    """Variables of a path, and arguments that are there several times."""
    for target, expected in (("/parts/a/json", "a| 0"), ("/parts/a/b/json?v=1&w=2&v=&v=3&v=4", "a|b| 4 1  3"),
                             ("/parts/a%20b/%7Bone%7D/json?v=%26&v", "a b|{one}| 2 & "),
                             ("/parts/ALL/json/json?v=" + "x" * 3000, "ALL|json| 1 " + "x" * 3000)):
        want(target[:60], get(target)[2].decode(), expected)
    want("what is exact goes first", get("/parts/all/json")[0], 500)
    for target in ("/parts//json", "/parts/a/b/c/json", "/parts/json", "/parts/a/jso", "/parts/a/json/",
                   "/parts/a//json", "/parts/{one}"):
        want(target, get(target)[0], 404)
    want("its methods", get("/parts/a/json", method="DELETE")[1].get("allow"), "GET, HEAD")


def healthy():
    want("healthy", get("/-/healthy")[0], 200)


SCENARIOS = {f.__name__: f for f in (
    basic, unknown_path, bad_method, head, unread_body, long_line, large_headers, noise, half_closed,
    http10, pipelined, keep_alive, broken, failing_handler, slow_head, idle_keep_alive, slow_reader,
    unread_streams, unread_pipeline, memory, turns, quiet, crowd, per_host, healthy, scrape, uploads,
    upload_that_never_ends, many_uploads, slow_upload, who_writes, parts)}
SCENARIOS["flood_idle"] = lambda nr, pid: flood(nr, b"", pid)
SCENARIOS["flood_partial"] = lambda nr, pid: flood(nr, b"GET /body HTTP/1.1\r\nHo", pid)

try:
    SCENARIOS[sys.argv[3]](*map(int, sys.argv[4:]))
except Wrong as e:
    print(e)
    sys.exit(1)
