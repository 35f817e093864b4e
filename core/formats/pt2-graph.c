/* SPDX-License-Identifier: MIT */
/* Converts graphs of exported programs as PyTorch's own reader does: getitem nodes for several
 * results, and nodes for subgraphs that nodes call, are restored. */

#include <string.h>

#include "call/adj-object.h"
#include "call/adj-op.h"
#include "formats/pt2-graph-private.h"
#include "ir/adj-builder-internal.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"

static gboolean
bad (Pt2Graph *graph, const JsonItem *item, const char *what, GError **error)
{
  json_fail (graph->scope->json, item, error, "%s", what);
  return FALSE;
}

const char *
pt2_graph_fresh_name (Pt2Graph *graph, const char *stem)
{
  const char *name = adj_arena_strdup (graph->scope->arena, stem);

  for (guint n = 1; g_hash_table_contains (graph->taken, name); n++)
    {
      g_autofree char *numbered = g_strdup_printf ("%s_%u", stem, n);

      name = adj_arena_strdup (graph->scope->arena, numbered);
    }
  g_hash_table_add (graph->taken, (gpointer) name);
  return name;
}

static AdjValue
text_value (const char *text)
{
  return (AdjValue){ .kind = ADJ_VALUE_STRING, .n = (guint) strlen (text), .text = text };
}

/* (nullable): DICT {@key: @text} */
static const AdjValue *
one_fact (Pt2Graph *graph, const char *key, const char *text)
{
  AdjValue *dict = adj_arena_new0 (graph->scope->arena, AdjValue, 3);

  dict[1] = text_value (key);
  dict[2] = text_value (text);
  dict[0] = (AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = &dict[1] };
  return dict;
}

/* -- inputs -- */

/* Inputs that are not the user's: the member of the spec with the name in the model, and the key
 * under which the placeholder's facts keep it. */
static const struct
{
  const char *kind;
  const char *member;
  const char *key; /* of the facts of the node; %NULL: a parameter */
} specs[] = {
  { "parameter", "parameter_name", NULL },
  { "buffer", "buffer_name", "buffer" },
  { "tensor_constant", "tensor_constant_name", "constant" },
  { "custom_obj", "custom_obj_name", "object" },
};

static void
read_spec (Pt2Graph *graph, const JsonItem *spec, AdjNodeMeta *meta)
{
  const char *kind;
  const JsonItem *value = pt2_union (spec, &kind);

  for (guint i = 0; value != NULL && i < G_N_ELEMENTS (specs); i++)
    {
      const char *name =
          strcmp (specs[i].kind, kind) == 0 ? json_get_text (value, specs[i].member) : NULL;

      if (name != NULL && specs[i].key == NULL)
        meta->parameter = name;
      else if (name != NULL)
        meta->extra = one_fact (graph, specs[i].key, name);
    }
}

/* {"obj_s": {"name": "obj_s", "class_fqn": "__torch__.torch.classes.ns.Stack"}}: the class of an
 * object, of which the graph holds no more. */
static void
read_class (Pt2Graph *graph, AdjNodeSpec *node)
{
  const JsonItem *values = json_get (graph->graph, "custom_obj_values");
  const char *type = json_get_text (json_get (values, node->name), "class_fqn");
  g_autoptr (AdjObject) object = NULL;

  if (node->val.kind != ADJ_VALUE_NONE || type == NULL || *type == '\0')
    return;
  object = adj_object_new_flat (type, NULL, NULL);
  node->val = ADJ_OBJECT (object);
  adj_builder_keep (graph->builder, &node->val);
}

/* A tensor that the graph writes to is described as it is after that: whether it requires grad when
 * the graph is called, its value says. */
static void
read_requires_grad (Pt2Graph *graph, const AdjTensorData *data, AdjValue *val)
{
  AdjTensorMeta *meta;

  if (data == NULL || val->kind != ADJ_VALUE_META)
    return;
  meta = adj_arena_memdup (graph->scope->arena, val->meta, sizeof *meta);
  meta->requires_grad = adj_tensor_data_get_meta (data)->requires_grad;
  val->meta = meta;
}

/* An input that torch.export specialised: the number or text itself stands in the place of a name.
 */
static gboolean
read_fixed (Pt2Graph *graph, const JsonItem *input, AdjNodeSpec *spec, GError **error)
{
  return pt2_read_argument (graph, input, &spec->val, error);
}

