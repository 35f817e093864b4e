/* SPDX-License-Identifier: MIT */
/* Checks properties of random programs and reduces failing programs. */

#include <string.h>

#include "rules/adj-apply.h"
#include "support/programs-private.h"

/* -- dropping statements -- */

typedef struct
{
  const Statement *dropped;
  guint instead;
} Dropping;

static guint
rename_var (const Dropping *dropping, guint var)
{
  const Statement *dropped = dropping->dropped;

  return var >= dropped->out && var < dropped->out + dropped->n_out ? dropping->instead : var;
}

static gboolean
rename_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = adj_value_copy (leaf);
  if (leaf->kind == ADJ_VALUE_NODE)
    out->node.index = rename_var (data, leaf->node.index);
  return TRUE;
}

static void
rename_value (AdjValue *value, Dropping *dropping)
{
  AdjValue renamed;

  adj_value_map (value, rename_leaf, dropping, &renamed);
  adj_value_clear (value);
  *value = renamed;
}

/* (transfer full) (nullable): @program without statement @index; its results are replaced by the
 * first value it read. */
static Program *
drop_statement (const Program *program, guint index)
{
  const Statement *dropped = &g_array_index (program->statements, Statement, index);
  gint first = statement_first_var (dropped);
  Dropping dropping = { dropped, (guint) first };
  Program *copy;

  if (dropped->n_out > 0 && first < 0)
    return NULL;
  copy = program_copy (program);
  for (guint i = index + 1; i < copy->statements->len; i++)
    {
      Statement *statement = &g_array_index (copy->statements, Statement, i);

      rename_value (&statement->args, &dropping);
      rename_value (&statement->kwargs, &dropping);
      statement->var = rename_var (&dropping, statement->var);
      if (statement->guard >= 0)
        statement->guard = (gint) rename_var (&dropping, (guint) statement->guard);
    }
  for (guint i = 0; i < copy->n_outputs; i++)
    copy->outputs[i] = rename_var (&dropping, copy->outputs[i]);
  g_array_remove_index (copy->statements, index);
  return copy;
}

static Program *
drop_output (const Program *program, guint index)
{
  Program *copy = program_copy (program);

  memmove (copy->outputs + index, copy->outputs + index + 1,
           (copy->n_outputs - index - 1) * sizeof *copy->outputs);
  copy->n_outputs--;
  return copy;
}

static gboolean
holds (const Program *program, ProgramCheck check)
{
  g_autoptr (GString) why = g_string_new (NULL);

  return check (program, why);
}

/* Replaces @program by @candidate (nullable) if that fails the check too. */
static gboolean
try_smaller (Program **program, Program *candidate, ProgramCheck check)
{
  if (candidate == NULL)
    return FALSE;
  if (holds (candidate, check))
    {
      program_free (candidate);
      return FALSE;
    }
  program_free (*program);
  *program = candidate;
  return TRUE;
}

static void
shrink (Program **program, ProgramCheck check)
{
  gboolean changed = TRUE;

  while (changed)
    {
      changed = FALSE;
      for (guint i = (*program)->statements->len; i-- > 0;)
        changed |= try_smaller (program, drop_statement (*program, i), check);
      for (guint i = (*program)->n_outputs; i-- > 0 && (*program)->n_outputs > 1;)
        changed |= try_smaller (program, drop_output (*program, i), check);
    }
}

/* -- checking -- */

/* Reduces @program (owned), which failed the check, and logs it. */
static void
report (Program *program, ProgramCheck check)
{
  g_autoptr (GString) text = g_string_new (NULL);

  shrink (&program, check);
  program_print (program, text);
  check (program, text);
  g_test_message ("%s", text->str);
  program_free (program);
}

/* Parses "10000" or "10000-30000". */
static void
read_seeds (const char *wanted, guint *first, guint *end)
{
  char *rest = NULL;

  *end = (guint) g_ascii_strtoull (wanted, &rest, 10);
  if (*rest != '-')
    return;
  *first = *end;
  *end = (guint) g_ascii_strtoull (rest + 1, NULL, 10);
}

void
program_check_all (guint n, ProgramFlags flags, ProgramCheck check)
{
  const char *wanted = g_getenv ("ADJ_TEST_PROGRAMS");
  guint first = 0, end = n, n_failed = 0;

  if (wanted != NULL)
    read_seeds (wanted, &first, &end);
  for (guint seed = first; seed < end; seed++)
    {
      Program *program = program_new (seed, flags);

      if (holds (program, check))
        {
          program_free (program);
          continue;
        }
      report (program, check);
      n_failed++;
    }
  if (n_failed > 0)
    g_test_fail_printf ("%u of the programs of seeds %u to %u", n_failed, first, end - 1);
}

static void
print_meta (const AdjTensor *tensor, GString *out)
{
  adj_tensor_meta_print (adj_tensor_get_meta (tensor), NULL, out);
}

static void
print_numbers (AdjTensor *tensor, GString *out)
{
  g_autoptr (AdjTensorData) data = adj_tensor_snapshot (tensor);
  g_autofree char *text = adj_tensor_data_print (data, 64);

  g_string_append (out, text);
}

gboolean
program_same_values (AdjContext *cx, AdjTensor *a, AdjTensor *b, const char *what, GString *why)
{
  const AdjTensorMeta *x = adj_tensor_get_meta (a), *y = adj_tensor_get_meta (b);
  g_autoptr (GError) error = NULL;
  const AdjStorage *one, *other;
  AdjTensor *clones[2];

  if (x->dtype != y->dtype || !adj_shape_same_sizes (&x->shape, &y->shape, NULL))
    {
      g_string_append_printf (why, "%s is ", what);
      print_meta (a, why);
      g_string_append (why, ", and ");
      print_meta (b, why);
      g_string_append_c (why, '\n');
      return FALSE;
    }
  clones[0] = adj_apply_clone_contiguous (cx, a);
  clones[1] = adj_apply_clone_contiguous (cx, b);
  if (adj_context_take_error (cx, &error))
    {
      g_string_append_printf (why, "%s: %s\n", what, error->message);
      return FALSE;
    }
  one = adj_tensor_get_storage (clones[0]);
  other = adj_tensor_get_storage (clones[1]);
  if (memcmp (adj_storage_read (one), adj_storage_read (other),
              MIN (adj_storage_get_n_bytes (one), adj_storage_get_n_bytes (other))) == 0)
    return TRUE;
  g_string_append_printf (why, "%s is ", what);
  print_numbers (a, why);
  g_string_append (why, ", and ");
  print_numbers (b, why);
  g_string_append_c (why, '\n');
  return FALSE;
}
