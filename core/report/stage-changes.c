/* SPDX-License-Identifier: MIT */
/* What a stage changed, node by node with the reason, as a list model. */

#include <glib/gi18n.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "report/adj-stage-origins.h"
#include "report/stage-change-private.h"

const AdjNode *
adj_stage_listing_get_node (const AdjStageListing *self, AdjNodeId after, AdjNodeId before)
{
  return adj_node_id_is_valid (after) ? adj_graph_get_node (self->after, after.index)
                                      : adj_graph_get_node (self->before, before.index);
}

/* The row of @key, new or not. */
AdjStageChange *
adj_stage_listing_find_row (AdjStageListing *self, char *key, AdjChangeKind kind, const char *why)
{
  AdjStageChange *row = g_hash_table_lookup (self->rows, key);

  if (row == NULL)
    {
      row = g_object_new (ADJ_TYPE_STAGE_CHANGE, NULL);
      row->kind = kind;
      row->why = g_strdup (why);
      g_list_store_append (self->store, row);
      g_hash_table_insert (self->rows, key, row);
      g_object_unref (row);
    }
  else
    g_free (key);
  return row;
}

AdjStageChange *
adj_stage_listing_add (
    AdjStageListing *self, AdjChangeKind kind, AdjNodeId after, AdjNodeId before, const char *why)
{
  const AdjNode *node = adj_stage_listing_get_node (self, after, before);
  AdjStageChange *row = adj_stage_listing_find_row (
      self, g_strdup_printf ("%d %s %s", kind, node->target, why), kind, why);

  adj_stage_change_add_name (row, node->name);
  adj_stage_change_add_nodes (row, after, before);
  return row;
}

#define OF_BEFORE(index) GUINT_TO_POINTER ((index) | (1u << 31))
#define OF_AFTER(index) GUINT_TO_POINTER (index)

static void
note_reasons (AdjStageListing *self, const AdjStage *stage)
{
  for (guint i = 0; i < stage->n_notes; i++)
    {
      const AdjPassNote *note = &stage->notes[i];

      if (adj_node_id_is_valid (note->after))
        g_hash_table_insert (self->reasons, OF_AFTER (note->after.index), note->reason);
      if (adj_node_id_is_valid (note->before))
        g_hash_table_insert (self->reasons, OF_BEFORE (note->before.index), note->reason);
    }
}

/* "models.py:21"; "": unknown.  (transfer full) */
static char *
describe_line (const AdjNode *node)
{
  const AdjFrame *frame =
      node->meta.n_frames > 0 ? &node->meta.frames[node->meta.n_frames - 1] : NULL;
  g_autofree char *file = frame != NULL ? g_path_get_basename (frame->file) : NULL;

  return frame != NULL ? g_strdup_printf ("%s:%u", file, frame->line) : g_strdup ("");
}

static guint32
get_origin (const AdjStageListing *self, AdjNodeId after)
{
  return self->origins != NULL ? self->origins[after.index]
                               : adj_graph_get_node (self->after, after.index)->origin.index;
}

/* The origin of a new node: "gradient of linear, models.py:21". (transfer full) */
static char *
describe_origin (const AdjStageListing *self, AdjNodeId after)
{
  const AdjNode *node = adj_graph_get_node (self->after, after.index);
  guint32 origin = get_origin (self, after);
  gboolean backward = adj_phase_from_tag (node->meta.partitioner_tag) == ADJ_PHASE_BACKWARD;
  g_autofree char *line = describe_line (node);
  GString *text = g_string_new (NULL);

  if (origin < adj_graph_get_n_nodes (self->before))
    g_string_append_printf (text, backward ? _ ("gradient of %s") : _ ("of %s"),
                            adj_graph_get_node (self->before, origin)->name);
  else if (backward)
    g_string_append (text, _ ("backward"));
  if (*line != '\0')
    g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", line);
  return g_string_free (text, FALSE);
}

