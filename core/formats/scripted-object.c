/* SPDX-License-Identifier: MIT */
/* Objects of TorchScript's classes: what a pickle says of them. */

#include <string.h>

#include "call/adj-object-call-internal.h"
#include "call/adj-object.h"
#include "formats/scripted-object-private.h"
#include "ir/adj-text.h"
#include "ir/adj-value-internal.h"

/* torch.save and TorchScript have a form each. */
const char *
scripted_object_find (const PickleItem *item, const PickleItem **pickled)
{
  const PickleItem *callee = item->items[0], *state = item->state;

  *pickled = state;
  if (callee->kind != PICKLE_GLOBAL)
    return NULL;
  if (g_str_has_prefix (callee->text, "__torch__."))
    return callee->text;
  if (strcmp (callee->text, "torch.ScriptObject") != 0 || state == NULL ||
      state->kind != PICKLE_TUPLE || state->n != 2 || state->items[1]->kind != PICKLE_TEXT)
    return NULL;
  *pickled = state->items[0];
  return state->items[1]->text;
}

static gboolean
plain_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  static const guint32 plain = 1u << ADJ_VALUE_NONE | 1u << ADJ_VALUE_BOOL | 1u << ADJ_VALUE_INT |
                               1u << ADJ_VALUE_FLOAT | 1u << ADJ_VALUE_STRING |
                               1u << ADJ_VALUE_DATA;
  g_autoptr (GString) text = g_string_new (NULL);

  if ((plain >> leaf->kind & 1) != 0)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  adj_value_print (leaf, NULL, text);
  *out = adj_value_new_string (text->str);
  return TRUE;
}

AdjOpaque *
scripted_object_new (const char *name, const AdjValue *pickled)
{
  g_auto (AdjValue) state = ADJ_NONE;
  AdjValue plain;

  if (pickled == NULL)
    return &adj_object_new_flat (name, NULL, NULL)->parent;
  adj_value_map (pickled, plain_leaf, NULL, &plain);
  state = adj_object_state_new (ADJ_OBJECT_PICKLED, plain, NULL);
  return &adj_object_new_flat (name, NULL, &state)->parent;
}

AdjOpaque *
scripted_object_new_unknown (const char *name, const char *reason)
{
  const AdjValue why = { .kind = ADJ_VALUE_RAW, .n = (guint) strlen (reason), .text = reason };

  return &adj_object_new_flat (name, NULL, &why)->parent;
}
