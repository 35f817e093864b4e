/* SPDX-License-Identifier: MIT */
/* Tensor attributes of a graph that it writes become its first inputs, as PyTorch lifts parameters
 * and buffers of a module. */

#include "analysis/adj-aliases.h"
#include "analysis/adj-node-call.h"
#include "aot/aot-private.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"

/* Names of constant tensors, which PyTorch does not lift. */
#define CONSTANT "_tensor_constant"

typedef struct
{
  AdjFunction parent;
  AdjGraph *graph;     /* (owned) */
  guint32 *attributes; /* (owned): nodes replaced by the first arguments */
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

/* -- which they are -- */

typedef struct
{
  const AdjAlias *aliases;
  gboolean *lifted; /* by node */
} Attributes;

static gboolean
may_be_lifted (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_GET_ATTR && node->val.kind == ADJ_VALUE_META &&
         !g_str_has_prefix (node->target, CONSTANT);
}

static gboolean
lies_elsewhere (const AdjValue *leaf, gpointer data)
{
  const Attributes *self = data;

  return leaf->kind != ADJ_VALUE_NODE || !self->lifted[self->aliases[leaf->node.index].must];
}

/* Whether @node writes an attribute, a list of them, or a view of one; also `_foreach_add_` and
 * `x[0] = 1`, which return no written tensor. */
static gboolean
writes_attribute (Attributes *self, const AdjNode *node)
{
  const AdjSchema *schema = adj_node_find_schema (node);

  if (node->opcode == ADJ_OPCODE_CALL_FUNCTION && node->args.n > 0 &&
      g_str_equal (node->target, "operator.setitem"))
    return !lies_elsewhere (&node->args.items[0], self);
  for (guint i = 0; schema != NULL && i < schema->n_arguments; i++)
    {
      const AdjValue *value = adj_node_find_argument (node, schema, i);

      if (schema->arguments[i].type.written && value != NULL &&
          !adj_value_foreach (value, lies_elsewhere, self))
        return TRUE;
    }
  return FALSE;
}

GArray *
aot_list_attributes (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree gboolean *lifted = g_new0 (gboolean, n + 1);
  Attributes self = { adj_graph_get_aliases (graph), lifted };
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint32));
  gboolean written = FALSE;

  for (guint32 i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      lifted[i] = may_be_lifted (node);
      if (lifted[i])
        g_array_append_val (found, i);
      written |= self.aliases[i].kind == ADJ_ALIAS_SAME && lifted[self.aliases[i].must];
      written |= writes_attribute (&self, node);
    }
  if (!written)
    g_array_set_size (found, 0);
  return found;
}
