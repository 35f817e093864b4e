/* SPDX-License-Identifier: MIT */
/* normalise: makes graphs equal that differ only in the form that a compiler chose.
 *
 * These are the rules N2 to N6 of aot/SPEC.md §10, by which graphs are compared with PyTorch's;
 * names, N1, are what the alignment of two graphs looks at last. */

#include <string.h>

#include "analysis/adj-aliases.h"
#include "call/adj-op.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "passes/adj-pass.h"

typedef struct
{
  AdjGraph *in;
  AdjBuilder *builder;
  AdjPassContext *context;
  AdjNodeId *map;
  const AdjAlias *aliases;
  gboolean *returned;
  gboolean *scratch;   /* views of a copy that was made only to be written */
  GHashTable *regions; /* number of a checkpointing region → its number in this graph, plus one */
} Normaliser;

static const AdjNode *
get_input (const Normaliser *self, const AdjNode *node, guint index)
{
  if (index >= node->args.n || node->args.items[index].kind != ADJ_VALUE_NODE)
    return NULL;
  return adj_graph_get_node (self->in, node->args.items[index].node.index);
}

/* -- what stands for another node -- */

/* Each returns the node of the graph that is equal to @index, or @index. */

static guint
same_as_self (Normaliser *self, guint index)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);

  return self->returned[index] || node->n_inputs == 0 ? index : node->inputs[0].index;
}

static gboolean
makes_empty (const AdjNode *node)
{
  return node->op != NULL && (node->op->flags & ADJ_OP_NO_COMPARE) != 0;
}

/* copy (self, src) is src if both have the same metadata. */
static guint
same_as_source (Normaliser *self, guint index)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);
  const AdjNode *target = get_input (self, node, 0);
  const AdjNode *source = get_input (self, node, 1);

  if (target == NULL || source == NULL || target->val.kind != ADJ_VALUE_META ||
      source->val.kind != ADJ_VALUE_META || target->val.meta->dtype != source->val.meta->dtype ||
      !adj_shape_same_sizes (&target->val.meta->shape, &source->val.meta->shape,
                             adj_graph_get_symbols (self->in)))
    return index;
  self->scratch[index] = makes_empty (target);
  return node->args.items[1].node.index;
}

/* clone (x) is x if it was made only to be written. */
static guint
same_as_scratch (Normaliser *self, guint index)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);

  if (node->n_inputs == 0 || !self->scratch[node->inputs[0].index] || self->returned[index])
    return index;
  return node->inputs[0].index;
}

static const struct
{
  const char *target;
  guint (*find) (Normaliser *self, guint index);
} equivalents[] = {
  { "torch.ops.aten.detach.default", same_as_self },
  { "torch.ops.aten.alias.default", same_as_self },
  { "torch.ops.aten.copy.default", same_as_source },
  { "torch.ops.aten.clone.default", same_as_scratch },
};

static guint
find_equivalent (Normaliser *self, guint index)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);

  if (node->op == NULL)
    return index;
  if (self->aliases[index].kind == ADJ_ALIAS_VIEW)
    self->scratch[index] = self->scratch[self->aliases[index].base];
  for (guint i = 0; i < G_N_ELEMENTS (equivalents); i++)
    if (g_str_equal (equivalents[i].target, node->target))
      return equivalents[i].find (self, index);
  return index;
}

/* -- one spelling of several -- */

typedef struct
{
  const char *target;
  const AdjValue *args;
  guint n_args;
  const AdjValue *kwargs;
} Spelling;

static gboolean
is_zero (const AdjValue *value)
{
  return (value->kind == ADJ_VALUE_INT && value->integer == 0) ||
         (value->kind == ADJ_VALUE_FLOAT && value->number == 0.0);
}

/* The sizes argument of a call that makes zeros; %NULL: another node. */
static const AdjValue *
find_zeros (const Normaliser *self, const AdjNode *node)
{
  const AdjNode *empty = get_input (self, node, 0);

  if (g_str_equal (node->target, "torch.ops.aten.zeros.default") && node->args.n > 0)
    return &node->args.items[0];
  if (g_str_equal (node->target, "torch.ops.aten.full.default") && node->args.n > 1 &&
      is_zero (&node->args.items[1]))
    return &node->args.items[0];
  if (g_str_equal (node->target, "torch.ops.aten.new_zeros.default") && node->args.n > 1)
    return &node->args.items[1];
  if (g_str_equal (node->target, "torch.ops.aten.zero.default") && empty != NULL &&
      g_str_equal (empty->target, "torch.ops.aten.new_empty.default") && empty->args.n > 1)
    return &empty->args.items[1];
  return NULL;
}

