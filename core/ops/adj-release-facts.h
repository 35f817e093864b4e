/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"

G_BEGIN_DECLS

/* A property of an operator in one release only (releases.inc). */
typedef enum
{
  ADJ_FACT_FACTORS_ITSELF,     /* a contiguous matrix is factorized itself, not its transpose */
  ADJ_FACT_TRACED_AS_COMPUTED, /* traced results have the strides of its kernels */
  ADJ_FACT_TRACED_WHOLE,       /* a composite with a kernel that traces do not decompose */
  ADJ_FACT_DRAWN_WIDE,         /* 16-bit numbers are drawn in f32, then rounded */
  ADJ_FACT_MASKED_BY_EIGHT,    /* a GPU thread masks up to eight elements, else four */
  ADJ_FACT_DRAWN_LONG,         /* integers of a range of 2^28 and more take 64 bits each */
  ADJ_FACT_ROUGH_EXPONENTIALS, /* those of 16-bit scores are a cubic polynomial: 1.1e-4 off */
} AdjReleaseFact;

/* Whether @fact holds for the operator of @call in the release of its context. */
gboolean adj_op_release_has (const AdjOpCall *call, AdjReleaseFact fact);

/* (nullable): the expression of the operator of @call in the release of its context, where it is
 * not that of the record; a constant. */
const char *adj_op_release_find_expression (const AdjOpCall *call);

G_END_DECLS
