/* SPDX-License-Identifier: MIT */
/* _foreach operators, computed by calls of the element operator. */

#include "call/adj-mode.h"
#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "ops/kernel-private.h"
#include "ops/table-private.h"
#include "tensor/adj-shape-internal.h"

/* List operators: result i is that of a table operator for the i-th elements of the lists and the
 * other arguments. */

#define MAX_ELEMENT_ARGUMENTS 5

typedef struct
{
  AdjOpId op, element;
  /* index of the element's argument k among the list operator's; -1: the default */
  gint8 from[MAX_ELEMENT_ARGUMENTS];
} Foreach;

#define IN_ORDER                                                                                   \
  {                                                                                                \
    0, 1, 2, 3, 4                                                                                  \
  }

static const Foreach foreaches[] = {
  { ADJ_OP__foreach_add_List, ADJ_OP_add_Tensor, IN_ORDER },
  { ADJ_OP__foreach_add_Scalar, ADJ_OP_add_Scalar, IN_ORDER },
  { ADJ_OP__foreach_add_ScalarList, ADJ_OP_add_Scalar, IN_ORDER },
  { ADJ_OP__foreach_add_Tensor, ADJ_OP_add_Tensor, IN_ORDER },
  { ADJ_OP__foreach_sub_List, ADJ_OP_sub_Tensor, IN_ORDER },
  { ADJ_OP__foreach_sub_Scalar, ADJ_OP_sub_Scalar, IN_ORDER },
  { ADJ_OP__foreach_sub_ScalarList, ADJ_OP_sub_Scalar, IN_ORDER },
  { ADJ_OP__foreach_mul_List, ADJ_OP_mul_Tensor, IN_ORDER },
  { ADJ_OP__foreach_mul_Scalar, ADJ_OP_mul_Scalar, IN_ORDER },
  { ADJ_OP__foreach_mul_ScalarList, ADJ_OP_mul_Scalar, IN_ORDER },
  { ADJ_OP__foreach_mul_Tensor, ADJ_OP_mul_Tensor, IN_ORDER },
  { ADJ_OP__foreach_div_List, ADJ_OP_div_Tensor, IN_ORDER },
  { ADJ_OP__foreach_div_Scalar, ADJ_OP_div_Scalar, IN_ORDER },
  { ADJ_OP__foreach_div_ScalarList, ADJ_OP_div_Scalar, IN_ORDER },
  { ADJ_OP__foreach_div_Tensor, ADJ_OP_div_Tensor, IN_ORDER },
  { ADJ_OP__foreach_addcmul_Scalar, ADJ_OP_addcmul, IN_ORDER },
  { ADJ_OP__foreach_addcmul_ScalarList, ADJ_OP_addcmul, IN_ORDER },
  { ADJ_OP__foreach_addcdiv_Scalar, ADJ_OP_addcdiv, IN_ORDER },
  { ADJ_OP__foreach_addcdiv_ScalarList, ADJ_OP_addcdiv, IN_ORDER },
  { ADJ_OP__foreach_lerp_List, ADJ_OP_lerp_Tensor, IN_ORDER },
  { ADJ_OP__foreach_lerp_Scalar, ADJ_OP_lerp_Scalar, IN_ORDER },
  { ADJ_OP__foreach_pow_List, ADJ_OP_pow_Tensor_Tensor, IN_ORDER },
  { ADJ_OP__foreach_pow_Scalar, ADJ_OP_pow_Tensor_Scalar, IN_ORDER },
  { ADJ_OP__foreach_pow_ScalarList, ADJ_OP_pow_Tensor_Scalar, IN_ORDER },
  { ADJ_OP__foreach_pow_ScalarAndTensor, ADJ_OP_pow_Scalar, IN_ORDER },
  { ADJ_OP__foreach_maximum_List, ADJ_OP_maximum, IN_ORDER },
  { ADJ_OP__foreach_minimum_List, ADJ_OP_minimum, IN_ORDER },
  { ADJ_OP__foreach_clamp_max_Scalar, ADJ_OP_clamp_max, IN_ORDER },
  { ADJ_OP__foreach_clamp_min_Scalar, ADJ_OP_clamp_min, IN_ORDER },
  { ADJ_OP__foreach_abs, ADJ_OP_abs, IN_ORDER },
  { ADJ_OP__foreach_exp, ADJ_OP_exp, IN_ORDER },
  { ADJ_OP__foreach_neg, ADJ_OP_neg, IN_ORDER },
  { ADJ_OP__foreach_reciprocal, ADJ_OP_reciprocal, IN_ORDER },
  { ADJ_OP__foreach_sign, ADJ_OP_sign, IN_ORDER },
  { ADJ_OP__foreach_sqrt, ADJ_OP_sqrt, IN_ORDER },
  { ADJ_OP__foreach_log, ADJ_OP_log, IN_ORDER },
  { ADJ_OP__foreach_sigmoid, ADJ_OP_sigmoid, IN_ORDER },
  { ADJ_OP__foreach_tanh, ADJ_OP_tanh, IN_ORDER },
  { ADJ_OP__foreach_clamp_max_List, ADJ_OP_clamp_max_Tensor, IN_ORDER },
  { ADJ_OP__foreach_clamp_min_List, ADJ_OP_clamp_min_Tensor, IN_ORDER },
  { ADJ_OP__foreach_maximum_Scalar, ADJ_OP_clamp_min, IN_ORDER },
  { ADJ_OP__foreach_minimum_Scalar, ADJ_OP_clamp_max, IN_ORDER },
  { ADJ_OP__foreach_rsqrt, ADJ_OP_rsqrt, IN_ORDER },
  { ADJ_OP__foreach_copy, ADJ_OP_copy, IN_ORDER },
  { ADJ_OP__foreach_clone, ADJ_OP_clone, IN_ORDER },
  { ADJ_OP__foreach_norm_Scalar, ADJ_OP_linalg_vector_norm, { 0, 1, -1, -1, 2 } },
};

