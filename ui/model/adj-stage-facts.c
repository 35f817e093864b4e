/* SPDX-License-Identifier: MIT */
/* What stages changed and whether they compute the same, found in the background. */

#include "model/adj-stage-facts.h"

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

/* What is compared without being asked for: a moment's work. */
#define MAX_NODES 4000
#define MAX_BYTES (G_GUINT64_CONSTANT (256) << 20)
#define MEMORY_LIMIT (G_GUINT64_CONSTANT (1) << 30)

struct _AdjStageFacts
{
  GObject parent_instance;

  AdjDocument *document;   /* (weak) (nullable) */
  AdjRecording *recording; /* (owned) (nullable): of the facts */
  GArray *steps;           /* of AdjStep */
  GArray *facts;           /* of AdjStageFact */
  AdjTask *task;           /* (owned) (nullable): under way */
};

G_DEFINE_FINAL_TYPE (AdjStageFacts, adj_stage_facts, G_TYPE_OBJECT)

static guint changed_signal;

static void go_on (AdjStageFacts *self);

static void
fact_clear (gpointer data)
{
  g_clear_pointer (&((AdjStageFact *) data)->text, g_free);
  g_clear_pointer (&((AdjStageFact *) data)->origins, g_free);
  g_clear_pointer (&((AdjStageFact *) data)->changes, g_bytes_unref);
}

/* -- in another thread -- */

/* One step and what it was made of. */
typedef struct
{
  AdjGraphSet *graphs;
  const AdjBundleGraph *before, *after;
  guint step;
  gboolean counts; /* what changed, else whether it computes the same */
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  adj_graph_set_unref (input->graphs);
  g_free (input);
}

static void
fact_free (gpointer fact)
{
  fact_clear (fact);
  g_free (fact);
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

/* The worst of what could be compared. */
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
              AdjStageFact *fact)
{
  AdjVerdict verdict = find_verdict (comparison);
  double error = 0;

  for (guint i = 0; i < comparison->n_outputs; i++)
    error = fmax (error, comparison->outputs[i].difference.rel_l2);
  fact->check = verdict == ADJ_VERDICT_EQUAL    ? ADJ_CHECK_EQUAL
                : verdict == ADJ_VERDICT_WITHIN ? ADJ_CHECK_WITHIN
                                                : ADJ_CHECK_DIFFERS;
  if (comparison->failure != NULL)
    {
      fact->check = ADJ_CHECK_NONE;
      fact->text = g_strdup (comparison->failure->message);
    }
  else if (fact->check != ADJ_CHECK_DIFFERS && adj_comparison_draws_otherwise (comparison))
    {
      fact->check = ADJ_CHECK_NONE;
      fact->text = g_strdup (_ ("draws its random numbers by other operators"));
    }
  else if (fact->check == ADJ_CHECK_DIFFERS && comparison->first >= 0)
    {
      const char *name =
          adj_graph_get_node (compared, comparison->nodes[comparison->first].node.index)->name;

      fact->first = adj_graph_find_node (input->after->graph, name);
      fact->text = g_strdup_printf (_ ("first differs at %s"), name);
    }
  else if (fact->check == ADJ_CHECK_DIFFERS)
    fact->text = g_strdup (_ ("what it returns differs"));
  else if (fact->check == ADJ_CHECK_WITHIN)
    fact->text = g_strdup_printf (_ ("equal, error %.0e"), error);
  else
    fact->text = g_strdup (_ ("equal, bit for bit"));
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

/* Why there is nothing to compare.  (transfer full) (nullable) */
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

/* What can be compared of the graph of a step: of a joint graph that was made of one without
 * gradients the forward part.  (transfer full) */
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
check (const Input *input, AdjStageFact *fact, GCancellable *cancellable, GError **error)
{
  g_autoptr (AdjGraph) comparable = take_comparable (input);
  AdjBundleGraph part = *input->after;
  AdjSessionRun after = make_run (input, input->after), before = make_run (input, input->before);
  g_autoptr (GError) problem = NULL;
  AdjComparison *comparison;

  fact->check = ADJ_CHECK_NONE;
  fact->text = find_obstacle (input, comparable);
  if (fact->text != NULL)
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
      fact->text = g_strdup (problem->message);
      return TRUE;
    }
  take_verdict (input, comparable, comparison, fact);
  adj_comparison_free (comparison);
  return TRUE;
}

