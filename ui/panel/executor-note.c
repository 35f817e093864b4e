/* SPDX-License-Identifier: MIT */
/* Why an executor cannot run here. */

#include "panel/executor-note.h"

#include <glib/gi18n.h>

#include "model/adj-task.h"

static gpointer
ask (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const AdjExecutor *executor = adj_task_get_input (task);
  g_autoptr (GError) why = NULL;

  return g_strdup (executor->available (&why) ? executor->summary : why->message);
}

static void
on_answered (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AdjTask) task = g_object_steal_data (source, "asking");
  g_autofree char *note = adj_task_finish (result, NULL);

  /* Another one was chosen meanwhile. */
  if (adj_task_from_result (result) != task)
    g_object_set_data_full (source, "asking", g_steal_pointer (&task),
                            (GDestroyNotify) adj_task_unref);
  else if (note != NULL)
    adw_action_row_set_subtitle (ADW_ACTION_ROW (source), note);
}

void
adj_executor_note_show (AdwActionRow *row, const AdjExecutor *executor)
{
  if (g_object_get_data (G_OBJECT (row), "executor") == executor)
    return;
  g_object_set_data (G_OBJECT (row), "executor", (gpointer) executor);
  adw_action_row_set_subtitle (row, _ (executor->summary));
  g_object_set_data_full (G_OBJECT (row), "asking",
                          adj_task_start (G_OBJECT (row), ADJ_LOAD_LIGHT, ask, (gpointer) executor,
                                          NULL, g_free, on_answered),
                          (GDestroyNotify) adj_task_unref);
}
