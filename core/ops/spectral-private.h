/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/matrices-private.h"

G_BEGIN_DECLS

/* Matrices of m × n, k = min (m, n): shared by factorizations (linalg-spectral.c). */
typedef struct
{
  const AdjTensorMeta *meta;
  guint batch; /* number of leading dimensions */
  AdjSize m, n, k;
} OpSides;

gboolean op_read_sides (const AdjOpCall *call, guint arg, OpSides *out);
/* A result of as many matrices, column-major. */
void op_add_sides (AdjOpCall *call, const OpSides *s, AdjSize rows, AdjSize columns);

/* The larger side of argument 0. */
double op_side_reduction (const AdjOpCall *call);
double op_spectral_flops (const AdjOpCall *call);

G_END_DECLS
