/* SPDX-License-Identifier: MIT */
/* A program as the target of a command: called, traced, captured or compared with itself. */

#include "program.h"

#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

#include "adj-warnings.h"
#include "builtin-programs.h"

/* -- names -- */

static gboolean
is_plugin (const char *name)
{
  const char *colon = strrchr (name, ':');

  return colon != NULL && colon - name > 3 && strncmp (colon - 3, ".so", 3) == 0;
}

static gboolean
read_how (AdjProgramTarget *target, const char *at, const char *text, GError **error)
{
  static const char *const hows[ADJ_PROGRAM_N_HOWS] = {
    [ADJ_PROGRAM_EAGER] = "@eager",
    [ADJ_PROGRAM_TRACED] = "@traced",
    [ADJ_PROGRAM_COMPILED] = "@compiled",
    [ADJ_PROGRAM_CAPTURED] = "@captured",
    [ADJ_PROGRAM_CAPTURED_2_6] = "@captured-2.6",
  };

  for (guint i = 0; i < ADJ_PROGRAM_N_HOWS; i++)
    if (strcmp (at, hows[i]) == 0)
      {
        target->how = (AdjProgramHow) i;
        return TRUE;
      }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
               "%s: a program runs @eager, @traced, @compiled, @captured or @captured-2.6, not %s",
               text, at);
  return FALSE;
}

gboolean
adj_program_target_init (AdjProgramTarget *target, const char *text, GError **error)
{
  const char *at = strrchr (text, '@');
  g_autofree char *name = at != NULL ? g_strndup (text, (gsize) (at - text)) : g_strdup (text);

  *target = (AdjProgramTarget){ NULL };
  if (g_file_test (text, G_FILE_TEST_EXISTS))
    return TRUE;
  if (is_plugin (name))
    {
      target->program = adj_program_open (name, error);
      if (target->program == NULL)
        return FALSE;
    }
  else
    target->program = adj_builtin_program_find (name);
  return target->program == NULL || at == NULL || read_how (target, at, text, error);
}

/* -- run -- */

static gboolean
is_captured (AdjProgramHow how)
{
  return how == ADJ_PROGRAM_CAPTURED || how == ADJ_PROGRAM_CAPTURED_2_6;
}

/* The graph that is called in place of the function. */
static AdjExit
print_graph (const AdjProgramTarget *target, GError **error)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (AdjAotGraph) aot =
      adj_program_compile (target->program, target->how == ADJ_PROGRAM_TRACED, diags, error);
  g_autofree char *text = NULL;

  adj_warnings_note (target->program->name, diags);
  if (aot == NULL)
    return ADJ_EXIT_BAD_INPUT;
  text = adj_graph_print (adj_aot_graph_get_graph (aot), ADJ_PRINT_DEFAULT, NULL);
  printf ("%s", text);
  return ADJ_EXIT_DONE;
}

static AdjExit
run_captured (const AdjProgramTarget *target, GError **error)
{
  g_auto (AdjProgramOutcome) outcome = { NULL };

  if (target->program->run == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the program '%s' only has a function",
                   target->program->name);
      return ADJ_EXIT_BAD_INPUT;
    }
  if (!adj_program_evaluate (target->program, target->how, TRUE, &outcome, error))
    return ADJ_EXIT_BAD_INPUT;
  printf ("%s", outcome.text);
  return ADJ_EXIT_DONE;
}

AdjExit
adj_program_target_run (const AdjProgramTarget *target, GError **error)
{
  g_autoptr (AdjContext) cx = NULL;
  g_autoptr (GString) out = g_string_new (NULL);

  if (is_captured (target->how))
    return run_captured (target, error);
  if (target->how != ADJ_PROGRAM_EAGER)
    return print_graph (target, error);
  if (target->program->run == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the program '%s' only has a function",
                   target->program->name);
      return ADJ_EXIT_BAD_INPUT;
    }
  cx = adj_context_new_with_autograd ();
  target->program->run (cx, out);
  printf ("%s", out->str);
  if (adj_context_take_error (cx, error))
    {
      g_prefix_error (error, "%s: ", target->program->name);
      return ADJ_EXIT_BAD_INPUT;
    }
  return ADJ_EXIT_DONE;
}

/* -- compare -- */

