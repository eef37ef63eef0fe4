#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Kernel memory of all maps of a program, beside the bound: memory.py PROGRAM_ID

The kernel's own figure (memlock in the fdinfo of a map), through bpftool."""
import json
import subprocess
import sys

MB = 1e6


def bpftool(*args):
    return json.loads(subprocess.run(["bpftool", "-j", *args], check=True, capture_output=True).stdout)


def possible_cpus():
    with open("/sys/devices/system/cpu/possible") as f:
        return 1 + max(int(part.split("-")[-1]) for part in f.read().split(","))


def main():
    cpus = possible_cpus()
    ids = bpftool("prog", "show", "id", sys.argv[1])["map_ids"]
    maps = [bpftool("map", "show", "id", str(i)) for i in ids]
    shared = sum(m["bytes_memlock"] for m in maps if not m["type"].startswith("percpu"))
    each = sum(m["bytes_memlock"] for m in maps if m["type"].startswith("percpu"))
    for m in sorted(maps, key=lambda m: -m["bytes_memlock"])[:4]:
        print(f"{'  ' + m['name']:<44} {m['bytes_memlock'] / MB:8.2f}")
    print(f"{'MB of maps shared between CPUs':<44} {shared / MB:8.2f}")
    print(f"{'MB of maps by CPU, ' + str(cpus) + ' possible':<44} {each / MB:8.2f}")
    print(f"{'MB in all; bound 64 + 0.5 a CPU':<44} {(shared + each) / MB:8.2f} {64 + 0.5 * cpus:8.2f}")


main()
