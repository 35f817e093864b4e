/* SPDX-License-Identifier: MIT */
/* The interpreter as an executor: imports the inputs, runs with the CPU kernels, times each node
 * and records how long every storage lives. */

#include <gio/gio.h>
#include <string.h>

#include "analysis/adj-lifetimes.h"
#include "autograd/adj-autograd.h"
#include "base/adj-clock.h"
#include "call/adj-context-internal.h"
#include "call/adj-mode.h"
#include "call/adj-object-call-internal.h"
#include "exec/adj-executor-internal.h"
#include "exec/adj-executor.h"
#include "exec/captured-run-private.h"
#include "exec/generator-state-private.h"
#include "exec/run-objects-private.h"
#include "interpreter/adj-interpreter-internal.h"
#include "ir/adj-graph.h"
#include "rules/adj-operators.h"
#include "tensor/adj-storage-internal.h"
#include "trace/adj-composite.h"

typedef struct
{
  AdjContext *cx;
  const AdjRunRequest *request;
  AdjRunResult *result;
  AdjDrawState drawn_from; /* generator state before the call, if @drew is set */
  GHashTable *lives;       /* storage id (guint64 *) → AdjLiveRange */
  gint64 started;
  guint last_use; /* node that is being visited */
  guint index;
  gboolean reads;   /* inputs are in a file */
  gboolean in_call; /* what is being visited are arguments, which are in memory */
  CapturedRun captured;
} Watch;

static gboolean
watch_storage (const AdjValue *leaf, gpointer data)
{
  Watch *watch = data;
  AdjStorage *storage;
  guint64 id;
  AdjLiveRange *life;

  if (leaf->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  storage = adj_tensor_get_storage (leaf->tensor);
  if (adj_storage_get_late (storage) != NULL && !watch->in_call)
    return TRUE;
  id = adj_storage_get_id (storage);
  life = g_hash_table_lookup (watch->lives, &id);
  if (life == NULL)
    {
      life = g_new (AdjLiveRange, 1);
      *life = (AdjLiveRange){ watch->index, watch->index, adj_storage_get_n_bytes (storage) };
      g_hash_table_insert (watch->lives, g_memdup2 (&id, sizeof id), life);
    }
  life->last = MAX (life->last, watch->last_use);
  return TRUE;
}

static gboolean
watch_late (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_TENSOR ||
         adj_storage_get_late (adj_tensor_get_storage (leaf->tensor)) == NULL ||
         watch_storage (leaf, data);
}

static guint64
peak_of_lives (GHashTable *lives, guint n_nodes)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (AdjLiveRange));
  g_autofree guint64 *live = NULL;
  GHashTableIter iter;
  gpointer life;
  guint peak;

  g_hash_table_iter_init (&iter, lives);
  while (g_hash_table_iter_next (&iter, NULL, &life))
    g_array_append_vals (ranges, life, 1);
  live = adj_live_ranges_add_up ((const AdjLiveRange *) (gpointer) ranges->data, ranges->len,
                                 n_nodes, &peak);
  return live[peak];
}

/* @data: (nullable): the context, whose called copies stand for objects. */
static gboolean
export_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  AdjObject *object =
      leaf->kind == ADJ_VALUE_OPAQUE_OBJECT ? adj_object_from_opaque (leaf->object) : NULL;

  if (leaf->kind == ADJ_VALUE_TENSOR && adj_composite_get_class (leaf->tensor) != NULL)
    *out = ADJ_NONE; /* a tensor of a torch.func level has no memory of its own */
  else if (leaf->kind == ADJ_VALUE_TENSOR)
    *out = ADJ_DATA (adj_tensor_snapshot (leaf->tensor));
  else if (object != NULL && data != NULL)
    {
      AdjObject *copy = adj_context_get_object_copy (data, object);

      *out = copy != NULL ? adj_value_copy (&ADJ_OBJECT (copy)) : ADJ_NONE;
    }
  else
    *out = adj_value_copy (leaf);
  return TRUE;
}