static gboolean
add_input (Pt2Graph *graph, const JsonItem *input, const JsonItem *spec, GError **error)
{
  AdjNodeMeta meta = ADJ_NODE_META_INIT;
  AdjNodeSpec node = { .opcode = ADJ_OPCODE_PLACEHOLDER, .meta = &meta, .origin = ADJ_NO_NODE };
  const char *kind;
  const JsonItem *value = pt2_union (spec, &kind);
  const Pt2Held *held = spec != NULL ? graph->scope->held : NULL;
  const AdjTensorData *data = held != NULL ? pt2_held_find (held, spec, &graph->n_samples) : NULL;

  node.name = pt2_name_of (input);
  node.span = (AdjSpan){ input->line, input->column, 0 };
  if (node.name != NULL)
    {
      if (!pt2_read_annotation (graph, node.name, &node.val, error))
        return FALSE;
      read_requires_grad (graph, data, &node.val);
      read_class (graph, &node);
      read_spec (graph, spec, &meta);
    }
  else
    {
      const char *name = json_get_text (value, "name");

      node.name = pt2_graph_fresh_name (graph, name != NULL ? name : "constant");
      if (!read_fixed (graph, input, &node, error))
        return FALSE;
    }
  node.target = node.name;
  adj_builder_add (graph->builder, &node);
  return TRUE;
}

static gboolean
add_inputs (Pt2Graph *graph, const JsonItem *signature, GError **error)
{
  const JsonItem *inputs = json_get (graph->graph, "inputs");
  const JsonItem *input_specs = json_get (signature, "input_specs");

  if (inputs == NULL || inputs->kind != JSON_ARRAY)
    return bad (graph, graph->graph, "a graph without a list of inputs", error);
  if (input_specs != NULL && (input_specs->kind != JSON_ARRAY || input_specs->n != inputs->n))
    return bad (graph, input_specs, "the signature has another number of inputs than the graph",
                error);
  for (guint i = 0; i < inputs->n; i++)
    if (!add_input (graph, &inputs->items[i], input_specs != NULL ? &input_specs->items[i] : NULL,
                    error))
      return FALSE;
  return TRUE;
}

/* -- calls -- */

/* Whether the argument is positional.  Files before 8.8 do not say; then the operator's schema
 * decides, if there is the operator. */
static gboolean
is_positional (const AdjOp *op, const JsonItem *input, guint n_args, guint n_kwargs)
{
  gint64 kind = json_get_int (input, "kind", 0);
  const char *name = json_get_text (input, "name");
  const AdjSchema *schema = op != NULL ? adj_op_get_schema (op) : NULL;

  if (kind != 0 || name == NULL || *name == '\0')
    return kind != 2;
  if (schema == NULL)
    return n_kwargs == 0;
  return n_args < schema->n_positional && strcmp (schema->arguments[n_args].name, name) == 0;
}

static gboolean
is_identifier (const char *name) /* (nullable) */
{
  return name != NULL && *name != '\0' && !g_ascii_isdigit (*name) &&
         strspn (name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_") == strlen (name);
}

static gboolean
read_inputs (Pt2Graph *graph, const JsonItem *item, AdjNodeSpec *spec, GError **error)
{
  const JsonItem *inputs = json_get (item, "inputs");
  const AdjOp *op = adj_op_find (spec->target);
  guint n = inputs != NULL && inputs->kind == JSON_ARRAY ? inputs->n : 0;
  AdjValue *args = adj_arena_new0 (graph->scope->arena, AdjValue, n + 1);
  AdjValue *kwargs = adj_arena_new0 (graph->scope->arena, AdjValue, 2 * (gsize) n + 1);
  guint n_args = 0, n_kwargs = 0;

  for (guint i = 0; i < n; i++)
    {
      const JsonItem *input = &inputs->items[i], *argument = json_get (input, "arg");
      gboolean positional = is_positional (op, input, n_args, n_kwargs);
      AdjValue *out = positional ? &args[n_args++] : &kwargs[2 * n_kwargs + 1];

      if (argument == NULL)
        return bad (graph, input, "an argument without a value", error);
      if (!positional && !is_identifier (json_get_text (input, "name")))
        return bad (graph, input, "the name of an argument is none", error);
      if (!pt2_read_argument (graph, argument, out, error))
        return FALSE;
      if (!positional)
        kwargs[2 * n_kwargs++] = text_value (json_get_text (input, "name"));
    }
  spec->args = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n_args, .items = args };
  spec->kwargs = (AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2 * n_kwargs, .items = kwargs };
  return TRUE;
}

