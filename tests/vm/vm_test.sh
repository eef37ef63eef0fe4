#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 1000
# Debian 12's 6.1 kernel in qemu: programs load, count as replay does, and keep to their budget.
exec "$(dirname "$0")/../../scripts/vmtest.sh"
