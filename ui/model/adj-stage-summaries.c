/* SPDX-License-Identifier: MIT */
/* Finds in the background what stages changed and whether they compute the same. */

#include "model/adj-stage-summaries.h"

#include <gio/gio.h>
#include <glib/gi18n.h>
#include <math.h>

#include "analysis/adj-node-bytes.h"
#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "model/adj-stages.h"
#include "passes/adj-forward-part.h"
#include "report/adj-stage-change.h"
#include "report/adj-stage-origins.h"
#include "session/adj-session.h"

/* Limits of what is compared without being asked for. */
#define MAX_NODES 4000
#define MAX_BYTES (G_GUINT64_CONSTANT (256) << 20)
#define MEMORY_LIMIT (G_GUINT64_CONSTANT (1) << 30)

struct _AdjStageSummaries
{
  GObject parent_instance;

  AdjDocument *document;   /* (weak) (nullable) */
  AdjRecording *recording; /* (owned) (nullable): of the summaries */
  GArray *steps;           /* of AdjStep */
  GArray *summaries;       /* of AdjStageSummary */
  AdjTask *task;           /* (owned) (nullable): under way */
};

G_DEFINE_FINAL_TYPE (AdjStageSummaries, adj_stage_summaries, G_TYPE_OBJECT)

static guint changed_signal;

static void go_on (AdjStageSummaries *self);

static void
summary_clear (gpointer data)
{
  g_clear_pointer (&((AdjStageSummary *) data)->text, g_free);
  g_clear_pointer (&((AdjStageSummary *) data)->origins, g_free);
  g_clear_pointer (&((AdjStageSummary *) data)->changes, g_bytes_unref);
}

/* -- in another thread -- */

/* One step with the stage that it was made from. */
typedef struct
{
  AdjGraphSet *graphs;
  const AdjBundleGraph *before, *after;
  guint step;
  gboolean counts; /* count changes; else check whether it computes the same */
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  adj_graph_set_unref (input->graphs);
  g_free (input);
}

static void
summary_free (gpointer summary)
{
  summary_clear (summary);
  g_free (summary);
}

static AdjSessionRun
make_run (const Input *input, const AdjBundleGraph *graph)
{
  const AdjBundleGraph *recorded = adj_graph_set_get_recorded (input->graphs, graph);

  return (AdjSessionRun){
    .bundle = adj_graph_set_get_bundle (input->graphs),
    .graph = graph,
    .recorded = recorded != graph ? recorded : NULL,
    .random = adj_graph_set_find_call (input->graphs, input->before, 0) == NULL &&
              adj_graph_set_find_call (input->graphs, input->after, 0) == NULL,
    .memory_limit = MEMORY_LIMIT,
  };
}

/* The worst verdict of the values that could be compared. */
static AdjVerdict
find_verdict (const AdjComparison *comparison)
{
  AdjVerdict verdict = ADJ_VERDICT_EQUAL;

  if (adj_comparison_draws_otherwise (comparison) && comparison->first >= 0)
    return ADJ_VERDICT_DIFFERS;
  for (guint i = 0; i < comparison->n_outputs; i++)
    if (comparison->outputs[i].verdict != ADJ_VERDICT_SKIPPED)
      verdict = MAX (verdict, comparison->outputs[i].verdict);
  return verdict;
}

