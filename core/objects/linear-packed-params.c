/* SPDX-License-Identifier: MIT */
/* The parameters of a linear layer as PyTorch packs them: 8-bit integers with a scale and a zero
 * point, for all outputs or for each. */

#include <math.h>
#include <string.h>

#include "objects/object-state-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "tensor/adj-tensor-data.h"

typedef struct
{
  AdjObject parent;
  AdjValue weight;     /* i8[out, in] */
  AdjValue scale;      /* f64[out], or f64[1] for all */
  AdjValue zero_point; /* i64, as many */
  AdjValue bias;       /* f32[out], or NONE */
  AdjValue packed;     /* f64[in, out], the weight without zero points, for the product; NONE of a
                          fake object */
} Packed;

static const struct
{
  const char *name;
  gsize offset;
} members[] = {
  { "weight", offsetof (Packed, weight) },
  { "scale", offsetof (Packed, scale) },
  { "zero_point", offsetof (Packed, zero_point) },
  { "bias", offsetof (Packed, bias) },
};

static AdjValue *
get_member (Packed *self, guint index)
{
  return (gpointer) ((char *) self + members[index].offset);
}

/* -- dynamic quantization, as FBGEMM does it -- */

typedef struct
{
  float scale;
  double zero_point, low, high;
} Grid;

static gboolean
has_nan (const double *x, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    if (isnan (x[i]))
      return TRUE;
  return FALSE;
}

/* 0 is on it, and it reaches over all of @x. */
static Grid
choose_grid (const double *x, gint64 n, gboolean reduce_range)
{
  Grid grid = { .low = 0, .high = reduce_range ? 127 : 255 };
  double min = 0, max = 0, scale, from_low, from_high;

  for (gint64 i = 0; i < n; i++)
    {
      min = MIN (min, x[i]);
      max = MAX (max, x[i]);
    }
  scale = (max - min) / (grid.high - grid.low);
  if ((float) scale == 0 || isinf (1 / (float) scale))
    scale = 0.1;
  from_low = grid.low - min / scale;
  from_high = grid.high - max / scale;
  if (fabs (grid.low) + fabs (min / scale) >= fabs (grid.high) + fabs (max / scale))
    from_low = from_high;
  grid.scale = (float) scale;
  grid.zero_point = CLAMP (nearbyint (from_low), grid.low, grid.high);
  return grid;
}

/* In place. */
static void
quantize (const Grid *grid, double *x, gint64 n)
{
  const float inverse = 1 / grid->scale;

  for (gint64 i = 0; i < n; i++)
    x[i] = CLAMP (nearbyint ((double) ((float) x[i] * inverse)) + grid->zero_point, 0.0, 255.0) -
           grid->zero_point;
}

/* -- the product -- */

/* (transfer full): the elements of @value, DATA. */
static double *
read_all (const AdjValue *value, gint64 *n)
{
  double *out;

  *n = adj_tensor_data_get_numel (value->data);
  out = g_new (double, *n + 1);
  adj_tensor_data_read_doubles (value->data, out);
  return out;
}

/* (transfer full): the weight as the product reads it. */
static AdjTensorData *
pack (const Packed *self)
{
  const AdjShape *shape = &adj_tensor_data_get_meta (self->weight.data)->shape;
  const gint64 n_outs = shape->size[0].word, width = shape->size[1].word;
  const gint64 sizes[2] = { width, n_outs };
  gint64 n, n_zeros;
  g_autofree double *weight = read_all (&self->weight, &n);
  g_autofree double *zero = read_all (&self->zero_point, &n_zeros);
  g_autofree double *packed = g_new (double, n + 1);

  for (gint64 o = 0; o < n_outs; o++)
    for (gint64 i = 0; i < width; i++)
      packed[i * n_outs + o] = weight[o * width + i] - zero[n_zeros > 1 ? o : 0];
  return adj_tensor_data_new_from_array (ADJ_DTYPE_F64, sizes, 2, packed, NULL);
}

