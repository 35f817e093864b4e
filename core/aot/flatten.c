/* SPDX-License-Identifier: MIT */
/* Flattens containers in arguments and results; at run time the results are rebuilt with the
 * function's structure.  Lifted parameters come first. */

#include "aot/aot-private.h"
#include "aot/tree-private.h"

typedef struct
{
  AotStage parent;
  AdjValue in_tree;
  AdjValue out_tree;
  gboolean has_out_tree;
  guint n_inputs;     /* number of flat inputs */
  gboolean exports;   /* for export: the result must be a tuple */
  GArray *parameters; /* of AdjValue, owned */
} Flatten;

static void
flatten_finalize (AotStage *stage)
{
  Flatten *flatten = (Flatten *) stage;

  adj_value_clear (&flatten->in_tree);
  adj_value_clear (&flatten->out_tree);
  g_array_unref (flatten->parameters);
}

/* -- compile time -- */

#define OF_RESULT ((AotBlame){ "the function", -1, 0, -1, -1 })

static void
take_leaves (const GArray *leaves, AdjValue *result)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, leaves->len + 1);

  for (guint i = 0; i < leaves->len; i++)
    items[i] = adj_value_copy (&g_array_index (leaves, AdjValue, i));
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, leaves->len);
}

/* Takes flat arguments, gives flat results. */
static gboolean
flat_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  Flatten *flatten = AOT_STAGE (Flatten, function);
  g_autoptr (GArray) leaves = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_auto (AdjValue) nested = aot_tree_unflatten (&flatten->in_tree, args, n_args);
  g_auto (AdjValue) out = ADJ_NONE;
  AdjValue tree;

  if (!adj_function_call (AOT_INNER (function), cx, nested.items, nested.n, &out))
    return FALSE;
  if (flatten->exports && out.kind != ADJ_VALUE_TUPLE && out.kind != ADJ_VALUE_LIST)
    return aot_fail_context (cx, AOT_ERROR_OUTPUT_NOT_TUPLE, OF_RESULT, " gives %s",
                             adj_value_kind_name (out.kind));
  tree = aot_tree_flatten (&out, leaves);
  if (flatten->has_out_tree)
    adj_value_clear (&tree);
  else
    flatten->out_tree = tree;
  flatten->has_out_tree = TRUE;
  take_leaves (leaves, result);
  return TRUE;
}

static const AdjFunctionClass flat_class = {
  .name = "flat",
  .call = flat_call,
  .finalize = aot_function_finalize,
};

/* -- run time -- */

static gboolean
nested_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Flatten *flatten = AOT_STAGE (Flatten, function);
  g_autoptr (GArray) leaves = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_auto (AdjValue) out = ADJ_NONE;

  g_array_append_vals (leaves, flatten->parameters->data, flatten->parameters->len);
  for (guint i = 0; i < n_args; i++)
    {
      AdjValue tree = aot_tree_flatten (&args[i], leaves);

      adj_value_clear (&tree);
    }
  if (leaves->len != flatten->n_inputs)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "the function takes %u inputs, not %u",
                        flatten->n_inputs, leaves->len);
      return FALSE;
    }
  if (!adj_function_call (AOT_INNER (function), cx, (gconstpointer) leaves->data, leaves->len,
                          &out))
    return FALSE;
  *result = aot_tree_unflatten (&flatten->out_tree, out.items, out.n);
  return TRUE;
}

static const AdjFunctionClass nested_class = {
  .name = "nested",
  .call = nested_call,
  .finalize = aot_function_finalize,
};

static AdjFunction *
flatten_wrap (AotStage *stage, AdjFunction *inner)
{
  return aot_function_new (&nested_class, inner, stage);
}

static const AotStageClass flatten_class = {
  .name = "flatten",
  .wrap = flatten_wrap,
  .finalize = flatten_finalize,
};

gboolean
aot_flatten (AotProgram *program, const AdjValue *inputs, guint n, GError **error)
{
  const AdjAotOptions *options = program->options;
  Flatten *flatten = aot_stage_new (&flatten_class, sizeof *flatten);
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_autoptr (GArray) leaves = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  gboolean done;

  flatten->exports = options->export_joint;
  flatten->parameters = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_array_set_clear_func (flatten->parameters, (GDestroyNotify) adj_value_clear);
  for (guint i = 0; i < options->n_parameters; i++)
    {
      AdjValue parameter = adj_value_copy (&options->parameters[i]);

      g_array_append_val (flatten->parameters, parameter);
      g_array_append_val (all, parameter);
    }
  g_array_append_vals (all, inputs, n);
  flatten->in_tree = aot_tree_flatten (
      &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = all->len, .items = (gpointer) all->data }, leaves);
  flatten->n_inputs = leaves->len;
  done = aot_describe_inputs (program, (gconstpointer) leaves->data, leaves->len, error);
  if (done)
    aot_program_set_function (program, aot_function_new (&flat_class, program->function, flatten));
  g_string_append_printf (program->note,
                          "%u arguments, %u of them lifted parameters, are %u inputs", all->len,
                          options->n_parameters, leaves->len);
  aot_program_push (program, &flatten->parent);
  return done;
}
