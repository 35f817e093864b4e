/* SPDX-License-Identifier: MIT */
/* Inputs and other values that somebody put into a file of tensors: by the names of nodes or of
 * parameters, or in their order. */

#include "formats/adj-tensor-list-internal.h"
#include "ir/adj-graph.h"
#include "session/adj-session.h"

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

/* What the placeholder is called in the model; %NULL: it is no part of it. */
static const char *
name_in_model (const AdjNode *node)
{
  const AdjValue *extra = node->meta.extra;

  if (node->meta.parameter != NULL)
    return node->meta.parameter;
  for (guint i = 0; extra != NULL && i + 1 < extra->n; i += 2)
    if ((g_str_equal (extra->items[i].text, "buffer") ||
         g_str_equal (extra->items[i].text, "constant")) &&
        extra->items[i + 1].kind == ADJ_VALUE_STRING)
      return extra->items[i + 1].text;
  return NULL;
}

/* (transfer none) (nullable): by the name of the placeholder, else by that in the model, which
 * @modelled then says; in its place where the file has no names. */
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

/* Of a file that has what belongs to the model, the call has the rest. */
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

/* From @i on, the next dimension that is not 1. */
static guint
skip_ones (const AdjShape *shape, guint i)
{
  while (i < shape->rank && adj_size_is_int (shape->size[i]) && shape->size[i].word == 1)
    i++;
  return i;
}

/* But for dimensions of 1: PyTorch annotates the last states of an LSTM with one that they have
 * not.
 */
static gboolean
same_sizes (const AdjShape *a, const AdjShape *b)
{
  guint i = skip_ones (a, 0), k = skip_ones (b, 0);

  for (; i < a->rank && k < b->rank; i = skip_ones (a, i + 1), k = skip_ones (b, k + 1))
    if (!same_size (a->size[i], b->size[k]))
      return FALSE;
  return i == a->rank && k == b->rank;
}

/* As far as the annotation of a node says something. */
static gboolean
fits (const AdjTensorMeta *value, const AdjValue *annotation)
{
  const AdjTensorMeta *meta = annotation->meta;

  if (annotation->kind == ADJ_VALUE_NONE)
    return TRUE;
  return annotation->kind == ADJ_VALUE_META && meta->dtype == value->dtype &&
         same_sizes (&meta->shape, &value->shape);
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

/* (transfer full): the name of tensor @index: its own, or of the output in its place. */
static char *
name_of (const AdjTensorList *file, guint index)
{
  const char *name = adj_tensor_list_get_name (file, index);

  return name != NULL ? g_strdup (name) : g_strdup_printf (ADJ_OUTPUT_NAME, index);
}

static gboolean
take_values (const AdjGraph *graph, const AdjTensorList *file, GHashTable *values, GError **error)
{
  g_autoptr (GHashTable) outputs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Names names = { graph, outputs };

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
adj_session_read_values (const AdjGraph *graph, const char *path, GError **error)
{
  g_autoptr (AdjTensorList) file = adj_tensor_list_load (path, error);
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify) adj_tensor_data_unref);

  if (file == NULL)
    return NULL;
  if (take_values (graph, file, values, error))
    return g_steal_pointer (&values);
  g_prefix_error (error, "%s: ", path);
  return NULL;
}
