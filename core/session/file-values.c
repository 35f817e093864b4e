/* SPDX-License-Identifier: MIT */
/* Inputs and other values in a file of tensors that a user supplies: by the names of nodes or of
 * parameters, or in their order. */

#include "exec/adj-executor-internal.h"
#include "formats/adj-tensor-list-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "session/adj-session.h"
#include "session/inputs-private.h"

gboolean
adj_session_is_values_file (const char *path)
{
  return adj_tensor_list_is (path);
}

/* -- inputs -- */

void
adj_session_free_inputs (AdjValue *inputs, guint n)
{
  for (guint i = 0; inputs != NULL && i < n; i++)
    adj_value_clear (&inputs[i]);
  g_free (inputs);
}

/* The placeholder's name as a parameter or buffer of the model; %NULL: it is neither. */
static const char *
name_in_model (const AdjNode *node)
{
  static const char *const keys[] = { "buffer", "constant" };

  if (node->meta.parameter != NULL)
    return node->meta.parameter;
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      const AdjValue *name = adj_value_find_member (node->meta.extra, keys[i]);

      if (name != NULL && name->kind == ADJ_VALUE_STRING)
        return name->text;
    }
  return NULL;
}

/* (transfer none) (nullable): the tensor by the name in the model (which sets @modelled), else by
 * the name of the placeholder; by @place where the file has no names. */
static AdjTensorData *
find_input (
    const AdjTensorList *file, const AdjNode *node, guint place, gboolean *modelled, GError **error)
{
  const char *name = name_in_model (node);
  AdjTensorData *data;

  if (adj_tensor_list_get_n (file) > 0 && adj_tensor_list_get_name (file, 0) == NULL)
    return adj_tensor_list_get (file, place, error);
  data = name != NULL ? adj_tensor_list_find (file, name, NULL) : NULL;
  *modelled = *modelled || data != NULL;
  return data != NULL ? data : adj_tensor_list_find (file, node->name, error);
}

static gboolean
check_number (const AdjTensorList *file, guint n, GError **error)
{
  guint held = adj_tensor_list_get_n (file);

  if (held == n || held == 0 || adj_tensor_list_get_name (file, 0) != NULL)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
               "holds %u tensors without names, the graph has %u inputs", held, n);
  return FALSE;
}

/* A file with parameters or buffers of the model may lack the other inputs, which @call then
 * supplies. */
static gboolean
take_inputs (const AdjTensorList *file,
             const AdjGraph *graph,
             const AdjRecordedCall *call,
             AdjValue *inputs,
             GError **error)
{
  guint n = adj_graph_get_n_inputs (graph);
  gboolean modelled = FALSE;

  if (!check_number (file, n, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);
      g_autoptr (GError) reason = NULL;
      AdjTensorData *data = find_input (file, node, i, &modelled, &reason);

      if (data != NULL)
        inputs[i] = ADJ_DATA (adj_tensor_data_ref (data));
      else if (modelled && call != NULL && call->n_inputs == n && name_in_model (node) == NULL)
        inputs[i] = adj_value_copy (&call->inputs[i]);
      else
        {
          g_propagate_error (error, g_steal_pointer (&reason));
          return FALSE;
        }
    }
  return TRUE;
}

AdjValue *
adj_session_read_inputs (
    const AdjGraph *graph, const char *path, const AdjRecordedCall *call, guint *n, GError **error)
{
  g_autoptr (AdjTensorList) file = adj_tensor_list_load (path, error);
  AdjValue *inputs;

  if (file == NULL)
    return NULL;
  *n = adj_graph_get_n_inputs (graph);
  inputs = g_new0 (AdjValue, *n + 1);
  if (take_inputs (file, graph, call, inputs, error))
    return inputs;
  g_prefix_error (error, "%s: ", path);
  adj_session_free_inputs (inputs, *n);
  return NULL;
}

/* -- values of nodes and outputs -- */

typedef struct
{
  const AdjGraph *graph;
  const char *release; /* release of PyTorch that made the graph */
  GHashTable *outputs; /* "output_<position>" → AdjNode; %NULL: no node computes it */
} Names;

static gboolean
add_output (const AdjValue *leaf, gpointer data)
{
  Names *names = data;
  char *name = g_strdup_printf (ADJ_OUTPUT_NAME, (guint) g_hash_table_size (names->outputs));

  g_hash_table_insert (names->outputs, name,
                       leaf->kind == ADJ_VALUE_NODE
                           ? (gpointer) adj_graph_get_node (names->graph, leaf->node.index)
                           : NULL);
  return TRUE;
}

/* The node that @name denotes; %NULL: none. */
static const AdjNode *
find_named (const Names *names, const char *name)
{
  AdjNodeId id = adj_graph_find_node (names->graph, name);

  return adj_node_id_is_valid (id) ? adj_graph_get_node (names->graph, id.index)
                                   : g_hash_table_lookup (names->outputs, name);
}

static gboolean
same_size (AdjSize a, AdjSize b)
{
  return !adj_size_is_int (a) || !adj_size_is_int (b) || a.word == b.word;
}

/* Compares sizes, without dimension @left_out of @annotated; G_MAXUINT: with all of them. */
static gboolean
same_sizes (const AdjShape *annotated, guint left_out, const AdjShape *value)
{
  guint i = 0;

  for (guint k = 0; i < annotated->rank; i++)
    if (i != left_out && (k == value->rank || !same_size (annotated->size[i], value->size[k++])))
      return FALSE;
  return i == value->rank + (left_out != G_MAXUINT);
}

