/* SPDX-License-Identifier: MIT */
/* Fused optimiser steps: Adam, AdamW and SGD over lists of tensors. */

#include "adj-kernel-optimizer.h"

#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* Optimisers: list arguments come first, beginning with parameters and gradients; a number in one
 * overload is a tensor of one element in another. */

/* -- shape rules -- */

#define MAX_LISTS 5

static const AdjTensorMeta *
meta_at (const AdjOpCall *call, guint list, guint i)
{
  return adj_tensor_get_meta (call->args[list].items[i].tensor);
}

/* Checks that lists @first to before @end have the length of the first (or are empty if @optional),
 * and their tensors its sizes. */
static gboolean
check_lists (const AdjOpCall *call, guint first, guint end, gboolean optional)
{
  guint n = call->args[0].n;

  for (guint list = first; list < end; list++)
    {
      if (call->args[list].n == 0 && optional)
        continue;
      if (call->args[list].n != n)
        return adj_op_call_fail (call, "the lists have not the same length");
      for (guint i = 0; i < n; i++)
        {
          const AdjTensorMeta *meta = meta_at (call, list, i);

          if (!adj_dtype_is_floating (meta->dtype) ||
              !adj_shape_same_sizes (&meta->shape, &meta_at (call, 0, i)->shape, op_symbols (call)))
            return adj_op_call_fail (call, "tensor %u of '%s' has not the sizes of the parameter",
                                     i, call->schema->arguments[list].name);
          if (!op_check_writable (call, &meta->shape))
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
is_one (const AdjOpCall *call, const AdjTensorMeta *meta)
{
  return adj_size_is (op_symbols (call), adj_shape_numel (&meta->shape, op_symbols (call)), 1) &&
         (gint) meta->dtype < (gint) ADJ_K_N;
}

/* Checks argument @name: a number, a tensor of one element, or None. */
static gboolean
check_number (const AdjOpCall *call, const char *name)
{
  guint arg = adj_op_call_find (call, name);

  if (call->args[arg].kind != ADJ_VALUE_TENSOR ||
      is_one (call, adj_tensor_get_meta (call->args[arg].tensor)))
    return TRUE;
  return adj_op_call_fail (call, "argument '%s' must have one element", name);
}

static gboolean
check_numbers (const AdjOpCall *call)
{
  return check_number (call, "lr") && check_number (call, "grad_scale") &&
         check_number (call, "found_inf");
}

static gboolean
adam_meta (AdjOpCall *call)
{
  if (!check_lists (call, 0, 4, FALSE) || !check_lists (call, 4, 5, TRUE) || !check_numbers (call))
    return FALSE;
  if (adj_op_call_bool (call, adj_op_call_find (call, "amsgrad")) &&
      call->args[4].n != call->args[0].n)
    return adj_op_call_fail (call, "amsgrad needs max_exp_avg_sqs");
  if (call->args[5].n != call->args[0].n)
    return adj_op_call_fail (call, "the lists have not the same length");
  for (guint i = 0; i < call->args[5].n; i++)
    if (!is_one (call, meta_at (call, 5, i)))
      return adj_op_call_fail (call, "a step must have one element");
  return TRUE;
}

static gboolean
sgd_meta (AdjOpCall *call)
{
  gboolean has_momentum = adj_op_call_double (call, adj_op_call_find (call, "momentum"), 0) != 0;

  return check_lists (call, 0, 2, FALSE) && check_lists (call, 2, 3, !has_momentum) &&
         check_numbers (call);
}

/* -- kernels -- */

/* The number in @value; @if_none for None. */
static gboolean
take_number (const AdjOpCall *call, const AdjValue *value, double if_none, AdjKNumber *out)
{
  *out = (AdjKNumber){ .value = if_none };
  if (value->kind == ADJ_VALUE_TENSOR)
    return op_view (call, value->tensor, adj_tensor_get_meta (value->tensor), &out->at);
  if (value->kind == ADJ_VALUE_FLOAT)
    out->value = value->number;
  else if (value->kind == ADJ_VALUE_INT)
    out->value = (double) value->integer;
  return TRUE;
}

static gboolean
take_named (const AdjOpCall *call, const char *name, AdjKNumber *out)
{
  return take_number (call, &call->args[adj_op_call_find (call, name)], 0, out);
}

static double
option (const AdjOpCall *call, const char *name)
{
  return adj_op_call_double (call, adj_op_call_find (call, name), 0);
}

static gboolean
flag (const AdjOpCall *call, const char *name)
{
  return adj_op_call_bool (call, adj_op_call_find (call, name));
}

/* Opens element @i of the lists for writing, also the gradient, although it may only be read: all
 * before any is read, since opening may give a storage new memory. */
static gboolean
open_element (const AdjOpCall *call, guint n_lists, guint i, AdjKView *out)
{
  for (guint pass = 0; pass < 2; pass++)
    for (guint list = 0; list < n_lists; list++)
      if (call->args[list].n > 0 &&
          !op_tensor_to_write (call, call->args[list].items[i].tensor, &out[list]))
        return FALSE;
  return TRUE;
}

static gboolean
adam (AdjOpCall *call, gboolean decoupled)
{
  AdjKAdam step = {
    .beta1 = option (call, "beta1"),
    .beta2 = option (call, "beta2"),
    .weight_decay = option (call, "weight_decay"),
    .eps = option (call, "eps"),
    .decoupled = decoupled,
    .maximize = flag (call, "maximize"),
  };
  gboolean amsgrad = flag (call, "amsgrad");

  for (guint i = 0; i < call->args[0].n; i++)
    {
      AdjKView views[MAX_LISTS];

      if (!open_element (call, amsgrad ? 5 : 4, i, views) ||
          !take_number (call, &call->args[5].items[i], 1, &step.step) ||
          !take_named (call, "lr", &step.lr) ||
          !take_named (call, "grad_scale", &step.grad_scale) ||
          !take_named (call, "found_inf", &step.found))
        return FALSE;
      step.p = views[0];
      step.g = views[1];
      step.m = views[2];
      step.v = views[3];
      step.v_max = amsgrad ? &views[4] : NULL;
      adj_q_adam (op_queue (call), &step);
    }
  return TRUE;
}

static gboolean
adam_kernel (AdjOpCall *call)
{
  return adam (call, FALSE);
}

static gboolean
adamw_kernel (AdjOpCall *call)
{
  return adam (call, TRUE);
}

static gboolean
sgd_kernel (AdjOpCall *call)
{
  AdjKSgd step = {
    .momentum = option (call, "momentum"),
    .dampening = option (call, "dampening"),
    .weight_decay = option (call, "weight_decay"),
    .nesterov = flag (call, "nesterov"),
    .maximize = flag (call, "maximize"),
    .is_first = flag (call, "is_first_step"),
  };
  gboolean has_buffers = step.momentum != 0;

  for (guint i = 0; i < call->args[0].n; i++)
    {
      AdjKView views[MAX_LISTS];

      if (!open_element (call, has_buffers ? 3 : 2, i, views) ||
          !take_named (call, "lr", &step.lr) ||
          !take_named (call, "grad_scale", &step.grad_scale) ||
          !take_named (call, "found_inf", &step.found))
        return FALSE;
      step.p = views[0];
      step.g = views[1];
      step.momentum_buffer = has_buffers ? &views[2] : NULL;
      adj_q_sgd (op_queue (call), &step);
    }
  return TRUE;
}

/* -- mixed precision -- */

static gboolean
unscale_meta (AdjOpCall *call)
{
  for (guint arg = 1; arg < 3; arg++)
    if (!is_one (call, adj_op_call_meta (call, arg)) ||
        adj_op_call_meta (call, arg)->dtype != ADJ_DTYPE_F32)
      return adj_op_call_fail (call, "argument '%s' must be one float32",
                               call->schema->arguments[arg].name);
  return check_lists (call, 0, 1, FALSE);
}

static gboolean
unscale_kernel (AdjOpCall *call)
{
  AdjKView found, x;
  AdjKNumber factor;

  for (guint i = 0; i < call->args[0].n; i++)
    {
      if (!op_tensor_to_write (call, call->args[0].items[i].tensor, &x) ||
          !op_argument_to_write (call, 1, &found) ||
          !take_number (call, &call->args[2], 1, &factor))
        return FALSE;
      adj_q_unscale (op_queue (call), &x, &factor, &found);
    }
  return TRUE;
}

static gboolean
check_scale (AdjOpCall *call)
{
  for (guint arg = 0; arg < 3; arg++)
    {
      const AdjTensorMeta *meta = adj_op_call_meta (call, arg);
      gboolean is_count = arg == 1;

      if (!is_one (call, meta) ||
          (is_count ? meta->dtype != ADJ_DTYPE_I32 : !adj_dtype_is_floating (meta->dtype)))
        return adj_op_call_fail (call, "argument '%s' must be one %s",
                                 call->schema->arguments[arg].name, is_count ? "int32" : "float32");
    }
  return TRUE;
}

static gboolean
update_scale_meta (AdjOpCall *call)
{
  if (!check_scale (call))
    return FALSE;
  adj_op_call_add_view (call, 0, &adj_op_call_meta (call, 0)->shape);
  return TRUE;
}

static gboolean
new_scale_meta (AdjOpCall *call)
{
  if (!check_scale (call))
    return FALSE;
  for (guint arg = 0; arg < 2; arg++)
    op_add_contiguous (call, adj_op_call_meta (call, arg)->dtype,
                       adj_op_call_meta (call, arg)->shape.rank,
                       adj_op_call_meta (call, arg)->shape.size);
  return TRUE;
}

/* The scale and number of steps after the step; the old ones are arguments 0 and 1. */
static gboolean
step_scale (AdjOpCall *call, double *scale, gint64 *steps)
{
  AdjKNumber found, old_scale, old_steps;
  double grown;

  if (!take_number (call, &call->args[0], 0, &old_scale) ||
      !take_number (call, &call->args[1], 0, &old_steps) ||
      !take_number (call, &call->args[2], 0, &found))
    return FALSE;
  *scale = adj_k_number (&old_scale);
  *steps = (gint64) adj_k_number (&old_steps);
  grown = *scale * adj_op_call_double (call, 3, 1);
  if (adj_k_number (&found) != 0)
    {
      *scale *= adj_op_call_double (call, 4, 1);
      *steps = 0;
    }
  else if (++*steps == adj_op_call_int (call, 5, 0))
    {
      *scale = (float) grown <= G_MAXFLOAT ? grown : *scale;
      *steps = 0;
    }
  return TRUE;
}

static void
write_scale (AdjOpCall *call, AdjKView *to, AdjKView *tracker, double scale, gint64 steps)
{
  to->rank = tracker->rank = 0;
  adj_q_fill_f64 (op_queue (call), to, scale);
  adj_q_fill_i64 (op_queue (call), tracker, steps);
}

static gboolean
update_scale_kernel (AdjOpCall *call)
{
  AdjKView to, tracker;
  double scale;
  gint64 steps;

  if (!op_argument_to_write (call, 0, &to) || !op_argument_to_write (call, 1, &tracker) ||
      !step_scale (call, &scale, &steps))
    return FALSE;
  write_scale (call, &to, &tracker, scale, steps);
  return TRUE;
}

static gboolean
new_scale_kernel (AdjOpCall *call)
{
  AdjKView to, tracker;
  double scale;
  gint64 steps;

  if (!op_output (call, 0, &to) || !op_output (call, 1, &tracker) ||
      !step_scale (call, &scale, &steps))
    return FALSE;
  write_scale (call, &to, &tracker, scale, steps);
  return TRUE;
}

/* -- costs -- */

static double
count_elements (const AdjOpCall *call)
{
  double n = 0;

  for (guint i = 0; i < call->args[0].n; i++)
    n += op_count (call, &meta_at (call, 0, i)->shape);
  return n;
}

static double
adam_flops (const AdjOpCall *call)
{
  return 13 * count_elements (call);
}

static double
sgd_flops (const AdjOpCall *call)
{
  return 5 * count_elements (call);
}

static double
unscale_flops (const AdjOpCall *call)
{
  return 2 * count_elements (call);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/optimizer.inc"
};

const OpFamily adj_family_optimizer = { ops, G_N_ELEMENTS (ops) };
