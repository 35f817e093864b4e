/* SPDX-License-Identifier: MIT */
/* Which calls must come before which: by the memory that they read and write, and by the order of
 * random numbers and effects. */

#include "plan/plan-private.h"

/* The last accesses to a buffer. */
typedef struct
{
  guint32 writer;  /* PLAN_NONE: it has its initial content */
  GArray *readers; /* (owned) (nullable): calls since then */
} History;

typedef struct
{
  const AdjPlan *plan;
  History *histories; /* by buffer */
  guint32 *seen;      /* by call: the last call that it was added to, plus one */
  GArray *calls;
  guint32 in_turn; /* the last call that must keep its order (draws, effects) */
  guint32 index;
} Search;

static void
add (Search *search, guint32 earlier)
{
  if (earlier == PLAN_NONE || earlier == search->index ||
      search->seen[earlier] == search->index + 1)
    return;
  search->seen[earlier] = search->index + 1;
  g_array_append_val (search->calls, earlier);
}

static History *
history_of (Search *search, guint32 value)
{
  return &search->histories[plan_value (search->plan, value)->buffer];
}

static void
note_read (Search *search, guint32 value)
{
  History *history = history_of (search, value);

  add (search, history->writer);
  if (history->readers == NULL)
    history->readers = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_val (history->readers, search->index);
}

static void
note_write (Search *search, guint32 value)
{
  History *history = history_of (search, value);

  add (search, history->writer);
  for (guint i = 0; history->readers != NULL && i < history->readers->len; i++)
    add (search, g_array_index (history->readers, guint32, i));
  if (history->readers != NULL)
    g_array_set_size (history->readers, 0);
  history->writer = search->index;
}

static void
search_call (Search *search, const PlanCall *call)
{
  for (guint i = 0; i < call->n_reads; i++)
    note_read (search, call->reads[i]);
  for (guint i = 0; i < call->n_writes; i++)
    note_write (search, call->writes[i]);
  if (!call->in_turn)
    return;
  add (search, search->in_turn);
  search->in_turn = search->index;
}

/* Nodes with unknown values have none in the plan, so no dependences through buffers.  Calls that
 * the interpreter evaluates all keep their order, and so follow what they depend on. */
PlanDependences
plan_dependences_new (const AdjPlan *plan)
{
  guint n = plan->calls->len;
  PlanDependences self = { .start = g_new0 (guint32, n + 1) };
  Search search = { .plan = plan,
                    .histories = g_new0 (History, plan->buffers->len + 1),
                    .seen = g_new0 (guint32, n + 1),
                    .calls = g_array_new (FALSE, FALSE, sizeof (guint32)),
                    .in_turn = PLAN_NONE };

  for (guint i = 0; i < plan->buffers->len; i++)
    search.histories[i].writer = PLAN_NONE;
  for (guint i = 0; i < n; i++)
    {
      search.index = i;
      search_call (&search, plan_call (plan, i));
      self.start[i + 1] = search.calls->len;
    }
  for (guint i = 0; i < plan->buffers->len; i++)
    g_clear_pointer (&search.histories[i].readers, g_array_unref);
  g_free (search.histories);
  g_free (search.seen);
  self.calls = (gpointer) g_array_free (search.calls, FALSE);
  return self;
}

void
plan_dependences_clear (PlanDependences *self)
{
  g_clear_pointer (&self->start, g_free);
  g_clear_pointer (&self->calls, g_free);
}
