/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/kernel-private.h"

G_BEGIN_DECLS

/* What operators over [N, C, spatial…] share. */

#define OP_MAX_AXES 3

/* How many dimensions the operator works on: 2 for avg_pool2d. */
guint op_n_axes (const AdjOpCall *call);

/* What the kernels take for volumes: dimensions of one element before the last @n. */
void op_make_volume (AdjKView *view, guint n);

/* Argument @arg, a list of @n integers from @least to 2^31 - 1, of which a lone one stands for all;
 * an empty list is @if_empty (%NULL: an error).  Fails the call. */
gboolean op_axes (
    const AdjOpCall *call, guint arg, guint n, gint64 least, const gint64 *if_empty, gint64 *out);

typedef struct
{
  gint64 kernel, stride, padding, dilation;
  gboolean ceil; /* a last window may begin before, and end behind, the padding */
} OpWindow;

/* ⌊(size + 2 padding - dilation (kernel - 1) - 1) / stride⌋ + 1: how many windows there are. */
AdjSize op_windows (const AdjOpCall *call, const OpWindow *window, AdjSize size);

/* A result of these sizes, channels last when @channels_last. */
AdjOpResult *op_add_format (
    AdjOpCall *call, AdjDType dtype, guint rank, const AdjSize *sizes, gboolean channels_last);

/* Whether PyTorch suggests a channels-last format for argument @arg. */
gboolean op_is_channels_last (const AdjOpCall *call, guint arg);

/* Whether entry @index of the bool[] argument @arg is set. */
gboolean op_wants (const AdjOpCall *call, guint arg, guint index);

/* %NULL in @pointer when the result is none, else @out. */
gboolean
op_output_or_null (const AdjOpCall *call, guint result, AdjKView *out, const AdjKView **pointer);

G_END_DECLS
