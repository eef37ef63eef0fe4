#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares what two JSON documents of `status` or `replay` counted: totals, every agent, every interface
(compare.py KERNEL REPLAY). Prints what differs, at most 20 lines; exit 1 when something does."""
import json
import sys

PARTS = ("totals", "agents", "other_agents", "interfaces", "sources", "other_sources")


def flat(value, path=""):
    """Every leaf as (path, value); ages depend on when one asks."""
    if isinstance(value, dict):
        for key in value:
            if not key.endswith("_seconds_ago"):
                yield from flat(value[key], path + "." + key)
    elif isinstance(value, list):
        for item in value:
            name = [str(item[k]) for k in ("agent", "sub_agent", "class", "ifindex", "index") if k in item]
            yield from flat(item, path + "[" + "/".join(name) + "]")
    else:
        yield path, value


def main():
    kernel, replay = ({k: v for part in PARTS for k, v in flat(d[part], part)}
                      for d in (json.load(open(p)) for p in sys.argv[1:3]))
    differ = [k for k in sorted(kernel.keys() | replay.keys()) if kernel.get(k) != replay.get(k)]
    for k in differ[:20]:
        print(f"{k}: kernel {kernel.get(k)}, replay {replay.get(k)}")
    print(f"{len(replay)} values, {len(differ)} differ")
    sys.exit(1 if differ or not replay else 0)


main()