/* "split_unused_1": marks an unused result. */
static gboolean
is_unused (const char *name)
{
  const char *at = g_strrstr (name, "_unused_");

  return at != NULL && strspn (at + 8, "0123456789") == strlen (at + 8);
}

/* The list that a result is, or %NULL: one value. */
static const JsonItem *
list_of (const JsonItem *result)
{
  const char *kind;
  const JsonItem *value = pt2_union (result, &kind);

  return value != NULL && value->kind == JSON_ARRAY && strcmp (kind, "as_none") != 0 ? value : NULL;
}

/* Reads the annotation of a call with several results. */
static gboolean
read_results (Pt2Graph *graph, const JsonItem *results, AdjValue *out, GError **error)
{
  AdjValue *items = adj_arena_new0 (graph->scope->arena, AdjValue, results->n + 1);

  for (guint i = 0; i < results->n; i++)
    {
      const JsonItem *inner = list_of (&results->items[i]);
      const char *name = pt2_name_of (&results->items[i]);

      if (inner != NULL ? !read_results (graph, inner, &items[i], error)
                        : name != NULL && !pt2_read_annotation (graph, name, &items[i], error))
        return FALSE;
    }
  *out = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = results->n, .items = items };
  return TRUE;
}

/* Adds a getitem node for each of @results, under its own name, to take it out of @from. */
static gboolean
take_apart (Pt2Graph *graph,
            AdjNodeId from,
            const JsonItem *results,
            const AdjNodeSpec *call,
            const AdjValue *vals,
            GError **error)
{
  for (guint i = 0; i < results->n; i++)
    {
      const JsonItem *inner = list_of (&results->items[i]);
      const char *name = pt2_name_of (&results->items[i]);
      AdjValue args[2] = { ADJ_NODE (from), ADJ_INT (i) };
      AdjNodeSpec spec = { .opcode = ADJ_OPCODE_CALL_FUNCTION,
                           .target = "operator.getitem",
                           .args = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args },
                           .val = vals->items[i],
                           .meta = call->meta,
                           .span = call->span,
                           .origin = ADJ_NO_NODE };
      AdjNodeId id;

      if (inner == NULL && (name == NULL || is_unused (name)))
        continue;
      if (name != NULL && adj_node_id_is_valid (adj_builder_find (graph->builder, name)))
        return bad (graph, &results->items[i], "another value has this name", error);
      spec.name = inner == NULL ? name : pt2_graph_fresh_name (graph, "getitem");
      id = adj_builder_add (graph->builder, &spec);
      if (inner != NULL && !take_apart (graph, id, inner, call, &vals->items[i], error))
        return FALSE;
    }
  return TRUE;
}

/* The one value that the call gives, under its own name; %NULL: none or several.  That there is no
 * single tensor may mean that there is a number. */
static const char *
single_result (const JsonItem *item, const JsonItem *outputs, const char *target)
{
  const JsonItem *single = json_get (item, "is_hop_single_tensor_return");
  const char *own = json_get_text (item, "name");
  const char *name = outputs->n == 1 && list_of (&outputs->items[0]) == NULL
                         ? pt2_name_of (&outputs->items[0])
                         : NULL;

  if (single != NULL && single->kind == JSON_FALSE && g_strcmp0 (own, name) != 0 &&
      g_str_has_prefix (target, "torch.ops.higher_order."))
    return NULL;
  return name;
}

/* (nullable): the name that the file gives the node, when no result goes by it. */
static const char *
own_name (Pt2Graph *graph, const JsonItem *item)
{
  const char *name = json_get_text (item, "name");

  if (name == NULL || g_hash_table_contains (graph->taken, name))
    return NULL;
  g_hash_table_add (graph->taken, (gpointer) name);
  return name;
}

