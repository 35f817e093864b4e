/* SPDX-License-Identifier: MIT */
/* Draws inputs for the placeholders of a graph from their annotations and a seed. */

#include <math.h>

#include "call/adj-object.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ir/adj-text-internal.h"
#include "session/inputs-private.h"

/* Indices must fit the smallest table that they may select from; 0 and 1 always do. */
#define RANDOM_INT_END 2
/* The length of a list whose text has only a symbol, "s0". */
#define ANY_LENGTH 4

static double
draw_normal (GRand *rand)
{
  double radius = sqrt (-2 * log (1 - g_rand_double (rand)));

  return radius * cos (2 * G_PI * g_rand_double (rand));
}

static gboolean
find_length (AdjSymbols *symbols, AdjSize size, gint64 *length)
{
  g_autoptr (GString) name = g_string_new (NULL);

  if (adj_size_get_hint (symbols, size, length))
    return TRUE;
  adj_size_print (symbols, size, name);
  *length = ANY_LENGTH;
  return name->str[0] == 's' && adj_symbols_find (symbols, name->str) != NULL;
}

static AdjTensorData *
draw_tensor (GRand *rand, const AdjTensorMeta *meta, AdjSymbols *symbols, GError **error)
{
  AdjTensorMeta dense = {
    .dtype = ADJ_DTYPE_F64, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  gint64 sizes[ADJ_MAX_RANK];
  g_autoptr (AdjTensorData) drawn = NULL;
  g_autoptr (GBytes) bytes = NULL;
  double *values;
  guint64 n_bytes;

  for (guint i = 0; i < meta->shape.rank; i++)
    if (!find_length (symbols, meta->shape.size[i], &sizes[i]))
      {
        g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "its size is not known");
        return NULL;
      }
  adj_shape_init_ints (&dense.shape, meta->shape.rank, sizes);
  n_bytes = adj_tensor_meta_bytes (&dense, NULL);
  values = g_try_malloc0 (n_bytes + 1);
  if (values == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY,
                   "its %" G_GUINT64_FORMAT " bytes do not fit into memory", n_bytes);
      return NULL;
    }
  for (guint64 i = 0; i < n_bytes / sizeof (double); i++)
    values[i] = adj_dtype_is_floating (meta->dtype) ? draw_normal (rand)
                                                    : g_rand_int_range (rand, 0, RANDOM_INT_END);
  bytes = g_bytes_new_take (values, n_bytes);
  drawn = adj_tensor_data_new (&dense, bytes, error);
  return drawn != NULL ? adj_tensor_data_cast (drawn, meta->dtype) : NULL;
}

static gboolean
draw_input (GRand *rand, const AdjGraph *graph, const AdjNode *node, AdjValue *out, GError **error);

/* The length that the getitem readers of @node need; -1: it has other readers, so it is no list. */
static gint
count_items (const AdjGraph *graph, const AdjNode *node)
{
  gint64 n = 0;

  for (guint i = 0; i < node->n_users; i++)
    {
      const AdjNode *user = adj_graph_get_node (graph, node->users[i].index);

      if (!g_str_equal (user->target, "operator.getitem") || user->args.n != 2 ||
          user->args.items[1].kind != ADJ_VALUE_INT || user->args.items[1].integer < 0 ||
          user->args.items[1].integer >= ADJ_MAX_NODES)
        return -1;
      n = MAX (n, user->args.items[1].integer + 1);
    }
  return (gint) n;
}

/* Draws a list of a captured backward: each item by the annotation of the node that takes it. Fails
 * for an item that is called (a hook). */
static gboolean
draw_list (GRand *rand, const AdjGraph *graph, const AdjNode *node, AdjValue *out, GError **error)
{
  gint n = count_items (graph, node);

  if (n < 0 || (node->val.kind != ADJ_VALUE_NONE && !adj_value_is_container (&node->val)))
    return FALSE;
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = (guint) n };
  out->items = g_new0 (AdjValue, n + 1);
  for (guint i = 0; i < node->n_users; i++)
    {
      const AdjNode *user = adj_graph_get_node (graph, node->users[i].index);
      AdjValue *item = &out->items[user->args.items[1].integer];

      if (user->val.kind == ADJ_VALUE_NONE || item->kind != ADJ_VALUE_NONE)
        continue;
      if (!draw_input (rand, graph, user, item, error))
        {
          adj_value_clear (out);
          return FALSE;
        }
    }
  return TRUE;
}

typedef struct
{
  GRand *rand;
  AdjSymbols *symbols;
  GError **error;
} StateDraw;

