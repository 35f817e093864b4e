/* SPDX-License-Identifier: MIT */
/* Composite tensors (aot/SPEC.md §7): graphs have dense tensors only, so on every call composite
 * inputs are taken apart, and composite outputs and gradients are put together. */

#include "aot/composite-private.h"

#include "aot/metadata-private.h"
#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/adj-apply.h"
#include "trace/adj-composite-internal.h"

/* -- how a value is made of dense ones -- */

AotComposite *
aot_composite_describe (const AdjValue *value)
{
  AotComposite *composite = g_new0 (AotComposite, 1);

  g_atomic_ref_count_init (&composite->ref_count);
  composite->n_leaves = 1;
  if (value->kind != ADJ_VALUE_TENSOR)
    return composite;
  composite->is_tensor = TRUE;
  composite->meta = *adj_tensor_get_meta (value->tensor);
  composite->klass = adj_composite_get_class (value->tensor);
  if (composite->klass == NULL)
    return composite;
  composite->constant = adj_value_copy (adj_composite_get_constant (value->tensor));
  composite->n_leaves = 0;
  for (guint i = 0; i < composite->klass->n_inner; i++)
    {
      composite->inner[i] =
          aot_composite_describe (&ADJ_TENSOR (adj_composite_get_inner (value->tensor, i)));
      composite->n_leaves += composite->inner[i]->n_leaves;
    }
  return composite;
}

static void
lay_out (AotComposite *composite, AdjSymbols *symbols)
{
  AdjTensorMeta *meta = &composite->meta;

  adj_shape_init (&meta->shape, symbols, meta->shape.rank, meta->shape.size);
  meta->requires_grad = FALSE;
  meta->storage = -1;
  for (guint i = 0; composite->klass != NULL && i < composite->klass->n_inner; i++)
    lay_out (composite->inner[i], symbols);
}

AotComposite *
aot_composite_describe_tangent (AdjTensor *tensor, AdjSymbols *symbols)
{
  AotComposite *composite = aot_composite_describe (&ADJ_TENSOR (tensor));

  lay_out (composite, symbols);
  return composite;
}

AotComposite *
aot_composite_ref (AotComposite *composite)
{
  g_atomic_ref_count_inc (&composite->ref_count);
  return composite;
}

void
aot_composite_unref (AotComposite *composite)
{
  if (composite == NULL || !g_atomic_ref_count_dec (&composite->ref_count))
    return;
  for (guint i = 0; composite->klass != NULL && i < composite->klass->n_inner; i++)
    aot_composite_unref (composite->inner[i]);
  adj_value_clear (&composite->constant);
  g_free (composite);
}

GPtrArray *
aot_composite_describe_all (const AdjValue *values, guint n)
{
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify) aot_composite_unref);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (all, aot_composite_describe (&values[i]));
  return all;
}

gboolean
aot_composite_wrap (
    AdjContext *cx, const AotComposite *composite, const AdjValue *leaves, guint *at, AdjValue *out)
{
  AdjTensor *inner[ADJ_MAX_INNER] = { NULL };
  AdjTensor *tensor = NULL;
  gboolean done = TRUE;

  *out = ADJ_NONE;
  if (composite->klass == NULL)
    {
      *out = adj_value_copy (&leaves[(*at)++]);
      return TRUE;
    }
  for (guint i = 0; i < composite->klass->n_inner && done; i++)
    {
      AdjValue part;

      done = aot_composite_wrap (cx, composite->inner[i], leaves, at, &part);
      inner[i] = part.kind == ADJ_VALUE_TENSOR ? adj_scope_add (cx, part.tensor) : NULL;
    }
  if (done)
    tensor =
        adj_composite_new (cx, composite->klass, inner, &composite->constant, &composite->meta);
  if (tensor == NULL)
    return FALSE;
  *out = ADJ_TENSOR (adj_tensor_ref (tensor));
  return TRUE;
}

void
aot_composite_unwrap (const AdjValue *value, GArray *leaves)
{
  const AdjCompositeClass *klass =
      value->kind == ADJ_VALUE_TENSOR ? adj_composite_get_class (value->tensor) : NULL;

  if (klass == NULL)
    g_array_append_val (leaves, *value);
  for (guint i = 0; klass != NULL && i < klass->n_inner; i++)
    aot_composite_unwrap (&ADJ_TENSOR (adj_composite_get_inner (value->tensor, i)), leaves);
}

