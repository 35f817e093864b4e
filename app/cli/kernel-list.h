/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

/* Inductor's kernels of a graph: where its code calls each, the nodes, and their source lines;
 * ADJ_ERROR_NOT_FOUND where the file says nothing of them. */
AdjExit adj_kernels_print (const AdjBundle *bundle, const AdjBundleGraph *graph, GError **error);
