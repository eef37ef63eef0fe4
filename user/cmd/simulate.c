// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd/cmd.h"

int cmd_simulate(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return XSF_EXIT_FAILURE;
}