#undef IN_ORDER

static const Foreach *
find_foreach (const AdjOp *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (foreaches); i++)
    if (adj_op (foreaches[i].op) == op)
      return &foreaches[i];
  return NULL;
}

const AdjOp *
adj_op_get_element (const AdjOp *op, const gint8 **from)
{
  const AdjOp *base = adj_op_get_base (op);
  const Foreach *foreach = find_foreach (base != NULL ? base : op);

  if (foreach == NULL)
    return NULL;
  *from = foreach->from;
  return adj_op (foreach->element);
}

/* The common length of all lists. */
static gboolean
count_elements (const AdjOpCall *call, guint *n)
{
  *n = G_MAXUINT;
  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      if (!call->schema->arguments[i].type.is_list)
        continue;
      if (!adj_value_is_container (&call->args[i]) || (*n != G_MAXUINT && call->args[i].n != *n))
        return adj_op_call_fail (call, "the lists have not the same length");
      *n = call->args[i].n;
    }
  return *n != G_MAXUINT || adj_op_call_fail (call, "there is no list");
}

void
adj_op_take_element (const AdjOp *op, const AdjValue *args, guint i, AdjValue *out)
{
  const gint8 *from = NULL;
  const AdjSchema *list = adj_op_get_schema (op);
  const AdjOp *element = adj_op_get_element (op, &from);
  const AdjSchema *schema;

  g_assert (element != NULL);
  schema = adj_op_get_schema (element);
  g_assert (schema->n_arguments <= MAX_ELEMENT_ARGUMENTS);
  for (guint k = 0; k < schema->n_arguments; k++)
    {
      gint at = from[k];

      if (at < 0 || (guint) at >= list->n_arguments)
        out[k] = schema->arguments[k].default_value;
      else if (list->arguments[at].type.is_list && adj_value_is_container (&args[at]) &&
               i < args[at].n)
        out[k] = args[at].items[i];
      else
        out[k] = args[at];
    }
}

/* The call of element @i; @args are its arguments. */
static AdjOpCall
element_call (const AdjOpCall *call, guint i, AdjValue *args)
{
  const gint8 *from = NULL;
  const AdjOp *op = adj_op_get_element (call->op, &from);

  adj_op_take_element (call->op, call->args, i, args);
  return (AdjOpCall){
    .cx = call->cx, .op = op, .schema = adj_op_get_schema (op), .args = args, .within = call
  };
}

static gboolean
foreach_meta (AdjOpCall *call)
{
  guint n;

  if (!count_elements (call, &n))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      AdjValue args[MAX_ELEMENT_ARGUMENTS];
      AdjOpCall element = element_call (call, i, args);
      gboolean done = adj_op_call_infer (&element);

      if (done)
        adj_op_call_add (call, element.results[0].meta.dtype, &element.results[0].meta.shape);
      adj_op_call_clear (&element);
      if (!done)
        return FALSE;
    }
  return TRUE;
}

static gboolean
foreach_kernel (AdjOpCall *call)
{
  for (guint i = 0; i < call->n_results; i++)
    {
      AdjValue args[MAX_ELEMENT_ARGUMENTS];
      AdjOpCall element = element_call (call, i, args);
      gboolean done = adj_op_call_infer (&element);

      if (done)
        {
          element.results[0].tensor = adj_keep (call->results[i].tensor);
          done = adj_op_call_run_kernel (&element);
        }
      adj_op_call_clear (&element);
      if (!done)
        return FALSE;
    }
  return TRUE;
}

/* -- lists that are written, of tensors that overlap -- */