static void
take_verdict (const Input *input,
              const AdjGraph *compared,
              const AdjComparison *comparison,
              AdjStageSummary *summary)
{
  AdjVerdict verdict = find_verdict (comparison);
  double error = 0;

  for (guint i = 0; i < comparison->n_outputs; i++)
    error = fmax (error, comparison->outputs[i].difference.rel_l2);
  summary->check = verdict == ADJ_VERDICT_EQUAL    ? ADJ_CHECK_EQUAL
                   : verdict == ADJ_VERDICT_WITHIN ? ADJ_CHECK_WITHIN
                                                   : ADJ_CHECK_DIFFERS;
  if (comparison->failure != NULL)
    {
      summary->check = ADJ_CHECK_NONE;
      summary->text = g_strdup (comparison->failure->message);
    }
  else if (summary->check != ADJ_CHECK_DIFFERS && adj_comparison_draws_otherwise (comparison))
    {
      summary->check = ADJ_CHECK_NONE;
      summary->text = g_strdup (_ ("draws its random numbers by other operators"));
    }
  else if (summary->check == ADJ_CHECK_DIFFERS && comparison->first >= 0)
    {
      const char *name =
          adj_graph_get_node (compared, comparison->nodes[comparison->first].node.index)->name;

      summary->first = adj_graph_find_node (input->after->graph, name);
      summary->text = g_strdup_printf (_ ("first differs at %s"), name);
    }
  else if (summary->check == ADJ_CHECK_DIFFERS)
    summary->text = g_strdup (_ ("what it returns differs"));
  else if (summary->check == ADJ_CHECK_WITHIN)
    summary->text = g_strdup_printf (_ ("equal, error %.0e"), error);
  else
    summary->text = g_strdup (_ ("equal, bit for bit"));
}

static gboolean
is_small (const AdjGraph *graph)
{
  guint64 bytes = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    bytes += (guint64) MAX (adj_graph_get_node_bytes (graph, i), 0);
  return adj_graph_get_n_nodes (graph) <= MAX_NODES && bytes <= MAX_BYTES;
}

/* The first module that @graph calls.  (nullable) */
static const char *
find_module_call (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_CALL_MODULE)
      return adj_graph_get_node (graph, i)->target;
  return NULL;
}

/* Why the graphs cannot be compared.  (transfer full) (nullable) */
static char *
find_obstacle (const Input *input, const AdjGraph *after)
{
  const char *module = find_module_call (input->before->graph);

  if (module != NULL)
    return g_strdup_printf (
        _ ("made of a graph that calls modules the file lacks, the first is %s"), module);
  if (adj_graph_get_n_inputs (input->before->graph) != adj_graph_get_n_inputs (after))
    return g_strdup (_ ("takes other inputs than what it was made of"));
  if (!is_small (input->after->graph))
    return g_strdup (_ ("too large to be checked unasked: run and compare it"));
  return NULL;
}

/* The part of the step's graph that can be compared: of a joint graph that was made from one
 * without gradients, the forward part.  (transfer full) */
static AdjGraph *
take_comparable (const Input *input)
{
  AdjGraph *part = adj_bundle_graph_is_undecided (input->after) &&
                           !adj_graph_has_input (input->before->graph, ADJ_INPUT_TANGENT)
                       ? adj_graph_take_forward_part (input->after->graph, NULL)
                       : NULL;

  return part != NULL ? part : adj_graph_ref (input->after->graph);
}

static gboolean
check (const Input *input, AdjStageSummary *summary, GCancellable *cancellable, GError **error)
{
  g_autoptr (AdjGraph) comparable = take_comparable (input);
  AdjBundleGraph part = *input->after;
  AdjSessionRun after = make_run (input, input->after), before = make_run (input, input->before);
  g_autoptr (GError) problem = NULL;
  AdjComparison *comparison;

  summary->check = ADJ_CHECK_NONE;
  summary->text = find_obstacle (input, comparable);
  if (summary->text != NULL)
    return TRUE;
  part.graph = comparable;
  if (comparable != input->after->graph)
    {
      after.graph = &part;
      after.recorded = NULL;
    }
  comparison = adj_session_compare (&after, &before, TRUE, NAN, NAN, cancellable, &problem);
  if (comparison == NULL && g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  if (comparison == NULL)
    {
      summary->text = g_strdup (problem->message);
      return TRUE;
    }
  take_verdict (input, comparable, comparison, summary);
  adj_comparison_free (comparison);
  return TRUE;
}

static guint
count_changed (const AdjAlignment *alignment)
{
  guint n = 0;

  for (guint i = 0; i < alignment->n_changes; i++)
    n += adj_stage_change_counts (&alignment->changes[i]);
  return n;
}

/* The AdjChangeKind of each node of @graph, the right side of @alignment.  (transfer full) */
static GBytes *
list_changes (const AdjAlignment *alignment, const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  guint8 *kinds = g_new0 (guint8, n + 1);

  for (guint i = 0; i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];

      if (change->kind == ADJ_CHANGE_ADDED || adj_stage_change_counts (change))
        kinds[change->b.index] = (guint8) change->kind;
    }
  return g_bytes_new_take (kinds, n);
}

