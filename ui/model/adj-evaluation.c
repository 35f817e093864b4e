/* SPDX-License-Identifier: MIT */
/* A run of a graph, and its comparison with what was recorded or with another run, as a task. */

#include "model/adj-evaluation.h"

#include <gio/gio.h>
#include <glib/gi18n.h>
#include <math.h>

#include "base/adj-format-bytes.h"
#include "ir/adj-graph.h"

struct _AdjEvaluation
{
  gatomicrefcount refs;
  AdjGraph *graph;
  AdjRunResult result;
  GHashTable *values; /* node name → AdjTensorData */
  GHashTable *beside; /* node name → AdjTensorData of the reference, for nodes that are not equal */
  AdjComparison *comparison;
  guint32 *by_node; /* index + 1 into the comparison's nodes; 0: not compared */
  AdjRunChoice choice;
  char *peer;           /* (nullable): the peer of the comparison; %NULL: recorded values */
  AdjGraphSet *graphs;  /* (owned): of @run */
  AdjRecordedCall *run; /* (owned) (nullable): the run to be kept, without a name */
};

AdjEvaluation *
adj_evaluation_ref (AdjEvaluation *evaluation)
{
  g_atomic_ref_count_inc (&evaluation->refs);
  return evaluation;
}

void
adj_evaluation_unref (AdjEvaluation *evaluation)
{
  if (!g_atomic_ref_count_dec (&evaluation->refs))
    return;
  adj_run_result_clear (&evaluation->result);
  g_clear_pointer (&evaluation->comparison, adj_comparison_free);
  g_hash_table_unref (evaluation->values);
  g_hash_table_unref (evaluation->beside);
  g_clear_pointer (&evaluation->run, adj_run_unref);
  g_clear_pointer (&evaluation->graphs, adj_graph_set_unref);
  adj_graph_unref (evaluation->graph);
  g_free (evaluation->by_node);
  g_free (evaluation->peer);
  g_free (evaluation);
}

static void
index_nodes (AdjEvaluation *evaluation)
{
  guint n = adj_graph_get_n_nodes (evaluation->graph);

  evaluation->by_node = g_new0 (guint32, n);
  for (guint i = 0; i < evaluation->comparison->n_nodes; i++)
    if (evaluation->comparison->nodes[i].node.index < n)
      evaluation->by_node[evaluation->comparison->nodes[i].node.index] = i + 1;
}

/* -- in another thread -- */

typedef struct
{
  AdjGraphSet *graphs;
  const AdjBundleGraph *graph;
  AdjRunChoice choice;
  gboolean compare;            /* compare with recorded or kept results, or */
  gboolean values;             /* with those of a file, or with */
  AdjGraphSet *others;         /* (nullable) */
  const AdjBundleGraph *other; /* (nullable): of @others */
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  adj_graph_set_unref (input->graphs);
  g_clear_pointer (&input->others, adj_graph_set_unref);
  g_free (input);
}

static void
on_progress (guint done, guint total, gpointer data)
{
  adj_task_report (data, done, total, 0);
}

static AdjComparison *
compare (const Input *input, const AdjSessionRun *run, GCancellable *cancellable, GError **error)
{
  double rtol = input->choice.close ? input->choice.rtol : NAN;
  double atol = input->choice.close ? input->choice.atol : NAN;
  AdjSessionRun reference = *run;
  const AdjBundleGraph *recorded;

  if (input->values)
    {
      g_autoptr (GHashTable) values = adj_session_read_values (run, input->choice.values, error);

      return values != NULL
                 ? adj_session_compare_values (run, values, TRUE, rtol, atol, cancellable, error)
                 : NULL;
    }
  if (input->other == NULL)
    return adj_session_compare_recorded (run, TRUE, rtol, atol, cancellable, error);
  recorded = adj_graph_set_get_recorded (input->others, input->other);
  reference.bundle = adj_graph_set_get_bundle (input->others);
  reference.graph = input->other;
  reference.beside = NULL;
  /* The comparison computes its float64 reference itself. */
  reference.float64 = FALSE;
  reference.recorded = recorded != input->other ? recorded : NULL;
  return adj_session_compare (run, &reference, TRUE, rtol, atol, cancellable, error);
}