/* @sums: [rows, out], in place. */
static void
scale_sums (const Packed *self, const Grid *grid, double *sums, gint64 n)
{
  gint64 n_scales, n_outs = 0;
  g_autofree double *scales = read_all (&self->scale, &n_scales);
  g_autofree double *bias =
      self->bias.kind == ADJ_VALUE_DATA ? read_all (&self->bias, &n_outs) : NULL;

  n_outs = adj_tensor_data_get_meta (self->weight.data)->shape.size[0].word;
  for (gint64 i = 0; i < n; i++)
    sums[i] =
        (double) ((float) sums[i] * (grid->scale * (float) scales[n_scales > 1 ? i % n_outs : 0]) +
                  (bias != NULL ? (float) bias[i % n_outs] : 0));
}

static const AdjShape *
get_shape (const AdjValue *value)
{
  const AdjTensorMeta *meta = value->kind == ADJ_VALUE_DATA ? adj_tensor_data_get_meta (value->data)
                                                            : adj_tensor_get_meta (value->tensor);

  return &meta->shape;
}

/* What the product looks like; %FALSE with the context in error: they do not fit. */
static gboolean
infer (const Packed *self, AdjContext *cx, const AdjTensor *x, AdjTensorMeta *out)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (x);
  const AdjShape *weight = get_shape (&self->weight);
  AdjSize sizes[ADJ_MAX_RANK];

  if ((meta->dtype != ADJ_DTYPE_F32 && meta->dtype != ADJ_DTYPE_F64) || meta->shape.rank == 0 ||
      !adj_size_same (meta->shape.size[meta->shape.rank - 1], weight->size[1]))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "linear_dynamic takes float32 with %" G_GINT64_FORMAT " columns",
                        weight->size[1].word);
      return FALSE;
    }
  for (guint i = 0; i + 1 < meta->shape.rank; i++)
    sizes[i] = meta->shape.size[i];
  sizes[meta->shape.rank - 1] = weight->size[0];
  *out = (AdjTensorMeta){ .dtype = meta->dtype, .device = meta->device, .has_strides = TRUE };
  adj_shape_init (&out->shape, adj_context_get_symbols (cx), meta->shape.rank, sizes);
  return TRUE;
}

/* (nullable): as @meta says; borrowed from the scope.  Sums of products of two bytes are exact, in
 * whichever order. */
static AdjTensor *
compute (const Packed *self,
         AdjContext *cx,
         AdjTensor *x,
         gboolean reduce_range,
         const AdjTensorMeta *meta)
{
  g_auto (AdjValue) given = adj_object_store (x);
  g_auto (AdjValue) sums = ADJ_NONE;
  const AdjShape *weight = get_shape (&self->weight);
  gint64 sizes[ADJ_MAX_RANK], n, n_sums, rows = 1;
  g_autofree double *q = read_all (&given, &n);
  const Grid grid = choose_grid (q, n, reduce_range);
  g_autofree double *out = NULL;
  AdjTensor *made;

  for (guint i = 0; i < meta->shape.rank; i++)
    {
      sizes[i] = meta->shape.size[i].word;
      rows *= i + 1 < meta->shape.rank ? sizes[i] : 1;
    }
  if (has_nan (q, n))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "linear_dynamic takes no NaN, which no 8-bit integer stands for");
      return NULL;
    }
  quantize (&grid, q, n);
  made = adj_from_array (cx, ADJ_DTYPE_F64, (gint64[]){ rows, weight->size[1].word }, 2, q);
  made = made != NULL ? ADJ_APPLY (cx, ADJ_OP_mm, ADJ_TENSOR (made),
                                   ADJ_TENSOR (adj_object_load (cx, &self->packed)))
                      : NULL;
  if (made == NULL)
    return NULL;
  sums = adj_object_store (made);
  out = read_all (&sums, &n_sums);
  scale_sums (self, &grid, out, n_sums);
  made = adj_from_array (cx, ADJ_DTYPE_F64, sizes, meta->shape.rank, out);
  return made != NULL ? ADJ_APPLY (cx, ADJ_OP_prims_convert_element_type, ADJ_TENSOR (made),
                                   ADJ_DTYPE (meta->dtype))
                      : NULL;
}

