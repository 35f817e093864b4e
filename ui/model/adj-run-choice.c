/* SPDX-License-Identifier: MIT */
/* The choice of a run: inputs, executor, reference, tolerances; saved with the view. */

#include "model/adj-run-choice.h"

#include <glib/gi18n.h>
#include <math.h>

#define MAX_CALLS 20

guint
adj_run_choice_count_calls (const AdjGraphSet *graphs, const AdjBundleGraph *graph)
{
  guint n = 0;

  while (n < MAX_CALLS && adj_graph_set_find_call (graphs, graph, n) != NULL)
    n++;
  return n;
}

AdjRunChoice
adj_run_choice_fit (AdjRunChoice choice, const AdjGraphSet *graphs, const AdjBundleGraph *graph)
{
  g_autoptr (AdjRecordedCall) kept =
      choice.kept != NULL ? adj_graph_set_find_run (graphs, graph, choice.kept) : NULL;

  if (kept == NULL)
    choice.kept = NULL;
  if (adj_graph_set_find_call (graphs, graph, choice.call) == NULL)
    choice.call = 0;
  if (adj_graph_set_find_call (graphs, graph, choice.call) == NULL && choice.kept == NULL)
    choice.random = TRUE;
  return choice;
}

gboolean
adj_run_choice_is_recorded (AdjRunChoice choice)
{
  return choice.kept == NULL && choice.file == NULL && !choice.random;
}

gboolean
adj_run_choice_has_results (AdjRunChoice choice)
{
  return choice.kept != NULL || adj_run_choice_is_recorded (choice);
}

static gboolean
same_inputs (AdjRunChoice a, AdjRunChoice b)
{
  if (a.kept != NULL || b.kept != NULL)
    return g_strcmp0 (a.kept, b.kept) == 0;
  if (a.file != NULL || b.file != NULL)
    return g_strcmp0 (a.file, b.file) == 0;
  return a.random == b.random && (a.random ? a.seed == b.seed : a.call == b.call);
}

gboolean
adj_run_choice_equal (AdjRunChoice a, AdjRunChoice b)
{
  return same_inputs (a, b) && a.float64 == b.float64 && a.executor == b.executor &&
         g_strcmp0 (a.values, b.values) == 0 && a.close == b.close &&
         (!a.close || (a.rtol == b.rtol && a.atol == b.atol));
}

static void add_part (GString *text, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
add_part (GString *text, const char *format, ...)
{
  va_list args;

  if (text->len > 0)
    g_string_append (text, " · ");
  va_start (args, format);
  g_string_append_vprintf (text, format, args);
  va_end (args);
}

char *
adj_run_choice_describe (AdjRunChoice choice)
{
  GString *text = g_string_new (NULL);
  g_autofree char *name = choice.file != NULL ? g_path_get_basename (choice.file) : NULL;

  if (choice.kept != NULL)
    add_part (text, _ ("inputs of run “%s”"), choice.kept);
  else if (name != NULL)
    add_part (text, _ ("inputs of %s"), name);
  else if (choice.random)
    add_part (text, _ ("random inputs, seed %u"), choice.seed);
  else if (choice.call > 0)
    add_part (text, _ ("call %u"), choice.call + 1);
  if (choice.float64)
    add_part (text, "float64");
  if (choice.executor != NULL)
    add_part (text, "%s", choice.executor->name);
  if (choice.close)
    add_part (text, "rtol %g, atol %g", choice.rtol, choice.atol);
  return g_string_free (text, text->len == 0);
}

void
adj_run_choice_save (AdjRunChoice choice, GKeyFile *keys, const char *group)
{
  g_key_file_set_integer (keys, group, "call", (int) MIN (choice.call, G_MAXINT));
  g_key_file_set_boolean (keys, group, "random", choice.random);
  g_key_file_set_uint64 (keys, group, "seed", choice.seed);
  if (choice.file != NULL)
    g_key_file_set_string (keys, group, "file", choice.file);
  if (choice.kept != NULL)
    g_key_file_set_string (keys, group, "kept", choice.kept);
  g_key_file_set_boolean (keys, group, "float64", choice.float64);
  if (choice.executor != NULL)
    g_key_file_set_string (keys, group, "executor", choice.executor->name);
  g_key_file_set_boolean (keys, group, "close", choice.close);
  g_key_file_set_double (keys, group, "rtol", choice.rtol);
  g_key_file_set_double (keys, group, "atol", choice.atol);
}

static double
load_tolerance (GKeyFile *keys, const char *group, const char *key)
{
  double value = g_key_file_get_double (keys, group, key, NULL);

  return isfinite (value) && value > 0 ? value : 0;
}

AdjRunChoice
adj_run_choice_load (GKeyFile *keys, const char *group)
{
  g_autofree char *file = g_key_file_get_string (keys, group, "file", NULL);
  g_autofree char *kept = g_key_file_get_string (keys, group, "kept", NULL);
  g_autofree char *executor = g_key_file_get_string (keys, group, "executor", NULL);

  return (AdjRunChoice){
    .call = (guint) MAX (g_key_file_get_integer (keys, group, "call", NULL), 0),
    .random = g_key_file_get_boolean (keys, group, "random", NULL),
    .seed = (guint32) MIN (g_key_file_get_uint64 (keys, group, "seed", NULL), G_MAXUINT32),
    .file = file != NULL && *file != '\0' ? g_intern_string (file) : NULL,
    .kept = kept != NULL ? g_intern_string (kept) : NULL,
    .float64 = g_key_file_get_boolean (keys, group, "float64", NULL),
    .executor = executor != NULL ? adj_executor_find (executor, NULL) : NULL,
    .close = g_key_file_get_boolean (keys, group, "close", NULL),
    .rtol = load_tolerance (keys, group, "rtol"),
    .atol = load_tolerance (keys, group, "atol"),
  };
}
