/* SPDX-License-Identifier: MIT */
/* Undo and redo of arrangements. */

#include "model/adj-undo.h"

#define MAX_STEPS 200

void
adj_undo_init (AdjUndo *undo)
{
  undo->done = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_arrangement_free);
  undo->undone = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_arrangement_free);
}

void
adj_undo_clear (AdjUndo *undo)
{
  g_clear_pointer (&undo->done, g_ptr_array_unref);
  g_clear_pointer (&undo->undone, g_ptr_array_unref);
}

void
adj_undo_reset (AdjUndo *undo)
{
  g_ptr_array_set_size (undo->done, 0);
  g_ptr_array_set_size (undo->undone, 0);
}

void
adj_undo_push (AdjUndo *undo, const AdjArrangement *before)
{
  g_ptr_array_set_size (undo->undone, 0);
  if (undo->done->len >= MAX_STEPS)
    g_ptr_array_remove_index (undo->done, 0);
  g_ptr_array_add (undo->done, adj_arrangement_copy (before));
}

gboolean
adj_undo_can (const AdjUndo *undo, gint step)
{
  return (step < 0 ? undo->done : undo->undone)->len > 0;
}

AdjArrangement *
adj_undo_step (AdjUndo *undo, gint step, const AdjArrangement *now)
{
  GPtrArray *from = step < 0 ? undo->done : undo->undone;
  GPtrArray *to = step < 0 ? undo->undone : undo->done;

  if (from->len == 0)
    return NULL;
  g_ptr_array_add (to, adj_arrangement_copy (now));
  return g_ptr_array_steal_index (from, from->len - 1);
}