static guint
count_changed (const AdjAlignment *alignment)
{
  guint n = 0;

  for (guint i = 0; i < alignment->n_changes; i++)
    n += adj_stage_change_is_computed (&alignment->changes[i]);
  return n;
}

/* (transfer full): of each node of @graph, which @alignment has on its right side. */
static GBytes *
list_changes (const AdjAlignment *alignment, const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  guint8 *kinds = g_new0 (guint8, n + 1);

  for (guint i = 0; i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];

      if (change->kind == ADJ_CHANGE_ADDED || adj_stage_change_is_computed (change))
        kinds[change->b.index] = (guint8) change->kind;
    }
  return g_bytes_new_take (kinds, n);
}

static gpointer
find_fact (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Input *input = adj_task_get_input (task);
  AdjStageFact *fact = g_new0 (AdjStageFact, 1);

  fact->first = ADJ_NO_NODE;
  if (input->counts)
    {
      gboolean made = !g_str_equal (input->after->role, ADJ_PAIR_ROLE);
      g_autoptr (AdjAlignment) alignment =
          made ? adj_graph_align_made (input->before->graph, input->after->graph)
               : adj_graph_align (input->before->graph, input->after->graph);

      fact->n_added = alignment->n_added;
      fact->n_removed = alignment->n_removed;
      fact->n_changed = count_changed (alignment);
      fact->changes = list_changes (alignment, input->after->graph);
      fact->origins =
          adj_stage_origins_find (input->before->graph, input->after->graph, made, alignment);
    }
  else if (!check (input, fact, cancellable, error))
    g_clear_pointer (&fact, fact_free);
  return fact;
}

/* -- in the main thread -- */

static void
on_found (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjStageFacts *self = ADJ_STAGE_FACTS (source);
  AdjTask *task = adj_task_from_result (result);
  const Input *input = adj_task_get_input (task);
  AdjStageFact *found = adj_task_finish (result, NULL);

  if (task == self->task)
    {
      AdjStageFact *fact = &g_array_index (self->facts, AdjStageFact, input->step);

      g_clear_pointer (&self->task, adj_task_unref);
      if (found != NULL && input->counts)
        {
          fact->counted = TRUE;
          fact->n_added = found->n_added;
          fact->n_removed = found->n_removed;
          fact->n_changed = found->n_changed;
          fact->origins = g_steal_pointer (&found->origins);
          fact->changes = g_steal_pointer (&found->changes);
        }
      else if (found != NULL)
        {
          fact->check = found->check;
          fact->first = found->first;
          fact->text = g_steal_pointer (&found->text);
        }
      if (found != NULL)
        {
          g_signal_emit (self, changed_signal, 0);
          go_on (self);
        }
    }
  g_clear_pointer (&found, fact_free);
}

static void
start (AdjStageFacts *self, guint step, gboolean counts)
{
  AdjGraphSet *graphs = adj_document_get_graphs (self->document);
  const AdjStageFact *fact = &g_array_index (self->facts, AdjStageFact, step);
  guint after = g_array_index (self->steps, AdjStep, step).graph;
  Input *input = g_new0 (Input, 1);

  *input = (Input){ adj_graph_set_ref (graphs), adj_graph_set_get (graphs, (guint) fact->before),
                    adj_graph_set_get (graphs, after), step, counts };
  self->task = adj_task_start (G_OBJECT (self), counts ? ADJ_LOAD_LIGHT : ADJ_LOAD_COMPUTE,
                               find_fact, input, input_free, fact_free, on_found);
}

/* Counts of all come before the first check; nothing is checked while somebody runs a graph. */
static void
go_on (AdjStageFacts *self)
{
  if (self->task != NULL || self->document == NULL ||
      adj_document_get_graphs (self->document) == NULL)
    return;
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < self->facts->len; i++)
      {
        const AdjStageFact *fact = &g_array_index (self->facts, AdjStageFact, i);

        if (fact->before < 0 || (pass == 0 ? fact->counted : fact->check != ADJ_CHECK_PENDING))
          continue;
        if (pass == 0 || !adj_document_is_running (self->document))
          start (self, i, pass == 0);
        return;
      }
}

static void
stop (AdjStageFacts *self)
{
  if (self->task != NULL)
    adj_task_cancel (self->task);
  g_clear_pointer (&self->task, adj_task_unref);
}

