/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cpu: factors of matrix products in the layout of their loops. */

#include "tile.h"

/* Rows of A or columns of B: `count` lines along k, which are packed side by side. */
typedef struct
{
  const AdjKView *view;
  int64_t offset; /* of the first line's first element */
  int64_t next;   /* stride to the next line */
  int64_t along;  /* stride along k */
  int64_t count;  /* number of lines, padded with zeros to a multiple of the panel width */
} PanelLines;

/* Panels of @width lines each, one after the other; in a panel, @width elements for every k, of
 * which there are at most GEMM_STEP. */
void adj_k_pack_panels (
    const ClassLoops *loops, void *dst, const PanelLines *lines, int width, int64_t k);