static gpointer
find_summary (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Input *input = adj_task_get_input (task);
  AdjStageSummary *summary = g_new0 (AdjStageSummary, 1);

  summary->first = ADJ_NO_NODE;
  if (input->counts)
    {
      gboolean made = !g_str_equal (input->after->role, ADJ_PAIR_ROLE);
      g_autoptr (AdjAlignment) alignment =
          made ? adj_graph_align_made (input->before->graph, input->after->graph)
               : adj_graph_align (input->before->graph, input->after->graph);

      summary->n_added = alignment->n_added;
      summary->n_removed = alignment->n_removed;
      summary->n_changed = count_changed (alignment);
      summary->changes = list_changes (alignment, input->after->graph);
      summary->origins =
          adj_stage_origins_find (input->before->graph, input->after->graph, made, alignment);
    }
  else if (!check (input, summary, cancellable, error))
    g_clear_pointer (&summary, summary_free);
  return summary;
}

/* -- in the main thread -- */

static void
on_found (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjStageSummaries *self = ADJ_STAGE_SUMMARIES (source);
  AdjTask *task = adj_task_from_result (result);
  const Input *input = adj_task_get_input (task);
  AdjStageSummary *found = adj_task_finish (result, NULL);

  if (task == self->task)
    {
      AdjStageSummary *summary = &g_array_index (self->summaries, AdjStageSummary, input->step);

      g_clear_pointer (&self->task, adj_task_unref);
      if (found != NULL && input->counts)
        {
          summary->counted = TRUE;
          summary->n_added = found->n_added;
          summary->n_removed = found->n_removed;
          summary->n_changed = found->n_changed;
          summary->origins = g_steal_pointer (&found->origins);
          summary->changes = g_steal_pointer (&found->changes);
        }
      else if (found != NULL)
        {
          summary->check = found->check;
          summary->first = found->first;
          summary->text = g_steal_pointer (&found->text);
        }
      if (found != NULL)
        {
          g_signal_emit (self, changed_signal, 0);
          go_on (self);
        }
    }
  g_clear_pointer (&found, summary_free);
}

static void
start (AdjStageSummaries *self, guint step, gboolean counts)
{
  AdjGraphSet *graphs = adj_document_get_graphs (self->document);
  const AdjStageSummary *summary = &g_array_index (self->summaries, AdjStageSummary, step);
  guint after = g_array_index (self->steps, AdjStep, step).graph;
  Input *input = g_new0 (Input, 1);

  *input = (Input){ adj_graph_set_ref (graphs), adj_graph_set_get (graphs, (guint) summary->before),
                    adj_graph_set_get (graphs, after), step, counts };
  self->task = adj_task_start (G_OBJECT (self), counts ? ADJ_LOAD_LIGHT : ADJ_LOAD_COMPUTE,
                               find_summary, input, input_free, summary_free, on_found);
}

/* Counts changes of all steps before the first check; does not check while the document runs a
 * graph. */
static void
go_on (AdjStageSummaries *self)
{
  if (self->task != NULL || self->document == NULL ||
      adj_document_get_graphs (self->document) == NULL)
    return;
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < self->summaries->len; i++)
      {
        const AdjStageSummary *summary = &g_array_index (self->summaries, AdjStageSummary, i);

        if (summary->before < 0 ||
            (pass == 0 ? summary->counted : summary->check != ADJ_CHECK_PENDING))
          continue;
        if (pass == 0 || !adj_document_is_running (self->document))
          start (self, i, pass == 0);
        return;
      }
}

static void
stop (AdjStageSummaries *self)
{
  if (self->task != NULL)
    adj_task_cancel (self->task);
  g_clear_pointer (&self->task, adj_task_unref);
}

