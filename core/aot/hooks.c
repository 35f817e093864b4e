/* SPDX-License-Identifier: MIT */
/* Hooks that the function adds to its inputs belong on the caller's tensors, which also get
 * gradients by other paths.  The trace leaves them out, and every call adds them. */

#include "aot/aot-private.h"
#include "autograd/adj-hook-internal.h"

typedef struct
{
  AotStage parent;
  guint n;
  GPtrArray **hooks; /* by input: (nullable) of AdjHook, owned */
} Hooks;

static void
hooks_finalize (AotStage *stage)
{
  Hooks *hooks = (Hooks *) stage;

  for (guint i = 0; i < hooks->n; i++)
    g_clear_pointer (&hooks->hooks[i], g_ptr_array_unref);
  g_free (hooks->hooks);
}

/* -- compile time -- */

/* If an object is several inputs, its hooks are taken at the first. */
static void
take_hooks (Hooks *hooks, const AdjValue *args, AdjGradNode *const *nodes, guint n)
{
  for (guint i = 0; i < n; i++)
    if (args[i].kind == ADJ_VALUE_TENSOR)
      {
        g_clear_pointer (&hooks->hooks[i], g_ptr_array_unref);
        hooks->hooks[i] = adj_autograd_take_hooks (args[i].tensor, nodes[i]);
      }
}

static gboolean
taking_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  Hooks *hooks = AOT_STAGE (Hooks, function);
  g_autofree AdjGradNode **nodes = g_new0 (AdjGradNode *, n_args + 1);
  gboolean done;

  g_return_val_if_fail (n_args == hooks->n, FALSE);

  for (guint i = 0; i < n_args; i++)
    {
      AdjGradNode *node =
          args[i].kind == ADJ_VALUE_TENSOR ? adj_tensor_get_grad_node (args[i].tensor) : NULL;

      nodes[i] = node != NULL ? adj_grad_node_ref (node) : NULL;
    }
  done = adj_function_call (AOT_INNER (function), cx, args, n_args, result);
  take_hooks (hooks, args, nodes, n_args);
  for (guint i = 0; i < n_args; i++)
    adj_grad_node_unref (nodes[i]);
  return done;
}

static const AdjFunctionClass taking_class = {
  .name = "without hooks of inputs",
  .call = taking_call,
  .finalize = aot_function_finalize,
};

/* -- run time -- */

static gboolean
giving_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Hooks *hooks = AOT_STAGE (Hooks, function);

  for (guint i = 0; i < n_args && i < hooks->n; i++)
    for (guint k = 0; hooks->hooks[i] != NULL && k < hooks->hooks[i]->len; k++)
      if (args[i].kind == ADJ_VALUE_TENSOR &&
          !adj_tensor_add_hook_like (cx, args[i].tensor, g_ptr_array_index (hooks->hooks[i], k)))
        return FALSE;
  return adj_function_call (AOT_INNER (function), cx, args, n_args, result);
}

static const AdjFunctionClass giving_class = {
  .name = "with hooks of inputs",
  .call = giving_call,
  .finalize = aot_function_finalize,
};

static AdjFunction *
hooks_wrap (AotStage *stage, AdjFunction *inner)
{
  return aot_function_new (&giving_class, inner, stage);
}

static const AotStageClass hooks_class = {
  .name = "hooks",
  .wrap = hooks_wrap,
  .finalize = hooks_finalize,
};

void
aot_take_hooks (AotProgram *program)
{
  Hooks *hooks = aot_stage_new (&hooks_class, sizeof *hooks);

  hooks->n = program->arguments->len;
  hooks->hooks = g_new0 (GPtrArray *, hooks->n + 1);
  aot_program_set_function (program, aot_function_new (&taking_class, program->function, hooks));
  program->hooks = &hooks->parent;
}

gboolean
aot_input_has_hooks (const AotProgram *program, guint input)
{
  const GPtrArray *list = ((const Hooks *) program->hooks)->hooks[input];

  return list != NULL && list->len > 0;
}

void
aot_give_hooks (AotProgram *program)
{
  const Hooks *hooks = (const Hooks *) program->hooks;
  guint n = 0;

  for (guint i = 0; i < hooks->n; i++)
    n += hooks->hooks[i] != NULL ? hooks->hooks[i]->len : 0;
  if (n == 0)
    return;
  g_string_append_printf (program->note, "; %u hooks of inputs are put on at every call", n);
  aot_program_push (program, aot_stage_ref (program->hooks));
}
