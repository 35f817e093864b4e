/* SPDX-License-Identifier: MIT */
/* Logs that a program is still writing: the document grows with its file.
 *
 * What is looked at stays: graphs that were there are the same objects, so that pictures, runs and
 * selections hold.  While work on the document is under way, and once its graphs are no longer only
 * those of the file, what is new waits.  A log without a graph, and a folder without a log, are
 * waited for. */

#include <glib/gi18n.h>

#include "model/adj-log.h"
#include "model/document-private.h"

#define INTERVAL 500 /* milliseconds */

static void look_later (AdjDocument *self);

/* Whether the file is followed but holds no graph yet. */
static gboolean
is_waiting (AdjDocument *self)
{
  return self->error != NULL && self->follower != NULL;
}

static gboolean
may_grow (AdjDocument *self)
{
  return is_waiting (self) ||
         (self->graph != NULL && self->traced_from == NULL && self->stepping == NULL &&
          !adj_task_list_any (&self->tasks) &&
          (self->arrangement->runs == NULL || self->arrangement->runs->len == 0));
}

/* The place of @old in @set; G_MAXUINT: it is not there, or is another graph by now. */
static guint
find_again (const AdjGraphSet *set, const AdjBundleGraph *old)
{
  guint index = adj_graph_set_find (set, old->id, NULL);

  return index != G_MAXUINT && adj_graph_set_get (set, index)->graph == old->graph ? index
                                                                                   : G_MAXUINT;
}

/* The new place of each graph; %NULL: not all of them are there any more. */
static guint *
map_graphs (const AdjGraphSet *before, const AdjGraphSet *after)
{
  guint n = adj_graph_set_get_n (before);
  g_autofree guint *map = g_new (guint, n);

  for (guint i = 0; i < n; i++)
    if ((map[i] = find_again (after, adj_graph_set_get (before, i))) == G_MAXUINT)
      return NULL;
  return g_steal_pointer (&map);
}

static void
renumber (AdjDocument *self, const guint *map)
{
  adj_history_renumber (&self->history, map);
  if (self->problem != NULL)
    self->problem_graph = map[self->problem_graph];
}

/* What was cut off when it was read is there, but as another graph. */
static void
forget_places (AdjDocument *self)
{
  adj_history_reset (&self->history);
  adj_document_changed (self, PROP_HISTORY);
  adj_document_forget_problem (self);
  g_hash_table_remove_all (self->evaluations);
  adj_document_changed (self, PROP_EVALUATION);
}

static void
show_grown (AdjDocument *self, guint shown)
{
  guint n_before = adj_graph_set_get_n (self->graphs);
  g_autofree guint *map = map_graphs (self->graphs, self->grown);

  if (map != NULL)
    renumber (self, map);
  else
    forget_places (self);
  g_clear_pointer (&self->captured, adj_captured_unref);
  g_clear_pointer (&self->shown_from, adj_graph_set_unref);
  self->shown_from = self->graphs;
  self->graphs = g_steal_pointer (&self->grown);
  self->graph = adj_graph_set_get (self->graphs, shown);
  self->graph_index = shown;
  if (adj_graph_set_get_n (self->graphs) > n_before)
    adj_log_add (self->log, ADJ_LOG_DONE, _ ("%s grew by %u graphs"), self->title,
                 adj_graph_set_get_n (self->graphs) - n_before);
  adj_document_changed (self, PROP_BUNDLE);
  adj_document_changed (self, PROP_GRAPH_INDEX);
}

static void
open_again (AdjDocument *self, const char *graph)
{
  g_autoptr (GFile) file = g_object_ref (self->file);

  adj_document_open (self, file, graph);
}

/* A graph that is looked at and was cut off stays until all of it is there. */
static void
take (AdjDocument *self)
{
  g_autofree char *id = g_strdup (self->graph->id);
  guint shown = find_again (self->grown, self->graph);

  if (shown != G_MAXUINT)
    show_grown (self, shown);
  else if (adj_graph_set_find (self->grown, id, NULL) == G_MAXUINT)
    g_clear_pointer (&self->grown, adj_graph_set_unref);
  else
    open_again (self, id);
}

static void
on_grown (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjDocument *self = ADJ_DOCUMENT (source);
  g_autoptr (GError) error = NULL;
  AdjGraphSet *grown = adj_task_finish (result, &error);

  if (adj_task_from_result (result) != self->growing)
    {
      g_clear_pointer (&grown, adj_graph_set_unref);
      return;
    }
  g_clear_pointer (&self->growing, adj_task_unref);
  self->grown = grown;
  if (error == NULL)
    {
      look_later (self);
      return;
    }
  adj_document_report_problem (self, error);
  adj_document_stop_following (self);
  if (self->error != NULL)
    adj_document_changed (self, PROP_ERROR);
}

static gboolean
on_time (gpointer data)
{
  AdjDocument *self = data;

  if (!may_grow (self))
    return G_SOURCE_CONTINUE;
  self->look_again = 0;
  if (self->grown != NULL && is_waiting (self))
    {
      g_autofree char *wanted = g_strdup (self->wanted_graph);

      open_again (self, wanted);
    }
  else if (self->grown != NULL)
    take (self);
  if (self->follower != NULL && self->look_again == 0 && self->growing == NULL)
    self->growing =
        adj_opening_start_growth (G_OBJECT (self), self->follower, self->graphs, on_grown);
  return G_SOURCE_REMOVE;
}

static void
look_later (AdjDocument *self)
{
  self->look_again = g_timeout_add (INTERVAL, on_time, self);
}

void
adj_document_follow (AdjDocument *self, AdjTask *opening)
{
  AdjBundle *bundle = self->graphs != NULL ? adj_graph_set_get_bundle (self->graphs) : NULL;

  if (self->file == NULL || !adj_opening_may_grow (opening))
    return;
  self->follower = adj_opening_make_follower (self->file, bundle);
  look_later (self);
}

gboolean
adj_document_is_waiting (AdjDocument *self)
{
  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), FALSE);

  return is_waiting (self);
}

void
adj_document_stop_following (AdjDocument *self)
{
  g_clear_handle_id (&self->look_again, g_source_remove);
  if (self->growing != NULL)
    adj_task_cancel (self->growing);
  g_clear_pointer (&self->growing, adj_task_unref);
  g_clear_pointer (&self->follower, adj_follower_unref);
  g_clear_pointer (&self->grown, adj_graph_set_unref);
}
