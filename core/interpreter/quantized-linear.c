/* SPDX-License-Identifier: MIT */
/* quantized.linear_dynamic (x, packed, reduce_range=False): a method of the packed parameters,
 * which PyTorch writes as an operator.  As every operator that takes an object it is ordered. */

#include "call/adj-object.h"
#include "interpreter/effect-ops-private.h"

static gboolean
linear_dynamic (AdjEffectCall *call)
{
  AdjObject *packed = call->n_args > 1 && call->args[1].kind == ADJ_VALUE_OPAQUE_OBJECT
                          ? adj_object_from_opaque (call->args[1].object)
                          : NULL;
  AdjValue args[2] = { ADJ_NONE, call->n_args > 2 ? call->args[2] : ADJ_BOOL (FALSE) }, result;

  if (call->n_args < 2 || call->n_args > 3 || call->args[0].kind != ADJ_VALUE_TENSOR)
    return adj_effect_call_fail (call, ADJ_ERROR_SHAPE,
                                 "quantized.linear_dynamic takes a tensor, packed parameters and a "
                                 "flag");
  if (packed == NULL)
    return adj_effect_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                                 "the parameters of quantized.linear_dynamic are not here");
  args[0] = call->args[0];
  if (!adj_object_call (call->cx, packed, "linear_dynamic", args, 2, NULL, &result))
    return FALSE;
  call->result = adj_value_copy (&result);
  return TRUE;
}

const AdjEffectOp adj_effect_linear_dynamic = {
  .target = "torch.ops.quantized.linear_dynamic.default",
  .help = "a product with parameters that were packed in 8 bits",
  .run = linear_dynamic,
  .infer = linear_dynamic,
  .pure = TRUE,
};
