/* SPDX-License-Identifier: MIT */
/* Looks into what a pickle describes. */

#include <string.h>

#include "formats/pickle-private.h"

const PickleItem *
pickle_get (const PickleItem *item, const char *key)
{
  for (guint i = 0; item != NULL && item->kind == PICKLE_DICT && i + 1 < item->n; i += 2)
    if (item->items[i]->kind == PICKLE_TEXT && strcmp (item->items[i]->text, key) == 0)
      return item->items[i + 1];
  return NULL;
}

const char *
pickle_get_text (const PickleItem *item, const char *key)
{
  const PickleItem *value = pickle_get (item, key);

  return value != NULL && value->kind == PICKLE_TEXT ? value->text : NULL;
}

gint64
pickle_get_int (const PickleItem *item, const char *key, gint64 fallback)
{
  const PickleItem *value = pickle_get (item, key);

  return value != NULL && value->kind == PICKLE_INT ? value->integer : fallback;
}

gboolean
pickle_calls (const PickleItem *item, const char *name)
{
  return item->kind == PICKLE_CALL && item->items[0]->kind == PICKLE_GLOBAL &&
         strcmp (item->items[0]->text, name) == 0;
}

PickleItem *
pickle_get_contents (const PickleItem *item, PickleKind kind)
{
  for (guint i = 2; item->kind == PICKLE_CALL && i < item->n; i++)
    if (item->items[i]->kind == kind)
      return item->items[i];
  return NULL;
}

PickleItem *
pickle_argument (const PickleItem *item, guint index)
{
  const PickleItem *arguments = item->kind == PICKLE_CALL ? item->items[1] : NULL;

  return arguments != NULL && arguments->kind == PICKLE_TUPLE && index < arguments->n
             ? arguments->items[index]
             : NULL;
}
