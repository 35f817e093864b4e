/* SPDX-License-Identifier: MIT */
/* Runs the joint graph and the pair on the same inputs and compares bit for bit. */

#include "pair-run.h"

#include <string.h>

#include "call/adj-generator.h"
#include "ir/adj-graph.h"
#include "rules/adj-operators.h"

static gboolean
export_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_TENSOR)
    *out = ADJ_DATA (adj_tensor_snapshot (leaf->tensor));
  else
    *out = adj_value_copy (leaf);
  return TRUE;
}

static gboolean
import_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_DATA)
    *out = ADJ_TENSOR (adj_tensor_new_from_data (leaf->data));
  else
    *out = adj_value_copy (leaf);
  return TRUE;
}

gboolean
values_are_same_bits (const AdjValue *a, const AdjValue *b)
{
  if (a->kind != b->kind)
    return FALSE;
  if (adj_value_is_container (a))
    {
      for (guint i = 0; a->n == b->n && i < a->n; i++)
        if (!values_are_same_bits (&a->items[i], &b->items[i]))
          return FALSE;
      return a->n == b->n;
    }
  if (a->kind == ADJ_VALUE_DATA)
    {
      g_autoptr (AdjTensorData) x = adj_tensor_data_contiguous (a->data);
      g_autoptr (AdjTensorData) y = adj_tensor_data_contiguous (b->data);

      return adj_tensor_data_get_meta (x)->dtype == adj_tensor_data_get_meta (y)->dtype &&
             adj_shape_same_sizes (&adj_tensor_data_get_meta (x)->shape,
                                   &adj_tensor_data_get_meta (y)->shape, NULL) &&
             g_bytes_equal (adj_tensor_data_get_bytes (x), adj_tensor_data_get_bytes (y));
    }
  return adj_value_equal (a, b);
}

/* -- one graph after the other in one context -- */

typedef struct
{
  const AdjPartition *partition;
  GHashTable *seen; /* name → AdjValue: forward's values of the repeated nodes */
  PairRun *run;
} Watch;

static void
value_free (gpointer data)
{
  adj_value_clear (data);
  g_free (data);
}

static void
compare_repeated (Watch *watch, const AdjNode *node, const AdjValue *value)
{
  AdjValue *before = g_hash_table_lookup (watch->seen, node->name);

  if (before == NULL)
    {
      before = g_new (AdjValue, 1);
      *before = adj_value_copy (value);
      g_hash_table_insert (watch->seen, g_strdup (node->name), before);
      return;
    }
  watch->run->n_repeated++;
  watch->run->n_random += strstr (node->target, "rng_state") != NULL;
  if (values_are_same_bits (before, value))
    return;
  watch->run->same_again = FALSE;
  if (watch->run->where == NULL)
    watch->run->where = g_strdup (node->name);
}

static gboolean
see_node (const AdjGraph *graph, AdjNodeId id, const AdjValue *value, gpointer data)
{
  Watch *watch = data;
  const AdjNode *node = adj_graph_get_node (graph, id.index);
  AdjNodeId origin = adj_graph_find_node (watch->partition->joint, node->name);
  g_auto (AdjValue) exported = ADJ_NONE;

  if (!adj_node_id_is_valid (origin) || node->opcode == ADJ_OPCODE_PLACEHOLDER ||
      watch->partition->nodes[origin.index].kind != ADJ_DECISION_RECOMPUTED)
    return TRUE;
  adj_value_map (value, export_leaf, NULL, &exported);
  compare_repeated (watch, node, &exported);
  return TRUE;
}

static void
interpret (
    AdjContext *cx, AdjGraph *graph, const AdjValue *inputs, guint n, Watch *watch, AdjValue *out)
{
  AdjInterpreterHooks hooks = { .node = see_node, .data = watch };
  g_autofree AdjValue *args = g_new0 (AdjValue, n + 1);
  g_auto (AdjValue) result = ADJ_NONE;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < n; i++)
    adj_value_map (&inputs[i], import_leaf, NULL, &args[i]);
  adj_interpret (cx, graph, args, n, watch != NULL ? &hooks : NULL, &result);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  adj_value_map (&result, export_leaf, NULL, out);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&args[i]);
}

