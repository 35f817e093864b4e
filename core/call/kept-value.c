/* SPDX-License-Identifier: MIT */
/* Values stored in fake objects: a stored value and all values loaded from it are identified. */

#include "call/object-private.h"
#include "tensor/adj-tensor-internal.h"

struct _AdjKeptValue
{
  gatomicrefcount refs;
};

/* Records that a tensor holds a value as long as it is not written. */
typedef struct
{
  AdjKeptValue *value; /* (owned) */
  guint32 version;     /* of the tensor at that time */
} Mark;

AdjKeptValue *
adj_kept_value_ref (AdjKeptValue *value)
{
  g_atomic_ref_count_inc (&value->refs);
  return value;
}

void
adj_kept_value_unref (AdjKeptValue *value)
{
  if (g_atomic_ref_count_dec (&value->refs))
    g_free (value);
}

static void
mark_free (gpointer data)
{
  adj_kept_value_unref (((Mark *) data)->value);
  g_free (data);
}

static gpointer
mark_copy (gpointer data)
{
  Mark *mark = g_memdup2 (data, sizeof *mark);

  adj_kept_value_ref (mark->value);
  return mark;
}

/* @value: (transfer full) */
static void
mark (AdjTensor *tensor, AdjKeptValue *value)
{
  static const AdjSlotClass slot_class = { .free = mark_free, .copy = mark_copy };
  Mark *made = g_new (Mark, 1);

  *made = (Mark){ value, adj_tensor_get_version (tensor) };
  adj_tensor_set_slot (tensor, ADJ_SLOT_KEPT, made, &slot_class);
}

AdjKeptValue *
adj_kept_value_find (const AdjTensor *tensor)
{
  const Mark *found = adj_tensor_get_slot (tensor, ADJ_SLOT_KEPT);

  return found != NULL && found->version == adj_tensor_get_version (tensor) ? found->value : NULL;
}

static void
share (AdjTensor *tensor, AdjTensor *with)
{
  AdjKeptValue *value = adj_kept_value_find (with);

  if (value == NULL)
    {
      value = g_new (AdjKeptValue, 1);
      g_atomic_ref_count_init (&value->refs);
      mark (with, value);
    }
  mark (tensor, adj_kept_value_ref (value));
}

AdjTensor *
kept_value_store (AdjTensor *tensor)
{
  AdjTensor *kept = adj_tensor_new (adj_tensor_get_meta (tensor), adj_tensor_get_storage (tensor));

  adj_tensor_count_apart (kept);
  share (kept, tensor);
  return kept;
}

AdjTensor *
kept_value_load (AdjTensor *kept, AdjSymbols *symbols)
{
  AdjTensor *shown = adj_tensor_new_empty (adj_tensor_get_meta (kept), symbols, TRUE);

  share (shown, kept);
  return shown;
}

void
kept_value_drop (AdjTensor *tensor)
{
  adj_tensor_set_slot (tensor, ADJ_SLOT_KEPT, NULL, NULL);
}