/* Results that a release annotates with an extra dimension of size 1. */
static const struct
{
  const char *release;
  AdjOpId op;
  gint64 result;
  guint dim;
} annotated_longer[] = {
#define ANNOTATED_LONGER(release, id, result, dim) { release, ADJ_OP_##id, result, dim },
#include "ops/releases.inc"
};

/* The extra dimension in the annotation of the getitem @node; G_MAXUINT: none. */
static guint
find_left_out (const Names *names, const AdjNode *node)
{
  const AdjValue *args = node->args.items;
  const AdjNode *call;

  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION || !g_str_equal (node->target, "operator.getitem") ||
      args[0].kind != ADJ_VALUE_NODE || args[1].kind != ADJ_VALUE_INT)
    return G_MAXUINT;
  call = adj_graph_get_node (names->graph, args[0].node.index);
  for (guint i = 0; i < G_N_ELEMENTS (annotated_longer); i++)
    if (call->op == adj_op (annotated_longer[i].op) &&
        args[1].integer == annotated_longer[i].result &&
        g_str_equal (names->release, annotated_longer[i].release))
      return annotated_longer[i].dim;
  return G_MAXUINT;
}

/* Whether @value has the type and size of the node's annotation; a node without one fits all. */
static gboolean
fits (const Names *names, const AdjNode *node, const AdjTensorMeta *value)
{
  const AdjTensorMeta *meta = node->val.meta;
  guint left_out;

  if (node->val.kind != ADJ_VALUE_META)
    return node->val.kind == ADJ_VALUE_NONE;
  if (!adj_dtype_is_as_annotated (value->dtype, meta->dtype) &&
      !adj_dtype_is_as_annotated (meta->dtype, value->dtype))
    return FALSE;
  if (same_sizes (&meta->shape, G_MAXUINT, &value->shape))
    return TRUE;
  left_out = find_left_out (names, node);
  return left_out < meta->shape.rank && adj_size_is (NULL, meta->shape.size[left_out], 1) &&
         same_sizes (&meta->shape, left_out, &value->shape);
}

/* "f32[2, 3]" */
static void
print_type (const AdjTensorMeta *meta, AdjSymbols *symbols, GString *out)
{
  g_string_append (out, adj_dtype_info (meta->dtype)->code);
  adj_shape_print_list (symbols, meta->shape.size, meta->shape.rank, out);
}

static gboolean
check_value (const Names *names, const char *name, const AdjTensorData *data, GError **error)
{
  const AdjNode *node = find_named (names, name);
  const AdjTensorMeta *meta = adj_tensor_data_get_meta (data);
  AdjSymbols *symbols = adj_graph_get_symbols (names->graph);
  g_autoptr (GString) type = NULL;

  if (node == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "no node and no output of the graph is named '%s'", name);
      return FALSE;
    }
  if (fits (names, node, meta))
    return TRUE;
  type = g_string_new (NULL);
  print_type (meta, symbols, type);
  g_string_append (type, ", the node gives ");
  if (node->val.kind == ADJ_VALUE_META)
    print_type (node->val.meta, symbols, type);
  else
    g_string_append (type, "no single tensor");
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE, "'%s' is %s", name, type->str);
  return FALSE;
}

/* Stores the value of an output under the node that computes it. */
static void
give_to_node (gpointer output, gpointer maker, gpointer values)
{
  AdjTensorData *data = g_hash_table_lookup (values, output);
  const AdjNode *node = maker;

  if (data != NULL && node != NULL && !g_hash_table_contains (values, node->name))
    g_hash_table_insert (values, g_strdup (node->name), adj_tensor_data_ref (data));
}

/* (transfer full): the name of tensor @index, or of the output at that position. */
static char *
name_of (const AdjTensorList *file, guint index)
{
  const char *name = adj_tensor_list_get_name (file, index);

  return name != NULL ? g_strdup (name) : g_strdup_printf (ADJ_OUTPUT_NAME, index);
}

static gboolean
take_values (const AdjSessionRun *run,
             const AdjTensorList *file,
             GHashTable *values,
             GError **error)
{
  const AdjGraph *graph = run->graph->graph;
  g_autoptr (GHashTable) outputs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Names names = { graph, session_release (run)->name, outputs };

  adj_value_foreach (&adj_graph_get_node (graph, adj_graph_get_output (graph).index)->args.items[0],
                     add_output, &names);
  for (guint i = 0; i < adj_tensor_list_get_n (file); i++)
    {
      g_autofree char *name = name_of (file, i);
      AdjTensorData *data = adj_tensor_list_get (file, i, error);

      if (data == NULL || !check_value (&names, name, data, error))
        return FALSE;
      g_hash_table_insert (values, g_steal_pointer (&name), adj_tensor_data_ref (data));
    }
  g_hash_table_foreach (outputs, give_to_node, values);
  return TRUE;
}

GHashTable *
adj_session_read_values (const AdjSessionRun *run, const char *path, GError **error)
{
  g_autoptr (AdjTensorList) file = adj_tensor_list_load (path, error);
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify) adj_tensor_data_unref);

  if (file == NULL)
    return NULL;
  if (take_values (run, file, values, error))
    return g_steal_pointer (&values);
  g_prefix_error (error, "%s: ", path);
  return NULL;
}
