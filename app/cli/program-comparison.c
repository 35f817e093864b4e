/* SPDX-License-Identifier: MIT */
/* Compares two ways to run a program, or two programs, value by value. */

#include <stdio.h>
#include <string.h>

#include "adj-warnings.h"
#include "json-members.h"
#include "program.h"

#define ACCUMULATED "accumulation"
#define PRINTED "what it prints"

/* A value of both sides, or of only one. */
typedef struct
{
  const char *what;       /* "output" */
  const char *class_name; /* (nullable) (unowned): of an object */
  guint index;
  gboolean same;
  gboolean alone; /* only one side has it */
  double worst;   /* greatest distance of two numbers */
} Row;

/* -- comparing -- */

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

static void
compare_tensors (GArray *rows, const char *what, const GPtrArray *a, const GPtrArray *b)
{
  for (guint i = 0; i < MIN (a->len, b->len); i++)
    {
      Row row = { .what = what, .index = i };

      row.same = same_values (a->pdata[i], b->pdata[i], &row.worst);
      g_array_append_val (rows, row);
    }
}

/* Compares values by position; a value that only one side has differs. */
static void
compare_all (GArray *rows, const char *what, const GPtrArray *a, const GPtrArray *b)
{
  compare_tensors (rows, what, a, b);
  for (guint i = MIN (a->len, b->len); i < MAX (a->len, b->len); i++)
    {
      Row row = { .what = what, .index = i, .alone = TRUE };

      g_array_append_val (rows, row);
    }
}

static void
compare_objects (GArray *rows, const GPtrArray *a, const GPtrArray *b)
{
  for (guint i = 0; i < MIN (a->len, b->len); i++)
    {
      Row row = { .what = "object afterwards",
                  .class_name = adj_object_get_name (a->pdata[i]),
                  .index = i,
                  .same = adj_object_equal (a->pdata[i], b->pdata[i]) };

      g_array_append_val (rows, row);
    }
}

static void
compare_outcomes (GArray *rows, const AdjProgramOutcome *a, const AdjProgramOutcome *b)
{
  compare_all (rows, "output", a->results, b->results);
  compare_tensors (rows, "input afterwards", a->inputs, b->inputs);
  compare_objects (rows, a->objects, b->objects);
  compare_tensors (rows, "gradient", a->gradients, b->gradients);
  if (a->accumulated->len > 0 && b->accumulated->len > 0)
    compare_all (rows, ACCUMULATED, a->accumulated, b->accumulated);
  if (a->text != NULL && b->text != NULL)
    {
      Row row = { .what = PRINTED, .same = strcmp (a->text, b->text) == 0 };

      g_array_append_val (rows, row);
    }
}

static guint
count_different (const GArray *rows)
{
  guint n = 0;

  for (guint i = 0; i < rows->len; i++)
    n += !g_array_index (rows, Row, i).same;
  return n;
}

/* -- telling -- */

/* "object 0 afterwards". */
static char *
name_row (const Row *row)
{
  if (row->class_name != NULL)
    return g_strdup_printf ("object %u afterwards", row->index);
  return g_str_equal (row->what, PRINTED) ? g_strdup (row->what)
                                          : g_strdup_printf ("%s %u", row->what, row->index);
}

/* Whether the value has numbers, whose distance is `worst`. */
static gboolean
has_distance (const Row *row)
{
  return row->class_name == NULL && !g_str_equal (row->what, PRINTED);
}

static void
print_row (const Row *row)
{
  g_autofree char *name = name_row (row);

  printf ("%s  %s", name, row->same ? "equal" : "differs");
  if (row->class_name != NULL)
    printf ("  %s", row->class_name);
  else if (!row->same && has_distance (row))
    printf (", by at most %g", row->worst);
  printf ("\n");
}

/* There may be thousands: prints a line for each that differs, and one for all others. */
static void
print_accumulated (const GArray *rows, const GPtrArray *a, const GPtrArray *b)
{
  guint n = 0, n_same = 0;

  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = &g_array_index (rows, Row, i);

      if (!g_str_equal (row->what, ACCUMULATED))
        continue;
      if (!row->same && !row->alone)
        print_row (row);
      n++;
      n_same += row->same;
    }
  if (n > 0 && a->len != b->len)
    printf ("%u accumulations, and %u\n", a->len, b->len);
  if (n_same == 1 && n == 1)
    printf ("accumulation 0  equal\n");
  else if (n_same > 0 && n_same == n)
    printf ("accumulations 0 to %u  equal\n", n - 1);
}

static void
print_rows (const GArray *rows, const AdjProgramOutcome *a, const AdjProgramOutcome *b)
{
  const guint n_differ = count_different (rows);

  if (a->results->len != b->results->len)
    printf ("%u outputs, and %u\n", a->results->len, b->results->len);
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = &g_array_index (rows, Row, i);

      if (!g_str_equal (row->what, ACCUMULATED) && !row->alone)
        print_row (row);
      else if (row->index == 0 && !row->alone)
        print_accumulated (rows, a->accumulated, b->accumulated);
    }
  printf ("%u values: %u equal, %u differ\n", rows->len, rows->len - n_differ, n_differ);
}

static void
print_rows_json (const GArray *rows)
{
  JsonBuilder *builder = json_builder_new ();
  const guint n_differ = count_different (rows);

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "values");
  json_builder_begin_array (builder);
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = &g_array_index (rows, Row, i);
      g_autofree char *name = name_row (row);

      json_builder_begin_object (builder);
      adj_json_add_string (builder, "value", name);
      adj_json_add_string_if_any (builder, "class", row->class_name);
      adj_json_add_string (builder, "verdict", row->same ? "equal" : "differs");
      if (row->alone)
        adj_json_add_boolean (builder, "alone", TRUE);
      else if (!row->same && has_distance (row))
        adj_json_add_double (builder, "max_abs", row->worst);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  adj_json_add_int (builder, "equal", rows->len - n_differ);
  adj_json_add_int (builder, "differ", n_differ);
  json_builder_end_object (builder);
  adj_print_json (builder);
}

/* -- the command -- */

/* Evaluates a program, and keeps its warnings. */
static gboolean
evaluate (const AdjProgramTarget *target, gboolean run, AdjProgramOutcome *outcome, GError **error)
{
  gboolean done = adj_program_evaluate (target->program, target->how, run, outcome, error);

  adj_warnings_note (target->program->name, outcome->diags);
  return done;
}

AdjExit
adj_program_target_compare (const AdjProgramTarget *a,
                            const AdjProgramTarget *b,
                            gboolean json,
                            GError **error)
{
  g_auto (AdjProgramOutcome) left = { NULL };
  g_auto (AdjProgramOutcome) right = { NULL };
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  gboolean run;

  if (a->program == NULL || b->program == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "a program is compared with a program: PROGRAM@eager PROGRAM@traced");
      return ADJ_EXIT_BAD_INPUT;
    }
  run = adj_program_how_is_captured (a->how) || adj_program_how_is_captured (b->how);
  if (!evaluate (a, run, &left, error) || !evaluate (b, run, &right, error))
    return ADJ_EXIT_BAD_INPUT;
  compare_outcomes (rows, &left, &right);
  if (json)
    print_rows_json (rows);
  else
    print_rows (rows, &left, &right);
  return count_different (rows) > 0 ? ADJ_EXIT_DIFFERENT : ADJ_EXIT_DONE;
}
