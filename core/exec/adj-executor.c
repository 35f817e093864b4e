/* SPDX-License-Identifier: MIT */
/* The table of executors, and running one: inputs checked against the graph, memory checked
 * before. */

#include "exec/adj-executor.h"

#include <time.h>

#include "base/adj-format-bytes.h"
#include "base/adj-names-internal.h"
#include "exec/adj-executor-internal.h"
#include "interpreter/adj-interpreter-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"
#include "tensor/adj-late-bytes-internal.h"

/* Runs that need at most this many bytes start without asking how much memory is free. */
#define LITTLE (G_GUINT64_CONSTANT (16) << 20)

#define EXECUTOR(name, file) extern const AdjExecutor adj_executor_##name;
#include "exec/executors.inc"
#undef EXECUTOR

static const AdjExecutor *const executors[] = {
#define EXECUTOR(name, file) &adj_executor_##name,
#include "exec/executors.inc"
#undef EXECUTOR
};

guint
adj_executors_get_n (void)
{
  return G_N_ELEMENTS (executors);
}

const AdjExecutor *
adj_executors_get (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (executors), NULL);

  return executors[index];
}

static const char *
name_of (guint i)
{
  return executors[i]->name;
}

/**
 * adj_executor_find:
 *
 * Returns: (transfer none) (nullable): %NULL with ADJ_ERROR_NOT_FOUND listing those there are
 */
const AdjExecutor *
adj_executor_find (const char *name, GError **error)
{
  gint i = adj_names_find ("executor", name_of, G_N_ELEMENTS (executors), name, error);

  return i >= 0 ? executors[i] : NULL;
}

static gboolean
wrong_input (guint index, const AdjNode *node, const char *has, const char *wants, GError **error)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE, "input %u ('%s') is %s, the graph wants %s",
               index, node->name, has, wants);
  return FALSE;
}

static gboolean
same_sizes (const AdjShape *given, const AdjShape *wanted)
{
  if (given->rank != wanted->rank)
    return FALSE;
  for (guint i = 0; i < given->rank; i++)
    if (adj_size_is_int (wanted->size[i]) && !adj_size_same (given->size[i], wanted->size[i]))
      return FALSE;
  return TRUE;
}

gboolean
adj_dtype_is_as_annotated (AdjDType given, AdjDType annotated)
{
  return given == annotated || (given == ADJ_DTYPE_F32 && adj_autocast_is_possible (annotated));
}

static gboolean
fits (const AdjTensorMeta *given, const AdjTensorMeta *wanted)
{
  return adj_dtype_is_as_annotated (given->dtype, wanted->dtype) &&
         same_sizes (&given->shape, &wanted->shape);
}

/* Whether a None input stands for the first effect token. */
static gboolean
is_first_token (const AdjValue *value, const AdjTensorMeta *wanted)
{
  return value->kind == ADJ_VALUE_NONE && wanted->dtype == ADJ_DTYPE_F32 &&
         wanted->shape.rank == 1 && wanted->shape.size[0].word == 0;
}

static gboolean
check_input (const AdjGraph *graph, guint index, const AdjValue *value, GError **error)
{
  const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, index).index);
  const AdjTensorMeta *wanted = node->val.kind == ADJ_VALUE_META ? node->val.meta : NULL;
  const AdjTensorMeta *given =
      value->kind == ADJ_VALUE_DATA ? adj_tensor_data_get_meta (value->data) : NULL;
  g_autoptr (GString) has = NULL;
  g_autoptr (GString) wants = NULL;

  if (wanted == NULL || is_first_token (value, wanted) || (given != NULL && fits (given, wanted)))
    return TRUE;
  if (value->kind == ADJ_VALUE_RAW)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "input %u ('%s') was not recorded; of it is known: %.200s", index, node->name,
                   value->text);
      return FALSE;
    }
  wants = g_string_new (NULL);
  adj_tensor_meta_print (wanted, adj_graph_get_symbols (graph), wants);
  if (given == NULL)
    return wrong_input (index, node, adj_value_kind_name (value->kind), wants->str, error);
  has = g_string_new (NULL);
  adj_tensor_meta_print (given, NULL, has);
  return wrong_input (index, node, has->str, wants->str, error);
}

