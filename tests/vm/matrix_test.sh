#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 600
# The programs of clang 14, 16 and 19 on the running kernel, and their budget.
exec "$(dirname "$0")/../../scripts/kernel-matrix.sh"