static gboolean
add_results (Pt2Graph *graph,
             const JsonItem *item,
             const JsonItem *outputs,
             AdjNodeSpec *spec,
             GError **error)
{
  const char *single = single_result (item, outputs, spec->target);
  const JsonItem *results = outputs->n == 1 && list_of (&outputs->items[0]) != NULL
                                ? list_of (&outputs->items[0])
                                : outputs;
  AdjNodeId id;

  if (single != NULL)
    {
      if (adj_node_id_is_valid (adj_builder_find (graph->builder, single)))
        return bad (graph, item, "another value has this name", error);
      spec->name = single;
      if (!pt2_read_annotation (graph, single, &spec->val, error))
        return FALSE;
      adj_builder_add (graph->builder, spec);
      return TRUE;
    }
  if (outputs->n > 0 && !read_results (graph, results, &spec->val, error))
    return FALSE;
  spec->name = own_name (graph, item);
  if (spec->name == NULL)
    {
      g_autofree char *stem = adj_target_get_stem (spec->target);

      spec->name = pt2_graph_fresh_name (graph, stem);
    }
  id = adj_builder_add (graph->builder, spec);
  return outputs->n == 0 || take_apart (graph, id, results, spec, &spec->val, error);
}

/* As the text of graphs has it: Python's operators are of its module operator, and what extends the
 * serializer is called "#namespace:op". (nullable) */
static const char *
target_of (const Pt2Graph *graph, const JsonItem *item)
{
  const char *target = json_get_text (item, "target");
  g_autofree char *dotted = NULL;

  if (target != NULL && g_str_has_prefix (target, "_operator."))
    return target + 1;
  if (target == NULL || *target != '#')
    return target;
  dotted = g_strdelimit (g_strdup (target + 1), ":", '.');
  return adj_arena_intern (graph->scope->arena, dotted);
}

/* "torch.ops.aten.add.Tensor" */
static gboolean
is_dotted (const char *target)
{
  g_auto (GStrv) parts = g_strsplit (target, ".", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (!is_identifier (parts[i]))
      return FALSE;
  return *target != '\0';
}

static gboolean
add_node (Pt2Graph *graph, const JsonItem *item, GError **error)
{
  const JsonItem *outputs = json_get (item, "outputs");
  AdjNodeMeta meta;
  AdjNodeSpec spec = { .opcode = ADJ_OPCODE_CALL_FUNCTION, .meta = &meta, .origin = ADJ_NO_NODE };

  spec.target = target_of (graph, item);
  spec.span = (AdjSpan){ item->line, item->column, 0 };
  if (spec.target == NULL || outputs == NULL || outputs->kind != JSON_ARRAY)
    return bad (graph, item, "a node without a target or outputs", error);
  if (!is_dotted (spec.target))
    return bad (graph, item, "the target of a node is no name", error);
  if (adj_builder_get_n_nodes (graph->builder) >= ADJ_MAX_NODES)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s: more than %u nodes",
                   graph->scope->json->name, ADJ_MAX_NODES);
      return FALSE;
    }
  pt2_read_node_meta (graph->scope, json_get (item, "metadata"), &meta);
  graph->meta = &meta;
  return read_inputs (graph, item, &spec, error) &&
         add_results (graph, item, outputs, &spec, error);
}

static gboolean
add_nodes (Pt2Graph *graph, GError **error)
{
  const JsonItem *nodes = json_get (graph->graph, "nodes");

  if (nodes == NULL || nodes->kind != JSON_ARRAY)
    return bad (graph, graph->graph, "a graph without a list of nodes", error);
  for (guint i = 0; i < nodes->n; i++)
    if (!add_node (graph, &nodes->items[i], error))
      return FALSE;
  return TRUE;
}

/* -- outputs -- */

/* "buffer_mutation steps": what each output is. */
static const AdjValue *
describe_outputs (Pt2Graph *graph, const JsonItem *output_specs, guint n)
{
  static const char *const members[] = { "buffer_name", "parameter_name", "user_input_name" };
  AdjArena *arena = graph->scope->arena;
  AdjValue *texts = adj_arena_new0 (arena, AdjValue, (gsize) n + 3), *dict = &texts[n];

  for (guint i = 0; i < n; i++)
    {
      const char *kind = "user_output";
      const JsonItem *value = pt2_union (&output_specs->items[i], &kind);
      g_autoptr (GString) text = g_string_new (kind);

      for (guint k = 0; value != NULL && k < G_N_ELEMENTS (members); k++)
        if (json_get_text (value, members[k]) != NULL)
          g_string_append_printf (text, " %s", json_get_text (value, members[k]));
      texts[i] = text_value (adj_arena_strdup (arena, text->str));
    }
  dict[1] = text_value ("desc");
  dict[2] = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n, .items = texts };
  dict[0] = (AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = &dict[1] };
  return dict;
}

