/* SPDX-License-Identifier: MIT */
/* What a stage changed, node by node with the reason, as a list model. */

#include "report/adj-stage-change.h"

#include <glib/gi18n.h>

#include "ir/adj-input-role.h"

#define MAX_NAMES 4 /* of equal changes that are written out */

struct _AdjStageChange
{
  GObject parent_instance;

  AdjChangeKind kind;
  GArray *nodes; /* AdjNodeId: after, before, after, before … */
  GString *what;
  char *why;
};

G_DEFINE_FINAL_TYPE (AdjStageChange, adj_stage_change, G_TYPE_OBJECT)

static void
adj_stage_change_finalize (GObject *object)
{
  AdjStageChange *self = ADJ_STAGE_CHANGE (object);

  g_array_unref (self->nodes);
  g_string_free (self->what, TRUE);
  g_free (self->why);

  G_OBJECT_CLASS (adj_stage_change_parent_class)->finalize (object);
}

static void
adj_stage_change_class_init (AdjStageChangeClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_stage_change_finalize;
}

static void
adj_stage_change_init (AdjStageChange *self)
{
  self->nodes = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
  self->what = g_string_new (NULL);
}

AdjChangeKind
adj_stage_change_get_kind (AdjStageChange *self)
{
  return self->kind;
}

guint
adj_stage_change_get_count (AdjStageChange *self)
{
  return self->nodes->len / 2;
}

AdjNodeId
adj_stage_change_get_after (AdjStageChange *self)
{
  return self->nodes->len > 0 ? g_array_index (self->nodes, AdjNodeId, 0) : ADJ_NO_NODE;
}

AdjNodeId
adj_stage_change_get_before (AdjStageChange *self)
{
  return self->nodes->len > 0 ? g_array_index (self->nodes, AdjNodeId, 1) : ADJ_NO_NODE;
}

const char *
adj_stage_change_get_what (AdjStageChange *self)
{
  return self->what->str;
}

const char *
adj_stage_change_get_why (AdjStageChange *self)
{
  return self->why;
}

/* -- the list -- */

typedef struct
{
  const AdjGraph *before, *after;
  GListStore *store;
  GHashTable *rows;    /* what makes changes equal → AdjStageChange */
  GHashTable *reasons; /* node after, or before with the top bit → reason */
} Listing;

#define OF_BEFORE(index) GUINT_TO_POINTER ((index) | (1u << 31))
#define OF_AFTER(index) GUINT_TO_POINTER (index)

static const AdjNode *
get_node (const Listing *self, AdjNodeId after, AdjNodeId before)
{
  return adj_node_id_is_valid (after) ? adj_graph_get_node (self->after, after.index)
                                      : adj_graph_get_node (self->before, before.index);
}

static void
add (Listing *self, AdjChangeKind kind, AdjNodeId after, AdjNodeId before, const char *why)
{
  const AdjNode *node = get_node (self, after, before);
  g_autofree char *key = g_strdup_printf ("%d %s %s", kind, node->target, why);
  AdjStageChange *row = g_hash_table_lookup (self->rows, key);
  guint n;

  if (row == NULL)
    {
      row = g_object_new (ADJ_TYPE_STAGE_CHANGE, NULL);
      row->kind = kind;
      row->why = g_strdup (why);
      g_list_store_append (self->store, row);
      g_hash_table_insert (self->rows, g_steal_pointer (&key), row);
      g_object_unref (row);
    }
  n = row->nodes->len / 2;
  if (n < MAX_NAMES)
    g_string_append_printf (row->what, "%s%s", n > 0 ? ", " : "", node->name);
  else if (n == MAX_NAMES)
    g_string_append (row->what, " …");
  g_array_append_val (row->nodes, after);
  g_array_append_val (row->nodes, before);
}

static void
note_reasons (Listing *self, const AdjStage *stage)
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

/* The origin of a new node: "of linear, models.py:21". (transfer full) */
static char *
describe_origin (const Listing *self, const AdjNode *node)
{
  const AdjFrame *frame =
      node->meta.n_frames > 0 ? &node->meta.frames[node->meta.n_frames - 1] : NULL;
  g_autofree char *file = frame != NULL ? g_path_get_basename (frame->file) : NULL;
  GString *text = g_string_new (NULL);

  if (adj_node_id_is_valid (node->origin))
    g_string_append_printf (text, _ ("of %s"),
                            adj_graph_get_node (self->before, node->origin.index)->name);
  if (adj_phase_from_tag (node->meta.partitioner_tag) == ADJ_PHASE_BACKWARD)
    g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", _ ("backward"));
  if (frame != NULL)
    g_string_append_printf (text, "%s%s:%u", text->len > 0 ? ", " : "", file, frame->line);
  return g_string_free (text, FALSE);
}

