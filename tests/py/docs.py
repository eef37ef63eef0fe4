#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What README.md and man/xdp-sflow.8 say against what the command and the sources say.

docs.py options COMMAND_PATH        man page and README against every --help
docs.py metrics FILE                README's tables against lines "NAME TYPE"
docs.py totals                      README's outcomes and kinds against include/xsf
docs.py bounds                      README's limits against the headers
docs.py stages                      README's stages of the ledger against user/model/ledger.h
docs.py fields                      README's fields of flows against user/model/flow_field.h
docs.py json FILE                   keys of README's example against a JSON document
docs.py block NAME                  prints the fenced block that "<!-- test: NAME -->" announces

Prints one line for each difference, nothing when there is none."""
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def differ(what, here, there, here_name, there_name):
    for name in sorted(here - there):
        print(f"{what}: {name} is in {here_name}, not in {there_name}")
    for name in sorted(there - here):
        print(f"{what}: {name} is in {there_name}, not in {here_name}")


def section(readme, title):
    """The part of README under a heading of level 2."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", readme, re.M | re.S)
    return found.group(1) if found else ""


# ---- options ----


def help_of(command, *words):
    done = subprocess.run([command, *words, "--help"], capture_output=True, text=True, timeout=10,
                          check=False)
    if done.returncode or done.stderr or not done.stdout.startswith("Usage: xdp-sflow "):
        print(f"{' '.join(words)} --help: exit {done.returncode}, stderr '{done.stderr}', "
              f"stdout '{done.stdout[:40]}'")
    return done.stdout


def help_options(said):
    """{"--listen": (short options, default or None)} of a --help text."""
    options = {}
    # An entry: "  -l, --listen ADDR   text" or "      --maps DIR   text", and its indented lines.
    for entry in re.findall(r"^  (?:(-\w), |    )(--[\w-]+)(.*(?:\n {12,}.*)*)", said, re.M):
        default = re.search(r"\(default:?\s+([^\s),;]+)|(\w+) \(default\)", re.sub(r"\s+", " ", entry[2]))
        options[entry[1]] = ({entry[0]} - {""}, default and (default.group(1) or default.group(2)))
    return options


def man_sections(man):
    """{"load": {"--mode": (short options, text)}} of the .Ss sections."""
    sections = {}
    for name, body in re.findall(r"^\.Ss (.*?)\n(.*?)(?=^\.S[sh] |\Z)", man, re.M | re.S):
        options = {}
        for line, said in re.findall(r"^\.It (Fl.*)\n((?:(?!\.It |\.El).*\n)*)", body, re.M):
            flags = re.findall(r"\bFl (-[\w-]+|\w)", line)
            for flag in (f for f in flags if f.startswith("-")):
                options["-" + flag] = ({"-" + f for f in flags if len(f) == 1}, said)
        sections[name] = options
    return sections


def options(command):
    man, readme = text("man/xdp-sflow.8"), text("README.md")
    sections = man_sections(man)
    shared = sections.pop("load and run", {})
    sections.get("load", {}).update(shared)
    sections.get("run", {}).update(shared)
    commands = set(re.findall(r"^  (\w+) +\S", help_of(command), re.M))
    differ("command", commands, set(sections), "--help", "the man page")
    differ("command", commands, set(re.findall(r"^\.Nm\n\.Cm (\w+)$", man, re.M)), "--help", "SYNOPSIS")
    named = set()
    for row in re.findall(r"^\| (`.*?) \|", section(readme, "On a real NIC"), re.M):
        named |= set(re.findall(r"`(\w+)", row))
    differ("command", commands, named, "--help", "README's table")
    for name in sorted(commands & set(sections)):
        said = help_options(help_of(command, name))
        if "--help" not in said or "-h" not in said["--help"][0]:
            print(f"{name}: --help does not list -h, --help")
        said.pop("--help", None)
        differ(name, set(said), set(sections[name]), "--help", "the man page")
        for option in sorted(set(said) & set(sections[name])):
            short, default = said[option]
            there = sections[name][option]
            differ(f"{name} {option}", short, there[0], "--help", "the man page")
            if default and default not in ("as", "every") and default not in there[1].lower() and \
                    "As for" not in there[1] and "as above" not in there[1]:
                print(f"{name} {option}: default {default} is not in the man page")
    # What README uses must exist.
    every = {option for name in sections for option in sections[name]} | {"--help", "--yes"}
    for option in sorted(set(re.findall(r"(?<![\w-])--[a-z][\w-]+", section(readme, "On a real NIC") +
                                        section(readme, "What is counted") + section(readme, "Metrics") +
                                        section(readme, "Limits") + section(readme, "Security"))) -
                         every - {"--system", "--gid", "--no-create-home", "--shell"}):
        print(f"README: no command has {option}")


# ---- metrics, totals, bounds ----


def metrics(path):
    with open(path, encoding="utf-8") as f:
        there = dict(line.split() for line in f)
    here = {}
    for names, kind in re.findall(r"^\| (`xdp_sflow_.*?) \| (\w+) \|", section(text("README.md"), "Metrics"),
                                  re.M):
        for name in re.findall(r"`(\w+)`", names):
            if name in here:
                print(f"metrics: {name} is there twice")
            here[name] = kind
    differ("metrics", set(here), set(there), "README", "/metrics")
    for name in sorted(set(here) & set(there)):
        if here[name] != there[name]:
            print(f"metrics: {name} is a {there[name]}, README says {here[name]}")
    for name in sorted(set(re.findall(r"\bxdp_sflow_[a-z_]+\b", text("README.md")))):
        if re.sub("_(bucket|sum|count)$", "", name) not in there:
            print(f"metrics: README names {name}, which nobody exports")


