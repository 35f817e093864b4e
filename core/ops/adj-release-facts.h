/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"

G_BEGIN_DECLS

/* What holds of an operator in one release alone (releases.inc). */
typedef enum
{
  ADJ_FACT_FACTORS_ITSELF,     /* factors are of a contiguous matrix, not of its transpose */
  ADJ_FACT_TRACED_AS_COMPUTED, /* its results have the strides of its kernels where it is traced */
  ADJ_FACT_TRACED_WHOLE,       /* a composite with a kernel that a trace does not take apart */
  ADJ_FACT_DRAWN_WIDE,         /* what it draws in 16 bits is drawn in f32, then rounded */
  ADJ_FACT_MASKED_BY_EIGHT,    /* a thread of a GPU masks up to eight elements, else four */
  ADJ_FACT_DRAWN_LONG,         /* its integers of a range of 2^28 and more take 64 bits each */
} AdjReleaseFact;

/* Whether @fact holds of the operator of @call in the release of its context. */
gboolean adj_op_release_has (const AdjOpCall *call, AdjReleaseFact fact);

G_END_DECLS
