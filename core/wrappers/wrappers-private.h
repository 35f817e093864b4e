/* SPDX-License-Identifier: MIT */
#pragma once

/* Shared by the generated sources. */

#include <string.h>

#include "call/adj-op.h"
#include "ops/adj-ops.h"
#include "wrappers/adj-wrappers.h"

G_BEGIN_DECLS

/* -- arguments; lists live as long as the scope -- */

static inline AdjValue
from_tensor (AdjContext *cx, AdjTensor *value)
{
  return value != NULL ? ADJ_TENSOR (value) : ADJ_NONE;
}

static inline AdjValue
from_tensor_or_none (AdjTensor *value)
{
  return value != NULL ? ADJ_TENSOR (value) : ADJ_NONE;
}

static inline AdjValue
from_size (gint64 word)
{
  return adj_value_from_size ((AdjSize){ word });
}

static inline AdjValue
from_string (const char *text)
{
  if (text == NULL)
    return ADJ_NONE;
  return (AdjValue){ .kind = ADJ_VALUE_STRING, .n = (guint) strlen (text), .text = text };
}

static inline AdjValue
from_dtype (AdjDType value)
{
  return value != ADJ_DTYPE_NONE ? ADJ_DTYPE (value) : ADJ_NONE;
}

static inline AdjValue
from_device (AdjDevice value)
{
  if (value.type == ADJ_N_DEVICE_TYPES)
    return ADJ_NONE;
  return (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = value };
}

static inline AdjValue
from_format (AdjMemoryFormat value)
{
  if (value == ADJ_N_MEMORY_FORMATS)
    return ADJ_NONE;
  return (AdjValue){ .kind = ADJ_VALUE_MEMORY_FORMAT, .format = value };
}

AdjValue adj_wrapper_tensors (AdjContext *cx, AdjTensor *const *items, guint n);
AdjValue adj_wrapper_sizes (AdjContext *cx, const gint64 *items, guint n);
AdjValue adj_wrapper_doubles (AdjContext *cx, const double *items, guint n);
AdjValue adj_wrapper_bools (AdjContext *cx, const gboolean *items, guint n);
AdjValue adj_wrapper_values (AdjContext *cx, const AdjValue *items, guint n);

/* The default of an argument of the @op-th operator of the table; ADJ_NONE where it has none. */
AdjValue adj_wrapper_default (guint op, guint argument);

/* -- calls; @args in the order of the schema -- */

AdjTensor *adj_wrapper_call_one (AdjContext *cx, guint op, const AdjValue *args);
AdjTensor *const *
adj_wrapper_call_list (AdjContext *cx, guint op, const AdjValue *args, guint *n_results);
/* @results: pointers that may be %NULL; the array is as long as the schema has returns. */
gboolean adj_wrapper_call_several (AdjContext *cx,
                                   guint op,
                                   const AdjValue *args,
                                   AdjTensor **const *results);

G_END_DECLS
