/* SPDX-License-Identifier: MIT */
/* The table of classes. */

#include "objects/adj-object-table.h"

#include <string.h>

#include "objects/class-names-private.h"

#define TORCH_PREFIX "__torch__.torch.classes."

#define CLASS(name, file) extern const AdjObjectClass adj_class_##name;
#include "objects/classes.inc"
#undef CLASS

static const AdjObjectClass *const classes[] = {
#define CLASS(name, file) &adj_class_##name,
#include "objects/classes.inc"
#undef CLASS
};

guint
adj_object_classes_get_n (void)
{
  return G_N_ELEMENTS (classes);
}

const AdjObjectClass *
adj_object_classes_get (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (classes), NULL);

  return classes[index];
}

/* Whether @torch, "ns.Class", is @name, "ns::Class". */
static gboolean
is_same_name (const char *name, const char *torch)
{
  const char *colons = strstr (name, "::");
  gsize n = colons != NULL ? (gsize) (colons - name) : 0;

  return colons != NULL && strncmp (name, torch, n) == 0 && torch[n] == '.' &&
         g_str_equal (colons + 2, torch + n + 1);
}

gboolean
object_class_is_named (const AdjObjectClass *klass, const char *name)
{
  return g_str_has_prefix (name, TORCH_PREFIX)
             ? is_same_name (klass->name, name + strlen (TORCH_PREFIX))
             : g_str_equal (klass->name, name);
}

const AdjObjectClass *
adj_object_class_find (const char *name)
{
  g_return_val_if_fail (name != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if (object_class_is_named (classes[i], name))
      return classes[i];
  return NULL;
}