def totals():
    source = text("include/xsf/totals.h") + text("include/xsf/csum_abi.h")
    readme = section(text("README.md"), "Metrics")
    for macro, title in (("FRAME_OUTCOMES", "frames_total"), ("DATAGRAM_OUTCOMES", "datagram_outcomes_total"),
                         ("FAULTS", "malformed_total"), ("SAMPLE_TYPES", "samples_total"),
                         ("HEADER_OUTCOMES", "sampled_headers_total"),
                         ("CSUM_PACKET_OUTCOMES", "checksum_packets_total"),
                         ("CSUM_OUTCOMES", "checksum_datagrams_total")):
        body = re.search(rf"#define XSF_{macro}\(X\)(.*?[^\\])\n", source, re.S).group(1)
        there = set(re.findall(r"X\((\w+),", body))
        found = re.search(rf"^\*\*`xdp_sflow_{title}`.*?\n\n(.*?)(?=^\*\*|^## |\Z)", readme, re.M | re.S)
        here = set(re.findall(r"^\| `(\w+)` \|", found.group(1), re.M)) if found else set()
        # What is none of the outcomes of a frame is a datagram.
        differ(macro, here - {"datagram"}, there, "README", "totals.h")


def stages():
    source = re.search(r"#define XSF_LEDGER_STAGES\(X\)(.*?[^\\])\n\n", text("user/model/ledger.h"), re.S).group(1)
    there = {name: title.strip() for name, title in re.findall(r'X\((\w+), \w+, "(.*?)"', source)}
    readme = section(text("README.md"), "Where each datagram went")
    here = {name: title for title, name in re.findall(r"^\| ([\w ,:]+) \| `(\w+)` \|", readme, re.M)}
    for name in sorted(set(there) | set(here) - {"devices", "unexplained", "sockets"}):
        differ(f"stages {name}", {here.get(name, "no row")}, {there.get(name, "no stage")}, "README", "ledger.h")


def fields():
    source, readme = text("user/model/flow_field.h"), text("README.md")
    for macro, title in (("SAMPLE", "of the sample"), ("PACKET", "of the packet; .*?")):
        body = re.search(rf"#define XSF_FLOW_{macro}_FIELDS\(X\)(.*?[^\\])\n", source, re.S).group(1)
        found = re.search(rf"^\| {title} \| \|\n\|---\|---\|\n(.*?)\n\n", readme, re.M | re.S)
        here = set(re.findall(r"^\| `(\w+)` \| (.*) \|$", found.group(1), re.M)) if found else set()
        differ("fields", here, set(re.findall(r'X\((\w+), "(.*?)"\)', body)), "README", "flow_field.h")


def defines():
    there = {}
    for path in glob.glob(ROOT + "/include/xsf/*.h") + glob.glob(ROOT + "/user/*/*.h"):
        with open(path, encoding="utf-8") as f:
            there.update(re.findall(r"^#define (\w+)\s+(\d+)(?:\s*/\*.*)?$", f.read(), re.M))
    return there


def bounds():
    readme, there = section(text("README.md"), "Limits"), defines()
    here = {name: value for value, name in re.findall(r"^\| .* \| (\d+) \| `(\w+)` \|$", readme, re.M)}
    for name, value in sorted(here.items()):
        if there.get(name) != value:
            print(f"bounds: README says {name} is {value}, the headers {there.get(name)}")
    abi = re.search(r"/\* Bounds\..*?\n(.*?)\n\n", text("include/xsf/abi.h"), re.S).group(1)
    differ("bounds", set(re.findall(r"^#define (\w+) \d+$", abi, re.M)) - set(here), set(), "abi.h", "README")
    initial = re.search(r"#define XSF_HTTP_LIMITS_DEFAULT(.*?\})", text("user/serve/http.h"), re.S).group(1)
    http = re.findall(r"\.\w+ = (\d+)", initial)
    said = re.findall(r"^\| .* \| (\d+) \|$", section(text("README.md"), "Security"), re.M)
    if http != said:
        print(f"bounds: HTTP server: README says {said}, serve/http.h {http}")


# ---- blocks ----


def block(name):
    found = re.search(rf"^<!-- test: {re.escape(name)} -->\n```\w+\n(.*?)^```$", text("README.md"),
                      re.M | re.S)
    return found.group(1) if found else ""


def keys(example, real, where):
    if isinstance(example, dict):
        for key in example:
            if key not in real:
                print(f"json: no {where}.{key}")
            else:
                keys(example[key], real[key], f"{where}.{key}")
    elif isinstance(example, list) and example:
        if not real:
            print(f"json: nothing in {where}")
        else:
            keys(example[0], real[0], f"{where}[0]")
    elif type(example) is not type(real):
        print(f"json: {where} is {real!r}")


def main():
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "block":
        print(block(*rest), end="")
    elif what == "json":
        with open(*rest, encoding="utf-8") as f:
            keys(json.loads(block("json")), json.load(f), "")
    else:
        {"options": options, "metrics": metrics, "totals": totals, "bounds": bounds,
         "stages": stages, "fields": fields}[what](*rest)


main()