static Spelling
spell (const Normaliser *self, const AdjNode *node)
{
  Spelling spelling = { node->target, node->args.items, node->args.n, &node->kwargs };
  const AdjValue *sizes = find_zeros (self, node);
  const AdjSchema *schema;

  if (sizes != NULL)
    return (Spelling){ "torch.ops.aten.zeros.default", sizes, 1, NULL };
  if (g_str_equal (node->target, "torch.ops.aten.reshape.default") ||
      g_str_equal (node->target, "torch.ops.aten._reshape_alias.default"))
    return (Spelling){ "torch.ops.aten.view.default", node->args.items, MIN (node->args.n, 2),
                       NULL };
  if (node->op == NULL)
    return spelling;
  schema = adj_op_get_schema (node->op);
  while (spelling.n_args > 0 && spelling.n_args <= schema->n_arguments)
    {
      const AdjArgument *argument = &schema->arguments[spelling.n_args - 1];

      if (!argument->has_default ||
          !adj_value_equal (&argument->default_value, &spelling.args[spelling.n_args - 1]))
        break;
      spelling.n_args--;
    }
  return spelling;
}

/* "memory_format = torch.preserve_format" is the default. */
static void
drop_formats (AdjValue *kwargs)
{
  guint n = 0;

  for (guint i = 0; kwargs->kind == ADJ_VALUE_DICT && i + 1 < kwargs->n; i += 2)
    {
      const AdjValue *value = &kwargs->items[i + 1];

      if (value->kind == ADJ_VALUE_MEMORY_FORMAT && value->format == ADJ_MEMORY_FORMAT_PRESERVE)
        {
          adj_value_clear (&kwargs->items[i]);
          continue;
        }
      kwargs->items[n++] = kwargs->items[i];
      kwargs->items[n++] = kwargs->items[i + 1];
    }
  if (kwargs->kind == ADJ_VALUE_DICT)
    kwargs->n = n;
}

/* Regions are numbered over a whole process; renumbers them in order of appearance. */
static gint64
number_region (Normaliser *self, gint64 region)
{
  gpointer key = GSIZE_TO_POINTER ((gsize) region + 1);
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (self->regions, key));

  if (region < 0)
    return region;
  if (number == 0)
    {
      number = g_hash_table_size (self->regions) + 1;
      g_hash_table_insert (self->regions, key, GUINT_TO_POINTER (number));
    }
  return number - 1;
}

/* -- the walk -- */

/* The symbolic size that @node reads or computes, since the way to get a size is arbitrary. %NULL:
 * no size, or one that depends on data. */
static const AdjValue *
find_size (const AdjNode *node)
{
  static const char *const prefixes[] = { "torch.ops.aten.sym_", "operator.", "torch.sym_" };
  gboolean is_said = node->opcode == ADJ_OPCODE_PLACEHOLDER;

  for (guint i = 0; i < G_N_ELEMENTS (prefixes) && node->opcode == ADJ_OPCODE_CALL_FUNCTION; i++)
    is_said |= g_str_has_prefix (node->target, prefixes[i]);
  return is_said && node->val.kind == ADJ_VALUE_SIZE ? &node->val : NULL;
}

static gboolean
map_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Normaliser *self = data;
  const AdjValue *size = leaf->kind == ADJ_VALUE_NODE
                             ? find_size (adj_graph_get_node (self->in, leaf->node.index))
                             : NULL;

  *out = adj_value_copy (size != NULL ? size : leaf);
  if (out->kind == ADJ_VALUE_NODE)
    out->node = self->map[leaf->node.index];
  return TRUE;
}

