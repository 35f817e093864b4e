/* SPDX-License-Identifier: MIT */

/* register_hook (tensor, body, *more): a hook on a tensor in graphs of current releases, with
 * further values that it reads; its result is the tensor. */

#include "call/adj-mode.h"
#include "interpreter/adj-interpreter.h"
#include "interpreter/builtins-private.h"
#include "ir/adj-graph.h"

/* The name of the body: the attribute that holds it. */
static const char *
get_name (AdjContext *cx)
{
  const AdjPlace *place = adj_context_get_place (cx);
  const AdjNode *node =
      place->graph != NULL ? adj_graph_get_node (place->graph, place->id.index) : NULL;
  const AdjNode *body;

  if (node == NULL || node->args.n < 2 || node->args.items[1].kind != ADJ_VALUE_NODE)
    return "hook";
  body = adj_graph_get_node (place->graph, node->args.items[1].node.index);
  return body->opcode == ADJ_OPCODE_GET_ATTR ? body->target : body->name;
}

/* Without an autograd mode there is no gradient, so that the hook is ignored. */
gboolean
adj_builtin_register_hook (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  g_autoptr (AdjFunction) body = NULL;

  if (n_args < 2 || args[0].kind != ADJ_VALUE_TENSOR || args[1].kind != ADJ_VALUE_GRAPH)
    return adj_builtin_fail (cx, "a tensor and the graph of a hook are needed");
  body = adj_graph_function_new ((AdjGraph *) args[1].graph);
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass->hook != NULL)
      {
        if (!mode->klass->hook (mode, cx, args[0].tensor, body, get_name (cx), args + 2,
                                n_args - 2))
          return FALSE;
        break;
      }
  *out = adj_value_copy (&args[0]);
  return TRUE;
}
