/* SPDX-License-Identifier: MIT */
/* Aliasing, in one walk in order of execution: kind and base of a node by the schema of its call,
 * then its storage by its annotation or base. */

#include "analysis/adj-aliases.h"

#include "analysis/adj-node-call.h"
#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"

#define NOBODY G_MAXUINT32

/* Views without a schema here, or whose schema hides the alias from autograd. */
static const char *const undeclared[] = {
  "torch.ops.aten._conj.default",
  "torch.ops.aten._reshape_alias.default",
  "torch.ops.aten._unsafe_view.default",
  "torch.ops.prims.broadcast_in_dim.default",
};

static gboolean
is_undeclared_view (const AdjNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (undeclared); i++)
    if (node->opcode == ADJ_OPCODE_CALL_FUNCTION && g_str_equal (node->target, undeclared[i]))
      return TRUE;
  return FALSE;
}

static guint32
get_argument (const AdjNode *node, const AdjSchema *schema, guint index)
{
  const AdjValue *value = adj_node_find_argument (node, schema, index);

  return value != NULL && value->kind == ADJ_VALUE_NODE ? value->node.index : NOBODY;
}

/* The argument whose memory result @result has; NOBODY: it has its own. */
static guint32
find_base (const AdjNode *node, const AdjSchema *schema, guint result)
{
  const AdjType *type;

  if (schema == NULL || schema->n_returns == 0)
    return NOBODY;
  type = &schema->returns[MIN (result, schema->n_returns - 1)].type;
  for (guint i = 0; i < schema->n_arguments && type->alias != 0; i++)
    if (schema->arguments[i].type.alias == type->alias)
      return get_argument (node, schema, i);
  return NOBODY;
}

/* The out argument of `torch.add (x, y, out=z)`, which is returned; NOBODY: there is none. */
static guint32
find_out (const AdjNode *node)
{
  const AdjValue *out = adj_value_find_member (&node->kwargs, "out");

  return out != NULL && out->kind == ADJ_VALUE_NODE ? out->node.index : NOBODY;
}

/* -- the kind of a node, and its base -- */

/* Slices and integers make views; tensors and lists copy. */
static gboolean
is_basic_index (const AdjValue *index)
{
  if (index->kind == ADJ_VALUE_NODE || index->kind == ADJ_VALUE_LIST ||
      index->kind == ADJ_VALUE_BOOL)
    return FALSE;
  for (guint i = 0; index->kind == ADJ_VALUE_TUPLE && i < index->n; i++)
    if (!is_basic_index (&index->items[i]))
      return FALSE;
  return TRUE;
}

static AdjAlias
of_item (const AdjGraph *graph, const AdjNode *node)
{
  guint32 from = node->args.items[0].node.index, base;
  const AdjNode *source = adj_graph_get_node (graph, from);
  const AdjValue *index = &node->args.items[1];

  if (source->val.kind == ADJ_VALUE_META)
    return (AdjAlias){ is_basic_index (index) ? ADJ_ALIAS_VIEW : ADJ_ALIAS_NONE, from, 0, 0 };
  base = index->kind == ADJ_VALUE_INT && index->integer >= 0
             ? find_base (source, adj_node_find_schema (source),
                          (guint) MIN (index->integer, G_MAXINT))
             : NOBODY;
  return base != NOBODY ? (AdjAlias){ ADJ_ALIAS_VIEW, base, 0, 0 }
                        : (AdjAlias){ ADJ_ALIAS_ITEM, from, 0, 0 };
}

static gboolean
has_same_layout (const AdjTensorMeta *a, const AdjTensorMeta *b)
{
  if (a->dtype != b->dtype || !adj_device_equal (a->device, b->device) ||
      a->shape.rank != b->shape.rank)
    return FALSE;
  for (guint i = 0; i < a->shape.rank && a->has_strides && b->has_strides; i++)
    if (!adj_size_same (a->shape.stride[i], b->shape.stride[i]))
      return FALSE;
  return TRUE;
}

/* Whether `to` or `contiguous` made a copy, since the layouts differ. */
static gboolean
is_converted (const AdjGraph *graph, const AdjNode *node, const AdjSchema *schema, guint32 base)
{
  const AdjValue *from = &adj_graph_get_node (graph, base)->val;

  if ((!g_str_equal (schema->name, "to") && !g_str_equal (schema->name, "contiguous")) ||
      node->val.kind != ADJ_VALUE_META || from->kind != ADJ_VALUE_META)
    return FALSE;
  return !has_same_layout (node->val.meta, from->meta);
}