static gboolean
add_output (Pt2Graph *graph, const JsonItem *signature, GError **error)
{
  const JsonItem *outputs = json_get (graph->graph, "outputs");
  const JsonItem *output_specs = json_get (signature, "output_specs");
  const JsonItem *single = json_get (graph->graph, "is_single_tensor_return");
  AdjNodeMeta meta = ADJ_NODE_META_INIT;
  AdjNodeSpec spec = { .opcode = ADJ_OPCODE_OUTPUT,
                       .name = pt2_graph_fresh_name (graph, "output"),
                       .target = "output",
                       .meta = &meta,
                       .origin = ADJ_NO_NODE };
  AdjValue *items, all;

  if (outputs == NULL || outputs->kind != JSON_ARRAY)
    return bad (graph, graph->graph, "a graph without a list of outputs", error);
  items = adj_arena_new0 (graph->scope->arena, AdjValue, outputs->n + 1);
  for (guint i = 0; i < outputs->n; i++)
    if (!pt2_read_argument (graph, &outputs->items[i], &items[i], error))
      return FALSE;
  all = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = outputs->n, .items = items };
  if (outputs->n == 1 && single != NULL && single->kind == JSON_TRUE)
    all = items[0];
  if (output_specs != NULL && output_specs->kind == JSON_ARRAY && output_specs->n == outputs->n)
    meta.extra = describe_outputs (graph, output_specs, outputs->n);
  spec.args = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &all };
  spec.span = (AdjSpan){ outputs->line, outputs->column, 0 };
  adj_builder_add (graph->builder, &spec);
  return TRUE;
}

/* -- the whole -- */

static void
gather_values (Pt2Graph *graph, const char *member, GHashTable *table)
{
  const JsonItem *values = json_get (graph->graph, member);

  for (guint i = 0; values != NULL && values->kind == JSON_OBJECT && i < values->n; i++)
    {
      g_hash_table_insert (table, (gpointer) values->items[i].key, &values->items[i]);
      g_hash_table_add (graph->taken, (gpointer) values->items[i].key);
    }
}

static AdjGraph *
read_and_seal (Pt2Graph *graph, const JsonItem *signature, GError **error)
{
  AdjGraph *sealed;

  gather_values (graph, "tensor_values", graph->tensors);
  gather_values (graph, "sym_int_values", graph->numbers);
  gather_values (graph, "sym_bool_values", graph->numbers);
  gather_values (graph, "sym_float_values", graph->numbers);
  if (!add_inputs (graph, signature, error) || !add_nodes (graph, error) ||
      !add_output (graph, signature, error))
    return NULL;
  sealed = adj_builder_seal (graph->builder, error);
  if (sealed == NULL)
    g_prefix_error (error, "%s: ", graph->scope->json->name);
  return sealed;
}

static AdjGraph *
read_graph (const Pt2Scope *scope,
            const JsonItem *item,
            const JsonItem *signature,
            guint depth,
            GError **error)
{
  Pt2Graph graph = {
    .scope = scope,
    .graph = item,
    .builder = adj_builder_new ("GraphModule", scope->symbols, adj_op_find),
    .tensors = g_hash_table_new (g_str_hash, g_str_equal),
    .numbers = g_hash_table_new (g_str_hash, g_str_equal),
    .taken = g_hash_table_new (g_str_hash, g_str_equal),
    .depth = depth,
  };
  AdjGraph *sealed = read_and_seal (&graph, signature, error);

  adj_builder_free (graph.builder);
  g_hash_table_unref (graph.tensors);
  g_hash_table_unref (graph.numbers);
  g_hash_table_unref (graph.taken);
  return sealed;
}

AdjGraph *
pt2_graph_read_nested (Pt2Graph *around, const JsonItem *graph, GError **error)
{
  if (around->depth >= ADJ_MAX_DEPTH)
    {
      bad (around, graph, "graphs are nested too deeply", error);
      return NULL;
    }
  return read_graph (around->scope, graph, NULL, around->depth + 1, error);
}

AdjGraph *
pt2_graph_read (const Pt2Scope *scope,
                const JsonItem *graph,
                const JsonItem *signature,
                GError **error)
{
  return read_graph (scope, graph, signature, 0, error);
}
