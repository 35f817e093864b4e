/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <stdio.h>
#include <string.h>

#include "programs.h"

/* -- names -- */

static gboolean
is_plugin (const char *name)
{
  const char *colon = strrchr (name, ':');

  return colon != NULL && colon - name > 3 && strncmp (colon - 3, ".so", 3) == 0;
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
  if (target->program == NULL || at == NULL || strcmp (at, "@eager") == 0)
    return TRUE;
  target->traced = strcmp (at, "@traced") == 0;
  if (!target->traced)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                 "%s: a program runs @eager or @traced, not %s", text, at);
  return target->traced;
}

/* -- run -- */

AdjExit
adj_program_target_run (const AdjProgramTarget *target, GError **error)
{
  g_autoptr (AdjContext) cx = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (AdjGraph) graph = NULL;
  g_autofree char *text = NULL;

  if (target->traced)
    {
      graph = adj_program_trace (target->program, error);
      text = graph != NULL ? adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL) : NULL;
      printf ("%s", text != NULL ? text : "");
      return graph != NULL ? ADJ_EXIT_DONE : ADJ_EXIT_BAD_INPUT;
    }
  if (target->program->run == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the program '%s' only has a function",
                   target->program->name);
      return ADJ_EXIT_BAD_INPUT;
    }
  cx = adj_program_context_new ();
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
add_leaf (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_DATA)
    g_ptr_array_add (data, leaf->data);
  return TRUE;
}

/* Prints a line for each pair; returns how many differ. */
static guint
compare_leaves (GPtrArray *a, GPtrArray *b)
{
  guint n_differ = 0;

  for (guint i = 0; i < a->len; i++)
    {
      AdjTensorData *left = a->pdata[i], *right = b->pdata[i];
      g_autofree char *first = adj_tensor_data_print (left, G_MAXUINT);
      g_autofree char *second = adj_tensor_data_print (right, G_MAXUINT);
      gboolean same = strcmp (first, second) == 0;
      double worst = 0;

      for (gint64 k = 0;
           !same && k < adj_tensor_data_get_numel (left) && k < adj_tensor_data_get_numel (right);
           k++)
        worst = MAX (worst, ABS (adj_tensor_data_get_double (left, k) -
                                 adj_tensor_data_get_double (right, k)));
      printf ("output %u  %s", i, same ? "equal\n" : "differs");
      if (!same)
        printf (", by at most %g\n", worst);
      n_differ += !same;
    }
  printf ("%u outputs: %u equal, %u differ\n", a->len, a->len - n_differ, n_differ);
  return n_differ;
}

AdjExit
adj_program_target_compare (const AdjProgramTarget *a, const AdjProgramTarget *b, GError **error)
{
  g_auto (AdjValue) left = ADJ_NONE;
  g_auto (AdjValue) right = ADJ_NONE;
  g_autoptr (GPtrArray) in_left = g_ptr_array_new ();
  g_autoptr (GPtrArray) in_right = g_ptr_array_new ();

  if (a->program == NULL || b->program == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "a program is compared with a program: PROGRAM@eager PROGRAM@traced");
      return ADJ_EXIT_BAD_INPUT;
    }
  if (!adj_program_evaluate (a->program, a->traced, &left, error) ||
      !adj_program_evaluate (b->program, b->traced, &right, error))
    return ADJ_EXIT_BAD_INPUT;
  adj_value_foreach (&left, add_leaf, in_left);
  adj_value_foreach (&right, add_leaf, in_right);
  if (in_left->len != in_right->len)
    {
      printf ("%u outputs, and %u\n", in_left->len, in_right->len);
      return ADJ_EXIT_DIFFERENT;
    }
  return compare_leaves (in_left, in_right) > 0 ? ADJ_EXIT_DIFFERENT : ADJ_EXIT_DONE;
}
