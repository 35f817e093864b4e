/* SPDX-License-Identifier: MIT */
/* A plan against the interpreter, bit for bit. */

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

/* Memory that nobody wrote has other bits. */
static gboolean
is_unset (const AdjGraph *graph, guint index, const gboolean *unset)
{
  const AdjNode *node = adj_graph_get_node (graph, index);
  gboolean is = node->op != NULL && (node->op->flags & ADJ_OP_NO_COMPARE) != 0;

  for (guint i = 0; i < node->n_inputs; i++)
    is = is || unset[node->inputs[i].index];
  return is;
}

static void
check_nodes (const AdjRunRequest *request, const char *what)
{
  guint n = adj_graph_get_n_nodes (request->graph);
  g_autofree AdjValue *left = g_new0 (AdjValue, n);
  g_autofree AdjValue *right = g_new0 (AdjValue, n);
  g_autofree gboolean *unset = g_new0 (gboolean, n + 1);
  AdjRunResult a = { 0 }, b = { 0 };
  g_autoptr (GError) error = NULL;

  run (request, "interpreter", left, &a, &error);
  g_assert_no_error (error);
  run (request, "planned", right, &b, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GString) why = g_string_new (NULL);

      unset[i] = is_unset (request->graph, i, unset);
      if (!unset[i] && !plan_same_values (&left[i], &right[i], why))
        {
          g_test_message ("%s, node '%s': %s", what, adj_graph_get_node (request->graph, i)->name,
                          why->str);
          g_test_fail ();
        }
      adj_value_clear (&left[i]);
      adj_value_clear (&right[i]);
    }
  adj_run_result_clear (&a);
  adj_run_result_clear (&b);
}

gboolean
plan_check_request (const AdjRunRequest *request, const char *what)
{
  AdjRunResult a = { 0 }, b = { 0 };
  g_autoptr (GError) left = NULL;
  g_autoptr (GError) right = NULL;
  g_autoptr (GString) why = g_string_new (NULL);
  gboolean can = run (request, "interpreter", NULL, &a, &left);

  if (run (request, "planned", NULL, &b, &right) != can)
    {
      g_test_message ("%s: %s; by a plan %s", what, can ? "runs" : left->message,
                      right == NULL ? "runs" : right->message);
      g_test_fail ();
    }
  else if (can && !plan_same_values (&a.output, &b.output, why))
    {
      g_test_message ("%s: %s", what, why->str);
      g_test_fail ();
    }
  if (can && right == NULL)
    check_nodes (request, what);
  adj_run_result_clear (&a);
  adj_run_result_clear (&b);
  return can;
}

void
plan_check_session (const AdjSessionRun *run, const char *what)
{
  g_auto (SessionInputs) inputs = { 0 };
  g_autoptr (GError) error = NULL;
  AdjRunRequest request = { .graph = run->graph->graph };

  session_find_inputs (run, &inputs, &error);
  g_assert_no_error (error);
  request.inputs = inputs.values;
  request.n_inputs = inputs.n;
  request.rng = session_states (run, &inputs);
  g_assert_true (plan_check_request (&request, what));
}
