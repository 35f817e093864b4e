/* SPDX-License-Identifier: MIT */
/* Classes and operators of plugins, by name. */

#include "objects/adj-extensions.h"

#include <string.h>

#include "call/adj-object-call-internal.h"
#include "objects/adj-extensions-internal.h"
#include "objects/adj-object-table.h"
#include "objects/class-names-private.h"
#include "ops/adj-op-table.h"
#include "rules/adj-own-op.h"

struct _AdjExtensions
{
  gatomicrefcount ref_count;
  GPtrArray *classes; /* AdjObjectClass, unowned */
  GHashTable *ops;    /* target → AdjOp (owned) */
};

static void
free_op (gpointer op)
{
  adj_op_free (op);
}

AdjExtensions *
adj_extensions_new (void)
{
  AdjExtensions *extensions = g_new0 (AdjExtensions, 1);

  g_atomic_ref_count_init (&extensions->ref_count);
  extensions->classes = g_ptr_array_new ();
  extensions->ops = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_op);
  return extensions;
}

AdjExtensions *
adj_extensions_ref (AdjExtensions *extensions)
{
  g_return_val_if_fail (extensions != NULL, NULL);

  g_atomic_ref_count_inc (&extensions->ref_count);
  return extensions;
}

void
adj_extensions_unref (AdjExtensions *extensions)
{
  if (extensions == NULL || !g_atomic_ref_count_dec (&extensions->ref_count))
    return;
  g_ptr_array_unref (extensions->classes);
  g_hash_table_unref (extensions->ops);
  g_free (extensions);
}

/* -- adding -- */

static void
warn_of_place (AdjDiags *diags, const char *name)
{
  adj_diags_add (diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 },
                 "the class '%s' was already registered; the new one takes its place", name);
}

gboolean
adj_extensions_add_class (AdjExtensions *extensions,
                          const AdjObjectClass *klass,
                          AdjDiags *diags,
                          GError **error)
{
  const AdjObjectClass *before;

  g_return_val_if_fail (extensions != NULL && klass != NULL && klass->name != NULL, FALSE);

  if (!adj_object_class_check (klass, error))
    return FALSE;
  before = adj_extensions_find_class (extensions, klass->name);
  if (before != NULL && before != klass)
    warn_of_place (diags, klass->name);
  if (before != NULL)
    g_ptr_array_remove (extensions->classes, (gpointer) before);
  g_ptr_array_add (extensions->classes, (gpointer) klass);
  return TRUE;
}

gboolean
adj_extensions_add_op (AdjExtensions *extensions, const AdjOp *record, GError **error)
{
  g_autoptr (AdjOp) op = NULL;
  const char *target;

  g_return_val_if_fail (extensions != NULL && record != NULL, FALSE);

  op = adj_op_new (record, error);
  if (op == NULL)
    return FALSE;
  target = adj_op_get_schema (op)->target;
  if (adj_op_find (target) != NULL || g_hash_table_contains (extensions->ops, target))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "there is an operator '%s' already",
                   target);
      return FALSE;
    }
  g_hash_table_insert (extensions->ops, (gpointer) target, g_steal_pointer (&op));
  return TRUE;
}

/* -- finding -- */

guint
adj_extensions_get_n_classes (const AdjExtensions *extensions)
{
  g_return_val_if_fail (extensions != NULL, 0);

  return extensions->classes->len;
}

const AdjObjectClass *
adj_extensions_get_class (const AdjExtensions *extensions, guint index)
{
  g_return_val_if_fail (extensions != NULL && index < extensions->classes->len, NULL);

  return extensions->classes->pdata[index];
}

const AdjObjectClass *
adj_extensions_find_class (const AdjExtensions *extensions, const char *name)
{
  g_return_val_if_fail (extensions != NULL && name != NULL, NULL);

  for (guint i = 0; i < extensions->classes->len; i++)
    if (object_class_is_named (extensions->classes->pdata[i], name))
      return extensions->classes->pdata[i];
  return adj_object_class_find (name);
}

/* (nullable): the operator that the packet @target, "torch.ops.mine.count", means: the overload
 * `default`, or the only one. */
static const AdjOp *
find_overload (const AdjExtensions *extensions, const char *target)
{
  g_autofree char *prefix = g_strconcat (target, ".", NULL);
  const AdjOp *found = NULL;
  guint n = 0;
  GHashTableIter iter;
  gpointer name, op;

  g_hash_table_iter_init (&iter, extensions->ops);
  while (g_hash_table_iter_next (&iter, &name, &op))
    {
      const char *overload =
          g_str_has_prefix (name, prefix) ? (const char *) name + strlen (prefix) : NULL;

      if (overload == NULL || strchr (overload, '.') != NULL)
        continue;
      if (g_str_equal (overload, "default"))
        return op;
      found = op;
      n++;
    }
  return n == 1 ? found : NULL;
}

const AdjOp *
adj_extensions_find_op (const AdjExtensions *extensions, const char *target)
{
  const AdjOp *op = g_hash_table_lookup (extensions->ops, target);

  return op != NULL ? op : find_overload (extensions, target);
}

/* Whether the @n bytes of @text name this class: by its full name, or the last part of it, as in
 * Python. */
static gboolean
is_written_as (const char *name, const char *text, gsize n)
{
  const char *dot = strrchr (name, '.');
  const char *last = dot != NULL ? dot + 1 : name;

  return (strlen (name) == n && strncmp (name, text, n) == 0) ||
         (strlen (last) == n && strncmp (last, text, n) == 0);
}

/* (nullable): the end of the class name: "Scale" of "Scale(2.0)", "Speed" of "Speed.FAST". */
static const char *
find_end_of_name (const char *text)
{
  const char *open = strchr (text, '('), *end = open != NULL ? open : strrchr (text, '.');

  if (open != NULL && !g_str_has_suffix (text, ")"))
    return NULL;
  if (open == NULL && text[strspn (text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.")] != '\0')
    return NULL;
  return end;
}

const AdjObjectClass *
adj_extensions_find_written (const AdjExtensions *extensions, const char *text, const char **inside)
{
  const char *open = find_end_of_name (text);

  if (open == NULL)
    return NULL;
  *inside = open + 1;
  for (guint i = 0; i < extensions->classes->len; i++)
    {
      const AdjObjectClass *klass = extensions->classes->pdata[i];

      if (klass->read != NULL && is_written_as (klass->name, text, (gsize) (open - text)))
        return klass;
    }
  return NULL;
}
