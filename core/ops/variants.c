/* SPDX-License-Identifier: MIT */
/* Derives the in-place, out and copy variants of operators from their records. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "ops/kernel-private.h"
#include "ops/table-private.h"
#include "tensor/adj-tensor-internal.h"

/* Variants of records: `op_` writes the result into self, or for a view replaces self's metadata;
 * `op.out` writes into its last argument, `op_copy` copies the view of `op`.  Other arguments are
 * in the same order, so that a call of the variant is a call of its base. */

static AdjOpCall
base_call (const AdjOpCall *call)
{
  const AdjOp *base = op_entry (call->op)->base;

  return (AdjOpCall){
    .cx = call->cx,
    .op = base,
    .schema = base->parsed,
    .args = call->args,
    .returns_list = call->returns_list,
    .part = call->part,
    .within = call,
  };
}

/* -- in place and out= -- */

char *
adj_variant_inplace_schema (const AdjOp *record, const AdjSchema *schema)
{
  const char *arguments = strchr (schema->text, '(');
  gboolean is_view = adj_schema_is_view (schema);
  const char *rest = arguments + strlen (is_view ? "(Tensor(a)" : "(Tensor");
  /* transpose_ is transpose.int in place */
  gboolean has_overload =
      *schema->overload != '\0' && !(is_view && g_str_equal (schema->overload, "int"));
  gboolean is_list = schema->arguments[0].type.is_list;

  if (record->inplace != NULL)
    return g_strdup (record->inplace);
  g_assert (g_str_has_prefix (rest, is_list ? "[] self" : " self"));

  return g_strdup_printf ("%s::%s_%s%s(Tensor(a!)%.*s -> %s", schema->ns, schema->name,
                          has_overload ? "." : "", has_overload ? schema->overload : "",
                          (int) (strstr (rest, " -> ") - rest), rest,
                          is_list ? "()" : "Tensor(a!)");
}

static gboolean
takes_device (const AdjSchema *schema)
{
  for (guint i = 0; i < schema->n_arguments; i++)
    if (schema->arguments[i].type.kind == ADJ_TYPE_KIND_DEVICE)
      return TRUE;
  return FALSE;
}

/* Appends @text without alias annotations "(a)" and "(a -> *)". */
static void
append_without_aliases (GString *out, const char *text, gsize n)
{
  const char *end = text + n;

  while (text < end)
    {
      if (text[0] == '(' && text[1] == 'a' && (text[2] == ')' || text[2] == ' '))
        text = strchr (text, ')') + 1;
      else
        g_string_append_c (out, *text++);
    }
}

/* (nullable): %NULL if none can be derived. */
char *
adj_variant_out_schema (const AdjOp *record, const AdjSchema *schema)
{
  const char *arguments = strchr (schema->text, '(');
  gsize n = (gsize) (strstr (arguments, ") -> ") - arguments);
  GString *out;

  if (schema->n_returns != 1 || schema->returns[0].type.is_list || takes_device (schema))
    return NULL;
  out = g_string_new (NULL);
  g_string_printf (out, "%s::%s.", schema->ns, schema->name);
  if (record->out != NULL)
    g_string_append (out, record->out);
  else
    g_string_append_printf (out, "%s%sout", schema->overload, *schema->overload != '\0' ? "_" : "");
  append_without_aliases (out, arguments, n);
  if (schema->n_positional == schema->n_arguments)
    g_string_append (out, schema->n_arguments > 0 ? ", *" : "*");
  g_string_append (out, ", Tensor(a!) out) -> Tensor(a!)");
  return g_string_free (out, FALSE);
}

/* Index of the argument into which the result is written. */
static guint
target_of (const AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (call->schema->arguments[i].type.written)
      return i;
  g_assert_not_reached ();
}

/* Whether @result can be written into argument @target, a tensor, or an item of one. */
static gboolean
check_target (const AdjOpCall *call, const AdjTensorMeta *target, const AdjTensorMeta *result)
{
  if (!adj_shape_same_sizes (&target->shape, &result->shape, op_symbols (call)))
    {
      g_autofree char *from = op_sizes_text (call, &result->shape);
      g_autofree char *to = op_sizes_text (call, &target->shape);

      return adj_op_call_fail (call, "a result of shape %s cannot be written into %s", from, to);
    }
  if (!adj_dtype_can_cast (result->dtype, target->dtype))
    return adj_op_call_fail (call, "a result of dtype %s cannot be written into %s",
                             adj_dtype_info (result->dtype)->torch_name,
                             adj_dtype_info (target->dtype)->torch_name);
  return (call->op->flags & ADJ_OP_FILLS) != 0 || op_check_writable (call, &target->shape);
}