static const char *
explain (const char *what)
{
  static const struct
  {
    const char *what, *text;
  } texts[] = {
    { "args", N_ ("other arguments") },
    { "kwargs", N_ ("other keyword arguments") },
    { "val", N_ ("a result of another type") },
    { "recompute", N_ ("tagged otherwise: recompute") },
    { "ac", N_ ("in another region of activation checkpointing") },
    { "tag", N_ ("tagged otherwise: forward or backward") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (g_str_equal (what, texts[i].what))
      return _ (texts[i].text);
  return what;
}

/* (transfer full) */
static char *
find_reason (const AdjStageListing *self, const AdjChange *change)
{
  const char *reason = adj_node_id_is_valid (change->b)
                           ? g_hash_table_lookup (self->reasons, OF_AFTER (change->b.index))
                           : g_hash_table_lookup (self->reasons, OF_BEFORE (change->a.index));

  if (reason != NULL)
    return g_strdup (reason);
  if (change->kind == ADJ_CHANGE_ADDED)
    return describe_origin (self, change->b);
  return g_strdup (change->kind == ADJ_CHANGE_CHANGED ? explain (change->reason) : "");
}

/* -- what one node became -- */

/* For each removed node of the graph before: the nodes, except those of backward, that have it as
 * origin. */
typedef struct
{
  GArray **of; /* (nullable) each: of AdjNodeId */
  guint n;
} Successors;

static void
successors_clear (Successors *successors)
{
  for (guint i = 0; i < successors->n; i++)
    g_clear_pointer (&successors->of[i], g_array_unref);
  g_free (successors->of);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Successors, successors_clear)

static void
find_successors (const AdjStageListing *self, const AdjAlignment *alignment, Successors *successors)
{
  g_autofree gboolean *went = NULL;

  successors->n = adj_graph_get_n_nodes (self->before);
  successors->of = g_new0 (GArray *, successors->n);
  went = g_new0 (gboolean, successors->n);
  for (guint i = 0; i < alignment->n_changes; i++)
    if (alignment->changes[i].kind == ADJ_CHANGE_REMOVED)
      went[alignment->changes[i].a.index] = TRUE;
  for (guint i = 0; i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];
      const AdjNode *node;
      guint32 origin;

      if (change->kind != ADJ_CHANGE_ADDED)
        continue;
      node = adj_graph_get_node (self->after, change->b.index);
      origin = get_origin (self, change->b);
      if (origin >= successors->n || !went[origin] ||
          adj_phase_from_tag (node->meta.partitioner_tag) == ADJ_PHASE_BACKWARD)
        continue;
      if (successors->of[origin] == NULL)
        successors->of[origin] = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
      g_array_append_val (successors->of[origin], change->b);
    }
}

/* "t, addmm": the operators of @nodes */
static char *
join_targets (const AdjStageListing *self, const GArray *nodes)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < nodes->len; i++)
    {
      g_autofree char *target = adj_stage_origins_target (
          adj_graph_get_node (self->after, g_array_index (nodes, AdjNodeId, i).index));

      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", target);
    }
  return g_string_free (text, FALSE);
}

/* "x (relu) became relu"; equal changes are one row, with their source lines. */
static void
add_became (AdjStageListing *self, AdjNodeId before, const GArray *after)
{
  const AdjNode *node = adj_graph_get_node (self->before, before.index);
  g_autofree char *target = adj_stage_origins_target (node), *made = join_targets (self, after);
  g_autofree char *line = describe_line (node), *lines = NULL;
  AdjStageChange *row = adj_stage_listing_find_row (
      self, g_strdup_printf ("became %s %s", node->target, made), ADJ_CHANGE_CHANGED, line);

  if (row->count > 0)
    g_string_truncate (row->what, (gsize) (strstr (row->what->str, " (") - row->what->str));
  adj_stage_change_add_name (row, node->name);
  g_string_append_printf (row->what, _ (" (%s) became %s"), target, made);
  for (guint i = 0; i < after->len; i++)
    adj_stage_change_add_nodes (row, g_array_index (after, AdjNodeId, i), before);
  if (*line != '\0' && strstr (row->why, line) == NULL)
    {
      lines = g_strdup_printf ("%s, %s", row->why, line);
      g_free (row->why);
      row->why = g_steal_pointer (&lines);
    }
}

