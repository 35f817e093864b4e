/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

/* Prints a line for every graph of the file or folder at @path, and for later ones as they are
 * written, until the process is interrupted or its output is closed.  Fails only when @path does
 * not exist or is removed. */
AdjExit adj_watch (const char *path, GError **error);