static gboolean
same_values (AdjTensorData *a, AdjTensorData *b, double *worst)
{
  g_autofree char *first = a != NULL ? adj_tensor_data_print (a, G_MAXUINT) : g_strdup ("");
  g_autofree char *second = b != NULL ? adj_tensor_data_print (b, G_MAXUINT) : g_strdup ("");
  gboolean same = strcmp (first, second) == 0;

  *worst = 0;
  for (gint64 k = 0; !same && a != NULL && b != NULL && k < adj_tensor_data_get_numel (a) &&
                     k < adj_tensor_data_get_numel (b);
       k++)
    *worst =
        MAX (*worst, ABS (adj_tensor_data_get_double (a, k) - adj_tensor_data_get_double (b, k)));
  return same;
}

/* Prints a line for each pair; counts those that differ. */
static void
compare_tensors (const char *kind, GPtrArray *a, GPtrArray *b, guint *n, guint *n_differ)
{
  for (guint i = 0; i < MIN (a->len, b->len); i++, (*n)++)
    {
      double worst;
      gboolean same = same_values (a->pdata[i], b->pdata[i], &worst);

      printf ("%s %u  %s", kind, i, same ? "equal\n" : "differs");
      if (!same)
        printf (", by at most %g\n", worst);
      *n_differ += !same;
    }
}

/* A run may leave thousands of gradients: a line for each that differs, and one for all. */
static void
compare_accumulated (GPtrArray *a, GPtrArray *b, guint *n, guint *n_differ)
{
  guint n_all = MAX (a->len, b->len), n_other = n_all - MIN (a->len, b->len);

  if (n_all == 0 || a->len == 0 || b->len == 0)
    return;
  for (guint i = 0; i < MIN (a->len, b->len); i++)
    {
      double worst;

      if (same_values (a->pdata[i], b->pdata[i], &worst))
        continue;
      printf ("accumulation %u  differs, by at most %g\n", i, worst);
      n_other++;
    }
  if (a->len != b->len)
    printf ("%u accumulations, and %u\n", a->len, b->len);
  if (n_other == 0 && n_all == 1)
    printf ("accumulation 0  equal\n");
  else if (n_other == 0)
    printf ("accumulations 0 to %u  equal\n", n_all - 1);
  *n += n_all;
  *n_differ += n_other;
}

static void
compare_objects (const GPtrArray *a, const GPtrArray *b, guint *n, guint *n_differ)
{
  for (guint i = 0; i < MIN (a->len, b->len); i++)
    {
      gboolean same = adj_object_equal (a->pdata[i], b->pdata[i]);

      printf ("object %u afterwards  %s  %s\n", i, same ? "equal" : "differs",
              adj_object_get_name (a->pdata[i]));
      *n += 1;
      *n_differ += !same;
    }
}

/* Notes what was warned of on the way. */
static gboolean
evaluate (const AdjProgramTarget *target, gboolean run, AdjProgramOutcome *outcome, GError **error)
{
  gboolean done = adj_program_evaluate (target->program, target->how, run, outcome, error);

  adj_warnings_note (target->program->name, outcome->diags);
  return done;
}

AdjExit
adj_program_target_compare (const AdjProgramTarget *a, const AdjProgramTarget *b, GError **error)
{
  g_auto (AdjProgramOutcome) left = { NULL };
  g_auto (AdjProgramOutcome) right = { NULL };
  guint n = 0, n_differ = 0;
  gboolean run;

  if (a->program == NULL || b->program == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "a program is compared with a program: PROGRAM@eager PROGRAM@traced");
      return ADJ_EXIT_BAD_INPUT;
    }
  run = is_captured (a->how) || is_captured (b->how);
  if (!evaluate (a, run, &left, error) || !evaluate (b, run, &right, error))
    return ADJ_EXIT_BAD_INPUT;
  if (left.results->len != right.results->len)
    {
      printf ("%u outputs, and %u\n", left.results->len, right.results->len);
      return ADJ_EXIT_DIFFERENT;
    }
  compare_tensors ("output", left.results, right.results, &n, &n_differ);
  compare_tensors ("input afterwards", left.inputs, right.inputs, &n, &n_differ);
  compare_objects (left.objects, right.objects, &n, &n_differ);
  compare_tensors ("gradient", left.gradients, right.gradients, &n, &n_differ);
  compare_accumulated (left.accumulated, right.accumulated, &n, &n_differ);
  if (left.text != NULL && right.text != NULL)
    {
      gboolean same = strcmp (left.text, right.text) == 0;

      printf ("what it prints  %s\n", same ? "equal" : "differs");
      n++;
      n_differ += !same;
    }
  printf ("%u values: %u equal, %u differ\n", n, n - n_differ, n_differ);
  return n_differ > 0 ? ADJ_EXIT_DIFFERENT : ADJ_EXIT_DONE;
}
