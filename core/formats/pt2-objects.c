/* SPDX-License-Identifier: MIT */
/* Objects of Python classes that torch._library.opaque_object registered.  Each is a plain pickle,
 * of which class and state are read as data; nothing is called. */

#include <string.h>

#include "call/adj-object.h"
#include "formats/pickle-private.h"
#include "formats/pt2-private.h"
#include "ir/adj-opaque.h"

#define MAX_DEPTH 8
#define MAX_ITEMS 4096

typedef struct
{
  AdjArena *arena;
  guint n_items; /* so far: an item may stand in many places */
} State;

static AdjValue
text_of (const PickleItem *item)
{
  return (AdjValue){ .kind = ADJ_VALUE_STRING, .n = item->n, .text = item->text };
}

static AdjValue to_value (State *self, const PickleItem *item, guint depth);

static AdjValue
to_items (State *self, AdjValueKind kind, const PickleItem *item, guint depth)
{
  AdjValue value = { .kind = kind, .n = item->n };

  if (depth == MAX_DEPTH || self->n_items + item->n > MAX_ITEMS)
    return (AdjValue){ .kind = ADJ_VALUE_STRING, .n = 1, .text = "…" };
  self->n_items += item->n;
  value.items = adj_arena_new0 (self->arena, AdjValue, MAX (item->n, 1));
  for (guint i = 0; i < item->n; i++)
    value.items[i] = to_value (self, item->items[i], depth + 1);
  return value;
}

/* An item that is no plain value becomes the name of what would be called. */
static AdjValue
to_value (State *self, const PickleItem *item, guint depth)
{
  const PickleItem *called = item->kind == PICKLE_CALL && item->n > 0 ? item->items[0] : NULL;

  switch ((int) item->kind)
    {
    case PICKLE_BOOL:
      return ADJ_BOOL (item->integer != 0);
    case PICKLE_INT:
      return ADJ_INT (item->integer);
    case PICKLE_FLOAT:
      return ADJ_FLOAT (item->number);
    case PICKLE_TEXT:
    case PICKLE_GLOBAL:
      return text_of (item);
    case PICKLE_TUPLE:
      return to_items (self, ADJ_VALUE_TUPLE, item, depth);
    case PICKLE_LIST:
      return to_items (self, ADJ_VALUE_LIST, item, depth);
    case PICKLE_DICT:
      return to_items (self, ADJ_VALUE_DICT, item, depth);
    default:
      return called != NULL && called->kind == PICKLE_GLOBAL ? text_of (called) : ADJ_NONE;
    }
}

static void
add_pair (State *self, AdjValue *state, AdjValue name, const PickleItem *item)
{
  AdjValue *pair = adj_arena_new0 (self->arena, AdjValue, 2);

  pair[0] = name;
  pair[1] = to_value (self, item, 0);
  state->items[state->n++] = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = pair };
}

/* (name, value) pairs of the attributes, and what a class that is a list or a dict holds. */
static AdjValue
read_state (State *self, const PickleItem *object)
{
  static const struct
  {
    PickleKind kind;
    const char *name; /* as object.__reduce_ex__ calls it */
  } contents[] = { { PICKLE_LIST, "listitems" }, { PICKLE_DICT, "dictitems" } };
  static const PickleItem none = { .kind = PICKLE_DICT };
  const PickleItem *attributes =
      object->state != NULL && object->state->kind == PICKLE_DICT ? object->state : &none;
  const guint n = MIN (attributes->n, MAX_ITEMS);
  AdjValue state = { .kind = ADJ_VALUE_TUPLE };

  state.items = adj_arena_new0 (self->arena, AdjValue, n / 2 + G_N_ELEMENTS (contents));
  for (guint i = 0; i + 1 < n; i += 2)
    if (attributes->items[i]->kind == PICKLE_TEXT)
      add_pair (self, &state, text_of (attributes->items[i]), attributes->items[i + 1]);
  for (guint i = 0; i < G_N_ELEMENTS (contents); i++)
    {
      const char *name = contents[i].name;
      const PickleItem *held = pickle_get_contents (object, contents[i].kind);

      if (held != NULL)
        add_pair (self, &state,
                  (AdjValue){ .kind = ADJ_VALUE_STRING, .n = (guint) strlen (name), .text = name },
                  held);
    }
  return state;
}

gboolean
pt2_object_is (GBytes *bytes)
{
  gsize length;
  const guint8 *data = g_bytes_get_data (bytes, &length);

  return length > 1 && data[0] == 0x80;
}

AdjOpaque *
pt2_object_read (GBytes *bytes, const char *name, GError **error)
{
  State self = { adj_arena_new (), 0 };
  gsize length;
  const guint8 *data = g_bytes_get_data (bytes, &length);
  const PickleItem *root = pickle_read (self.arena, data, length, name, error);
  AdjOpaque *object = NULL;

  if (root != NULL && root->kind == PICKLE_CALL && root->n > 0 &&
      root->items[0]->kind == PICKLE_GLOBAL)
    {
      const AdjValue state = read_state (&self, root);

      object = (AdjOpaque *) adj_object_new_flat (root->items[0]->text, NULL, &state);
    }
  else if (root != NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s is no object of a class", name);
  adj_arena_free (self.arena);
  return object;
}
