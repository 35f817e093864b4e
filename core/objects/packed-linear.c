/* SPDX-License-Identifier: MIT */
/* The parameters of a linear layer, packed once: the weight in the layout that the product reads.
 */

#include "objects/object-state-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"

typedef struct
{
  AdjObject parent;
  AdjValue weight; /* [out, in], as given */
  AdjValue bias;   /* [out], or NONE */
  AdjValue packed; /* [in, out], contiguous; of a fake object NONE until it is first used */
} PackedLinear;

/* (transfer full): @weight with rows and columns exchanged, contiguous. */
static AdjTensorData *
pack (const AdjTensorData *weight)
{
  AdjTensorMeta meta = *adj_tensor_data_get_meta (weight);
  const AdjShape given = meta.shape;
  g_autoptr (AdjTensorData) turned = NULL;

  for (guint i = 0; i < 2; i++)
    {
      meta.shape.size[i] = given.size[1 - i];
      meta.shape.stride[i] = given.stride[1 - i];
    }
  turned = adj_tensor_data_new (&meta, adj_tensor_data_get_bytes (weight), NULL);
  return adj_tensor_data_contiguous (turned);
}

/* (nullable): the packed weight, made at first use. */
static AdjTensor *
get_packed (PackedLinear *self, AdjContext *cx)
{
  AdjTensor *weight, *packed;

  if (self->packed.kind != ADJ_VALUE_NONE)
    return adj_object_load (cx, &self->packed);
  weight = adj_object_load (cx, &self->weight);
  weight = weight != NULL ? ADJ_APPLY (cx, ADJ_OP_t, ADJ_TENSOR (weight)) : NULL;
  packed = weight != NULL ? adj_apply_clone_contiguous (cx, weight) : NULL;
  if (packed != NULL)
    self->packed = adj_object_store (packed);
  return packed;
}

static gboolean
forward (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  PackedLinear *self = (PackedLinear *) object;
  AdjTensor *packed = get_packed (self, cx), *out = NULL, *bias;

  if (packed == NULL)
    return FALSE;
  if (self->bias.kind == ADJ_VALUE_NONE)
    out = ADJ_APPLY (cx, ADJ_OP_mm, args[0], ADJ_TENSOR (packed));
  else if ((bias = adj_object_load (cx, &self->bias)) != NULL)
    out = ADJ_APPLY (cx, ADJ_OP_addmm, ADJ_TENSOR (bias), args[0], ADJ_TENSOR (packed));
  *result = out != NULL ? ADJ_TENSOR (adj_keep (out)) : ADJ_NONE;
  return out != NULL;
}

static gboolean
unpack (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  const PackedLinear *self = (const PackedLinear *) object;
  AdjValue both[2] = { ADJ_NONE, ADJ_NONE };

  if (!object_give_tensor (cx, &self->weight, &both[0]))
    return FALSE;
  if (self->bias.kind != ADJ_VALUE_NONE && !object_give_tensor (cx, &self->bias, &both[1]))
    {
      adj_value_clear (&both[0]);
      return FALSE;
    }
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, both, 2);
  return TRUE;
}

static gboolean
flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  const PackedLinear *self = (const PackedLinear *) object;

  *state = adj_object_state_new ("weight", adj_value_copy (&self->weight), "bias",
                                 adj_value_copy (&self->bias), NULL);
  return TRUE;
}

static gboolean
is_matrix (const AdjValue *value)
{
  const AdjTensorMeta *meta = value->kind == ADJ_VALUE_DATA ? adj_tensor_data_get_meta (value->data)
                              : value->kind == ADJ_VALUE_TENSOR
                                  ? adj_tensor_get_meta (value->tensor)
                                  : NULL;

  return meta != NULL && meta->shape.rank == 2;
}

static gboolean
unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  PackedLinear *self = (PackedLinear *) object;
  const AdjValue *weight = adj_object_state_get (state, "weight");
  const AdjValue *bias = adj_object_state_get (state, "bias");

  if (weight == NULL || !is_matrix (weight))
    return object_refuse_state (error, "weight", "a tensor of two dimensions");
  self->weight = adj_value_copy (weight);
  if (weight->kind == ADJ_VALUE_DATA)
    self->packed = ADJ_DATA (pack (weight->data));
  if (bias == NULL || bias->kind == ADJ_VALUE_NONE)
    return TRUE;
  if (!object_is_tensor (bias))
    return object_refuse_state (error, "bias", "a tensor or None");
  self->bias = adj_value_copy (bias);
  return TRUE;
}

static void
finalize (AdjObject *object)
{
  PackedLinear *self = (PackedLinear *) object;

  adj_value_clear (&self->weight);
  adj_value_clear (&self->bias);
  adj_value_clear (&self->packed);
}

static const AdjMethod methods[] = {
  { .schema = "forward(Tensor x) -> Tensor",
    .help = "x times the transposed weight, plus the bias",
    .pure = TRUE,
    .by_operators = TRUE,
    .call = forward },
  { .schema = "unpack() -> (Tensor, Tensor?)",
    .help = "the weight and the bias as they were given",
    .pure = TRUE,
    .call = unpack },
};

const AdjObjectClass adj_class_packed_linear = {
  .name = "Adjoint::PackedLinear",
  .help = "The parameters of a linear layer, packed once",
  .size = sizeof (PackedLinear),
  .methods = methods,
  .n_methods = G_N_ELEMENTS (methods),
  .flatten = flatten,
  .unflatten = unflatten,
  .finalize = finalize,
  .fake = &adj_class_packed_linear,
};