static gboolean
check_inputs (const AdjRunRequest *request, GError **error)
{
  guint wanted = adj_graph_get_n_inputs (request->graph);

  if (request->n_inputs != wanted)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE, "the graph takes %u inputs, %u are given",
                   wanted, request->n_inputs);
      return FALSE;
    }
  for (guint i = 0; i < wanted; i++)
    if (!check_input (request->graph, i, &request->inputs[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
is_read (const AdjValue *leaf, gpointer error)
{
  return leaf->kind != ADJ_VALUE_DATA || adj_tensor_data_check_read (leaf->data, error);
}

static gboolean
check_constants (const AdjGraph *graph, GHashTable *seen, GError **error)
{
  if (!g_hash_table_add (seen, (gpointer) graph))
    return TRUE;
  for (guint i = 0; i < adj_graph_get_n_attrs (graph); i++)
    if (!adj_value_foreach (adj_graph_get_attr (graph, i, NULL), is_read, error))
      return FALSE;
  for (guint i = 0; i < adj_graph_get_n_subgraphs (graph); i++)
    if (!check_constants (adj_graph_get_subgraph (graph, i, NULL), seen, error))
      return FALSE;
  return TRUE;
}

gboolean
exec_check_read (const AdjGraph *graph, const AdjValue *inputs, guint n_inputs, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < n_inputs; i++)
    if (!adj_value_foreach (&inputs[i], is_read, error))
      return FALSE;
  return check_constants (graph, seen, error);
}

/* Inputs and constants of large files are read while the graph runs: %FALSE if that failed.  Those
 * that are returned as they are get read now. */
static gboolean
check_read (const AdjRunRequest *request, const AdjRunResult *result, GError **error)
{
  return adj_value_fetch (&result->output, error) &&
         exec_check_read (request->graph, request->inputs, request->n_inputs, error);
}

static gboolean
is_in_memory (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_DATA || adj_tensor_data_get_late (leaf->data) == NULL;
}

gboolean
exec_reads_inputs (const AdjRunRequest *request)
{
  for (guint i = 0; i < request->n_inputs; i++)
    if (!adj_value_foreach (&request->inputs[i], is_in_memory, NULL))
      return TRUE;
  return FALSE;
}

static gboolean
check_memory (const AdjRunRequest *request, GError **error)
{
  guint64 needed = exec_reads_inputs (request)
                       ? adj_graph_estimate_memory_reading (request->graph, request->float64)
                       : adj_graph_estimate_memory (request->graph, request->float64);
  guint64 limit = request->memory_limit;
  g_autofree char *needs = NULL;
  g_autofree char *allows = NULL;

  if (limit == 0)
    limit = needed <= LITTLE ? LITTLE : adj_memory_get_available () / 5 * 4;
  if (needed <= limit)
    return TRUE;
  needs = adj_format_bytes (needed);
  allows = adj_format_bytes (limit);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY,
               "running this graph needs about %s, %s are allowed",
               needed == G_MAXUINT64 ? "more memory than there can be" : needs, allows);
  return FALSE;
}

static gint64
cpu_now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return (gint64) time.tv_sec * 1000000000 + time.tv_nsec;
}

gboolean
adj_executor_run (const AdjExecutor *executor,
                  const AdjRunRequest *request,
                  AdjRunResult *result,
                  GCancellable *cancellable,
                  GError **error)
{
  gint64 started = cpu_now ();

  g_return_val_if_fail (executor != NULL && request != NULL && result != NULL, FALSE);

  if ((request->gpu == NULL && !executor->available (error)) ||
      !adj_graph_check_understood (request->graph, error) || !check_inputs (request, error) ||
      !check_memory (request, error) || !executor->run (request, result, cancellable, error))
    return FALSE;
  if (!check_read (request, result, error))
    {
      adj_run_result_clear (result);
      return FALSE;
    }
  result->cpu_ns = cpu_now () - started;
  return TRUE;
}

void
adj_run_result_clear (AdjRunResult *result)
{
  adj_value_clear (&result->output);
  for (guint i = 0; i < result->n_gradients; i++)
    adj_tensor_data_unref (result->gradients[i].grad);
  g_clear_pointer (&result->gradients, g_free);
  for (guint i = 0; i < result->n_objects; i++)
    {
      adj_object_unref (result->objects[i].before);
      adj_object_unref (result->objects[i].after);
    }
  g_clear_pointer (&result->objects, g_free);
  result->n_objects = 0;
  g_clear_pointer (&result->recalled, g_free);
  result->n_gradients = result->n_recalled = 0;
  g_clear_pointer (&result->node_ns, g_free);
  g_clear_pointer (&result->regions, g_free);
  g_clear_pointer (&result->note, g_free);
}