static GHashTable *
make_values (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                (GDestroyNotify) adj_tensor_data_unref);
}

static gboolean
run_and_compare (AdjEvaluation *evaluation,
                 const Input *input,
                 AdjSessionRun *run,
                 GCancellable *cancellable,
                 GError **error)
{
  g_autofree char *file =
      input->choice.file != NULL ? g_path_get_basename (input->choice.file) : NULL;

  if (!adj_session_run (run, &evaluation->result, evaluation->values, cancellable, error))
    return FALSE;
  evaluation->run =
      adj_session_make_run (run, &evaluation->result, evaluation->values, "", file, NULL);
  if (!input->compare)
    return TRUE;
  run->beside = evaluation->beside;
  evaluation->comparison = compare (input, run, cancellable, error);
  if (evaluation->comparison != NULL)
    index_nodes (evaluation);
  return evaluation->comparison != NULL;
}

/* (nullable): %NULL: what was recorded */
static char *
describe_peer (const Input *input)
{
  if (input->values)
    return g_path_get_basename (input->choice.values);
  if (input->other != NULL)
    return g_strdup (input->other->id);
  return input->choice.kept != NULL ? g_strdup_printf (_ ("run “%s”"), input->choice.kept) : NULL;
}

static gpointer
evaluate (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Input *input = adj_task_get_input (task);
  g_autoptr (AdjEvaluation) evaluation = g_new0 (AdjEvaluation, 1);
  const AdjBundleGraph *recorded = adj_graph_set_get_recorded (input->graphs, input->graph);
  g_autoptr (AdjRecordedCall) kept =
      input->choice.kept != NULL
          ? adj_graph_set_find_run (input->graphs, input->graph, input->choice.kept)
          : NULL;
  AdjValue *inputs = NULL;
  gboolean done;
  AdjSessionRun run = {
    .bundle = adj_graph_set_get_bundle (input->graphs),
    .graph = input->graph,
    .recorded = recorded != input->graph ? recorded : NULL,
    .executor = input->choice.executor,
    .call = input->choice.call,
    .kept = kept,
    .random = kept == NULL && input->choice.random,
    .seed = input->choice.seed,
    .float64 = input->choice.float64,
    .progress = on_progress,
    .data = task,
  };

  g_atomic_ref_count_init (&evaluation->refs);
  evaluation->graph = adj_graph_ref (input->graph->graph);
  evaluation->values = make_values ();
  evaluation->beside = make_values ();
  evaluation->choice = input->choice;
  evaluation->peer = describe_peer (input);
  evaluation->graphs = adj_graph_set_ref (input->graphs);

  if (kept == NULL && input->choice.file != NULL)
    {
      inputs = adj_session_read_inputs (
          evaluation->graph, input->choice.file,
          adj_bundle_find_call (run.bundle, run.recorded != NULL ? run.recorded : run.graph, 0),
          &run.n_inputs, error);
      if (inputs == NULL)
        return NULL;
      run.inputs = inputs;
    }
  done = run_and_compare (evaluation, input, &run, cancellable, error);
  adj_session_free_inputs (inputs, run.n_inputs);
  return done ? g_steal_pointer (&evaluation) : NULL;
}

AdjTask *
adj_evaluation_start (GObject *owner,
                      AdjGraphSet *graphs,
                      const AdjBundleGraph *graph,
                      AdjRunChoice choice,
                      const AdjPeer *peer,
                      GAsyncReadyCallback done)
{
  Input *input = g_new0 (Input, 1);

  *input = (Input){
    .graphs = adj_graph_set_ref (graphs), .graph = graph, .choice = choice, .compare = peer != NULL
  };
  input->values = peer != NULL && peer->values;
  if (peer != NULL && peer->graph != NULL)
    {
      input->others = adj_graph_set_ref (peer->graphs);
      input->other = peer->graph;
    }
  return adj_task_start (owner, ADJ_LOAD_COMPUTE, evaluate, input, input_free,
                         (GDestroyNotify) adj_evaluation_unref, done);
}

const char *
adj_evaluation_get_graph_id (AdjTask *task)
{
  return ((const Input *) adj_task_get_input (task))->graph->id;
}

/* -- what came out -- */

