/* SPDX-License-Identifier: MIT */

/* Custom operations in a captured backward.
 *
 * A capture does not look inside a custom operation: the graph calls its backward as a whole
 * (call_backward) with the saved tensors, and assumes that its gradients have the metadata of
 * its inputs.  The gate below returns no gradient for its second input: everything computed from
 * that is undefined too, and the leaf behind it gets no gradient.
 *
 *   adjoint trace compiled-custom --dump-after dce */

#include "programs.h"

static gboolean
sine_forward (AdjCustomCall *call, AdjTensor *const *in, guint n_in, AdjTensor **out, guint n_out)
{
  adj_custom_call_save (call, in, 1);
  out[0] = adj_sin (adj_custom_call_get_context (call), in[0]);
  return out[0] != NULL;
}

static gboolean
sine_backward (
    AdjCustomCall *call, AdjTensor *const *grads, guint n_grads, AdjTensor **out, guint n_out)
{
  AdjContext *cx = adj_custom_call_get_context (call);
  AdjTensor *saved = adj_custom_call_get_saved (call, 0);

  if (saved == NULL)
    return FALSE;
  out[0] = adj_mul (cx, grads[0], adj_cos (cx, saved));
  return out[0] != NULL;
}

static const AdjCustomClass sine = { .name = "Sine",
                                     .forward = sine_forward,
                                     .backward = sine_backward };

static gboolean
gate_forward (AdjCustomCall *call, AdjTensor *const *in, guint n_in, AdjTensor **out, guint n_out)
{
  adj_custom_call_save (call, in, 2);
  out[0] = adj_mul (adj_custom_call_get_context (call), in[0], in[1]);
  return out[0] != NULL;
}

static gboolean
gate_backward (
    AdjCustomCall *call, AdjTensor *const *grads, guint n_grads, AdjTensor **out, guint n_out)
{
  AdjTensor *saved = adj_custom_call_get_saved (call, 1);

  if (saved == NULL)
    return FALSE;
  out[0] = adj_mul (adj_custom_call_get_context (call), grads[0], saved);
  out[1] = NULL; /* undefined: the gate's weight gets no gradient */
  return out[0] != NULL;
}

static const AdjCustomClass gate = { .name = "Gate",
                                     .forward = gate_forward,
                                     .backward = gate_backward };

static AdjTensor *
apply (AdjContext *cx, const AdjCustomClass *klass, AdjTensor *const *in, guint n)
{
  AdjTensor *out;

  return adj_custom_apply (cx, klass, NULL, NULL, in, n, &out, 1) ? out : NULL;
}

static gboolean
run (AdjContext *cx, GString *out)
{
  AdjTensor *x = adj_mul_scalar (cx, adj_arange (cx, ADJ_INT (3)), ADJ_FLOAT (0.5));
  AdjTensor *w = adj_mul_scalar (cx, adj_arange (cx, ADJ_INT (3)), ADJ_FLOAT (0.25));
  AdjTensor *in[2], *gated;

  adj_tensor_set_requires_grad (cx, x, TRUE);
  adj_tensor_set_requires_grad (cx, w, TRUE);
  in[0] = apply (cx, &sine, &x, 1);
  in[1] = adj_exp (cx, w);
  gated = in[0] != NULL ? apply (cx, &gate, in, 2) : NULL;
  if (gated == NULL || !adj_tensor_backward (cx, adj_sum (cx, gated)))
    return FALSE;
  adj_program_print (cx, out, "gradient of x", adj_tensor_get_grad (x));
  adj_program_print (cx, out, "gradient of w, behind the gate", adj_tensor_get_grad (w));
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *adj_program_compiled_custom (void);

const AdjProgram *
adj_program_compiled_custom (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "compiled-custom",
    .summary = "Backwards of one's own, and an undefined gradient, in a capture",
    .run = run,
  };

  return &program;
}
