/* SPDX-License-Identifier: MIT */
#include "call/adj-schema.h"
#include "exec/written-private.h"
#include "ops/adj-packet.h"

struct _Written
{
  const AdjGraph *graph;
  guint *memory; /* of each node: the one that made the memory of its result */
  guint *tensor; /* and the one whose very tensor it is */
  guint *holder;
};

Written *
written_new (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  Written *written = g_new0 (Written, 1);

  written->graph = graph;
  written->memory = g_new0 (guint, n + 1);
  written->tensor = g_new0 (guint, n + 1);
  written->holder = g_new0 (guint, n + 1);
  return written;
}

void
written_free (Written *written)
{
  g_free (written->memory);
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
has_inplace (const AdjNode *node)
{
  for (guint i = 0; i + 1 < node->kwargs.n; i += 2)
    if (node->kwargs.items[i].kind == ADJ_VALUE_STRING &&
        g_str_equal (node->kwargs.items[i].text, "inplace"))
      return node->kwargs.items[i + 1].kind == ADJ_VALUE_BOOL && node->kwargs.items[i + 1].boolean;
  return FALSE;
}

/* Whether it writes to its first argument and gives that back. */
static gboolean
is_in_place (const AdjNode *node, const AdjSchema *schema)
{
  if (node->args.n == 0 || node->args.items[0].kind != ADJ_VALUE_NODE)
    return FALSE;
  return has_inplace (node) ||
         (schema != NULL && schema->n_returns == 1 && schema->n_arguments > 0 &&
          schema->arguments[0].type.written && schema->returns[0].type.written);
}

static gboolean
may_write (const AdjNode *node, const AdjSchema *schema)
{
  return schema != NULL ? adj_schema_mutates (schema) : g_str_has_suffix (node->target, "setitem");
}

/* Whoever lies in the memory of node @input. */
static void
write_to (Written *written, guint input, guint writer, gboolean in_place)
{
  for (guint k = 0; k <= writer; k++)
    if (written->memory[k] == written->memory[input])
      written->holder[k] =
          in_place && written->tensor[k] == written->tensor[input] ? writer : WRITTEN_UNKNOWN;
}

void
written_pass (Written *written, guint index)
{
  const AdjNode *node = adj_graph_get_node (written->graph, index);
  const AdjSchema *schema = schema_of (node);
  gboolean in_place = is_in_place (node, schema);
  guint first = node->n_inputs > 0 ? node->inputs[0].index : index;

  /* What is no operator may give a view of what it gets. */
  written->memory[index] = index;
  if (in_place || node->op == NULL || adj_schema_is_view (schema))
    written->memory[index] = written->memory[first];
  written->tensor[index] = in_place ? written->tensor[first] : index;
  written->holder[index] = index;
  if (in_place)
    write_to (written, first, index, TRUE);
  else if (may_write (node, schema))
    for (guint i = 0; i < node->n_inputs; i++)
      write_to (written, node->inputs[i].index, index, FALSE);
}

guint
written_get_holder (const Written *written, guint index)
{
  return written->holder[index];
}
