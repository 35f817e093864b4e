/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/pickle-private.h"

G_BEGIN_DECLS

#define PICKLE_MAX_ITEMS 10000000u

/* What runs a pickle's instructions. */
typedef struct
{
  AdjArena *arena;
  const char *name;
  const guint8 *start, *at, *end;
  guint n_items;
  GPtrArray *stack; /* PickleItem; NULL: a mark */
  GPtrArray *memo;  /* PickleItem or NULL */
  GPtrArray *ids;   /* (nullable): PickleItem: those of PERSISTENT */
  PickleItem *result;
} PickleMachine;

/* Sets @error, with the place; returns %FALSE. */
gboolean pickle_fail (PickleMachine *machine, GError **error, const char *what);
/* (nullable): an item that is zeroed but for its kind.  This and the functions below return %NULL
 * or %FALSE with @error set. */
PickleItem *pickle_new_item (PickleMachine *machine, PickleKind kind, GError **error);
void pickle_append (PickleMachine *machine, PickleItem *to, PickleItem *item);
/* @item: (nullable): %FALSE where it is %NULL */
gboolean pickle_push (PickleMachine *machine, PickleItem *item);
/* The value on top, taken off the stack; left there. */
PickleItem *pickle_pop (PickleMachine *machine, GError **error);
PickleItem *pickle_peek (PickleMachine *machine, GError **error);
/* The place of the topmost mark. */
gboolean pickle_find_mark (PickleMachine *machine, guint *mark, GError **error);
/* The next @n bytes; a little-endian number of @n_bytes. */
const guint8 *pickle_take (PickleMachine *machine, gsize n, GError **error);
gboolean pickle_take_number (PickleMachine *machine, guint n_bytes, guint64 *out, GError **error);

G_END_DECLS
