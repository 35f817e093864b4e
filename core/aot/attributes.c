/* SPDX-License-Identifier: MIT */
/* Tensors that a graph holds and writes: inputs of what is traced of it, before the others, as
 * PyTorch lifts the parameters and buffers of a module. */

#include "analysis/adj-aliases.h"
#include "aot/aot-private.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"

/* Names of tensors that are constants to PyTorch, which it does not lift. */
#define CONSTANT "_tensor_constant"

typedef struct
{
  AdjFunction parent;
  AdjGraph *graph;     /* (owned) */
  guint32 *attributes; /* (owned): nodes whose values the first arguments are */
  guint n;
} LiftedFunction;

typedef struct
{
  const LiftedFunction *function;
  const AdjValue *args;
} Call;

static gboolean
put_argument (const AdjGraph *graph, AdjNodeId id, AdjContext *cx, AdjValue *value, gpointer data)
{
  const Call *call = data;

  for (guint i = 0; graph == call->function->graph && i < call->function->n; i++)
    if (call->function->attributes[i] == id.index)
      {
        adj_value_clear (value);
        *value = adj_value_copy (&call->args[i]);
      }
  return TRUE;
}

static gboolean
lifted_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const LiftedFunction *self = (const LiftedFunction *) function;
  Call call = { self, args };
  AdjInterpreterHooks hooks = { .amend = put_argument, .data = &call };

  return adj_interpret (cx, self->graph, args + self->n, n_args - self->n, &hooks, result);
}

static void
lifted_finalize (AdjFunction *function)
{
  LiftedFunction *self = (LiftedFunction *) function;

  adj_graph_unref (self->graph);
  g_free (self->attributes);
}

static const AdjFunctionClass lifted_class = {
  .name = "lifted",
  .call = lifted_call,
  .finalize = lifted_finalize,
};

AdjFunction *
aot_lifted_function_new (AdjGraph *graph, const guint32 *attributes, guint n)
{
  AdjFunction *function = adj_function_new (&lifted_class, sizeof (LiftedFunction));
  LiftedFunction *self = (LiftedFunction *) function;

  self->graph = adj_graph_ref (graph);
  self->attributes = g_memdup2 (attributes, n * sizeof *attributes);
  self->n = n;
  return function;
}

static gboolean
is_lifted (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_GET_ATTR && node->val.kind == ADJ_VALUE_META &&
         !g_str_has_prefix (node->target, CONSTANT);
}

GArray *
aot_list_attributes (const AdjGraph *graph)
{
  const AdjAlias *aliases = adj_graph_get_aliases (graph);
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree gboolean *lifted = g_new0 (gboolean, n + 1);
  gboolean written = FALSE;

  for (guint32 i = 0; i < n; i++)
    {
      lifted[i] = is_lifted (adj_graph_get_node (graph, i));
      if (lifted[i])
        g_array_append_val (found, i);
      written |= aliases[i].kind == ADJ_ALIAS_SAME && lifted[aliases[i].must];
    }
  if (!written)
    g_array_set_size (found, 0);
  return found;
}