/* The first and last element in the storage; %FALSE if it is empty or unknown. */
static gboolean
get_extent (const AdjShape *shape, AdjSymbols *symbols, gint64 *first, gint64 *last)
{
  gint64 span;

  if (!adj_size_get_hint (symbols, shape->offset, first) ||
      !adj_size_get_hint (symbols, adj_shape_span (shape, symbols), &span) || span <= 0)
    return FALSE;
  *last = *first + span - 1;
  return TRUE;
}

/* Whether @target and @other overlap partially; like PyTorch, checks only dense tensors. */
static gboolean
overlap_in_part (AdjTensor *target, AdjTensor *other, AdjSymbols *symbols)
{
  const AdjTensorMeta *a = adj_tensor_get_meta (target), *b = adj_tensor_get_meta (other);
  gint64 a_first, a_last, b_first, b_last;

  if (target == other || adj_tensor_get_storage (target) != adj_tensor_get_storage (other) ||
      !adj_shape_is_dense (&a->shape, symbols) || !adj_shape_is_dense (&b->shape, symbols) ||
      !get_extent (&a->shape, symbols, &a_first, &a_last) ||
      !get_extent (&b->shape, symbols, &b_first, &b_last) || a_first > b_last || b_first > a_last)
    return FALSE;
  if (a_first != b_first || a_last != b_last || a->shape.rank != b->shape.rank)
    return TRUE;
  for (guint i = 0; i < a->shape.rank; i++)
    if (!(adj_size_is (symbols, a->shape.size[i], 1) &&
          adj_size_is (symbols, b->shape.size[i], 1)) &&
        !adj_size_test (symbols, ADJ_SIZE_EQ, a->shape.stride[i], b->shape.stride[i]))
      return TRUE;
  return FALSE;
}

static gboolean
check_operands (const AdjOpCall *call, guint target)
{
  AdjTensor *self = adj_op_call_tensor (call, target);

  for (guint i = 0; self != NULL && i < call->schema->n_arguments; i++)
    if (i != target && call->args[i].kind == ADJ_VALUE_TENSOR &&
        overlap_in_part (self, call->args[i].tensor, op_symbols (call)))
      return adj_op_call_fail (call,
                               "some elements of the input tensor '%s' and the written-to tensor "
                               "refer to a single memory location; clone the tensor first",
                               call->schema->arguments[i].name);
  return TRUE;
}

static gboolean
write_meta (AdjOpCall *call)
{
  guint target = target_of (call);
  const AdjTensorMeta *self = adj_op_call_meta (call, target);
  AdjOpCall base = base_call (call);
  gboolean done = adj_op_call_infer (&base) && !adj_context_has_error (call->cx) &&
                  check_target (call, self, &base.results[0].meta) && check_operands (call, target);

  if (done)
    adj_op_call_add_view (call, target, &self->shape);
  adj_op_call_clear (&base);
  return done;
}

/* Computes the result of @base; a view only shares the storage of an argument.  A real result for a
 * complex target is computed as a whole for either part. */
static gboolean
compute_base (AdjOpCall *base)
{
  AdjOpResult *result = &base->results[0];
  AdjDType dtype = result->meta.dtype;
  AdjTensor *shown;

  if (adj_dtype_get_real (dtype) == dtype)
    base->part = ADJ_PART_NONE;
  if (result->alias_of < 0)
    {
      result->tensor = op_temporary_tensor (base, &result->meta);
      return adj_op_call_run_kernel (base);
    }
  shown = adj_op_call_tensor (base, (guint) result->alias_of);
  if (shown != NULL)
    result->tensor = adj_tensor_new (&result->meta, adj_tensor_get_storage (shown));
  return shown != NULL;
}

/* Through a temporary, since an operand may overlap with the target. */
static gboolean
write_kernel (AdjOpCall *call)
{
  AdjOpCall base = base_call (call);
  gboolean done = adj_op_call_infer (&base) && compute_base (&base) &&
                  op_write_tensor (call, call->results[0].tensor, base.results[0].tensor);

  adj_op_call_clear (&base);
  return done;
}

/* -- lists in place: nothing is returned -- */

static gboolean
write_list_meta (AdjOpCall *call)
{
  AdjOpCall base = base_call (call);
  gboolean done;

  base.returns_list = TRUE;
  done = adj_op_call_infer (&base);
  for (guint i = 0; done && i < base.n_results; i++)
    done = check_target (call, adj_tensor_get_meta (call->args[0].items[i].tensor),
                         &base.results[i].meta);
  adj_op_call_clear (&base);
  return done;
}

/* Computes all results before any is written, since an element may be an operand of another. */
static gboolean
write_list_kernel (AdjOpCall *call)
{
  AdjOpCall base = base_call (call);
  gboolean done;

  base.returns_list = TRUE;
  done = adj_op_call_infer (&base);
  for (guint i = 0; done && i < base.n_results; i++)
    base.results[i].tensor = op_temporary_tensor (&base, &base.results[i].meta);
  done = done && adj_op_call_run_kernel (&base);
  for (guint i = 0; done && i < base.n_results; i++)
    done = op_write_tensor (call, call->args[0].items[i].tensor, base.results[i].tensor);
  adj_op_call_clear (&base);
  return done;
}