static gboolean
is_of_metadata (const AdjChange *change)
{
  static const char *const metadata[] = { "ac", "tag", NULL };

  return change->kind == ADJ_CHANGE_CHANGED && g_strv_contains (metadata, change->reason);
}

static void
list_change (AdjStageListing *self, const AdjChange *change, Successors *successors)
{
  const AdjNode *node =
      change->kind == ADJ_CHANGE_ADDED ? adj_graph_get_node (self->after, change->b.index) : NULL;
  guint origin = node != NULL ? get_origin (self, change->b) : change->a.index;
  gboolean became =
      change->kind != ADJ_CHANGE_CHANGED && origin < successors->n &&
      successors->of[origin] != NULL &&
      (node == NULL || adj_phase_from_tag (node->meta.partitioner_tag) != ADJ_PHASE_BACKWARD);
  g_autofree char *reason = NULL;

  if (became)
    {
      /* Only at the first successor, so that it is listed once. */
      if (node != NULL &&
          g_array_index (successors->of[origin], AdjNodeId, 0).index == change->b.index)
        add_became (self, (AdjNodeId){ origin }, successors->of[origin]);
      return;
    }
  reason = find_reason (self, change);
  if (change->kind == ADJ_CHANGE_CHANGED && g_str_equal (reason, "target"))
    {
      g_autoptr (GArray) after = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));

      g_array_append_val (after, change->b);
      add_became (self, change->a, after);
      return;
    }
  adj_stage_listing_add (self, change->kind, change->b, change->a, reason)->is_metadata =
      is_of_metadata (change);
}

gboolean
adj_stage_change_counts (const AdjChange *change)
{
  return change->kind == ADJ_CHANGE_CHANGED && !is_of_metadata (change);
}

/* Number of new, removed and changed nodes; kept with the list, whose rows hold several of them. */
#define COUNTS "adj-counts"
#define N_KINDS 4

static void
keep_counts (GListStore *store, const AdjAlignment *alignment)
{
  guint *counts = g_new0 (guint, N_KINDS);

  counts[ADJ_CHANGE_ADDED] = alignment->n_added;
  counts[ADJ_CHANGE_REMOVED] = alignment->n_removed;
  for (guint i = 0; i < alignment->n_changes; i++)
    counts[ADJ_CHANGE_CHANGED] += adj_stage_change_counts (&alignment->changes[i]);
  g_object_set_data_full (G_OBJECT (store), COUNTS, counts, g_free);
}

/* Whether @note is about a node that neither changed nor went.  @listed: the changed ones. */
static gboolean
is_only_a_reason (const AdjPassNote *note, GHashTable *listed)
{
  return adj_node_id_is_valid (note->before) &&
         !g_hash_table_contains (listed, OF_BEFORE (note->before.index)) &&
         !(adj_node_id_is_valid (note->after) &&
           g_hash_table_contains (listed, OF_AFTER (note->after.index)));
}

static void
list_differences (AdjStageListing *self, const AdjStage *stage)
{
  g_autoptr (AdjAlignment) alignment = adj_graph_align_made (self->before, self->after);
  g_autoptr (GHashTable) listed = g_hash_table_new (NULL, NULL);
  g_auto (Successors) successors = { 0 };

  keep_counts (self->store, alignment);
  self->origins = adj_stage_origins_guess (self->before, self->after);
  find_successors (self, alignment, &successors);
  for (guint metadata = 0; metadata < 2; metadata++)
    for (guint i = 0; i < alignment->n_changes; i++)
      {
        const AdjChange *change = &alignment->changes[i];

        if (change->kind == ADJ_CHANGE_REMOVED)
          g_hash_table_add (listed, OF_BEFORE (change->a.index));
        else if (change->kind != ADJ_CHANGE_NONE)
          g_hash_table_add (listed, OF_AFTER (change->b.index));
        if (change->kind != ADJ_CHANGE_NONE && is_of_metadata (change) == (metadata == 1))
          list_change (self, change, &successors);
      }
  for (guint i = 0; i < stage->n_notes; i++)
    if (is_only_a_reason (&stage->notes[i], listed))
      adj_stage_listing_add (self, ADJ_CHANGE_NONE, stage->notes[i].after, stage->notes[i].before,
                             stage->notes[i].reason);
}

