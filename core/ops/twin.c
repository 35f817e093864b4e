/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* Twins of records: `op_` writes its result into self, `op_copy` copies what the view `op` shows.
 * Their arguments stand in the same order, so a call of the twin is a call of its base. */

static AdjOpCall
base_call (const AdjOpCall *call)
{
  const AdjOp *base = op_entry (call->op)->base;

  return (AdjOpCall){
    .cx = call->cx,
    .op = base,
    .schema = op_entry (base)->schema,
    .args = call->args,
    .returns_list = call->returns_list,
  };
}

/* -- in place -- */

char *
adj_twin_inplace_schema (const AdjSchema *schema)
{
  const char *arguments = strchr (schema->text, '(');
  gboolean has_overload = *schema->overload != '\0';

  g_assert (g_str_has_prefix (arguments, "(Tensor self"));

  return g_strdup_printf ("%s::%s_%s%s(Tensor(a!) self%.*s -> Tensor(a!)", schema->ns, schema->name,
                          has_overload ? "." : "", schema->overload,
                          (int) (strstr (arguments, " -> ") - arguments - strlen ("(Tensor self")),
                          arguments + strlen ("(Tensor self"));
}

static gboolean
inplace_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjOpCall base = base_call (call);
  gboolean done = FALSE;
  const AdjTensorMeta *meta;

  if (!adj_op_call_infer (&base) || adj_context_has_error (call->cx))
    goto out;
  meta = &base.results[0].meta;
  if (!adj_shape_same_sizes (&self->shape, &meta->shape, op_symbols (call)))
    {
      g_autofree char *from = op_sizes_text (call, &meta->shape);
      g_autofree char *to = op_sizes_text (call, &self->shape);

      adj_op_call_fail (call, "a result of shape %s does not fit in place into %s", from, to);
      goto out;
    }
  if (!adj_dtype_can_cast (meta->dtype, self->dtype))
    {
      adj_op_call_fail (call, "a result of dtype %s cannot be written in place into %s",
                        adj_dtype_info (meta->dtype)->torch_name,
                        adj_dtype_info (self->dtype)->torch_name);
      goto out;
    }
  if (!op_check_writable (call, &self->shape))
    goto out;
  adj_op_call_add_view (call, 0, &self->shape);
  done = TRUE;

out:
  adj_op_call_clear (&base);
  return done;
}

/* Through a temporary: an operand may overlap self. */
static gboolean
inplace_kernel (AdjOpCall *call)
{
  AdjOpCall base = base_call (call);
  AdjKView from, to;
  gboolean done = FALSE;

  if (adj_op_call_infer (&base))
    {
      base.results[0].tensor = adj_tensor_new_empty (&base.results[0].meta, NULL, FALSE);
      done = base.op->kernel (&base) && op_output (&base, 0, &from) && op_output (call, 0, &to);
    }
  if (done)
    adj_k_copy (&to, &from);
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

void
adj_twin_init_inplace (AdjOp *op)
{
  op->expr = NULL;
  op->grad = NULL;
  op->decompose = NULL;
  op->meta = inplace_meta;
  op->kernel = inplace_kernel;
  op->flops = base_flops;
  op->flags &= ~(AdjOpFlags) (ADJ_OP_CORE | ADJ_OP_INPLACE | ADJ_OP_OUT | ADJ_OP_COPY);
}

/* -- copies of views -- */

/* @text without the "(a)" and "(a -> *)" of aliases. */
static void
append_without_aliases (GString *out, const char *text)
{
  while (*text != '\0')
    {
      if (text[0] == '(' && text[1] == 'a' && (text[2] == ')' || text[2] == ' '))
        text = strchr (text, ')') + 1;
      else
        g_string_append_c (out, *text++);
    }
}

char *
adj_twin_copy_schema (const AdjSchema *schema)
{
  GString *out = g_string_new (NULL);

  g_string_printf (out, "%s::%s_copy", schema->ns, schema->name);
  if (*schema->overload != '\0')
    g_string_append_printf (out, ".%s", schema->overload);
  append_without_aliases (out, strchr (schema->text, '('));
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
      AdjKView from, to;

      done = op_view (call, self, &base.results[i].meta, &from) && op_output (call, i, &to);
      if (done)
        adj_k_copy (&to, &from);
    }
  adj_op_call_clear (&base);
  return done;
}

void
adj_twin_init_copy (AdjOp *op)
{
  op->grad = NULL;
  op->meta = copy_meta;
  op->kernel = copy_kernel;
  op->flags &= ~(AdjOpFlags) (ADJ_OP_CORE | ADJ_OP_INPLACE | ADJ_OP_OUT | ADJ_OP_COPY);
}
