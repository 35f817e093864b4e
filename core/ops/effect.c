/* SPDX-License-Identifier: MIT */
/* Operators that are called for what they do. */

#include "call/adj-context-internal.h"
#include "call/adj-context.h"
#include "ops/create-private.h"
#include "ops/table-private.h"

static gboolean
nothing_meta (AdjOpCall *call)
{
  return TRUE;
}

static gboolean
nothing_kernel (AdjOpCall *call)
{
  return TRUE;
}

static gboolean
token_meta (AdjOpCall *call)
{
  const gint64 none = 0;
  AdjShape shape;

  adj_shape_init_ints (&shape, 1, &none);
  return op_add_new (call, ADJ_DTYPE_F32, &shape);
}

static gboolean
print_kernel (AdjOpCall *call)
{
  g_autofree char *line = g_strconcat (adj_op_call_string (call, 0, ""), "\n", NULL);

  adj_context_print (call->cx, line);
  return TRUE;
}

static const AdjOp ops[] = {
#define OP(id, ...) { __VA_ARGS__ },
#include "ops/effect.inc"
#undef OP
};

const OpFamily adj_family_effect = { ops, G_N_ELEMENTS (ops) };