/* Adds the inputs of the pair's graphs that are inputs of the joint graph. */
static void
add_given (const AdjPartition *partition,
           AdjGraph *graph,
           const AdjValue *inputs,
           gboolean late,
           GArray *given)
{
  for (guint i = 0; i < adj_graph_get_n_inputs (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);

      for (guint k = 0; k < adj_graph_get_n_inputs (partition->joint); k++)
        {
          AdjNodeId id = adj_graph_get_input (partition->joint, k);

          if (g_str_equal (adj_graph_get_node (partition->joint, id.index)->name, node->name) &&
              (strstr (node->name, "tangents") != NULL) == late)
            g_array_append_val (given, inputs[k]);
        }
    }
}

static GArray *
backward_inputs (const AdjPartition *partition, const AdjValue *forward, const AdjValue *inputs)
{
  GArray *given = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  guint n_sizes = 0;

  for (guint i = 0; i < partition->n_saved; i++)
    n_sizes += partition->saved[i].kind == ADJ_SAVED_SIZE;
  g_array_append_vals (given, forward->items + forward->n - n_sizes, n_sizes);
  g_array_append_vals (given, forward->items + partition->num_fwd_outputs,
                       partition->n_saved - n_sizes);
  add_given (partition, partition->backward, inputs, TRUE, given);
  return given;
}

static const AdjValue *
as_data (GArray *values)
{
  return (const AdjValue *) (gpointer) values->data;
}

AdjValue
pair_run_joint (AdjGraph *joint, const AdjValue *inputs, guint n, guint64 seed)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjValue out = ADJ_NONE;

  adj_generator_seed (adj_context_get_generator (cx), seed);
  interpret (cx, joint, inputs, n, NULL, &out);
  return out;
}

static void
note_outputs (const AdjValue *expected,
              const AdjValue *forward,
              const AdjValue *backward,
              guint n_forward,
              PairRun *run)
{
  run->same_outputs = expected->n == n_forward + backward->n;
  run->n_outputs = expected->n;
  for (guint i = 0; run->same_outputs && i < expected->n; i++)
    run->same_outputs = values_are_same_bits (
        &expected->items[i], i < n_forward ? &forward->items[i] : &backward->items[i - n_forward]);
}

void
pair_run (
    const AdjPartition *partition, const AdjValue *inputs, guint n, guint64 seed, PairRun *run)
{
  g_autoptr (AdjContext) whole = adj_context_new ();
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, value_free);
  g_autoptr (GArray) primals = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_autoptr (GArray) given = NULL;
  Watch watch = { partition, seen, run };
  g_auto (AdjValue) expected = ADJ_NONE;
  g_auto (AdjValue) forward = ADJ_NONE;
  g_auto (AdjValue) backward = ADJ_NONE;
  guint8 states[2][ADJ_GENERATOR_STATE_BYTES];

  *run = (PairRun){ .same_again = TRUE };
  adj_generator_seed (adj_context_get_generator (whole), seed);
  adj_generator_seed (adj_context_get_generator (cx), seed);
  interpret (whole, partition->joint, inputs, n, NULL, &expected);
  add_given (partition, partition->forward, inputs, FALSE, primals);
  interpret (cx, partition->forward, as_data (primals), primals->len, &watch, &forward);
  given = backward_inputs (partition, &forward, inputs);
  interpret (cx, partition->backward, as_data (given), given->len, &watch, &backward);
  note_outputs (&expected, &forward, &backward, partition->num_fwd_outputs, run);
  adj_generator_get_state (adj_context_get_generator (whole), states[0]);
  adj_generator_get_state (adj_context_get_generator (cx), states[1]);
  run->same_generator = memcmp (states[0], states[1], sizeof states[0]) == 0;
}

void
pair_run_clear (PairRun *run)
{
  g_clear_pointer (&run->where, g_free);
}