static AdjValue
import_data (AdjTensorData *data, gboolean float64)
{
  g_autoptr (AdjTensorData) wide = NULL;

  AdjDType dtype = adj_tensor_data_get_meta (data)->dtype;

  if (!float64 || !adj_dtype_is_differentiable (dtype))
    return ADJ_TENSOR (adj_tensor_new_from_data (data));
  wide = adj_tensor_data_cast_storage (data, adj_dtype_get_widest (dtype));
  return ADJ_TENSOR (adj_tensor_new_from_data (wide));
}

static gboolean
import_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = leaf->kind == ADJ_VALUE_DATA ? import_data (leaf->data, GPOINTER_TO_INT (data))
                                      : adj_value_copy (leaf);
  return TRUE;
}

/* Inputs that share memory share a storage, so that a write through one is seen through the other.
 */
static AdjValue *
import_inputs (const AdjRunRequest *request)
{
  g_autoptr (GHashTable) storages = g_hash_table_new (NULL, NULL);
  AdjValue *inputs = g_new0 (AdjValue, request->n_inputs + 1);

  for (guint i = 0; i < request->n_inputs; i++)
    {
      const AdjValue *given = &request->inputs[i];
      gpointer key =
          given->kind == ADJ_VALUE_DATA ? adj_tensor_data_get_storage (given->data) : NULL;
      AdjStorage *shared = key != NULL ? g_hash_table_lookup (storages, key) : NULL;

      if (shared != NULL && !request->float64)
        {
          inputs[i] = ADJ_TENSOR (adj_tensor_new (adj_tensor_data_get_meta (given->data), shared));
          continue;
        }
      adj_value_map (given, import_leaf, GINT_TO_POINTER (request->float64), &inputs[i]);
      if (key != NULL)
        g_hash_table_insert (storages, key, adj_tensor_get_storage (inputs[i].tensor));
    }
  return inputs;
}

static gboolean
replace_value (const AdjRunRequest *request, AdjNodeId id, AdjValue *value)
{
  g_auto (AdjValue) data = ADJ_NONE;
  g_auto (AdjValue) replacement = ADJ_NONE;

  adj_value_map (value, export_leaf, NULL, &data);
  if (!request->replace (id, &data, &replacement, request->data))
    return FALSE;
  adj_value_clear (value);
  adj_value_map (&replacement, import_leaf, GINT_TO_POINTER (request->float64), value);
  return TRUE;
}

static gboolean
widen_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  g_autoptr (AdjTensorData) narrow = NULL;

  if (leaf->kind != ADJ_VALUE_TENSOR)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  narrow = adj_tensor_snapshot (leaf->tensor);
  *out = import_data (narrow, TRUE);
  return TRUE;
}

/* Whether the node's value is given by the graph and not computed. */
static gboolean
makes_constant (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_GET_ATTR || g_strcmp0 (node->target, "torch.tensor") == 0 ||
         g_strcmp0 (node->target, "torch.as_tensor") == 0;
}

static void
note_draw (Watch *watch, AdjNodeId id)
{
  AdjDrawState now;

  adj_context_get_draw_state (watch->cx, &now);
  if (memcmp (&now, &watch->drawn_from, sizeof now) == 0)
    return;
  watch->request->drew (id, &watch->drawn_from, watch->request->data);
  watch->drawn_from = now;
}

static gboolean
amend_node (const AdjGraph *graph, AdjNodeId id, AdjContext *cx, AdjValue *value, gpointer data)
{
  Watch *watch = data;

  watch->result->node_ns[id.index] = adj_clock_now () - watch->started;
  if (watch->request->drew != NULL && graph == watch->request->graph)
    note_draw (watch, id);
  if (watch->request->float64 && makes_constant (adj_graph_get_node (graph, id.index)))
    {
      AdjValue wide;

      adj_value_map (value, widen_leaf, NULL, &wide);
      adj_value_clear (value);
      *value = wide;
    }
  if (watch->request->replace != NULL)
    replace_value (watch->request, id, value);
  return TRUE;
}

