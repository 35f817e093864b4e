/* SPDX-License-Identifier: MIT */

/* Hooks of modules and of saved tensors.
 *
 * A module is a part of a program.  Its hooks get the gradients of all its outputs before its
 * backward, and of all its inputs after it, whatever operators it consists of: here two layers,
 * x · w followed by tanh.  Then a tensor that is saved for backward is packed into half the
 * bytes, and unpacked when it is needed. */

#include "programs.h"

typedef struct
{
  AdjFunction parent;
  AdjTensor *weight; /* (unowned) */
} Layer;

static gboolean
layer_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *y = adj_tanh (cx, adj_mul (cx, args[0].tensor, ((Layer *) function)->weight));

  *result = ADJ_TENSOR (adj_keep (y));
  return y != NULL;
}

static const AdjFunctionClass layer_class = { .name = "layer", .call = layer_call };

typedef struct
{
  GString *out;
  const char *name;
} Note;

static void
before (AdjContext *cx, AdjTensor **grad_outputs, guint n_outputs, gpointer data)
{
  const Note *note = data;

  g_string_append_printf (note->out, "before the backward of %s", note->name);
  adj_program_print (cx, note->out, "", grad_outputs[0]);
}

/* The gradients set here replace the original ones. */
static void
after (AdjContext *cx,
       AdjTensor **grad_inputs,
       guint n_inputs,
       AdjTensor *const *grad_outputs,
       guint n_outputs,
       gpointer data)
{
  const Note *note = data;

  g_string_append_printf (note->out, "after the backward of %s", note->name);
  adj_program_print (cx, note->out, "", grad_inputs[0]);
  grad_inputs[0] = adj_mul_scalar (cx, grad_inputs[0], ADJ_FLOAT (0.5));
}

static gboolean
run_modules (AdjContext *cx, GString *out, AdjTensor *x, AdjTensor *w)
{
  const char *const names[] = { "the first layer", "the second layer" };
  AdjValue value = ADJ_TENSOR (x), next;
  AdjModuleHooks *hooks[2];
  Note notes[2];
  AdjTensor *y = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (AdjFunction) layer = adj_function_new (&layer_class, sizeof (Layer));

      ((Layer *) layer)->weight = w;
      hooks[i] = adj_module_hooks_new ();
      notes[i] = (Note){ out, names[i] };
      adj_hook_unref (adj_module_hooks_add_pre (hooks[i], before, &notes[i]));
      adj_hook_unref (adj_module_hooks_add (hooks[i], after, &notes[i]));
      if (!adj_module_hooks_call (hooks[i], cx, layer, &value, 1, &next))
        return FALSE;
      y = adj_scope_add (cx, next.tensor);
      value = ADJ_TENSOR (y);
    }
  y = adj_sum (cx, y);
  adj_tensor_backward (cx, y);
  adj_program_print (cx, out, "the gradient of x", adj_tensor_get_grad (x));
  for (guint i = 0; i < 2; i++)
    adj_module_hooks_free (hooks[i]);
  return !adj_context_has_error (cx);
}

static gpointer
pack (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  AdjTensor *half = adj_to_dtype (cx, tensor, ADJ_DTYPE_F16, FALSE, ADJ_N_MEMORY_FORMATS);

  g_string_append (data, "packed\n");
  return adj_keep (half);
}

static AdjTensor *
unpack (AdjContext *cx, gpointer packed, gpointer data)
{
  g_string_append (data, "unpacked\n");
  return adj_to_dtype (cx, packed, ADJ_DTYPE_F32, FALSE, ADJ_N_MEMORY_FORMATS);
}

static gboolean
run_saved (AdjContext *cx, GString *out, AdjTensor *x)
{
  const AdjSavedHooks halves = {
    .pack = pack, .unpack = unpack, .free_packed = (GDestroyNotify) adj_tensor_unref, .data = out
  };
  AdjTensor *y = adj_exp (cx, x), *sum = adj_sum (cx, y);

  adj_tensor_set_grad (cx, x, NULL);
  if (!adj_grad_node_set_saved_hooks (cx, adj_tensor_get_grad_node (y), 0, &halves))
    return FALSE;
  adj_tensor_backward (cx, sum);
  adj_program_print (cx, out, "the gradient of x", adj_tensor_get_grad (x));
  return !adj_context_has_error (cx);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  const gint64 size[] = { 2 };
  AdjTensor *x = adj_full (cx, size, 1, ADJ_FLOAT (0.5));
  AdjTensor *w = adj_full (cx, size, 1, ADJ_FLOAT (2));

  adj_tensor_set_requires_grad (cx, x, TRUE);
  return run_modules (cx, out, x, w) && run_saved (cx, out, x);
}

ADJ_PUBLIC const AdjProgram *adj_program_modules (void);

const AdjProgram *
adj_program_modules (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "modules",
    .summary = "Hooks of modules, and a saved tensor that is packed",
    .run = run,
  };

  return &program;
}
