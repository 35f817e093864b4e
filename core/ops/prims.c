/* SPDX-License-Identifier: MIT */
/* prims: the operators at the end of PyTorch's decompositions.  Most are another operator under
 * another name, and derived from the record of that. */

#include "call/adj-op-internal.h"
#include "call/adj-schema-internal.h"
#include "ops/adj-ops.h"
#include "ops/table-private.h"
#include "tensor/adj-tensor-internal.h"

/* Index of argument @k of @base among those of @prim: by its name; arguments with other names
 * correspond in order, type by type.  -1: none. */
static gint
find_argument (const AdjSchema *base, guint k, const AdjSchema *prim)
{
  const AdjType *type = &base->arguments[k].type;
  gint by_name = adj_schema_find_argument (prim, base->arguments[k].name);
  guint before = 0;

  if (by_name >= 0 || type->kind == ADJ_TYPE_KIND_BOOL)
    return by_name;
  for (guint i = 0; i < k; i++)
    before += base->arguments[i].type.kind == type->kind &&
              adj_schema_find_argument (prim, base->arguments[i].name) < 0;
  for (guint i = 0; i < prim->n_arguments; i++)
    if (prim->arguments[i].type.kind == type->kind &&
        prim->arguments[i].type.is_list == type->is_list &&
        adj_schema_find_argument (base, prim->arguments[i].name) < 0 && before-- == 0)
      return (gint) i;
  return -1;
}

/* The call of the base with the arguments of @call, in @args; other arguments have their defaults.
 */
static AdjOpCall
prim_base_call (const AdjOpCall *call, AdjValue *args)
{
  const AdjOp *op = op_entry (call->op)->base;
  AdjOpCall base = { .cx = call->cx,
                     .op = op,
                     .schema = op->parsed,
                     .part = call->part,
                     .returns_list = call->returns_list,
                     .within = call };

  for (guint k = 0; k < base.schema->n_arguments; k++)
    {
      const AdjArgument *argument = &base.schema->arguments[k];
      gint from = find_argument (base.schema, k, call->schema);

      args[k] = from >= 0               ? call->args[from]
                : argument->has_default ? argument->default_value
                                        : ADJ_NONE;
    }
  base.args = args;
  return base;
}

static gboolean
prim_meta (AdjOpCall *call)
{
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjOpCall base = prim_base_call (call, args);
  gboolean done = adj_op_call_infer (&base);

  for (guint i = 0; done && i < base.n_results; i++)
    {
      const AdjTensorMeta *meta = &base.results[i].meta;

      adj_op_call_add (call, meta->dtype, &meta->shape)->meta = *meta;
    }
  adj_op_call_clear (&base);
  return done;
}

static gboolean
prim_kernel (AdjOpCall *call)
{
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjOpCall base = prim_base_call (call, args);
  gboolean done = adj_op_call_infer (&base);

  for (guint i = 0; done && i < base.n_results; i++)
    base.results[i].tensor = adj_tensor_ref (call->results[i].tensor);
  done = done && adj_op_call_run_kernel (&base);
  adj_op_call_clear (&base);
  return done;
}

static double
prim_flops (const AdjOpCall *call)
{
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjOpCall base = prim_base_call (call, args);
  double flops = 0;

  if (base.op->flops != NULL && adj_op_call_infer (&base))
    flops = base.op->flops (&base);
  adj_op_call_clear (&base);
  return flops;
}

static double
prim_reduction (const AdjOpCall *call)
{
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjOpCall base = prim_base_call (call, args);
  double n = 1;

  if (adj_op_call_infer (&base))
    n = adj_op_call_get_reduction (&base);
  adj_op_call_clear (&base);
  return n;
}

/* Whether its body is valid with the argument names of the prim. */
static gboolean
keeps_body (const AdjOp *op)
{
  return op_entry (op)->body != NULL &&
         adj_tile_program_check_names (op_entry (op)->body, op->parsed, NULL);
}

/* As in PyTorch, prims have no gradient. */
void
adj_variant_init_prim (AdjOp *op)
{
  if (!keeps_body (op))
    {
      op->expr = NULL;
      op_entry (op)->body = NULL;
      op->meta = prim_meta;
      op->kernel = prim_kernel;
      op->flops = prim_flops;
      op->reduction = op->reduction != NULL ? prim_reduction : NULL;
    }
  op->grad = "";
  op->decompose = NULL;
  op->inverse = NULL;
  op->traced = NULL;
  op->tables = 0;
  op->flags &= ~(AdjOpFlags) (ADJ_OP_CORE | ADJ_OP_INPLACE | ADJ_OP_OUT | ADJ_OP_COPY);
  op->flags |= ADJ_OP_NO_DERIVATIVE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/prims.inc"
};

const OpFamily adj_family_prims = { ops, G_N_ELEMENTS (ops) };