static gboolean
see_node (const AdjGraph *graph, AdjNodeId id, const AdjValue *value, gpointer data)
{
  Watch *watch = data;
  const AdjRunRequest *request = watch->request;
  gboolean go_on = TRUE;

  watch->index = id.index;
  watch->last_use = adj_graph_get_last_use (graph, id.index).index;
  adj_value_foreach (value, watch_storage, watch);
  if (request->tap != NULL)
    {
      g_auto (AdjValue) exported = ADJ_NONE;

      adj_value_map (value, export_leaf, NULL, &exported);
      go_on = request->tap (id, &exported, request->data);
    }
  if (request->progress != NULL)
    request->progress (id.index + 1, adj_graph_get_n_nodes (graph), request->data);
  watch->started = adj_clock_now ();
  return go_on;
}

/* An input in a file is in memory from the first call that uses it to the last. */
static void
watch_arguments (Watch *watch, guint index, const AdjValue *args)
{
  watch->index = watch->last_use = index;
  watch->in_call = TRUE;
  adj_value_foreach (args, watch_late, watch);
  watch->in_call = FALSE;
}

static gboolean
replace_call (
    const AdjGraph *graph, AdjNodeId id, const AdjValue *args, AdjValue *value, gpointer data)
{
  Watch *watch = data;
  const AdjRunRequest *request = watch->request;

  if (request->before != NULL && graph == request->graph)
    request->before (id, request->data);
  if (watch->reads && graph == request->graph)
    watch_arguments (watch, id.index, args);
  if (request->float64)
    adj_context_set_narrow_dtype (
        watch->cx, exec_find_dtype (request->like != NULL && graph == request->graph
                                        ? &request->like[id.index]
                                        : &adj_graph_get_node (graph, id.index)->val));
  return captured_replace (&watch->captured, graph, id, args, value);
}

static gboolean
interpreter_available (GError **error)
{
  return TRUE;
}

static gboolean
interpreter_run (const AdjRunRequest *request,
                 AdjRunResult *result,
                 GCancellable *cancellable,
                 GError **error)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GHashTable) lives =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  Watch watch = { .cx = cx, .request = request, .result = result, .lives = lives };
  AdjInterpreterHooks hooks = {
    .node = see_node, .amend = amend_node, .replace = replace_call, .data = &watch
  };
  AdjValue *inputs;
  gint64 started = adj_clock_now ();
  g_auto (AdjValue) output = ADJ_NONE;
  gboolean done;

  if (!exec_be_as_recorded (cx, request, error))
    return FALSE;
  *result = (AdjRunResult){ .n_nodes = adj_graph_get_n_nodes (request->graph) };
  result->node_ns = g_new0 (gint64, result->n_nodes);
  adj_context_set_cancellable (cx, cancellable);
  adj_context_set_object_copies (cx, request->float64);
  if (request->float64)
    adj_context_push_mode (cx, adj_float64_mode_new ());
  if (adj_graph_takes_transforms (request->graph))
    adj_context_push_mode (cx, adj_autograd_mode_new ());
  watch.reads = exec_reads_inputs (request);
  watch.started = started;
  if (request->drew != NULL)
    adj_context_get_draw_state (cx, &watch.drawn_from);
  captured_run_init (&watch.captured, cx, request);
  inputs = import_inputs (request);

  done = adj_interpret_taking (cx, request->graph, inputs, request->n_inputs, &hooks, &output);
  result->total_ns = adj_clock_now () - started;
  g_free (inputs);
  captured_run_end (&watch.captured, result);
  if (!done)
    {
      adj_run_result_clear (result);
      if (!adj_context_take_error (cx, error))
        g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "the run was stopped");
      return FALSE;
    }
  adj_value_map (&output, export_leaf, cx, &result->output);
  run_objects_note (cx, request, result);
  result->peak_bytes = peak_of_lives (lives, result->n_nodes);
  return TRUE;
}

const AdjExecutor adj_executor_interpreter = {
  .name = "interpreter",
  .summary = "Node by node with the reference kernels: simple, exact, on the CPU",
  .available = interpreter_available,
  .run = interpreter_run,
};
