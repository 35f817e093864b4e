/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

/* Prints Inductor's kernels of a graph: the lines of its code that call them, their nodes, and
 * their source lines; ADJ_ERROR_NOT_FOUND where the file has none. */
AdjExit adj_kernels_print (const AdjBundle *bundle, const AdjBundleGraph *graph, GError **error);
