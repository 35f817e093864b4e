/* SPDX-License-Identifier: MIT */
/* Compares a plan with the interpreter, bit for bit. */

#include "plan-check.h"

#include <math.h>
#include <string.h>

#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "session/inputs-private.h"

/* -- values -- */

static gboolean
add_leaf (const AdjValue *leaf, gpointer data)
{
  g_ptr_array_add (data, (gpointer) leaf);
  return TRUE;
}

static gboolean
same_elements (AdjTensorData *a, AdjTensorData *b, GString *why)
{
  g_autoptr (AdjTensorData) x = adj_tensor_data_contiguous (a);
  g_autoptr (AdjTensorData) y = adj_tensor_data_contiguous (b);
  gint64 n = adj_tensor_data_get_numel (x);
  AdjDType dtype = adj_tensor_data_get_meta (x)->dtype;
  gsize size = adj_dtype_info (dtype)->n_bytes;
  const char *left = g_bytes_get_data (adj_tensor_data_get_bytes (x), NULL);
  const char *right = g_bytes_get_data (adj_tensor_data_get_bytes (y), NULL);
  gint64 offset_x = adj_tensor_data_get_meta (x)->shape.offset.word;
  gint64 offset_y = adj_tensor_data_get_meta (y)->shape.offset.word;

  for (gint64 i = 0; i < n; i++)
    {
      if (memcmp (left + (gsize) (i + offset_x) * size, right + (gsize) (i + offset_y) * size,
                  size) == 0 ||
          (adj_dtype_is_floating (dtype) && isnan (adj_tensor_data_get_double (x, i)) &&
           isnan (adj_tensor_data_get_double (y, i))))
        continue;
      g_string_append_printf (
          why, "element %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " is %.17g, by a plan %.17g", i,
          n, adj_tensor_data_get_double (x, i), adj_tensor_data_get_double (y, i));
      return FALSE;
    }
  return TRUE;
}

static gboolean
same_tensors (AdjTensorData *a, AdjTensorData *b, GString *why)
{
  const AdjTensorMeta *x = adj_tensor_data_get_meta (a), *y = adj_tensor_data_get_meta (b);
  gboolean same = x->dtype == y->dtype && x->shape.rank == y->shape.rank;

  for (guint i = 0; same && i < x->shape.rank; i++)
    same = adj_size_same (x->shape.size[i], y->shape.size[i]) &&
           (x->shape.size[i].word < 2 || adj_tensor_data_get_numel (a) == 0 ||
            adj_size_same (x->shape.stride[i], y->shape.stride[i]));
  if (same)
    return same_elements (a, b, why);
  adj_tensor_meta_print (x, NULL, why);
  g_string_append (why, ", by a plan ");
  adj_tensor_meta_print (y, NULL, why);
  return FALSE;
}

gboolean
plan_same_values (const AdjValue *a, const AdjValue *b, GString *why)
{
  g_autoptr (GPtrArray) left = g_ptr_array_new ();
  g_autoptr (GPtrArray) right = g_ptr_array_new ();

  adj_value_foreach (a, add_leaf, left);
  adj_value_foreach (b, add_leaf, right);
  if (left->len != right->len)
    {
      g_string_append_printf (why, "%u values, by a plan %u", left->len, right->len);
      return FALSE;
    }
  for (guint i = 0; i < left->len; i++)
    {
      const AdjValue *x = left->pdata[i], *y = right->pdata[i];
      gboolean tensors = x->kind == ADJ_VALUE_DATA && y->kind == ADJ_VALUE_DATA;

      if (tensors ? !same_tensors (x->data, y->data, why) : !adj_value_equal (x, y))
        {
          g_string_append_printf (why, " (value %u)", i);
          return FALSE;
        }
    }
  return TRUE;
}

/* -- runs -- */

typedef struct
{
  const AdjRunRequest *request;
  AdjValue *values;
} Watching;

static gboolean
keep (AdjNodeId id, const AdjValue *value, gpointer data)
{
  Watching *watching = data;

  g_assert_cmpint (watching->values[id.index].kind, ==, ADJ_VALUE_NONE);
  watching->values[id.index] = adj_value_copy (value);
  return TRUE;
}

static gboolean
recall (AdjNodeId id, AdjValue *out, gpointer data)
{
  const Watching *watching = data;

  return watching->request->recall != NULL &&
         watching->request->recall (id, out, watching->request->data);
}

