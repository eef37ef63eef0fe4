#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes the frames of several captures into one, in order: merge_pcap.py OUT FILE..."""
import sys

import pcap

pcap.write(sys.argv[1], [(pcap.ethernet(link, frame), wire)
                         for path in sys.argv[2:] for link, frame, wire in pcap.frames(path)])