AdjTensor *
aot_composite_zeros (AdjContext *cx, const AotComposite *composite)
{
  AdjTensor *inner[ADJ_MAX_INNER];

  if (composite->klass == NULL)
    return adj_scope_add (
        cx, adj_tensor_new_empty (&composite->meta, adj_context_get_symbols (cx), FALSE));
  for (guint i = 0; i < composite->klass->n_inner; i++)
    inner[i] = aot_composite_zeros (cx, composite->inner[i]);
  return adj_composite_new (cx, composite->klass, inner, &composite->constant, &composite->meta);
}

static guint
count_leaves (const GPtrArray *composites)
{
  guint n = 0;

  for (guint i = 0; i < composites->len; i++)
    n += ((const AotComposite *) composites->pdata[i])->n_leaves;
  return n;
}

/* -- the stage -- */

typedef struct
{
  AotStage parent;
  GPtrArray *inputs;   /* AotComposite: of primals */
  GPtrArray *tangents; /* of gradients of results */
  GPtrArray *returns;  /* of forward returns */
  GPtrArray *grads;    /* (nullable): of the primals' gradients; set by the joint trace */
  gboolean is_joint;
} Desugar;

static void
desugar_finalize (AotStage *stage)
{
  Desugar *desugar = (Desugar *) stage;

  g_ptr_array_unref (desugar->inputs);
  g_ptr_array_unref (desugar->tangents);
  g_ptr_array_unref (desugar->returns);
  g_clear_pointer (&desugar->grads, g_ptr_array_unref);
}

/* TUPLE of the values that @composites build from @leaves. @out (transfer full). */
static gboolean
wrap_all (
    AdjContext *cx, const GPtrArray *composites, const AdjValue *leaves, guint n, AdjValue *out)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, composites->len + 1);
  gboolean done = TRUE;
  guint at = 0;

  if (count_leaves (composites) > n)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_VERIFY, "%u dense tensors are needed, not %u",
                        count_leaves (composites), n);
      return FALSE;
    }
  for (guint i = 0; i < composites->len && done; i++)
    done = aot_composite_wrap (cx, composites->pdata[i], leaves, &at, &items[i]);
  *out = adj_value_new_items (ADJ_VALUE_TUPLE, items, composites->len);
  return done;
}

/* The dense parts of @values, as a container of @kind. (transfer full) */
static AdjValue
unwrap_all (AdjValueKind kind, const AdjValue *values, guint n)
{
  g_autoptr (GArray) leaves = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_autofree AdjValue *items = NULL;

  for (guint i = 0; i < n; i++)
    aot_composite_unwrap (&values[i], leaves);
  items = g_new0 (AdjValue, leaves->len + 1);
  for (guint i = 0; i < leaves->len; i++)
    items[i] = adj_value_copy (&g_array_index (leaves, AdjValue, i));
  return adj_value_new_items (kind, items, leaves->len);
}

/* -- compile time -- */

static gboolean
joint_call (
    Desugar *desugar, AdjFunction *inner, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  g_auto (AdjValue) primals = ADJ_NONE;
  g_auto (AdjValue) tangents = ADJ_NONE;
  g_auto (AdjValue) outs = ADJ_NONE;
  AdjValue parts[2];

  if (!wrap_all (cx, desugar->inputs, args[0].items, args[0].n, &primals) ||
      !wrap_all (cx, desugar->tangents, args[1].items, args[1].n, &tangents))
    return FALSE;
  parts[0] = primals;
  parts[1] = tangents;
  if (!adj_function_call (inner, cx, parts, 2, &outs))
    return FALSE;
  g_clear_pointer (&desugar->grads, g_ptr_array_unref);
  desugar->grads = aot_composite_describe_all (outs.items[1].items, outs.items[1].n);
  for (guint i = 0; i < 2; i++)
    parts[i] = unwrap_all (outs.items[i].kind, outs.items[i].items, outs.items[i].n);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, parts, 2);
  return TRUE;
}

