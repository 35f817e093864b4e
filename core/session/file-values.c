/* SPDX-License-Identifier: MIT */
/* Inputs and other values that somebody put into a safetensors file, by the names of nodes. */

#include "formats/adj-safetensors.h"
#include "ir/adj-graph.h"
#include "session/adj-session.h"

/* -- inputs -- */

void
adj_session_free_inputs (AdjValue *inputs, guint n)
{
  for (guint i = 0; inputs != NULL && i < n; i++)
    adj_value_clear (&inputs[i]);
  g_free (inputs);
}

static gboolean
take_input (const AdjSafetensors *file, const char *name, AdjValue *out, GError **error)
{
  AdjTensorData *data = adj_safetensors_find (file, name, error);

  if (data != NULL)
    *out = ADJ_DATA (adj_tensor_data_ref (data));
  return data != NULL;
}

AdjValue *
adj_session_read_inputs (const AdjGraph *graph, const char *path, guint *n, GError **error)
{
  g_autoptr (AdjSafetensors) file = adj_safetensors_load (path, error);
  AdjValue *inputs;

  if (file == NULL)
    return NULL;
  *n = adj_graph_get_n_inputs (graph);
  inputs = g_new0 (AdjValue, *n + 1);
  for (guint i = 0; i < *n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);

      if (take_input (file, node->name, &inputs[i], error))
        continue;
      g_prefix_error (error, "%s: ", path);
      adj_session_free_inputs (inputs, *n);
      return NULL;
    }
  return inputs;
}

/* -- values of nodes and outputs -- */

typedef struct
{
  const AdjGraph *graph;
  GHashTable *outputs; /* "output_<position>" → AdjNode; NULL: no node makes it */
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

/* As far as the annotation of a node says something. */
static gboolean
fits (const AdjTensorMeta *value, const AdjValue *annotation)
{
  const AdjTensorMeta *meta = annotation->meta;

  if (annotation->kind == ADJ_VALUE_NONE)
    return TRUE;
  if (annotation->kind != ADJ_VALUE_META || meta->dtype != value->dtype ||
      meta->shape.rank != value->shape.rank)
    return FALSE;
  for (guint i = 0; i < meta->shape.rank; i++)
    if (!same_size (meta->shape.size[i], value->shape.size[i]))
      return FALSE;
  return TRUE;
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
  if (fits (meta, &node->val))
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

/* The value of an output is that of the node that makes it. */
static void
give_to_node (gpointer output, gpointer maker, gpointer values)
{
  AdjTensorData *data = g_hash_table_lookup (values, output);
  const AdjNode *node = maker;

  if (data != NULL && node != NULL && !g_hash_table_contains (values, node->name))
    g_hash_table_insert (values, g_strdup (node->name), adj_tensor_data_ref (data));
}

static gboolean
take_values (const AdjGraph *graph, const AdjSafetensors *file, GHashTable *values, GError **error)
{
  g_autoptr (GHashTable) outputs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Names names = { graph, outputs };

  adj_value_foreach (&adj_graph_get_node (graph, adj_graph_get_output (graph).index)->args.items[0],
                     add_output, &names);
  for (guint i = 0; i < adj_safetensors_get_n (file); i++)
    {
      const char *name = adj_safetensors_get_name (file, i);
      AdjTensorData *data = adj_safetensors_find (file, name, error);

      if (data == NULL || !check_value (&names, name, data, error))
        return FALSE;
      g_hash_table_insert (values, g_strdup (name), adj_tensor_data_ref (data));
    }
  g_hash_table_foreach (outputs, give_to_node, values);
  return TRUE;
}

GHashTable *
adj_session_read_values (const AdjGraph *graph, const char *path, GError **error)
{
  g_autoptr (AdjSafetensors) file = adj_safetensors_load (path, error);
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify) adj_tensor_data_unref);

  if (file == NULL)
    return NULL;
  if (take_values (graph, file, values, error))
    return g_steal_pointer (&values);
  g_prefix_error (error, "%s: ", path);
  return NULL;
}
