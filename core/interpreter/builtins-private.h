/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "interpreter/adj-effect-ops.h"

G_BEGIN_DECLS

/* A Python callable in graphs other than operators: getitem, getattr, arithmetic on sizes,
 * checkpoints, context settings.  @kwargs is a DICT or NONE; @out (transfer full). %FALSE: the
 * context is in error. */
typedef gboolean (*AdjBuiltinFunc) (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

typedef struct
{
  const char *target; /* "operator.getitem" */
  AdjBuiltinFunc call;
} AdjBuiltin;

const AdjBuiltin *adj_builtin_find (const char *target); /* (nullable) */
/* Methods of a tensor that read its metadata, `x.size (0)`. */
const AdjBuiltin *adj_builtin_find_method (const char *name); /* (nullable) */

/* (nullable): the operator named by an argument, in the graph that runs. */
const AdjOp *adj_builtin_find_op (AdjContext *cx, const char *target);

/* Sets the context's error; returns %FALSE. */
gboolean adj_builtin_fail (AdjContext *cx, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* -- flex-attention.c, flex-attention-backward.c -- */

gboolean adj_builtin_flex_attention (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_flex_attention_backward (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_zeros_and_scatter (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- broadcast-shapes.c -- */

gboolean adj_builtin_broadcast_shapes (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- attributes.c -- */

gboolean adj_builtin_getattr (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

gboolean adj_builtin_item (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- autocast-builtins.c -- */

gboolean adj_builtin_run_with_autocast (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_exit_autocast (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_enter_autocast (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- captured-builtins.c -- */

gboolean adj_builtin_call_object (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_self_invoke (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_accumulate (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- checks.c: what programs say of sizes that data decide -- */

gboolean adj_builtin_check (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_check_is_size (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- function-apply.c -- */

gboolean adj_builtin_apply_function (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- indexing.c: Python's indexing of tensors -- */

/* @tensor[@index]; @out (transfer full). */
gboolean adj_index_read (AdjContext *cx, AdjTensor *tensor, const AdjValue *index, AdjValue *out);
/* @tensor[@index] = @value. */
gboolean
adj_index_write (AdjContext *cx, AdjTensor *tensor, const AdjValue *index, const AdjValue *value);

/* -- literal.c -- */

gboolean adj_builtin_tensor (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_new_tensor (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
/* As adj_builtin_tensor(), but a tensor argument is returned itself. */
gboolean adj_builtin_as_tensor (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- numbers.c: arithmetic on floats -- */

/* @op on numbers, at least one of which is a float. */
gboolean adj_builtin_compute (
    AdjContext *cx, AdjSizeOp op, const AdjValue *args, guint n_args, AdjValue *out);
gboolean adj_builtin_truediv (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
/* Applies @function of math.h to a number. */
gboolean adj_builtin_apply_math (
    AdjContext *cx, double (*function) (double), const AdjValue *args, guint n_args, AdjValue *out);
gboolean adj_builtin_float (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_trunc (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- transforms.c: steps of torch.func -- */

gboolean adj_builtin_begin_batch (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_begin_gradients (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_begin_forward (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_make_dual (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_unpack_dual (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_end_level (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_add_batch_dim (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_remove_batch_dim (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_wrap_for_grad (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_unwrap_for_grad (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_track_gradient (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_differentiate (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- node-op-builtins.c -- */

gboolean adj_builtin_unwrap_size (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_validate_outputs (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_copy_slices_prologue (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_copy_slices_epilogue (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_aot_prologue (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_call_accumulate (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_accumulate_node (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- regions.c: functions that take graphs, and switches of the context -- */

/* Splits @kwargs (nullable) into those of checkpoint() itself and those for the function, in order
 * (interpreter/SPEC.md §5.3).  Both (out) (transfer full): DICT. */
void
adj_builtin_divide_kwargs (const AdjValue *kwargs, AdjValue *of_checkpoint, AdjValue *of_function);

gboolean adj_builtin_run_packed (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_run_operands (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_run_region (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_run_tagged (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_run_with_grad (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_run_checkpointed (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_set_grad_enabled (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_seed (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_ignore (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- register-hook.c -- */

gboolean adj_builtin_register_hook (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

/* -- effects.c -- */

gboolean adj_builtin_call_torchbind (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_with_effects (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
/* Calls @op as in a graph; with @new_token after @token (nullable). */
gboolean adj_interpret_effect (AdjContext *cx,
                               AdjTensor *token,
                               const AdjEffectOp *op,
                               const AdjValue *args,
                               const AdjValue *kwargs,
                               AdjValue *result,
                               AdjTensor **new_token);

/* -- rng-builtins.c -- */

gboolean adj_builtin_run_and_save_rng_state (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);
gboolean adj_builtin_run_with_rng_state (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out);

G_END_DECLS