/* Who runs a graph does not wait for what nobody asked for. */
static void
on_status (AdjStageFacts *self)
{
  if (self->document != NULL && adj_document_is_running (self->document))
    stop (self);
  else
    go_on (self);
}

/* The graph that the stage of a step was made of. */
static gint
find_before (AdjStageFacts *self, const AdjStep *step)
{
  gint stage = step->stage, from;
  guint index;

  if (step->graph == G_MAXUINT)
    return -1;
  for (guint i = 0; stage < 0 && i + 1 < self->steps->len; i++)
    if (&g_array_index (self->steps, AdjStep, i) == step)
      stage = g_array_index (self->steps, AdjStep, i + 1).stage;
  if (stage < 0)
    return -1;
  from = adj_recording_get_stage (self->recording, (guint) stage)->from;
  if (from < 0)
    return -1;
  index = adj_document_find_graph (self->document,
                                   adj_recording_get_stage (self->recording, (guint) from)->graph);
  return index != G_MAXUINT ? (gint) index : -1;
}

static void
fill (AdjStageFacts *self)
{
  for (guint i = 0; i < self->steps->len; i++)
    {
      const AdjStep *step = &g_array_index (self->steps, AdjStep, i);
      AdjStageFact fact = { .before = find_before (self, step), .ns = -1, .first = ADJ_NO_NODE };

      fact.is_half = step->stage >= 0 && adj_stages_is_half (self->recording, (guint) step->stage);
      fact.check = fact.is_half ? ADJ_CHECK_NONE : ADJ_CHECK_PENDING;
      if (step->stage >= 0)
        fact.ns = adj_recording_get_stage (self->recording, (guint) step->stage)->ns;
      g_array_append_val (self->facts, fact);
    }
}

void
adj_stage_facts_update (AdjStageFacts *self)
{
  AdjRecording *recording =
      self->document != NULL ? adj_stages_get_recording (self->document) : NULL;

  g_return_if_fail (ADJ_IS_STAGE_FACTS (self));

  if (recording == self->recording)
    return;
  stop (self);
  g_array_set_size (self->facts, 0);
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

const AdjStageFact *
adj_stage_facts_get (AdjStageFacts *self, guint step)
{
  g_return_val_if_fail (ADJ_IS_STAGE_FACTS (self), NULL);

  return step < self->facts->len ? &g_array_index (self->facts, AdjStageFact, step) : NULL;
}

const char *
adj_stage_fact_describe (const AdjStageFact *fact)
{
  if (fact->before < 0 || fact->is_half)
    return "";
  return fact->text != NULL ? fact->text : _ ("not checked yet");
}

static void
adj_stage_facts_dispose (GObject *object)
{
  AdjStageFacts *self = ADJ_STAGE_FACTS (object);

  stop (self);
  g_clear_weak_pointer (&self->document);
  g_clear_pointer (&self->recording, adj_recording_unref);
  g_clear_pointer (&self->steps, g_array_unref);

  G_OBJECT_CLASS (adj_stage_facts_parent_class)->dispose (object);
}

static void
adj_stage_facts_finalize (GObject *object)
{
  g_array_unref (ADJ_STAGE_FACTS (object)->facts);

  G_OBJECT_CLASS (adj_stage_facts_parent_class)->finalize (object);
}

static void
adj_stage_facts_class_init (AdjStageFactsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = adj_stage_facts_dispose;
  G_OBJECT_CLASS (klass)->finalize = adj_stage_facts_finalize;
  changed_signal = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 0);
}

static void
adj_stage_facts_init (AdjStageFacts *self)
{
  self->facts = g_array_new (FALSE, TRUE, sizeof (AdjStageFact));
  g_array_set_clear_func (self->facts, fact_clear);
}

AdjStageFacts *
adj_stage_facts_of (AdjDocument *document)
{
  AdjStageFacts *self = g_object_get_data (G_OBJECT (document), "adj-stage-facts");

  if (self != NULL)
    return self;
  self = g_object_new (ADJ_TYPE_STAGE_FACTS, NULL);
  g_set_weak_pointer (&self->document, document);
  g_signal_connect_object (document, "notify::status", G_CALLBACK (on_status), self,
                           G_CONNECT_SWAPPED);
  g_object_set_data_full (G_OBJECT (document), "adj-stage-facts", self, g_object_unref);
  return self;
}