static gboolean
dense_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  Desugar *desugar = AOT_STAGE (Desugar, function);
  g_auto (AdjValue) primals = ADJ_NONE;
  g_auto (AdjValue) outs = ADJ_NONE;

  if (desugar->is_joint)
    return joint_call (desugar, AOT_INNER (function), cx, args, result);
  if (!wrap_all (cx, desugar->inputs, args, n_args, &primals) ||
      !adj_function_call (AOT_INNER (function), cx, primals.items, primals.n, &outs))
    return FALSE;
  *result = unwrap_all (ADJ_VALUE_TUPLE, outs.items, outs.n);
  return TRUE;
}

static const AdjFunctionClass dense_class = {
  .name = "of dense tensors",
  .call = dense_call,
  .finalize = aot_function_finalize,
};

/* -- run time -- */

static AdjStorage *
first_storage (AdjTensor *tensor)
{
  while (adj_composite_get_class (tensor) != NULL)
    tensor = adj_composite_get_inner (tensor, 0);
  return adj_tensor_get_storage (tensor);
}

/* Makes composite results aliases if their inner tensors share a storage. */
static void
join_aliases (AdjContext *cx, AdjValue *items, guint n)
{
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < i; k++)
      if (items[i].kind == ADJ_VALUE_TENSOR && items[k].kind == ADJ_VALUE_TENSOR &&
          adj_composite_get_class (items[i].tensor) != NULL &&
          adj_composite_get_class (items[k].tensor) != NULL &&
          first_storage (items[i].tensor) == first_storage (items[k].tensor))
        {
          AdjTensor *alias = adj_keep (adj_composite_alias (cx, items[i].tensor, items[k].tensor));

          adj_value_clear (&items[i]);
          items[i] = ADJ_TENSOR (alias);
          break;
        }
}

static gboolean
composite_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Desugar *desugar = AOT_STAGE (Desugar, function);
  g_auto (AdjValue) dense = unwrap_all (ADJ_VALUE_TUPLE, args, n_args);
  g_auto (AdjValue) outs = ADJ_NONE;
  g_auto (AdjValue) wrapped = ADJ_NONE;
  g_autofree AdjValue *items = NULL;
  guint n = count_leaves (desugar->returns);
  guint to = 0;

  if (dense.n != count_leaves (desugar->inputs))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "the inputs consist of %u dense tensors, not of %u as when compiled",
                        dense.n, count_leaves (desugar->inputs));
      return FALSE;
    }
  if (!adj_function_call (AOT_INNER (function), cx, dense.items, dense.n, &outs) ||
      !wrap_all (cx, desugar->returns, outs.items, outs.n, &wrapped))
    return FALSE;
  /* Values saved for the backward stay dense. */
  items = g_new0 (AdjValue, wrapped.n + outs.n + 1);
  for (guint i = 0; i < wrapped.n; i++)
    items[to++] = adj_value_copy (&wrapped.items[i]);
  join_aliases (cx, items, to);
  for (guint i = n; i < outs.n; i++)
    items[to++] = adj_value_copy (&outs.items[i]);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, to);
  return TRUE;
}

static const AdjFunctionClass composite_function_class = {
  .name = "of composite tensors",
  .call = composite_call,
  .finalize = aot_function_finalize,
};

static AdjFunction *
desugar_wrap (AotStage *stage, AdjFunction *inner)
{
  return aot_function_new (&composite_function_class, inner, stage);
}

static const AotStageClass desugar_class = {
  .name = "composites",
  .wrap = desugar_wrap,
  .finalize = desugar_finalize,
};

gboolean
aot_stage_is_desugar (const AotStage *stage)
{
  return stage->klass == &desugar_class;
}

/* -- backward -- */

static const char *
class_name (const AdjCompositeClass *klass)
{
  return klass != NULL ? klass->name : "a dense tensor";
}

/* Converts gradient @value to the composition that the backward was traced with. Borrowed from the
 * scope. */