static gboolean
may_overlap (const AdjOpCall *call, AdjTensor *a, const AdjValue *b)
{
  return b->kind == ADJ_VALUE_TENSOR &&
         adj_tensor_get_storage (a) == adj_tensor_get_storage (b->tensor) &&
         adj_shapes_may_overlap (&adj_tensor_get_meta (a)->shape,
                                 &adj_tensor_get_meta (b->tensor)->shape, op_symbols (call));
}

/* Whether later calls read or write the memory of element @i. */
static gboolean
is_needed_later (const AdjOpCall *call, guint i)
{
  AdjTensor *tensor = call->args[0].items[i].tensor;

  for (guint k = 0; k < call->schema->n_arguments; k++)
    {
      const AdjValue *arg = &call->args[k];
      gboolean is_list = adj_value_is_container (arg);

      for (guint j = is_list ? i + 1 : 0; j < (is_list ? arg->n : 1); j++)
        if (may_overlap (call, tensor, is_list ? &arg->items[j] : arg))
          return TRUE;
    }
  return FALSE;
}

gboolean
adj_op_call_has_coupled_elements (const AdjOpCall *call)
{
  const gint8 *from = NULL;

  if (call->schema->n_returns > 0 || call->schema->n_arguments == 0 ||
      call->args[0].kind != ADJ_VALUE_LIST || adj_op_get_element (call->op, &from) == NULL)
    return FALSE;
  for (guint i = 0; i < call->args[0].n; i++)
    if (is_needed_later (call, i))
      return TRUE;
  return FALSE;
}

gboolean
adj_op_call_in_turn (AdjOpCall *call)
{
  const gint8 *from = NULL;
  const AdjOp *op = adj_op_get_element (call->op, &from);
  gboolean done = adj_op_call_infer (call);

  adj_op_call_clear (call);
  for (guint i = 0; done && i < call->args[0].n; i++)
    {
      AdjValue args[MAX_ELEMENT_ARGUMENTS];
      AdjValue written[] = { call->args[0].items[i], ADJ_NONE, ADJ_BOOL (FALSE) };
      AdjValue result;

      adj_op_take_element (call->op, call->args, i, args);
      done = adj_call_bound (call->cx, op, args, &written[1]) &&
             adj_call_bound (call->cx, adj_op (ADJ_OP_copy_), written, &result);
    }
  return done;
}

/* -- copies -- */

static gboolean
foreach_copy_meta (AdjOpCall *call)
{
  guint n;

  if (!count_elements (call, &n))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const AdjShape *self = &adj_tensor_get_meta (call->args[0].items[i].tensor)->shape;
      const AdjShape *src = &adj_tensor_get_meta (call->args[1].items[i].tensor)->shape;

      if (!adj_shape_same_sizes (self, src, op_symbols (call)))
        return adj_op_call_fail (call, "tensors %u have different sizes", i);
      if (!op_check_writable (call, self))
        return FALSE;
    }
  return TRUE;
}

/* Copies through a temporary if memory is shared, since elements may overlap. */
static gboolean
copy_element (const AdjOpCall *call, AdjTensor *to, AdjTensor *from)
{
  AdjTensorMeta dense = *adj_tensor_get_meta (from);
  g_autoptr (AdjTensor) copy = NULL;

  if (adj_tensor_get_storage (to) != adj_tensor_get_storage (from))
    return op_write_tensor (call, to, from);
  adj_shape_init (&dense.shape, op_symbols (call), dense.shape.rank, dense.shape.size);
  copy = op_temporary_tensor (call, &dense);
  return op_write_tensor (call, copy, from) && op_write_tensor (call, to, copy);
}

static gboolean
foreach_copy_kernel (AdjOpCall *call)
{
  for (guint i = 0; i < call->args[0].n; i++)
    if (!copy_element (call, call->args[0].items[i].tensor, call->args[1].items[i].tensor))
      return FALSE;
  return TRUE;
}

/* -- costs -- */

typedef double (*Cost) (const AdjOpCall *call);

static double
sum_of (const AdjOpCall *call, Cost cost, gboolean largest)
{
  double total = 0;

  for (guint i = 0; i < call->n_results; i++)
    {
      AdjValue args[MAX_ELEMENT_ARGUMENTS];
      AdjOpCall element = element_call (call, i, args);
      double own = adj_op_call_infer (&element) ? cost (&element) : 0;

      total = largest ? MAX (total, own) : total + own;
      adj_op_call_clear (&element);
    }
  return total;
}

static double
foreach_flops (const AdjOpCall *call)
{
  return sum_of (call, adj_op_call_get_flops, FALSE);
}

static double
foreach_reduction (const AdjOpCall *call)
{
  return sum_of (call, adj_op_call_get_reduction, TRUE);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/foreach.inc"
};

const OpFamily adj_family_foreach = { ops, G_N_ELEMENTS (ops) };
