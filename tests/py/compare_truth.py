#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""compare_truth.py TRUTH RESULT: does a result of `replay --json` or `status --json` say everything that
`simulate --truth` generated? Prints up to ten differences; exit 1 when there are any.

Keys of the truth must be in the result with the same value; a result may say more. An empty object and a
count of 0 may be left out. Agents, interfaces and places of drops are matched by their keys, and must be the
same ones.
"""
import json
import sys

OWN = ("send_errors",)


def empty(value):
    if isinstance(value, dict):
        return all(empty(v) for v in value.values())
    return value == 0


def differences(want, got, path):
    if isinstance(want, dict) and isinstance(got, dict):
        for key, value in want.items():
            if key in OWN:
                continue
            if key in got:
                yield from differences(value, got[key], path + [key])
            elif not empty(value):
                yield path + [key], value, "nothing"
    elif want != got:
        yield path, want, got


def by_key(entries, *names):
    return {" ".join(str(e[n]) for n in names): e for e in entries}


def main():
    with open(sys.argv[1]) as f:
        truth = json.load(f)
    with open(sys.argv[2]) as f:
        result = json.load(f)
    found = list(differences(truth["totals"], result["totals"], ["totals"]))
    # What another kind of error would hide in: nothing may be there that the truth does not know.
    for key in ("roce_opcodes", "drop_reasons", "malformed_by_kind"):
        for extra in set(result["totals"][key]) - set(truth["totals"][key]):
            found.append((["totals", key, extra], "nothing", result["totals"][key][extra]))
    for table, names in (("agents", ["agent", "sub_agent"]), ("interfaces", ["agent", "ifindex"]),
                         ("drop_places", ["agent", "sub_agent", "ifindex", "reason"])):
        want, got = by_key(truth[table], *names), by_key(result[table], *names)
        for key in sorted(set(want) ^ set(got)):
            found.append(([table, key], key in want, key in got))
        for key in sorted(set(want) & set(got)):
            found.extend(differences(want[key], got[key], [table, key]))
    for path, want, got in found[:10]:
        print("%s: want %s, got %s" % (" ".join(path), want, got))
    if not truth["totals"]["datagrams"]:
        print("the truth is empty")
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