/* (transfer full) */
static char *
find_reason (const Listing *self, const AdjChange *change)
{
  const char *reason = adj_node_id_is_valid (change->b)
                           ? g_hash_table_lookup (self->reasons, OF_AFTER (change->b.index))
                           : g_hash_table_lookup (self->reasons, OF_BEFORE (change->a.index));

  if (reason != NULL)
    return g_strdup (reason);
  if (change->kind == ADJ_CHANGE_ADDED)
    return describe_origin (self, adj_graph_get_node (self->after, change->b.index));
  return g_strdup (change->kind == ADJ_CHANGE_CHANGED ? change->reason : "");
}

static void
list_differences (Listing *self, const AdjStage *stage)
{
  g_autoptr (AdjAlignment) alignment = adj_graph_align_made (self->before, self->after);
  g_autoptr (GHashTable) gone = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];
      g_autofree char *reason = NULL;

      if (change->kind == ADJ_CHANGE_NONE)
        continue;
      if (change->kind == ADJ_CHANGE_REMOVED)
        g_hash_table_add (gone, GUINT_TO_POINTER (change->a.index));
      reason = find_reason (self, change);
      add (self, change->kind, change->b, change->a, reason);
    }
  for (guint i = 0; i < stage->n_notes; i++)
    {
      const AdjPassNote *note = &stage->notes[i];

      if (!adj_node_id_is_valid (note->after) && adj_node_id_is_valid (note->before) &&
          !g_hash_table_contains (gone, GUINT_TO_POINTER (note->before.index)))
        add (self, ADJ_CHANGE_NONE, ADJ_NO_NODE, note->before, note->reason);
    }
}

static void
list_steps (GListStore *store, const AdjStage *stage)
{
  for (guint i = 0; i < stage->n_steps; i++)
    {
      const AdjPassStep *step = &stage->steps[i];
      g_autoptr (AdjStageChange) row = g_object_new (ADJ_TYPE_STAGE_CHANGE, NULL);

      row->kind = ADJ_CHANGE_NONE;
      g_string_append_printf (row->what, "%s, %.2f ms", step->name, (double) step->ns / 1e6);
      row->why = g_strdup (step->note);
      g_list_store_append (store, row);
    }
}

static void
list_reasons (Listing *self, const AdjStage *stage)
{
  for (guint i = 0; i < stage->n_notes; i++)
    if (adj_node_id_is_valid (stage->notes[i].after))
      add (self, ADJ_CHANGE_NONE, stage->notes[i].after, stage->notes[i].before,
           stage->notes[i].reason);
}

/* Whether several stages were made of the one that @stage was made of. */
static gboolean
is_half (const AdjRecording *recording, const AdjStage *stage)
{
  guint n = 0;

  for (guint i = 0; i < adj_recording_get_n_stages (recording); i++)
    n += adj_recording_get_stage (recording, i)->from == stage->from;
  return n > 1;
}

GListModel *
adj_stage_changes_list (const AdjRecording *recording, guint stage)
{
  const AdjStage *made = adj_recording_get_stage (recording, stage);
  const AdjStage *from =
      made->from >= 0 ? adj_recording_get_stage (recording, (guint) made->from) : NULL;
  Listing listing = { .store = g_list_store_new (ADJ_TYPE_STAGE_CHANGE) };

  if (from == NULL || made->graph == NULL || from->graph == NULL)
    return G_LIST_MODEL (listing.store);
  list_steps (listing.store, made);
  listing.before = from->graph;
  listing.after = made->graph;
  listing.rows = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  listing.reasons = g_hash_table_new (NULL, NULL);
  if (is_half (recording, made))
    list_reasons (&listing, made);
  else
    {
      note_reasons (&listing, made);
      list_differences (&listing, made);
    }
  g_hash_table_unref (listing.reasons);
  g_hash_table_unref (listing.rows);
  return G_LIST_MODEL (listing.store);
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