static AdjAlias
of_call (const AdjGraph *graph, const AdjNode *node)
{
  const AdjSchema *schema = adj_node_find_schema (node);
  guint32 first = node->n_inputs > 0 ? node->inputs[0].index : NOBODY, base;

  if (adj_node_is_told_in_place (node))
    return (AdjAlias){ ADJ_ALIAS_SAME, node->args.items[0].node.index, 0, 0 };
  if (find_out (node) != NOBODY)
    return (AdjAlias){ ADJ_ALIAS_SAME, find_out (node), 0, 0 };
  if (is_undeclared_view (node))
    return (AdjAlias){ first != NOBODY ? ADJ_ALIAS_VIEW : ADJ_ALIAS_NONE, first, 0, 0 };
  base = schema != NULL && schema->n_returns == 1 ? find_base (node, schema, 0) : NOBODY;
  if (base != NOBODY && is_converted (graph, node, schema, base))
    return (AdjAlias){ ADJ_ALIAS_NONE, base, 0, 0 };
  if (base != NOBODY)
    return (AdjAlias){ schema->returns[0].type.written ? ADJ_ALIAS_SAME : ADJ_ALIAS_VIEW, base, 0,
                       0 };
  return (AdjAlias){ node->op == NULL && first != NOBODY ? ADJ_ALIAS_UNKNOWN : ADJ_ALIAS_NONE,
                     first, 0, 0 };
}

static AdjAlias
of_node (const AdjGraph *graph, const AdjNode *node)
{
  if (node->opcode == ADJ_OPCODE_PLACEHOLDER || node->opcode == ADJ_OPCODE_GET_ATTR ||
      node->opcode == ADJ_OPCODE_OUTPUT)
    return (AdjAlias){ ADJ_ALIAS_NONE, 0, 0, 0 };
  if (node->opcode == ADJ_OPCODE_CALL_FUNCTION && node->args.n == 2 &&
      node->args.items[0].kind == ADJ_VALUE_NODE && g_str_equal (node->target, "operator.getitem"))
    return of_item (graph, node);
  return of_call (graph, node);
}

/* -- the storage that it lies in -- */

typedef struct
{
  const AdjGraph *graph;
  AdjAlias *aliases;
  GHashTable *named; /* storage of annotations → its first node + 1 */
  guint8 *has_name;  /* by first node of a storage */
} Storages;

/* An annotation with a new storage number for a view means that it was copied, unless the base has
 * no storage number. */
static guint32
find_storage (Storages *self, guint32 index)
{
  const AdjAlias *alias = &self->aliases[index];
  const AdjValue *val = &adj_graph_get_node (self->graph, index)->val;
  gboolean shares = alias->kind == ADJ_ALIAS_VIEW || alias->kind == ADJ_ALIAS_SAME;
  guint32 first = shares ? self->aliases[alias->base].must : index;
  gpointer name, known;

  if (val->kind != ADJ_VALUE_META || val->meta->storage < 0)
    return first;
  name = GINT_TO_POINTER (val->meta->storage);
  known = g_hash_table_lookup (self->named, name);
  if (known != NULL)
    return GPOINTER_TO_UINT (known) - 1;
  if (self->has_name[first])
    first = index;
  self->has_name[first] = TRUE;
  g_hash_table_insert (self->named, name, GUINT_TO_POINTER (first + 1));
  return first;
}

static gpointer
compute (const AdjGraph *graph)
{
  guint32 n = adj_graph_get_n_nodes (graph);
  AdjAlias *aliases = g_new (AdjAlias, n + 1);
  g_autoptr (GHashTable) named = g_hash_table_new (NULL, NULL);
  g_autofree guint8 *has_name = g_new0 (guint8, n + 1);
  Storages storages = { graph, aliases, named, has_name };

  for (guint32 i = 0; i < n; i++)
    {
      AdjAlias *alias = &aliases[i];

      *alias = of_node (graph, adj_graph_get_node (graph, i));
      if (alias->kind == ADJ_ALIAS_NONE)
        alias->base = i;
      alias->must = find_storage (&storages, i);
      alias->may = alias->must != i   ? aliases[alias->must].may
                   : alias->base != i ? aliases[alias->base].may
                                      : i;
    }
  return aliases;
}

static const AdjGraphAnalysis aliases_analysis = { compute, g_free };

const AdjAlias *
adj_graph_get_aliases (const AdjGraph *graph)
{
  return adj_graph_analyse (graph, &aliases_analysis);
}
