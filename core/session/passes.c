/* SPDX-License-Identifier: MIT */
/* The table of passes. */

#include "aot/adj-aot-passes.h"
#include "base/adj-names-internal.h"
#include "compiled_autograd/adj-compiled-autograd-pass.h"
#include "passes/adj-pass-internal.h"
#include "session/adj-pipeline.h"

static const AdjPass *const passes[] = {
  &adj_pass_functionalize,
  &adj_pass_joint,
  &adj_pass_export,
  &adj_pass_decompose,
  &adj_pass_constant_fold,
  &adj_pass_cse,
  &adj_pass_dce,
  &adj_pass_normalise,
  &adj_pass_unlift_tokens,
  &adj_pass_lift_tokens,
  &adj_pass_compiled_autograd,
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
