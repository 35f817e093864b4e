/* SPDX-License-Identifier: MIT */
/* The same tensor object several times among the inputs (aot/SPEC.md §3.1).  If none of them is
 * written, each becomes a tensor of its own; else repeats are dropped, and every call must have the
 * same repeats. */

#include "aot/aot-private.h"
#include "aot/metadata-private.h"

typedef struct
{
  AotStage parent;
  guint n;
  guint *first; /* by input: the first one that is the same object */
  guint *inner; /* by input: its index among the inner function's arguments */
} Dedupe;

static void
dedupe_finalize (AotStage *stage)
{
  g_free (((Dedupe *) stage)->first);
  g_free (((Dedupe *) stage)->inner);
}

/* -- compile time: the inner function hands the same tensor to all of its positions -- */

static gboolean
repeating_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Dedupe *dedupe = AOT_STAGE (Dedupe, function);
  g_autofree AdjValue *all = g_new0 (AdjValue, dedupe->n + 1);

  for (guint i = 0; i < dedupe->n; i++)
    all[i] = args[dedupe->inner[i]];
  return adj_function_call (AOT_INNER (function), cx, all, dedupe->n, result);
}

static const AdjFunctionClass repeating_class = {
  .name = "repeats",
  .call = repeating_call,
  .finalize = aot_function_finalize,
};

/* -- run time -- */

static gboolean
dropping_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Dedupe *dedupe = AOT_STAGE (Dedupe, function);
  g_autofree AdjValue *kept = g_new0 (AdjValue, n_args + 1);
  guint n = 0;

  for (guint i = 0; i < n_args; i++)
    if (dedupe->first[i] == i)
      kept[n++] = args[i];
    else if (args[i].kind != ADJ_VALUE_TENSOR || args[dedupe->first[i]].kind != ADJ_VALUE_TENSOR ||
             args[i].tensor != args[dedupe->first[i]].tensor)
      return aot_fail_context (cx, AOT_ERROR_DUPLICATE_DIFFERS, AOT_INPUT (i),
                               ", a duplicate of input %u", dedupe->first[i]);
  return adj_function_call (AOT_INNER (function), cx, kept, n, result);
}

static const AdjFunctionClass dropping_class = {
  .name = "without repeats",
  .call = dropping_call,
  .finalize = aot_function_finalize,
};

static AdjFunction *
dedupe_wrap (AotStage *stage, AdjFunction *inner)
{
  return aot_function_new (&dropping_class, inner, stage);
}

static const AotStageClass dedupe_class = {
  .name = "dedupe",
  .wrap = dedupe_wrap,
  .finalize = dedupe_finalize,
};

/* -- what to do -- */

/* By input: the first that is the same object. (transfer full) */
static guint *
find_first (const AotProgram *program)
{
  guint n = program->arguments->len;
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL); /* object → input */
  guint *first = g_new0 (guint, n + 1);

  for (guint i = 0; i < n; i++)
    {
      gpointer key = GUINT_TO_POINTER (AOT_ARGUMENT (program, i)->object);
      gpointer earlier;

      first[i] = i;
      if (aot_argument_meta (AOT_ARGUMENT (program, i)) == NULL)
        continue;
      if (g_hash_table_lookup_extended (seen, key, NULL, &earlier))
        first[i] = GPOINTER_TO_UINT (earlier);
      else
        g_hash_table_insert (seen, key, GUINT_TO_POINTER (i));
    }
  return first;
}

/* Gives each repeat an object number of its own. */
static void
split_repeats (AotProgram *program, const guint *first)
{
  guint next = 0;

  for (guint i = 0; i < program->arguments->len; i++)
    next = MAX (next, MAX (AOT_ARGUMENT (program, i)->object + 1,
                           (guint) (AOT_ARGUMENT (program, i)->base + 1)));
  for (guint i = 0; i < program->arguments->len; i++)
    if (first[i] != i)
      {
        AotArgument *argument = AOT_ARGUMENT (program, i);

        argument->object = next++;
        argument->base = -1;
      }
}

/* Drops tangents of written repeats; tangents of inputs come first, in input order. */
static void
drop_tangents (AdjAotMetadata *metadata, const guint *first)
{
  guint from = 0, to = 0;

  for (guint i = 0; i < metadata->n_mutated_runtime; i++)
    if (adj_aot_metadata_has_tangent (metadata, i))
      {
        guint input = metadata->mutated_runtime[i];

        if (first[input] == input)
          metadata->tangents[to++] = metadata->tangents[from];
        from++;
      }
  while (from < metadata->n_tangents)
    metadata->tangents[to++] = metadata->tangents[from++];
  metadata->n_tangents = to;
}

static void
edit_metadata (AdjAotMetadata *metadata, const Dedupe *dedupe)
{
  guint n = 0;

  drop_tangents (metadata, dedupe->first);
  for (guint i = 0; i < metadata->n_inputs; i++)
    if (dedupe->first[i] == i)
      metadata->inputs[n++] = metadata->inputs[i];
    else
      adj_view_chain_unref (metadata->inputs[i].turned);
  metadata->n_inputs = n;
  for (guint i = 0; i < metadata->n_outputs; i++)
    {
      AdjAotOutput *output = &metadata->outputs[i];

      if (adj_aot_metadata_shows_input (metadata, i))
        output->base = (gint) dedupe->inner[output->base];
    }
  adj_aot_metadata_derive (metadata);
}

static void
drop_repeats (AotProgram *program, guint *first)
{
  Dedupe *dedupe = aot_stage_new (&dedupe_class, sizeof *dedupe);
  GArray *kept = aot_arguments_new ();

  dedupe->n = program->arguments->len;
  dedupe->first = first;
  dedupe->inner = g_new0 (guint, dedupe->n + 1);
  for (guint i = 0; i < dedupe->n; i++)
    dedupe->inner[i] = first[i] == i ? aot_arguments_add (kept, AOT_ARGUMENT (program, i))
                                     : dedupe->inner[first[i]];
  g_string_append_printf (program->note, "%u repeated inputs are dropped", dedupe->n - kept->len);
  g_array_unref (program->arguments);
  program->arguments = kept;
  edit_metadata (program->metadata, dedupe);
  aot_program_set_function (program,
                            aot_function_new (&repeating_class, program->function, dedupe));
  aot_program_push (program, &dedupe->parent);
}

gboolean
aot_dedupe (AotProgram *program, GError **error)
{
  const AdjAotMetadata *metadata = program->metadata;
  guint *first = find_first (program);
  gint written = -1;
  guint n_repeats = 0;

  for (guint i = 0; i < program->arguments->len; i++)
    {
      const AdjAotInput *input = &metadata->inputs[i];

      n_repeats += first[i] != i;
      if (first[i] != i && (input->mutates_data || input->mutates_metadata || input->turned_back))
        written = (gint) i;
    }
  if (written >= 0 && program->options->export_joint)
    {
      g_free (first);
      return aot_fail (error, AOT_ERROR_EXPORT_DUPLICATES, AOT_INPUT (written), NULL);
    }
  if (written >= 0 && program->has_composites)
    {
      g_free (first);
      return aot_fail (error, AOT_ERROR_COMPOSITE_DUPLICATES, AOT_INPUT (written), NULL);
    }
  if (written >= 0)
    {
      drop_repeats (program, first);
      return TRUE;
    }
  split_repeats (program, first);
  g_string_append_printf (program->note, "%u inputs repeat others", n_repeats);
  g_free (first);
  return TRUE;
}
