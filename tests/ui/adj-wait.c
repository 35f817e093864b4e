/* SPDX-License-Identifier: MIT */
/* Waits in tests until a condition holds or the window is idle. */

#include "ui/adj-wait.h"

#include <gio/gio.h>

#include "model/adj-task.h"
#include "support/adj-test.h"

#define POLL_MSEC 20

static gboolean
wake_up (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

/* Polls, because the threads that fulfil the condition do not wake the main loop. */
gboolean
adj_wait_until (gboolean (*done) (gpointer data), gpointer data, guint seconds)
{
  gint64 end = g_get_monotonic_time () + seconds * G_TIME_SPAN_SECOND;
  guint poll = g_timeout_add (POLL_MSEC, wake_up, NULL);
  gboolean is_done;

  while (!(is_done = done (data)) && g_get_monotonic_time () < end)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (poll);
  return is_done;
}

static gboolean
is_idle (gpointer document)
{
  return !adj_document_is_busy (document);
}

void
adj_wait_for (AdjDocument *document)
{
  g_assert_true (adj_wait_until (is_idle, document, ADJ_WAIT_SECONDS));
}

static gboolean
is_at_rest (gpointer data)
{
  return adj_task_count () == 0 && !g_main_context_pending (NULL);
}

void
adj_wait_for_threads (void)
{
  g_assert_true (adj_wait_until (is_at_rest, NULL, ADJ_WAIT_SECONDS));
}

AdjDocument *
adj_wait_open (const char *name, const char *graph_id)
{
  AdjDocument *document = adj_document_new ();
  g_autofree char *path = adj_test_data_path (name);
  g_autoptr (GFile) file = g_file_new_for_path (path);

  adj_document_open (document, file, graph_id);
  adj_wait_for (document);
  g_assert_no_error (adj_document_get_error (document));
  g_assert_nonnull (adj_document_get_scene (document));
  return document;
}