static void
list_steps (GListStore *store, const AdjStage *stage)
{
  for (guint i = 0; i < stage->n_steps; i++)
    {
      const AdjPassStep *step = &stage->steps[i];
      g_autoptr (AdjStageChange) row = g_object_new (ADJ_TYPE_STAGE_CHANGE, NULL);

      row->kind = ADJ_CHANGE_NONE;
      row->is_metadata = TRUE;
      g_string_append_printf (row->what, "%s, %.2f ms", step->name, (double) step->ns / 1e6);
      row->why = g_strdup (step->note);
      g_list_store_append (store, row);
    }
}

GListModel *
adj_stage_changes_list (const AdjRecording *recording, guint stage)
{
  const AdjStage *made = adj_recording_get_stage (recording, stage);
  const AdjStage *from =
      made->from >= 0 ? adj_recording_get_stage (recording, (guint) made->from) : NULL;
  AdjStageListing listing = { .store = g_list_store_new (ADJ_TYPE_STAGE_CHANGE) };

  if (from == NULL || made->graph == NULL || from->graph == NULL)
    return G_LIST_MODEL (listing.store);
  listing.before = from->graph;
  listing.after = made->graph;
  listing.rows = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  listing.reasons = g_hash_table_new (NULL, NULL);
  if (adj_stage_is_half (recording, made) && made->n_notes > 0)
    adj_stage_listing_add_reasons (&listing, made);
  else if (adj_stage_is_half (recording, made))
    adj_stage_listing_add_crossing (&listing, recording, made);
  else
    {
      note_reasons (&listing, made);
      list_differences (&listing, made);
    }
  list_steps (listing.store, made);
  g_free (listing.origins);
  g_hash_table_unref (listing.reasons);
  g_hash_table_unref (listing.rows);
  return G_LIST_MODEL (listing.store);
}

/* -- in one sentence -- */

char *
adj_stage_changes_describe (const AdjRecording *recording, guint stage, GListModel *changes)
{
  const AdjStage *made = adj_recording_get_stage (recording, stage);
  const guint *counts = g_object_get_data (G_OBJECT (changes), COUNTS);
  guint n_saved = 0, n_again = 0;
  GString *text = g_string_new (made->summary != NULL ? made->summary : made->name);

  if (made->from < 0 || (counts == NULL && !adj_stage_is_half (recording, made)))
    return g_string_free (text, FALSE);
  adj_stage_halves_count (changes, &n_saved, &n_again);
  g_string_append (text, ": ");
  if (adj_stage_is_half (recording, made))
    g_string_append_printf (text, _ ("%u saved for backward, %u computed again there"), n_saved,
                            n_again);
  else if (counts[ADJ_CHANGE_ADDED] + counts[ADJ_CHANGE_REMOVED] + counts[ADJ_CHANGE_CHANGED] == 0)
    g_string_append (text, _ ("this pass changed nothing that is computed"));
  else
    g_string_append_printf (text, _ ("%u changed, %u came, %u went"), counts[ADJ_CHANGE_CHANGED],
                            counts[ADJ_CHANGE_ADDED], counts[ADJ_CHANGE_REMOVED]);
  return g_string_free (text, FALSE);
}

GArray *
adj_stage_changes_find_nodes (GListModel *changes)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < g_list_model_get_n_items (changes); i++)
    {
      g_autoptr (AdjStageChange) row = g_list_model_get_item (changes, i);

      for (guint k = 0; row->kind != ADJ_CHANGE_NONE && k < row->nodes->len; k += 2)
        if (adj_node_id_is_valid (g_array_index (row->nodes, AdjNodeId, k)))
          g_array_append_val (nodes, g_array_index (row->nodes, AdjNodeId, k).index);
    }
  return nodes;
}
