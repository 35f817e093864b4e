/* SPDX-License-Identifier: MIT */
/* What all instructions of a pickle share: its bytes, its values, the stack. */

#include <string.h>

#include "formats/pickle-machine-private.h"

gboolean
pickle_fail (PickleMachine *machine, GError **error, const char *what)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: at byte %" G_GSIZE_FORMAT ": %s",
               machine->name, (gsize) (machine->at - machine->start), what);
  return FALSE;
}

PickleItem *
pickle_new_item (PickleMachine *machine, PickleKind kind, GError **error)
{
  PickleItem *item;

  if (machine->n_items++ >= PICKLE_MAX_ITEMS)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s: more than %u values", machine->name,
                   PICKLE_MAX_ITEMS);
      return NULL;
    }
  item = adj_arena_new0 (machine->arena, PickleItem, 1);
  item->kind = kind;
  return item;
}

void
pickle_append (PickleMachine *machine, PickleItem *to, PickleItem *item)
{
  if (to->n == to->capacity)
    {
      guint capacity = MAX (4, 2 * to->capacity);
      PickleItem **items = adj_arena_new0 (machine->arena, PickleItem *, capacity);

      if (to->n > 0)
        memcpy (items, to->items, to->n * sizeof *items);
      to->items = items;
      to->capacity = capacity;
    }
  to->items[to->n++] = item;
}

gboolean
pickle_push (PickleMachine *machine, PickleItem *item)
{
  if (item != NULL)
    g_ptr_array_add (machine->stack, item);
  return item != NULL;
}

PickleItem *
pickle_pop (PickleMachine *machine, GError **error)
{
  guint n = machine->stack->len;
  PickleItem *item = n > 0 ? machine->stack->pdata[n - 1] : NULL;

  if (item == NULL)
    pickle_fail (machine, error, "there is no value for this instruction");
  else
    g_ptr_array_set_size (machine->stack, (gint) n - 1);
  return item;
}

PickleItem *
pickle_peek (PickleMachine *machine, GError **error)
{
  PickleItem *item = pickle_pop (machine, error);

  return item != NULL && pickle_push (machine, item) ? item : NULL;
}

gboolean
pickle_find_mark (PickleMachine *machine, guint *mark, GError **error)
{
  for (guint i = machine->stack->len; i-- > 0;)
    if (machine->stack->pdata[i] == NULL)
      {
        *mark = i;
        return TRUE;
      }
  return pickle_fail (machine, error, "there is no mark");
}

const guint8 *
pickle_take (PickleMachine *machine, gsize n, GError **error)
{
  const guint8 *bytes = machine->at;

  if ((gsize) (machine->end - machine->at) < n)
    {
      pickle_fail (machine, error, "the pickle ends in the middle");
      return NULL;
    }
  machine->at += n;
  return bytes;
}

gboolean
pickle_take_number (PickleMachine *machine, guint n_bytes, guint64 *out, GError **error)
{
  const guint8 *bytes = pickle_take (machine, n_bytes, error);

  *out = 0;
  for (guint i = 0; bytes != NULL && i < n_bytes; i++)
    *out |= (guint64) bytes[i] << 8 * i;
  return bytes != NULL;
}