/* Pauses while the document runs a graph. */
static void
on_status (AdjStageSummaries *self)
{
  if (self->document != NULL && adj_document_is_running (self->document))
    stop (self);
  else
    go_on (self);
}

static void
fill (AdjStageSummaries *self)
{
  for (guint i = 0; i < self->steps->len; i++)
    {
      const AdjStep *step = &g_array_index (self->steps, AdjStep, i);
      AdjStageSummary summary = { .before = adj_stages_find_before (self->document, (gint) i),
                                  .ns = -1,
                                  .first = ADJ_NO_NODE };

      summary.is_half =
          step->stage >= 0 && adj_stages_is_half (self->recording, (guint) step->stage);
      summary.check = summary.is_half ? ADJ_CHECK_NONE : ADJ_CHECK_PENDING;
      if (step->stage >= 0)
        summary.ns = adj_recording_get_stage (self->recording, (guint) step->stage)->ns;
      g_array_append_val (self->summaries, summary);
    }
}

void
adj_stage_summaries_update (AdjStageSummaries *self)
{
  AdjRecording *recording =
      self->document != NULL ? adj_stages_get_recording (self->document) : NULL;

  g_return_if_fail (ADJ_IS_STAGE_SUMMARIES (self));

  if (recording == self->recording)
    return;
  stop (self);
  g_array_set_size (self->summaries, 0);
  g_clear_pointer (&self->steps, g_array_unref);
  g_clear_pointer (&self->recording, adj_recording_unref);
  if (recording != NULL)
    {
      self->recording = adj_recording_ref (recording);
      self->steps = adj_stages_list_steps (self->document);
      fill (self);
    }
  g_signal_emit (self, changed_signal, 0);
  go_on (self);
}

const AdjStageSummary *
adj_stage_summaries_get (AdjStageSummaries *self, guint step)
{
  g_return_val_if_fail (ADJ_IS_STAGE_SUMMARIES (self), NULL);

  return step < self->summaries->len ? &g_array_index (self->summaries, AdjStageSummary, step)
                                     : NULL;
}

const char *
adj_stage_summary_describe (const AdjStageSummary *summary)
{
  if (summary->before < 0 || summary->is_half)
    return "";
  return summary->text != NULL ? summary->text : _ ("not checked yet");
}

static void
adj_stage_summaries_dispose (GObject *object)
{
  AdjStageSummaries *self = ADJ_STAGE_SUMMARIES (object);

  stop (self);
  g_clear_weak_pointer (&self->document);
  g_clear_pointer (&self->recording, adj_recording_unref);
  g_clear_pointer (&self->steps, g_array_unref);

  G_OBJECT_CLASS (adj_stage_summaries_parent_class)->dispose (object);
}

static void
adj_stage_summaries_finalize (GObject *object)
{
  g_array_unref (ADJ_STAGE_SUMMARIES (object)->summaries);

  G_OBJECT_CLASS (adj_stage_summaries_parent_class)->finalize (object);
}

static void
adj_stage_summaries_class_init (AdjStageSummariesClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = adj_stage_summaries_dispose;
  G_OBJECT_CLASS (klass)->finalize = adj_stage_summaries_finalize;
  changed_signal = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 0);
}

static void
adj_stage_summaries_init (AdjStageSummaries *self)
{
  self->summaries = g_array_new (FALSE, TRUE, sizeof (AdjStageSummary));
  g_array_set_clear_func (self->summaries, summary_clear);
}

AdjStageSummaries *
adj_stage_summaries_of (AdjDocument *document)
{
  AdjStageSummaries *self = g_object_get_data (G_OBJECT (document), "adj-stage-summaries");

  if (self != NULL)
    return self;
  self = g_object_new (ADJ_TYPE_STAGE_SUMMARIES, NULL);
  g_set_weak_pointer (&self->document, document);
  g_signal_connect_object (document, "notify::status", G_CALLBACK (on_status), self,
                           G_CONNECT_SWAPPED);
  g_object_set_data_full (G_OBJECT (document), "adj-stage-summaries", self, g_object_unref);
  return self;
}
