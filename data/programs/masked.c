/* SPDX-License-Identifier: MIT */

/* A composite tensor.
 *
 * A masked tensor consists of numbers and a flag for each that says whether it is valid.  The
 * class below defines operators on both: pointwise ones compute with the numbers, and an element
 * is valid if it is valid in all arguments; views select the same elements of both; other
 * operators are refused.  Everything above the class, autograd too, sees one tensor; a trace
 * sees only the inner tensors, and each call unwraps masked arguments and wraps results and
 * gradients.  The gradient of w, a tensor without a mask, has a mask: w contributes only where x
 * is valid. */

#include "call/adj-op.h"
#include "programs.h"
#include "trace/adj-composite.h"

enum
{
  NUMBERS,
  VALID,
};

static const AdjCompositeClass masked_class;

static AdjTensor *
masked (AdjContext *cx, AdjTensor *numbers, AdjTensor *valid)
{
  AdjTensor *inner[] = { numbers, valid };

  return adj_composite_new (cx, &masked_class, inner, NULL, NULL);
}

/* (nullable): the mask of @value, if it is masked. */
static AdjTensor *
valid_of (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_TENSOR && adj_composite_get_class (value->tensor) == &masked_class
             ? adj_composite_get_inner (value->tensor, VALID)
             : NULL;
}

/* The elements valid in all masked arguments, in the sizes of @numbers. */
static AdjTensor *
common (AdjCompositeCall *call, AdjTensor *numbers)
{
  AdjContext *cx = adj_composite_call_get_context (call);
  const AdjValue *args = adj_composite_call_get_args (call);
  AdjTensor *valid = adj_logical_not (cx, adj_zeros_like (cx, numbers));

  for (guint i = 0; i < adj_composite_call_get_n_args (call); i++)
    if (valid_of (&args[i]) != NULL)
      valid = adj_logical_and (cx, valid, valid_of (&args[i]));
  return valid;
}

/* The schema tells whether a call writes: "aten::mul_.Tensor(Tensor(a!) self, …". */
static gboolean
masked_call (AdjCompositeCall *call, AdjValue *result)
{
  AdjContext *cx = adj_composite_call_get_context (call);
  const AdjOp *op = adj_composite_call_get_op (call);
  const AdjValue *args = adj_composite_call_get_args (call);
  gboolean writes = strstr (op->schema, "(a!)") != NULL;
  AdjValue parts[2];

  if (op->inverse != NULL || g_str_has_prefix (op->schema, "aten::clone(") ||
      g_str_has_prefix (op->schema, "aten::copy_("))
    return adj_composite_call_each (call, result);
  if (op->expr == NULL && !writes && strstr (op->schema, "_like(") == NULL)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%.*s of a masked tensor",
                        (gint) strcspn (op->schema, "("), op->schema);
      return FALSE;
    }
  if (!adj_composite_call_part (call, NUMBERS, &parts[NUMBERS]))
    return FALSE;
  parts[VALID] = ADJ_TENSOR (common (call, parts[NUMBERS].tensor));
  if (writes && valid_of (&args[0]) != NULL)
    parts[VALID] = ADJ_TENSOR (adj_copy_ (cx, valid_of (&args[0]), parts[VALID].tensor));
  return parts[VALID].tensor != NULL && adj_composite_call_join (call, parts, result);
}

static const char *const names[] = { "numbers", "valid" };
static const AdjCompositeClass masked_class = {
  .name = "Masked",
  .n_inner = 2,
  .inner_names = names,
  .call = masked_call,
};

/* -- the program -- */

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *product = adj_mul (cx, args[0].tensor, args[1].tensor);

  return adj_program_give (cx, result, 2, adj_tanh (cx, product), adj_t (cx, product));
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  const gint64 size[] = { 2, 3 };
  AdjTensor *x = adj_view (cx, adj_arange (cx, ADJ_FLOAT (6)), size, 2);

  adj_program_take (cx, in, masked (cx, x, adj_gt_scalar (cx, x, ADJ_INT (1))), ADJ_ARGUMENT_LEAF);
  adj_program_take (cx, in, adj_full (cx, size, 2, ADJ_FLOAT (0.5)), ADJ_ARGUMENT_LEAF);
  return !adj_context_has_error (cx);
}

static void
print_masked (AdjContext *cx, GString *out, const char *name, AdjTensor *tensor)
{
  adj_program_print (cx, out, name, adj_composite_get_inner (tensor, NUMBERS));
  adj_program_print (cx, out, "  valid", adj_composite_get_inner (tensor, VALID));
}

static gboolean
run (AdjContext *cx, GString *out)
{
  g_auto (AdjValue) result = ADJ_NONE;
  AdjProgramInputs in = { .n_args = 0 };
  AdjTensor *grads[2], *y, *ones;

  if (!inputs (cx, &in) || !call (cx, in.args, in.n_args, &result))
    return FALSE;
  y = result.items[0].tensor;
  ones = adj_ones_like (cx, y);
  print_masked (cx, out, "tanh (x w)", y);
  if (!adj_grad (cx, &(AdjGradRoots){ .tensors = &y, .grads = &ones, .n = 1 }, in.leaves, 2, 0,
                 grads))
    return FALSE;
  print_masked (cx, out, "the gradient of w", grads[1]);
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_masked (void);

const AdjProgram *
adj_program_masked (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "masked",
    .summary = "A tensor made of tensors: numbers and which of them are valid",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
