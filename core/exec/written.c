/* SPDX-License-Identifier: MIT */
/* Alias versions: which node's result is in a piece of memory after each write. */

#include "analysis/adj-aliases.h"
#include "call/adj-op.h"
#include "call/adj-schema.h"
#include "exec/written-private.h"
#include "ops/adj-packet.h"

struct _Written
{
  const AdjGraph *graph;
  const AdjAlias *aliases;
  guint *tensor; /* of each node: the one whose very tensor it is */
  guint *holder;
};

Written *
written_new (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  Written *written = g_new0 (Written, 1);

  written->graph = graph;
  written->aliases = adj_graph_get_aliases (graph);
  written->tensor = g_new0 (guint, n + 1);
  written->holder = g_new0 (guint, n + 1);
  return written;
}

void
written_free (Written *written)
{
  g_free (written->tensor);
  g_free (written->holder);
  g_free (written);
}

/* (nullable): also of a method, and of a function of Python that has overloads. */
static const AdjSchema *
schema_of (const AdjNode *node)
{
  const AdjPacket *packet;

  if (node->op != NULL)
    return adj_op_get_schema (node->op);
  packet = node->opcode == ADJ_OPCODE_CALL_METHOD     ? adj_packet_find_method (node->target)
           : node->opcode == ADJ_OPCODE_CALL_FUNCTION ? adj_packet_find_function (node->target)
                                                      : NULL;
  return packet != NULL && adj_packet_get_n_overloads (packet) > 0
             ? adj_op_get_schema (adj_packet_get_overload (packet, 0))
             : NULL;
}

static gboolean
may_write (const AdjNode *node)
{
  const AdjSchema *schema = schema_of (node);

  return schema != NULL ? adj_schema_mutates (schema) : g_str_has_suffix (node->target, "setitem");
}

/* Nodes up to @writer that may share memory with node @input are held by nobody, unless @writer is
 * that very tensor. */
static void
write_to (Written *written, guint input, guint writer, gboolean in_place)
{
  for (guint k = 0; k <= writer; k++)
    if (written->aliases[k].may == written->aliases[input].may)
      written->holder[k] =
          in_place && written->tensor[k] == written->tensor[input] ? writer : WRITTEN_UNKNOWN;
}

void
written_pass (Written *written, guint index)
{
  const AdjNode *node = adj_graph_get_node (written->graph, index);
  const AdjAlias *alias = &written->aliases[index];
  gboolean in_place = alias->kind == ADJ_ALIAS_SAME;

  written->tensor[index] = in_place ? written->tensor[alias->base] : index;
  written->holder[index] = index;
  if (in_place)
    write_to (written, alias->base, index, TRUE);
  else if (may_write (node))
    for (guint i = 0; i < node->n_inputs; i++)
      write_to (written, node->inputs[i].index, index, FALSE);
}

guint
written_get_holder (const Written *written, guint index)
{
  return written->holder[index];
}
