/* SPDX-License-Identifier: MIT */
/* A counted object that values can hold and of which only a description is known. */

#include "ir/adj-opaque.h"

#include <string.h>

#include "ir/adj-opaque-internal.h"

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

const char *
adj_opaque_get_type (const AdjOpaque *object)
{
  g_return_val_if_fail (object != NULL, NULL);

  return object->klass->get_type != NULL ? object->klass->get_type (object) : NULL;
}

gboolean
adj_opaque_is_like (const AdjOpaque *a, const AdjOpaque *b)
{
  return a == b || (a->klass == b->klass && a->klass->equal != NULL && a->klass->equal (a, b));
}

gboolean
adj_opaque_is_same (const AdjOpaque *a, const AdjOpaque *b)
{
  return a == b || (a->klass == b->klass && a->klass->is_value != NULL && a->klass->is_value (a) &&
                    a->klass->is_value (b) && adj_opaque_is_like (a, b));
}

/* -- objects that are not here -- */

typedef struct
{
  AdjOpaque parent;
  char *type;
} Typed;

static const char *
typed_get_type (const AdjOpaque *object)
{
  return ((const Typed *) object)->type;
}

static char *
typed_describe (const AdjOpaque *object)
{
  return g_strdup (((const Typed *) object)->type);
}

static gboolean
typed_equal (const AdjOpaque *a, const AdjOpaque *b)
{
  return g_str_equal (((const Typed *) a)->type, ((const Typed *) b)->type);
}

static void
typed_finalize (AdjOpaque *object)
{
  g_free (((Typed *) object)->type);
}

/* The class of scripted (C++) objects; typed_class is for objects of Python. */
static const AdjOpaqueClass script_class = {
  .name = "object",
  .attribute = "_torchbind_obj",
  .equal = typed_equal,
  .get_type = typed_get_type,
  .describe = typed_describe,
  .finalize = typed_finalize,
};

static const AdjOpaqueClass typed_class = {
  .name = "object",
  .attribute = "_opaque_obj",
  .equal = typed_equal,
  .get_type = typed_get_type,
  .describe = typed_describe,
  .finalize = typed_finalize,
};

AdjOpaque *
adj_opaque_new_of_type (const char *type)
{
  Typed *object;

  g_return_val_if_fail (type != NULL, NULL);

  object = (Typed *) adj_opaque_new (strstr (type, "::") != NULL ? &script_class : &typed_class,
                                     sizeof (Typed));
  object->type = g_strdup (type);
  return &object->parent;
}
