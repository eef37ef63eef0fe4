#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Uploads a topology as the users of containerlab do: topo_put.py URL FILE [METHOD]; links alone, one PUT by
urllib. Prints the status."""
import json
import sys
import urllib.error
import urllib.request

with open(sys.argv[2], encoding="utf-8") as f:
    links = json.load(f)["links"]
request = urllib.request.Request(sys.argv[1], data=json.dumps({"links": links}).encode(),
                                 method=sys.argv[3] if len(sys.argv) > 3 else "PUT")
request.add_header("Content-Type", "application/json")
try:
    print(urllib.request.urlopen(request, timeout=20).status)
except urllib.error.HTTPError as e:
    print(e.code, e.read().decode())