AdjGraph *
adj_evaluation_get_graph (const AdjEvaluation *evaluation)
{
  return evaluation->graph;
}

const AdjRunResult *
adj_evaluation_get_result (const AdjEvaluation *evaluation)
{
  return &evaluation->result;
}

const AdjComparison *
adj_evaluation_get_comparison (const AdjEvaluation *evaluation)
{
  return evaluation->comparison;
}

AdjTensorData *
adj_evaluation_get_value (const AdjEvaluation *evaluation, AdjNodeId node)
{
  if (node.index >= adj_graph_get_n_nodes (evaluation->graph))
    return NULL;
  return g_hash_table_lookup (evaluation->values,
                              adj_graph_get_node (evaluation->graph, node.index)->name);
}

AdjTensorData *
adj_evaluation_get_beside (const AdjEvaluation *evaluation, AdjNodeId node)
{
  if (node.index >= adj_graph_get_n_nodes (evaluation->graph))
    return NULL;
  return g_hash_table_lookup (evaluation->beside,
                              adj_graph_get_node (evaluation->graph, node.index)->name);
}

const AdjValueComparison *
adj_evaluation_find (const AdjEvaluation *evaluation, AdjNodeId node)
{
  guint32 at;

  if (evaluation->by_node == NULL || node.index >= adj_graph_get_n_nodes (evaluation->graph))
    return NULL;
  at = evaluation->by_node[node.index];
  return at > 0 ? &evaluation->comparison->nodes[at - 1] : NULL;
}

const char *
adj_evaluation_get_peer (const AdjEvaluation *evaluation)
{
  return evaluation->peer;
}

AdjRunChoice
adj_evaluation_get_choice (const AdjEvaluation *evaluation)
{
  return evaluation->choice;
}

gboolean
adj_evaluation_can_keep (const AdjEvaluation *evaluation)
{
  return evaluation->run != NULL;
}

AdjRecordedCall *
adj_evaluation_make_run (const AdjEvaluation *evaluation, const char *name, gboolean values)
{
  AdjRunOrigin origin = *evaluation->run->origin;
  AdjRecordedCall call = *evaluation->run;

  origin.name = name;
  call.origin = &origin;
  return adj_run_new (&call, values ? evaluation->values : NULL);
}

guint64
adj_evaluation_count_bytes (const AdjEvaluation *evaluation, gboolean values)
{
  return adj_session_count_kept_bytes (adj_graph_set_get_bundle (evaluation->graphs),
                                       evaluation->run, values);
}

void
adj_evaluation_count (const AdjEvaluation *evaluation, guint counts[ADJ_VERDICT_SKIPPED + 1])
{
  for (guint i = 0; i <= ADJ_VERDICT_SKIPPED; i++)
    counts[i] = 0;
  for (guint i = 0; evaluation->comparison != NULL && i < evaluation->comparison->n_nodes; i++)
    counts[MIN (evaluation->comparison->nodes[i].verdict, ADJ_VERDICT_SKIPPED)]++;
}

char *
adj_evaluation_describe (const AdjEvaluation *evaluation, const char *id)
{
  const AdjComparison *comparison = adj_evaluation_get_comparison (evaluation);
  const AdjRunResult *result = adj_evaluation_get_result (evaluation);
  g_autofree char *peak = adj_format_bytes (result->peak_bytes);
  g_autofree char *choice = adj_run_choice_describe (evaluation->choice);
  g_autofree char *what = choice != NULL ? g_strdup_printf ("%s (%s)", id, choice) : g_strdup (id);
  g_autofree char *summary = NULL;

  if (comparison == NULL)
    return g_strdup_printf (_ ("Ran %s: %u nodes in %.1f ms, at most %s at once"), what,
                            result->n_nodes, result->total_ns / 1e6, peak);
  summary = adj_comparison_summarize (comparison);
  if (comparison->first >= 0)
    return g_strdup_printf (_ ("%s differs: first at %s. %s"), what,
                            adj_graph_get_node (adj_evaluation_get_graph (evaluation),
                                                comparison->nodes[comparison->first].node.index)
                                ->name,
                            summary);
  return g_strdup_printf (_ ("%s agrees with %s. %s"), what,
                          evaluation->peer != NULL ? evaluation->peer : _ ("what was recorded"),
                          summary);
}
