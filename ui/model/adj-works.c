/* SPDX-License-Identifier: MIT */
/* The list of a document's tasks, at most one of a kind, and the status line that tells of them. */

#include "model/adj-works.h"

#include <glib/gi18n.h>

#include "report/adj-facts.h"

/* Progress of long work shows after this time; shorter work is not worth a flicker. */
#define SHOW_AFTER_USEC 300000
#define LONG_AFTER_USEC (2 * G_TIME_SPAN_SECOND)
#define POLL_MSEC 60

/* -- what they say: @done of @total, as far as it is known -- */

static char *
describe_open (const char *subject, guint done, guint total, guint n_equal)
{
  return total > 0 ? g_strdup_printf (_ ("Opening %s: step %u of %u"), subject,
                                      MIN (done + 1, total), total)
                   : g_strdup_printf (_ ("Opening %s"), subject);
}

static char *
describe_layout (const char *subject, guint done, guint total, guint n_equal)
{
  return total > 0 ? g_strdup_printf (_ ("Laying out %s: %u equal blocks, layout %u of %u"),
                                      subject, n_equal, MIN (done + 1, total), total)
                   : g_strdup_printf (_ ("Laying out %s"), subject);
}

static char *
describe_export (const char *subject, guint done, guint total, guint n_equal)
{
  return total > 0
             ? g_strdup_printf (_ ("Writing %s: %u of %u parts painted"), subject, done, total)
             : g_strdup_printf (_ ("Writing %s"), subject);
}

static char *
describe_report (const char *subject, guint done, guint total, guint n_equal)
{
  return total > 0 ? g_strdup_printf (_ ("Writing %s: step %u of %u"), subject,
                                      MIN (done + 1, total), total)
                   : g_strdup_printf (_ ("Writing %s"), subject);
}

static char *
describe_save (const char *subject, guint done, guint total, guint n_equal)
{
  g_autofree char *saved = adj_facts_bytes ((gint64) done << 10);
  g_autofree char *all = adj_facts_bytes ((gint64) total << 10);

  return total > 0 ? g_strdup_printf (_ ("Saving %s: %s of %s"), subject, saved, all)
                   : g_strdup_printf (_ ("Saving %s"), subject);
}

static char *
describe_partitions (const char *subject, guint done, guint total, guint n_equal)
{
  return total > 0 ? g_strdup_printf (_ ("Comparing partitions of %s: plan %u of %u"), subject,
                                      MIN (done + 1, total), total)
                   : g_strdup_printf (_ ("Comparing partitions of %s"), subject);
}

static char *
describe_run (const char *subject, guint done, guint total, guint n_equal)
{
  return total > 0
             ? g_strdup_printf (_ ("Running %s: %u of %u nodes (Esc stops)"), subject, done, total)
             : g_strdup_printf (_ ("Running %s (Esc stops)"), subject);
}

static char *(*const describe[ADJ_N_TASKS]) (const char *, guint, guint, guint) = {
  [ADJ_TASK_OPEN] = describe_open,     [ADJ_TASK_LAYOUT] = describe_layout,
  [ADJ_TASK_EXPORT] = describe_export, [ADJ_TASK_REPORT] = describe_report,
  [ADJ_TASK_SAVE] = describe_save,     [ADJ_TASK_PARTITIONS] = describe_partitions,
  [ADJ_TASK_RUN] = describe_run,
};

/* -- the line -- */

static void
set_status (AdjWorks *self, char *status, double fraction)
{
  if (g_strcmp0 (status, self->status) == 0 && fraction == self->fraction)
    {
      g_free (status);
      return;
    }
  g_free (self->status);
  self->status = status;
  self->fraction = fraction;
  self->changed (self->owner);
}

static void
update_long (AdjWorks *self)
{
  AdjWork *layout = self->works[ADJ_TASK_LAYOUT];
  gboolean is_long = layout != NULL && adj_work_get_age (layout) > LONG_AFTER_USEC;

  if (is_long == self->is_long)
    return;
  self->is_long = is_long;
  self->changed (self->owner);
}

/* %FALSE when nothing is under way. */
static gboolean
update_status (AdjWorks *self)
{
  update_long (self);
  for (guint task = ADJ_N_TASKS; task-- > 0;)
    {
      guint done, total, n_equal;

      if (self->works[task] == NULL || adj_work_get_age (self->works[task]) < SHOW_AFTER_USEC)
        continue;
      adj_work_get_report (self->works[task], &done, &total, &n_equal);
      set_status (self, describe[task](self->subjects[task], done, total, n_equal),
                  total > 0 ? (double) done / total : -1);
      return TRUE;
    }
  set_status (self, NULL, -1);
  return adj_works_any (self);
}

static gboolean
on_poll (gpointer data)
{
  AdjWorks *self = data;

  if (update_status (self))
    return G_SOURCE_CONTINUE;
  self->poll = 0;
  return G_SOURCE_REMOVE;
}

void
adj_works_init (AdjWorks *works, void (*changed) (gpointer owner), gpointer owner)
{
  *works = (AdjWorks){ .fraction = -1, .changed = changed, .owner = owner };
}

void
adj_works_clear (AdjWorks *works)
{
  for (guint task = 0; task < ADJ_N_TASKS; task++)
    {
      if (works->works[task] != NULL)
        adj_work_cancel (works->works[task]);
      g_clear_pointer (&works->works[task], adj_work_unref);
      g_clear_pointer (&works->subjects[task], g_free);
    }
  g_clear_handle_id (&works->poll, g_source_remove);
  g_clear_pointer (&works->status, g_free);
}

void
adj_works_cancel (AdjWorks *works, AdjTask task)
{
  if (works->works[task] == NULL)
    return;
  adj_work_cancel (works->works[task]);
  g_clear_pointer (&works->works[task], adj_work_unref);
  update_status (works);
  works->changed (works->owner);
}

void
adj_works_start (AdjWorks *works, AdjTask task, AdjWork *work, const char *subject)
{
  if (works->works[task] != NULL)
    adj_work_cancel (works->works[task]);
  g_clear_pointer (&works->works[task], adj_work_unref);
  works->works[task] = work;
  update_long (works);
  g_free (works->subjects[task]);
  works->subjects[task] = g_strdup (subject);
  if (works->poll == 0)
    works->poll = g_timeout_add (POLL_MSEC, on_poll, works);
  works->changed (works->owner);
}

gboolean
adj_works_is_busy (const AdjWorks *works, AdjTask task)
{
  return works->works[task] != NULL;
}

gboolean
adj_works_any (const AdjWorks *works)
{
  for (guint task = 0; task < ADJ_N_TASKS; task++)
    if (works->works[task] != NULL)
      return TRUE;
  return FALSE;
}

gboolean
adj_works_finish (
    AdjWorks *works, AdjTask task, GAsyncResult *result, gpointer *out, gint64 *age, GError **error)
{
  AdjWork *work = adj_work_from_result (result);

  if (work != works->works[task])
    return FALSE;
  *age = adj_work_get_age (work);
  g_clear_pointer (&works->works[task], adj_work_unref);
  *out = adj_work_finish (result, error);
  update_status (works);
  works->changed (works->owner);
  return TRUE;
}