static double
base_flops (const AdjOpCall *call)
{
  AdjOpCall base = base_call (call);
  double flops = 0;

  if (base.op->flops != NULL && adj_op_call_infer (&base))
    flops = base.op->flops (&base);
  adj_op_call_clear (&base);
  return flops;
}

static void
drop_body (AdjOp *op)
{
  op->expr = NULL;
  op_entry (op)->body = NULL;
}

void
adj_variant_init_write (AdjOp *op)
{
  drop_body (op);
  op->grad = op->parsed->arguments[0].type.written ? op->inplace_grad : NULL;
  op->decompose = NULL;
  op->inverse = NULL;
  op->traced = NULL;
  op->meta = op->parsed->n_returns == 0 ? write_list_meta : write_meta;
  op->kernel = op->parsed->n_returns == 0 ? write_list_kernel : write_kernel;
  op->flops = base_flops;
  op->flags &= ~(AdjOpFlags) (ADJ_OP_CORE | ADJ_OP_INPLACE | ADJ_OP_OUT | ADJ_OP_COPY);
}

/* -- views in place: self shows its elements in another way -- */

static gboolean
turn_meta (AdjOpCall *call)
{
  AdjOpCall base = base_call (call);
  gboolean done = adj_op_call_infer (&base) && !adj_context_has_error (call->cx);

  if (done)
    adj_op_call_add_view (call, 0, &base.results[0].meta.shape);
  adj_op_call_clear (&base);
  return done;
}

static gboolean
turn_kernel (AdjOpCall *call)
{
  AdjTensor *self = adj_op_call_tensor (call, 0);
  const AdjStorage *storage = adj_tensor_get_storage (self);
  AdjTensorMeta meta = *adj_tensor_get_meta (self);

  meta.shape = call->results[0].meta.shape;
  if (!adj_storage_is_fake (storage) && adj_op_extent (&meta) > adj_storage_get_n_bytes (storage))
    return adj_op_call_fail (call, "the view reaches outside the storage of its tensor");
  adj_tensor_set (self, &meta, NULL);
  return TRUE;
}

void
adj_variant_init_turn (AdjOp *op)
{
  drop_body (op);
  op->grad = NULL;
  op->decompose = NULL;
  op->inverse = NULL;
  op->meta = turn_meta;
  op->kernel = turn_kernel;
  op->flags &= ~(AdjOpFlags) (ADJ_OP_CORE | ADJ_OP_INPLACE | ADJ_OP_OUT | ADJ_OP_COPY);
  op->flags |= ADJ_OP_METADATA;
}

/* -- copies of views -- */

char *
adj_variant_copy_schema (const AdjSchema *schema)
{
  const char *arguments = strchr (schema->text, '(');
  GString *out = g_string_new (NULL);

  g_string_printf (out, "%s::%s_copy", schema->ns, schema->name);
  if (*schema->overload != '\0')
    g_string_append_printf (out, ".%s", schema->overload);
  append_without_aliases (out, arguments, strlen (arguments));
  return g_string_free (out, FALSE);
}

static gboolean
copy_meta (AdjOpCall *call)
{
  AdjOpCall base = base_call (call);
  gboolean done = adj_op_call_infer (&base);

  for (guint i = 0; done && i < base.n_results; i++)
    {
      const AdjTensorMeta *meta = &base.results[i].meta;

      op_add_contiguous (call, meta->dtype, meta->shape.rank, meta->shape.size);
    }
  adj_op_call_clear (&base);
  return done;
}

static gboolean
copy_kernel (AdjOpCall *call)
{
  AdjOpCall base = base_call (call);
  AdjTensor *self = adj_op_call_tensor (call, 0);
  gboolean done = self != NULL && adj_op_call_infer (&base);

  for (guint i = 0; done && i < base.n_results; i++)
    {
      g_autoptr (AdjTensor) shown =
          adj_tensor_new (&base.results[i].meta, adj_tensor_get_storage (self));

      done = op_write_tensor (call, call->results[i].tensor, shown);
    }
  adj_op_call_clear (&base);
  return done;
}

void
adj_variant_init_copy (AdjOp *op)
{
  drop_body (op);
  op->grad = NULL;
  op->inverse = NULL;
  op->meta = copy_meta;
  op->kernel = copy_kernel;
  op->flags &= ~(AdjOpFlags) (ADJ_OP_CORE | ADJ_OP_INPLACE | ADJ_OP_OUT | ADJ_OP_COPY);
}
