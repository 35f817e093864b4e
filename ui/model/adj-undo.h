/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-arrangement.h"

G_BEGIN_DECLS

/* Past arrangements and, after undoing, later ones. */
typedef struct
{
  GPtrArray *done, *undone; /* of AdjArrangement */
} AdjUndo;

void adj_undo_init (AdjUndo *undo);
void adj_undo_clear (AdjUndo *undo);
/* Forgets everything. */
void adj_undo_reset (AdjUndo *undo);

/* To be called before a change of @before; drops what could be redone. */
void adj_undo_push (AdjUndo *undo, const AdjArrangement *before);
gboolean adj_undo_can (const AdjUndo *undo, gint step); /* -1: undo, 1: redo */
/* The arrangement that replaces @now.  (transfer full) (nullable) */
AdjArrangement *adj_undo_step (AdjUndo *undo, gint step, const AdjArrangement *now);

G_END_DECLS