static gboolean
linear_dynamic (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  const Packed *self = (const Packed *) object;
  AdjTensorMeta meta;
  AdjTensor *made;

  if (!infer (self, cx, args[0].tensor, &meta))
    return FALSE;
  if (adj_object_is_fake (object))
    {
      *result = ADJ_TENSOR (adj_tensor_new_empty (&meta, adj_context_get_symbols (cx), TRUE));
      return TRUE;
    }
  made = compute (self, cx, args[0].tensor, args[1].boolean, &meta);
  *result = made != NULL ? ADJ_TENSOR (adj_keep (made)) : ADJ_NONE;
  return made != NULL;
}

static gboolean
get_bias (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  const Packed *self = (const Packed *) object;

  *result = ADJ_NONE;
  return self->bias.kind == ADJ_VALUE_NONE || object_give_tensor (cx, &self->bias, result);
}

/* -- the class -- */

static gboolean
flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  const Packed *self = (const Packed *) object;

  *state = adj_object_state_new (
      "weight", adj_value_copy (&self->weight), "scale", adj_value_copy (&self->scale),
      "zero_point", adj_value_copy (&self->zero_point), "bias", adj_value_copy (&self->bias), NULL);
  return TRUE;
}

static gboolean
check (const Packed *self, GError **error)
{
  const AdjShape *weight = get_shape (&self->weight), *scale = get_shape (&self->scale);
  const AdjShape *zero = get_shape (&self->zero_point);

  if (weight->rank != 2)
    return object_refuse_state (error, "weight", "a matrix");
  if (scale->rank != 1 || (scale->size[0].word != 1 && scale->size[0].word != weight->size[0].word))
    return object_refuse_state (error, "scale", "one number, or one for each row of the weight");
  if (zero->rank != 1 || zero->size[0].word != scale->size[0].word)
    return object_refuse_state (error, "zero_point", "as many numbers as there are scales");
  if (self->bias.kind != ADJ_VALUE_NONE &&
      (get_shape (&self->bias)->rank != 1 ||
       get_shape (&self->bias)->size[0].word != weight->size[0].word))
    return object_refuse_state (error, "bias", "a number for each row of the weight");
  return TRUE;
}

static gboolean
unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  Packed *self = (Packed *) object;

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    {
      const AdjValue *value = adj_object_state_get (state, members[i].name);
      const gboolean may_lack = get_member (self, i) == &self->bias;

      if (value != NULL && object_is_tensor (value))
        *get_member (self, i) = adj_value_copy (value);
      else if (!may_lack || (value != NULL && value->kind != ADJ_VALUE_NONE))
        return object_refuse_state (error, members[i].name, "a tensor");
    }
  if (!check (self, error))
    return FALSE;
  if (self->weight.kind == ADJ_VALUE_DATA && self->zero_point.kind == ADJ_VALUE_DATA)
    self->packed = ADJ_DATA (pack (self));
  return TRUE;
}

static void
finalize (AdjObject *object)
{
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    adj_value_clear (get_member ((Packed *) object, i));
  adj_value_clear (&((Packed *) object)->packed);
}

static const AdjMethod methods[] = {
  { .schema = "bias() -> Tensor?",
    .help = "what is added to each row",
    .pure = TRUE,
    .call = get_bias },
  { .schema = "linear_dynamic(Tensor x, bool reduce_range) -> Tensor",
    .help = "x, rounded to 8 bits, times the transposed weight, plus the bias: what "
            "quantized.linear_dynamic calls",
    .pure = TRUE,
    .call = linear_dynamic },
};

const AdjObjectClass adj_class_linear_packed_params = {
  .name = "quantized::LinearPackedParamsBase",
  .help = "The parameters of a linear layer in 8 bits, as PyTorch packs them",
  .size = sizeof (Packed),
  .methods = methods,
  .n_methods = G_N_ELEMENTS (methods),
  .flatten = flatten,
  .unflatten = unflatten,
  .finalize = finalize,
  .fake = &adj_class_linear_packed_params,
};
