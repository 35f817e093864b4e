/* SPDX-License-Identifier: MIT */
#include "aot/adj-aot-passes.h"
#include "passes/adj-pass-internal.h"
#include "session/adj-pipeline.h"

static const AdjPass *const passes[] = {
  &adj_pass_functionalize, &adj_pass_joint,       &adj_pass_export, &adj_pass_decompose,
  &adj_pass_constant_fold, &adj_pass_cse,         &adj_pass_dce,    &adj_pass_normalise,
  &adj_pass_unlift_tokens, &adj_pass_lift_tokens,
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

const AdjPass *
adj_pass_find (const char *name, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      if (g_str_equal (passes[i]->name, name))
        return passes[i];
      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", passes[i]->name);
    }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "there is no pass '%s' (there are %s)", name,
               names->str);
  return NULL;
}
