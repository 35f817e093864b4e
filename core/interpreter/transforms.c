/* SPDX-License-Identifier: MIT */
/* The steps of torch.func transforms, which a mode performs. */

#include "call/adj-mode.h"
#include "interpreter/adj-interpreter-internal.h"
#include "interpreter/builtins-private.h"
#include "ir/adj-graph.h"

static gboolean
take (AdjContext *cx, AdjTransform step, const AdjValue *args, guint n_args, AdjValue *out)
{
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass->transform != NULL)
      return mode->klass->transform (mode, cx, step, args, n_args, out);
  return adj_builtin_fail (cx, "torch.func needs a mode that records gradients");
}

#define STEP(name, step)                                                                           \
  gboolean adj_builtin_##name (AdjContext *cx, const AdjValue *args, guint n_args,                 \
                               const AdjValue *kwargs, AdjValue *out)                              \
  {                                                                                                \
    return take (cx, step, args, n_args, out);                                                     \
  }

STEP (begin_batch, ADJ_TRANSFORM_BEGIN_BATCH)
STEP (begin_gradients, ADJ_TRANSFORM_BEGIN_GRADIENTS)
STEP (begin_forward, ADJ_TRANSFORM_BEGIN_FORWARD)
STEP (end_level, ADJ_TRANSFORM_END)
STEP (add_batch_dim, ADJ_TRANSFORM_ADD_DIM)
STEP (remove_batch_dim, ADJ_TRANSFORM_REMOVE_DIM)
STEP (wrap_for_grad, ADJ_TRANSFORM_WRAP)
STEP (unwrap_for_grad, ADJ_TRANSFORM_UNWRAP)
STEP (track_gradient, ADJ_TRANSFORM_TRACK)
STEP (differentiate, ADJ_TRANSFORM_DIFFERENTIATE)
STEP (make_dual, ADJ_TRANSFORM_MAKE_DUAL)
STEP (unpack_dual, ADJ_TRANSFORM_UNPACK_DUAL)

static gboolean
begins_level (const AdjNode *node)
{
  const AdjBuiltin *builtin =
      node->opcode == ADJ_OPCODE_CALL_FUNCTION ? adj_builtin_find (node->target) : NULL;

  return builtin != NULL && (builtin->call == adj_builtin_begin_batch ||
                             builtin->call == adj_builtin_begin_gradients ||
                             builtin->call == adj_builtin_begin_forward);
}

gboolean
adj_graph_takes_transforms (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (begins_level (adj_graph_get_node (graph, i)))
      return TRUE;
  return FALSE;
}