static void
add_call (Normaliser *self, guint index)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);
  Spelling spelling = spell (self, node);
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;
  AdjNodeMeta meta = node->meta;
  AdjNodeSpec spec = { .name = node->name,
                       .opcode = node->opcode,
                       .op = g_str_equal (spelling.target, node->target) ? node->op : NULL,
                       .target = spelling.target,
                       .val = node->val,
                       .meta = &meta,
                       .origin = { index } };

  meta.ac_graph_id = number_region (self, meta.ac_graph_id);
  adj_value_map (&(AdjValue){ .kind = ADJ_VALUE_TUPLE,
                              .n = spelling.n_args,
                              .items = (AdjValue *) spelling.args },
                 map_leaf, self, &args);
  if (spelling.kwargs != NULL)
    adj_value_map (spelling.kwargs, map_leaf, self, &kwargs);
  drop_formats (&kwargs);
  spec.args = args;
  spec.kwargs = kwargs;
  self->map[index] = adj_builder_add (self->builder, &spec);
  if (!g_str_equal (spelling.target, node->target))
    adj_pass_note (self->context, (AdjNodeId){ index }, self->map[index], "another word for %s",
                   spelling.target);
}

/* A write to an input: its position among nodes that do not read the input is arbitrary. */
static gboolean
is_epilogue (const Normaliser *self, const AdjNode *node)
{
  const AdjNode *target =
      node->opcode == ADJ_OPCODE_CALL_FUNCTION ? get_input (self, node, 0) : NULL;

  return target != NULL && target->opcode == ADJ_OPCODE_PLACEHOLDER && node->op != NULL &&
         adj_schema_mutates (adj_op_get_schema (node->op));
}

static void
add_node (Normaliser *self, guint index)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);
  guint equivalent = find_equivalent (self, index);

  if (node->opcode == ADJ_OPCODE_CALL_FUNCTION && !self->returned[index] &&
      find_size (node) != NULL)
    adj_pass_note (self->context, (AdjNodeId){ index }, ADJ_NO_NODE, "a size, said where it is");
  else if (equivalent != index)
    {
      self->map[index] = self->map[equivalent];
      adj_pass_note (self->context, (AdjNodeId){ index }, self->map[index], "the same as %s",
                     adj_graph_get_node (self->in, equivalent)->name);
    }
  else if (node->opcode == ADJ_OPCODE_CALL_FUNCTION)
    add_call (self, index);
  else
    adj_builder_copy (self->builder, self->in, index, self->map);
}

static gboolean *
mark_returned (const AdjGraph *graph)
{
  gboolean *returned = g_new0 (gboolean, adj_graph_get_n_nodes (graph));
  const AdjNode *output = adj_graph_get_node (graph, adj_graph_get_output (graph).index);

  for (guint i = 0; i < output->n_inputs; i++)
    returned[output->inputs[i].index] = TRUE;
  return returned;
}

static AdjGraph *
normalise_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  guint n = adj_graph_get_n_nodes (in);
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (in);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n);
  g_autofree gboolean *returned = mark_returned (in);
  g_autofree gboolean *scratch = g_new0 (gboolean, n);
  g_autoptr (GHashTable) regions = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) late = g_array_new (FALSE, FALSE, sizeof (guint));
  Normaliser self = { in,       builder, context, map, adj_graph_get_aliases (in),
                      returned, scratch, regions };

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (in, i);

      if (node->n_users == 0 && is_epilogue (&self, node))
        {
          g_array_append_val (late, i);
          continue;
        }
      for (guint k = 0; node->opcode == ADJ_OPCODE_OUTPUT && k < late->len; k++)
        add_node (&self, g_array_index (late, guint, k));
      add_node (&self, i);
    }
  return adj_builder_seal (builder, error);
}

const AdjPass adj_pass_normalise = {
  .name = "normalise",
  .summary = "One spelling of what compilers write in several ways",
  .explain =
      "Identities (`detach`, `alias`) go unless they are returned; `reshape` becomes `view`, every "
      "tensor of zeros `zeros`, arguments that say the default are left out, sizes are said as "
      "such and not read off tensors, copies made only to be written are the original, and writes "
      "into inputs stand last.  Two graphs that are equal "
      "afterwards compute the same.\n\n"
      "Before: `d = detach(x); z = full([2], 0); add = d + z`\n\n"
      "After: `z = zeros([2]); add = x + z`",
  .run = normalise_run,
};