static gboolean
coerce (AdjContext *cx, const AotComposite *wanted, guint index, AdjValue *value)
{
  const AdjCompositeClass *klass = adj_composite_get_class (value->tensor);

  if (klass != wanted->klass)
    return aot_fail_context (cx, AOT_ERROR_TANGENT_CLASS, AOT_TANGENT (index),
                             ": %s where it was %s", class_name (klass),
                             class_name (wanted->klass));
  if (klass == NULL ||
      adj_value_equal (adj_composite_get_constant (value->tensor), &wanted->constant))
    return TRUE;
  value->tensor =
      klass->coerce_like != NULL ? klass->coerce_like (cx, value->tensor, &wanted->constant) : NULL;
  return value->tensor != NULL ||
         aot_fail_context (cx, AOT_ERROR_TANGENT_CLASS, AOT_TANGENT (index),
                           ": a %s with another constant", klass->name);
}

/* Dense parts must have the strides of the trace, which are contiguous. */
static gboolean
make_contiguous (AdjContext *cx, AdjValue *leaf)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  AdjValue args[2] = {
    *leaf, { .kind = ADJ_VALUE_MEMORY_FORMAT, .format = ADJ_MEMORY_FORMAT_CONTIGUOUS }
  };

  return leaf->kind != ADJ_VALUE_TENSOR ||
         adj_shape_is_contiguous (&adj_tensor_get_meta (leaf->tensor)->shape, symbols) ||
         adj_call_bound (cx, adj_op (ADJ_OP_clone), args, leaf);
}

static gboolean
backward_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Desugar *desugar = AOT_STAGE (Desugar, function);
  guint n_saved = n_args - MIN (desugar->tangents->len, n_args);
  g_autoptr (GArray) dense = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_auto (AdjValue) grads = ADJ_NONE;

  g_array_append_vals (dense, args, n_saved);
  for (guint i = n_saved; i < n_args; i++)
    {
      AdjValue tangent = args[i];
      guint first = dense->len;

      if (!coerce (cx, desugar->tangents->pdata[i - n_saved], i - n_saved, &tangent))
        return FALSE;
      aot_composite_unwrap (&tangent, dense);
      for (guint k = first; k < dense->len; k++)
        if (!make_contiguous (cx, &g_array_index (dense, AdjValue, k)))
          return FALSE;
    }
  return adj_function_call (AOT_INNER (function), cx, (gconstpointer) dense->data, dense->len,
                            &grads) &&
         wrap_all (cx, desugar->grads, grads.items, grads.n, result);
}

static const AdjFunctionClass backward_class = {
  .name = "backward of composite tensors",
  .call = backward_call,
  .finalize = aot_function_finalize,
};

AdjFunction *
aot_desugar_wrap_backward (AotStage *stage, AdjFunction *dense)
{
  return aot_function_new (&backward_class, dense, stage);
}

/* -- what is desugared -- */

static gboolean
is_composite (gconstpointer composite)
{
  return composite != NULL && ((const AotComposite *) composite)->klass != NULL;
}

static gboolean
has_composites (const AotProgram *program)
{
  gboolean found = FALSE;

  for (guint i = 0; i < program->arguments->len; i++)
    found |= is_composite (AOT_ARGUMENT (program, i)->composite);
  for (guint i = 0; i < program->metadata->n_forward_returns; i++)
    found |= is_composite (program->returns->pdata[i]);
  return found;
}

gboolean
aot_check_composites (AotProgram *program, GError **error)
{
  const AdjAotMetadata *metadata = program->metadata;

  program->has_composites = has_composites (program);
  if (!program->has_composites)
    return TRUE;
  if (program->options->export_joint)
    return aot_fail (error, AOT_ERROR_EXPORT_COMPOSITE, AOT_FUNCTION, NULL);
  for (guint i = 0; i < metadata->n_inputs; i++)
    if (is_composite (AOT_ARGUMENT (program, i)->composite) &&
        (metadata->inputs[i].mutates_metadata || adj_aot_input_hides_turn (&metadata->inputs[i])))
      return aot_fail (error, AOT_ERROR_COMPOSITE_METADATA, AOT_INPUT (i), NULL);
  for (guint i = 0; i < metadata->n_outputs; i++)
    if (metadata->n_bases > 0 &&
        metadata->outputs[i].type == ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_SAVE_AS_OUTPUT)
      return aot_fail (error, AOT_ERROR_COMPOSITE_BASES, AOT_OUTPUT (i), NULL);
  return TRUE;
}

