/* SPDX-License-Identifier: MIT */

/* Minimal programs that were once compiled wrongly: the compiled program now behaves like the
 * function, or is refused. */

#include <string.h>

#include "aot/case.h"
#include "aot/compile.h"
#include "aot/observed.h"

typedef struct
{
  const char *name;
  const char *inputs, *make, *names, *function; /* as in Case */
  const char *refused;                          /* (nullable): the code of the error */
  guint forbidden; /* number of tensors whose late write raises an error only when compiled */
} Row;

static const Row rows[] = {
  /* Overlapping elements of a list are written one after the other. */
  { "list-that-overlaps", "a [4] rg", NULL, NULL,
    "u=slice(a,0,0,3); v=slice(a,0,1,4); _foreach_mul_.Scalar([u,v],2); return u", NULL, 0 },

  /* A write through one input gives other inputs, and views made of them, a history. */
  { "history-by-another-input", "x [2,3], y [1,3] rg", "v=view(x,[-1]); return x,y,v", "a,b,c",
    "copy_(a,b); d=mul(c,2); return d", NULL, 0 },
  { "views-with-history-by-another-input", "x [2,3], y [1,3] rg", "v=view(x,[-1]); return x,y,v",
    "a,b,c", "copy_(a,b); d=mul(c,2); e=view(d,[3,2]); f=view(d,[-1]); return e,f", NULL, 0 },
  /* as_strided of a view of a written base is a view of that base. */
  { "late-as-strided-of-written", "x [3,2] rg", "v=view(x,[-1]); return x,v", "a,b",
    "c=slice(a,1,-1,3); d=as_strided(c,[2],[1],2); mul_(b,2); return d", NULL, 0 },
  /* A view of a view that was made before the base was transposed in place keeps the base's
   * former geometry. */
  { "view-across-a-turn", "a [2,3], b [] rg", NULL, NULL,
    "c=view(a,[-1,3]); t_(a); d=view(c,[-1,2]); sub_(a,b); return d", NULL, 0 },

  /* A piece of a split that is not marked as a multi-output view may be written, and its views
   * with it. */
  { "unsafe-view-of-a-piece", "a [3,2] rg", NULL, NULL,
    "b=unbind(a,0); c=_unsafe_view(b[0],[-1]); d=unsqueeze(c,0); return c,d", NULL, 0 },

  /* An input whose geometry was changed in place, and back, is not the tensor that gradients are
   * taken of. */
  { "turned-and-written-without-grad", "a [2,1,3] rg", NULL, NULL,
    "b=sum(a); squeeze_(a,-1); no_grad; add_(a,1); return b", NULL, 0 },

  /* A write removes the hooks of views. */
  { "hook-on-view-of-view", "a [3] rg", NULL, NULL,
    "b=sum(a); c=squeeze(b,0); d=unsqueeze(c,0); hook(c); return d", NULL, 1 },
  { "hook-on-view-of-detached", "a [] rg", NULL, NULL,
    "b=detach(a); c=transpose(b,0,0); copy_(c,a); hook(c); return c", NULL, 2 },

  /* Hooks of an input whose geometry is changed in place: its own history stays, that of its
   * views changes. */
  { "hook-before-turn", "x [3,2] rg", "v=view(x,[-1]); return x,v", "a,b",
    "hook(b); unsqueeze_(b,0); return b", NULL, 0 },
  { "hook-before-turn-without-grad", "x [3] rg", "v=select(x,0,0); return x,v", "a,b",
    "hook(b); no_grad; t_(b); return b", NULL, 0 },
  { "hook-before-turn-of-view", "x [3] rg", "v=select(x,0,0); return x,v", "a,b",
    "c=squeeze(b,0); hook(b); transpose_(c,0,0); return c", "hook-on-alias", 0 },
  { "hook-after-turn-of-base", "x [3,2] rg", "v=select(x,0,0); return x,v", "a,b",
    "transpose_(a,0,1); hook(b); return a", "hook-on-alias", 0 },
  { "hook-between-turn-and-write", "x [1,3] rg", "v=view(x,[-1]); return x,v", "a,b",
    "t_(a); hook(a); mul_(a,-2); return a", "hook-on-alias", 0 },
  { "hook-on-turned-and-written-without-grad", "a [3,2] rg", NULL, NULL,
    "squeeze_(a,0); hook(a); no_grad; mul_(a,-2); return a", "hook-on-alias", 0 },
};

static void
observe (Observed *observed, gconstpointer data)
{
  const Row *row = data;
  const Case program = { .inputs = (char *) row->inputs,
                         .make = (char *) row->make,
                         .names = (char *) row->names };

  case_observe (&program, observed);
}

static void
check (gconstpointer data)
{
  const Row *row = data;
  const Case program = { .inputs = (char *) row->inputs,
                         .names = (char *) row->names,
                         .function = (char *) row->function };
  const AdjAotOptions options = { .keep_input_mutations = TRUE };
  g_autoptr (AdjFunction) function = case_function_new (&program);
  g_autoptr (AdjFunction) compiled = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) why = g_string_new (NULL);
  g_auto (Observed) examples = { .cx = NULL };
  SameCalls counts = { 0 };

  observe (&examples, row);
  aot = adj_aot_trace (function, examples.inputs, examples.n_inputs, &options, NULL, &error);
  if (row->refused != NULL)
    {
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, row->refused));
      return;
    }
  g_assert_no_error (error);
  compiled = compile_by_default (aot);
  if (!observed_same_calls (observe, row, function, compiled, &counts, why))
    g_error ("%s", why->str);
  g_assert_cmpuint (counts.n_calls, >, 1);
  g_assert_cmpuint (counts.n_forbidden, ==, row->forbidden);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strconcat ("/aot/regressions/", rows[i].name, NULL);

      g_test_add_data_func (path, &rows[i], check);
    }
  return g_test_run ();
}
