/* SPDX-License-Identifier: MIT */
/* The table of passes. */

#include "base/adj-names-internal.h"
#include "passes/adj-pass-internal.h"
#include "session/adj-pipeline.h"

static const AdjPass *const passes[] = {
#define PASS(name, file) &adj_pass_##name,
#include "passes/passes.inc"
#undef PASS
};

guint
adj_passes_get_n (void)
{
  return G_N_ELEMENTS (passes);
}

const AdjPass *
adj_passes_get (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (passes), NULL);

  return passes[index];
}

static const char *
name_of (guint i)
{
  return passes[i]->name;
}

const AdjPass *
adj_pass_find (const char *name, GError **error)
{
  gint i = adj_names_find ("pass", name_of, G_N_ELEMENTS (passes), name, error);

  return i >= 0 ? passes[i] : NULL;
}