static gboolean
draw_state_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  StateDraw *draw = data;
  AdjTensorData *drawn;

  *out = adj_value_copy (leaf);
  if (leaf->kind != ADJ_VALUE_META)
    return TRUE;
  adj_value_clear (out);
  drawn = draw_tensor (draw->rand, leaf->meta, draw->symbols, draw->error);
  *out = drawn != NULL ? ADJ_DATA (drawn) : ADJ_NONE;
  return drawn != NULL;
}

static gboolean
refuse_object (const AdjNode *node, const char *type, GError **error)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
               "input '%s' is an object of the class '%s', which Adjoint does not have, so that "
               "nothing can be called with it",
               node->name, type != NULL ? type : "of another process");
  return FALSE;
}

/* (nullable): the class that the text gives an input, "__main___Counter"; %NULL for types of
 * PyTorch and Python, whose form differs. */
static const char *
find_class (const AdjNode *node)
{
  const char *type = adj_node_get_type_text (node);
  const char *last = type != NULL ? strrchr (type, '_') : NULL;

  return last != NULL && strchr (type, '.') == NULL && g_ascii_isupper (last[1]) ? type : NULL;
}

/* An object with the class and state of the annotation, with random tensors. */
static gboolean
draw_object (GRand *rand, const AdjGraph *graph, const AdjNode *node, AdjValue *out, GError **error)
{
  AdjObject *described = adj_object_from_opaque (node->val.object), *object;
  StateDraw draw = { rand, adj_graph_get_symbols (graph), error };
  g_auto (AdjValue) state = ADJ_NONE, drawn = ADJ_NONE;

  if (described == NULL || adj_object_get_class (described) == NULL)
    return refuse_object (node, adj_opaque_get_type (node->val.object), error);
  if (!adj_object_flatten (described, &state, error) ||
      !adj_value_map (&state, draw_state_leaf, &draw, &drawn))
    return FALSE;
  object = adj_object_new (adj_object_get_class (described), &drawn, error);
  *out = object != NULL ? ADJ_OBJECT (object) : ADJ_NONE;
  return object != NULL;
}

static gboolean
draw_input (GRand *rand, const AdjGraph *graph, const AdjNode *node, AdjValue *out, GError **error)
{
  AdjSymbols *symbols = adj_graph_get_symbols (graph);
  AdjSize size;
  gint64 hint;

  if (node->val.kind == ADJ_VALUE_META)
    {
      AdjTensorData *data = draw_tensor (rand, node->val.meta, symbols, error);

      if (data == NULL)
        g_prefix_error (error, "random input for '%s': ", node->name);
      else
        *out = ADJ_DATA (data);
      return data != NULL;
    }
  if (node->val.kind == ADJ_VALUE_OPAQUE_OBJECT)
    return draw_object (rand, graph, node, out, error);
  if (find_class (node) != NULL)
    return refuse_object (node, find_class (node), error);
  if (adj_value_get_size (&node->val, &size) && find_length (symbols, size, &hint))
    {
      *out = ADJ_INT (hint);
      return TRUE;
    }
  if (node->opcode == ADJ_OPCODE_PLACEHOLDER &&
      g_str_has_prefix (adj_graph_get_name (graph), "CompiledAutograd"))
    {
      GError *failure = NULL;

      if (draw_list (rand, graph, node, out, &failure))
        return TRUE;
      if (failure != NULL)
        {
          g_propagate_error (error, failure);
          return FALSE;
        }
    }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
               "random input for '%s': the file does not say what it is", node->name);
  return FALSE;
}

AdjValue *
session_make_inputs (
    const AdjGraph *graph, const AdjValue *known, guint32 seed, guint *n, GError **error)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint n_inputs = adj_graph_get_n_inputs (graph);
  AdjValue *inputs = g_new0 (AdjValue, n_inputs + 1);

  for (guint i = 0; i < n_inputs; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);

      if (known != NULL && known[i].kind != ADJ_VALUE_NONE)
        inputs[i] = adj_value_copy (&known[i]);
      else if (!draw_input (rand, graph, node, &inputs[i], error))
        {
          while (i-- > 0)
            adj_value_clear (&inputs[i]);
          g_free (inputs);
          return NULL;
        }
    }
  *n = n_inputs;
  return inputs;
}

AdjValue *
adj_session_random_inputs (const AdjGraph *graph, guint32 seed, guint *n, GError **error)
{
  return session_make_inputs (graph, NULL, seed, n, error);
}
