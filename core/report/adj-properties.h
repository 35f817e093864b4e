/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"
#include "exec/adj-comparison.h"
#include "ir/adj-value.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* Properties of nodes as text. All strings are (transfer full). */

/* "32 KiB"; "unknown" below zero. */
char *adj_properties_bytes (gint64 bytes);
/* "139 kFLOP". */
char *adj_properties_flops (double flops);
/* "621 nodes". */
char *adj_properties_count (guint n);
/* The annotation of the node when it is one tensor; else %NULL. */
const AdjTensorMeta *adj_properties_meta (const AdjNode *node);
/* "[32, 256]"; %NULL when the node is not one tensor. */
char *adj_properties_shape (const AdjGraph *graph, const AdjNode *node);
char *adj_properties_strides (const AdjGraph *graph, const AdjNode *node);
/* "float32 · cpu · 32 KiB". */
char *adj_properties_type (const AdjGraph *graph, AdjNodeId id);
/* "f32[32, 256]", several tensors as a list; else the annotation as in graph text. */
char *adj_properties_annotation (const AdjGraph *graph, const AdjNode *node);
/* "aten.gelu.default": the target without its namespace prefix. */
const char *adj_properties_target (const AdjNode *node);
/* One line for screen readers and hover cards. */
char *adj_properties_describe_node (const AdjGraph *graph, AdjNodeId id, AdjRole role);
/* "Joint graph" for "joint". */
const char *adj_properties_role_title (const char *role);
/* "before reordering" of the stage "compiled_autograd_pre_reordering"; most stages keep their name.
 */
const char *adj_properties_stage_title (const char *name);
/* "Within tolerance"; static. */
const char *adj_properties_verdict (AdjVerdict verdict);
/* The same of one value; "Inherits" where it was not recorded and an input differs. */
const char *adj_properties_comparison (const AdjValueComparison *comparison);
/* "model.txt:3:17: 'y' is not defined"; @file (nullable) */
char *adj_properties_diag (const char *file, const AdjDiag *diag);
/* A number with its significant digits: "3.1e-05", "0.125", "–" for NaN. */
char *adj_properties_number (double number);
/* "12.3 µs", "4.1 ms". */
char *adj_properties_time (double nanoseconds);

G_END_DECLS