/* Metadata with one entry for each dense part of the outer entries. */
static AdjAotMetadata *
make_dense (const AotProgram *program, const Desugar *desugar)
{
  const AdjAotMetadata *outer = program->metadata;
  AdjAotMetadata *dense =
      adj_aot_metadata_new (count_leaves (desugar->inputs), count_leaves (desugar->returns));
  guint to = 0;

  for (guint i = 0; i < outer->n_inputs; i++)
    for (guint k = 0; k < ((AotComposite *) desugar->inputs->pdata[i])->n_leaves; k++)
      {
        dense->inputs[to] = outer->inputs[i];
        dense->inputs[to++].turned = NULL;
      }
  to = 0;
  for (guint i = 0; i < outer->n_outputs; i++)
    {
      const AotComposite *composite = desugar->returns->pdata[outer->n_mutated_runtime + i];

      for (guint k = 0; k < composite->n_leaves; k++, to++)
        {
          dense->outputs[to] = outer->outputs[i];
          dense->outputs[to].recipe = dense->outputs[to].turned = NULL;
        }
    }
  dense->n_outputs = to;
  dense->keep_input_mutations = outer->keep_input_mutations;
  dense->is_train = outer->is_train;
  dense->deterministic = outer->deterministic;
  dense->rng = outer->rng;
  dense->grad_mode = outer->grad_mode;
  dense->n_tokens = outer->n_tokens;
  dense->tokens = g_strdupv (outer->tokens);
  dense->n_bases = outer->n_bases;
  adj_aot_metadata_derive (dense);
  return dense;
}

static void
add_tangents (AdjAotMetadata *dense, const AotComposite *composite)
{
  for (guint i = 0; composite->klass != NULL && i < composite->klass->n_inner; i++)
    add_tangents (dense, composite->inner[i]);
  if (composite->klass == NULL)
    dense->tangents[dense->n_tangents++] = composite->meta;
}

/* The dense inputs, each with a storage of its own. */
static GArray *
take_leaves (const AotProgram *program)
{
  GArray *all = aot_arguments_new ();

  for (guint i = 0; i < program->arguments->len; i++)
    {
      const AotArgument *argument = AOT_ARGUMENT (program, i);

      if (argument->leaves == NULL)
        aot_arguments_add (all, argument);
      for (guint k = 0; argument->leaves != NULL && k < argument->leaves->len; k++)
        aot_arguments_add (all, &g_array_index (argument->leaves, AotArgument, k));
    }
  return all;
}

gboolean
aot_desugar (AotProgram *program, GError **error)
{
  Desugar *desugar;
  AdjAotMetadata *dense;
  GArray *leaves;

  if (!program->has_composites)
    return TRUE;
  desugar = aot_stage_new (&desugar_class, sizeof *desugar);
  desugar->is_joint = program->metadata->is_train;
  desugar->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) aot_composite_unref);
  for (guint i = 0; i < program->arguments->len; i++)
    g_ptr_array_add (desugar->inputs, aot_composite_ref (AOT_ARGUMENT (program, i)->composite));
  desugar->returns = g_ptr_array_ref (program->returns);
  g_ptr_array_set_size (desugar->returns, (gint) program->metadata->n_forward_returns);
  desugar->tangents = g_ptr_array_ref (program->tangents);
  dense = make_dense (program, desugar);
  dense->tangents = g_new0 (AdjTensorMeta, count_leaves (desugar->tangents) + 1);
  for (guint i = 0; i < desugar->tangents->len; i++)
    add_tangents (dense, desugar->tangents->pdata[i]);
  leaves = take_leaves (program);
  g_string_append_printf (program->note, "%u inputs are %u dense tensors, %u results are %u",
                          desugar->inputs->len, leaves->len, desugar->returns->len,
                          count_leaves (desugar->returns));
  g_array_unref (program->arguments);
  program->arguments = leaves;
  adj_aot_metadata_free (program->metadata);
  program->metadata = dense;
  aot_program_set_function (program, aot_function_new (&dense_class, program->function, desugar));
  aot_program_push (program, &desugar->parent);
  return TRUE;
}
