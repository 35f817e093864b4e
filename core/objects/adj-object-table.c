/* SPDX-License-Identifier: MIT */
/* The table of classes. */

#include "objects/adj-object-table.h"

#include <string.h>

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
  gsize n = (gsize) (strstr (name, "::") - name);

  return strncmp (name, torch, n) == 0 && torch[n] == '.' &&
         g_str_equal (name + n + 2, torch + n + 1);
}

const AdjObjectClass *
adj_object_class_find (const char *name)
{
  const char *torch = NULL;

  g_return_val_if_fail (name != NULL, NULL);

  if (g_str_has_prefix (name, TORCH_PREFIX))
    torch = name + strlen (TORCH_PREFIX);
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if (torch != NULL ? is_same_name (classes[i]->name, torch)
                      : g_str_equal (classes[i]->name, name))
      return classes[i];
  return NULL;
}
