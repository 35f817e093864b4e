/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

/* Prints a line for every graph of the file or folder at @path, those that come while it is still
 * being written as they come, until the process is interrupted or nobody reads on.  Fails only when
 * @path is not there or is gone. */
AdjExit adj_watch (const char *path, GError **error);
