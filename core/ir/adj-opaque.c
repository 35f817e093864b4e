/* SPDX-License-Identifier: MIT */
/* A counted object that values can hold and of which only a description is known. */

#include "ir/adj-opaque.h"

AdjOpaque *
adj_opaque_new (const AdjOpaqueClass *klass, gsize size)
{
  AdjOpaque *object;

  g_return_val_if_fail (klass != NULL && size >= sizeof (AdjOpaque), NULL);

  object = g_malloc0 (size);
  object->klass = klass;
  g_atomic_ref_count_init (&object->ref_count);
  return object;
}

AdjOpaque *
adj_opaque_ref (AdjOpaque *object)
{
  g_return_val_if_fail (object != NULL, NULL);

  g_atomic_ref_count_inc (&object->ref_count);
  return object;
}

void
adj_opaque_unref (AdjOpaque *object)
{
  if (object == NULL || !g_atomic_ref_count_dec (&object->ref_count))
    return;
  if (object->klass->finalize != NULL)
    object->klass->finalize (object);
  g_free (object);
}

char *
adj_opaque_describe (const AdjOpaque *object)
{
  g_return_val_if_fail (object != NULL, NULL);

  return object->klass->describe != NULL ? object->klass->describe (object)
                                         : g_strdup (object->klass->name);
}
