/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* The kernels that Inductor made of a graph, as a log says it: which nodes each computes, and where
 * the code that it wrote calls it. */
typedef struct _AdjKernels AdjKernels;

typedef struct
{
  const char *name; /* "cpp_fused_mul_0"; "…:2" where each call has a number */
  guint n_nodes;
  const AdjNodeId *nodes; /* of the graph, in the order of the log */
  guint line;             /* of its first call in the code, from 1; 0: there is none */
} AdjKernel;

/* (transfer full) (nullable): of the graph before or behind Inductor's passes; %NULL where the log
 * says nothing of it.  Uses @bundle, which must outlive it. */
ADJ_PUBLIC AdjKernels *adj_kernels_new (const AdjBundle *bundle, const AdjBundleGraph *graph);
ADJ_PUBLIC void adj_kernels_free (AdjKernels *kernels);
/* Valid as long as @kernels. */
ADJ_PUBLIC guint adj_kernels_get_n (const AdjKernels *kernels);
ADJ_PUBLIC const AdjKernel *adj_kernels_get (const AdjKernels *kernels, guint index);
/* The kernel that line @line of the code, from 1, calls or names, or whose source it is in;
 * G_MAXUINT: none. */
ADJ_PUBLIC guint adj_kernels_find_line (const AdjKernels *kernels, guint line);
/* (nullable): the generated code that the line numbers refer to. */
ADJ_PUBLIC const AdjBundleFact *adj_kernels_get_code (const AdjKernels *kernels);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjKernels, adj_kernels_free)

G_END_DECLS