static gboolean
run (const AdjRunRequest *request,
     const char *executor,
     AdjValue *values,
     AdjRunResult *result,
     GError **error)
{
  Watching watching = { request, values };
  AdjRunRequest watched = *request;

  watched.tap = values != NULL ? keep : NULL;
  watched.recall = recall;
  watched.progress = NULL;
  watched.data = &watching;
  return adj_executor_run (adj_executor_find (executor, NULL), &watched, result, NULL, error);
}

/* Whether the value is uninitialised memory, whose bits differ. */
static gboolean
is_unset (const AdjGraph *graph, guint index, const gboolean *unset)
{
  const AdjNode *node = adj_graph_get_node (graph, index);
  gboolean is = node->op != NULL && (node->op->flags & ADJ_OP_NO_COMPARE) != 0;

  for (guint i = 0; i < node->n_inputs; i++)
    is = is || unset[node->inputs[i].index];
  return is;
}

static gboolean
returns_unset (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree gboolean *unset = g_new0 (gboolean, n + 1);

  for (guint i = 0; i < n; i++)
    unset[i] = is_unset (graph, i, unset);
  return unset[n - 1];
}

static gboolean
same_nodes (const AdjGraph *graph, const AdjValue *left, const AdjValue *right, GString *why)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree gboolean *unset = g_new0 (gboolean, n + 1);

  for (guint i = 0; i < n; i++)
    {
      unset[i] = is_unset (graph, i, unset);
      if (unset[i] || plan_same_values (&left[i], &right[i], why))
        continue;
      g_string_prepend (why, "': ");
      g_string_prepend (why, adj_graph_get_node (graph, i)->name);
      g_string_prepend (why, "node '");
      return FALSE;
    }
  return TRUE;
}

static gboolean
agrees_at_nodes (const AdjRunRequest *request, GString *why)
{
  guint n = adj_graph_get_n_nodes (request->graph);
  g_autofree AdjValue *left = g_new0 (AdjValue, n);
  g_autofree AdjValue *right = g_new0 (AdjValue, n);
  AdjRunResult a = { 0 }, b = { 0 };
  gboolean same = run (request, "interpreter", left, &a, NULL) &&
                  run (request, "planned", right, &b, NULL) &&
                  same_nodes (request->graph, left, right, why);

  if (!same && why->len == 0)
    g_string_append (why, "does not run when it is watched");
  for (guint i = 0; i < n; i++)
    {
      adj_value_clear (&left[i]);
      adj_value_clear (&right[i]);
    }
  adj_run_result_clear (&a);
  adj_run_result_clear (&b);
  return same;
}

/* Ignores the message: the place in it is that of a region's first call. */
static gboolean
same_errors (const GError *a, const GError *b)
{
  return a->domain == b->domain && a->code == b->code;
}

static gboolean
agrees_once (const AdjRunRequest *request, gboolean *can, GString *why)
{
  AdjRunResult a = { 0 }, b = { 0 };
  g_autoptr (GError) left = NULL;
  g_autoptr (GError) right = NULL;
  g_auto (AdjValue) none = ADJ_NONE;
  gboolean same, planned;

  *can = run (request, "interpreter", NULL, &a, &left);
  planned = run (request, "planned", NULL, &b, &right);
  if (*can && planned)
    same = returns_unset (request->graph) || plan_same_values (&a.output, &b.output, why);
  else
    same = left != NULL && right != NULL && same_errors (left, right);
  if (!same && why->len == 0)
    g_string_append_printf (why, "%s; by a plan: %s", left == NULL ? "runs" : left->message,
                            right == NULL ? "runs" : right->message);
  adj_run_result_clear (&a);
  adj_run_result_clear (&b);
  return same;
}

gboolean
plan_agrees (const AdjRunRequest *request, GString *why)
{
  gboolean can;

  return agrees_once (request, &can, why) && agrees_once (request, &can, why) &&
         (!can || agrees_at_nodes (request, why));
}

void
plan_check_session (const AdjSessionRun *run, const char *what)
{
  g_auto (SessionInputs) inputs = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) why = g_string_new (NULL);
  AdjRunRequest request = { .graph = run->graph->graph };

  session_find_inputs (run, &inputs, &error);
  g_assert_no_error (error);
  request.inputs = inputs.values;
  request.n_inputs = inputs.n;
  request.rng = session_states (run, &inputs);
  if (!plan_agrees (&request, why))
    {
      g_test_message ("%s: %s", what, why->str);
      g_test_fail ();
    }
}
