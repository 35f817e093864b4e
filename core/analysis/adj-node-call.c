/* SPDX-License-Identifier: MIT */
/* The callee of a node: an operator, or a Python name for one of several. */

#include "analysis/adj-node-call.h"

#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "ir/adj-target-internal.h"
#include "ir/adj-value-internal.h"

const AdjPacket *
adj_node_find_packet (const AdjNode *node)
{
  if (node->op != NULL)
    return NULL;
  if (node->opcode == ADJ_OPCODE_CALL_METHOD)
    return adj_packet_find_method (node->target);
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION ? adj_packet_find_function (node->target) : NULL;
}

const AdjOp *
adj_node_find_op (const AdjNode *node, AdjOpFlags flags)
{
  const AdjPacket *packet = adj_node_find_packet (node);

  if (node->op != NULL)
    return (node->op->flags & flags) != 0 ? node->op : NULL;
  for (guint i = 0; packet != NULL && i < adj_packet_get_n_overloads (packet); i++)
    if ((adj_packet_get_overload (packet, i)->flags & flags) != 0)
      return adj_packet_get_overload (packet, i);
  return NULL;
}

const AdjSchema *
adj_node_find_schema (const AdjNode *node)
{
  const AdjPacket *packet = adj_node_find_packet (node);

  if (node->op != NULL)
    return adj_op_get_schema (node->op);
  return packet != NULL && adj_packet_get_n_overloads (packet) > 0
             ? adj_op_get_schema (adj_packet_get_overload (packet, 0))
             : NULL;
}

const AdjValue *
adj_node_find_argument (const AdjNode *node, const AdjSchema *schema, guint index)
{
  return index < node->args.n
             ? &node->args.items[index]
             : adj_value_find_member (&node->kwargs, schema->arguments[index].name);
}

gboolean
adj_node_is_told_in_place (const AdjNode *node)
{
  const AdjValue *inplace = adj_value_find_member (&node->kwargs, "inplace");

  return inplace != NULL && inplace->kind == ADJ_VALUE_BOOL && inplace->boolean &&
         node->args.n > 0 && node->args.items[0].kind == ADJ_VALUE_NODE;
}

static gboolean
is_not_true (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_BOOL || !leaf->boolean;
}

/* Whether it may write if it calls the overload of @schema. */
static gboolean
may_write_as (const AdjNode *node, const AdjSchema *schema)
{
  for (guint i = 0; i < schema->n_arguments; i++)
    {
      const AdjArgument *argument = &schema->arguments[i];

      if (argument->type.written && (!argument->keyword_only ||
                                     adj_value_find_member (&node->kwargs, argument->name) != NULL))
        return TRUE;
      if (g_str_equal (argument->name, "inplace") &&
          !(adj_value_foreach (&node->args, is_not_true, NULL) &&
            adj_value_foreach (&node->kwargs, is_not_true, NULL)))
        return TRUE;
    }
  return FALSE;
}

gboolean
adj_node_may_write (const AdjNode *node)
{
  const AdjPacket *packet = adj_node_find_packet (node);
  gboolean may_write = FALSE;

  if (node->op != NULL)
    return adj_schema_mutates (adj_op_get_schema (node->op));
  if (packet == NULL)
    return (node->opcode == ADJ_OPCODE_CALL_FUNCTION || node->opcode == ADJ_OPCODE_CALL_METHOD) &&
           adj_target_names_write (node->target);
  for (guint i = 0; i < adj_packet_get_n_overloads (packet); i++)
    may_write |= may_write_as (node, adj_op_get_schema (adj_packet_get_overload (packet, i)));
  return may_write;
}
