/* SPDX-License-Identifier: MIT */
/* Shared by batch norm and group norm: statistics, normalisation and gradients. */

#include "adj-kernel-channel-norm.h"
#include "ops/channel-norm-private.h"

/* Batch norm and group norm are one computation over other dimensions: with x̂ = (x − μ) r,
 * r = 1 / √(var + eps), y = x̂ w + b.  Backward, with h = g w and n elements per statistic:
 * gx = r (h − Σh / n − x̂ Σ(h x̂) / n), gw = Σ g x̂, gb = Σ g. */

/* -- pointwise steps -- */

#define LOAD(r)                                                                                    \
  {                                                                                                \
    .op = ADJ_K_OP_LOAD, .dst = r, .imm.i = r                                                      \
  }
#define STEP(name, to, x, y)                                                                       \
  {                                                                                                \
    .op = ADJ_K_OP_##name, .dst = to, .a = x, .b = y                                               \
  }

typedef struct
{
  guint n_inputs;
  guint n_code;
  AdjKCode code[12];
} Step;

/* x, mean, rstd, weight, bias */
static const Step normalize = { 5,
                                9,
                                { LOAD (0), LOAD (1), LOAD (2), LOAD (3), LOAD (4),
                                  STEP (SUB, 0, 0, 1), STEP (MUL, 0, 0, 2), STEP (MUL, 0, 0, 3),
                                  STEP (ADD, 0, 0, 4) } };
/* var, eps */
static const Step invert = {
  2, 4, { LOAD (0), LOAD (1), STEP (ADD, 0, 0, 1), { .op = ADJ_K_OP_RSQRT, .dst = 0, .a = 0 } }
};
/* running, statistic, momentum, its complement, factor of the statistic */
static const Step average = { 5,
                              9,
                              { LOAD (0), LOAD (1), LOAD (2), LOAD (3), LOAD (4),
                                STEP (MUL, 1, 1, 4), STEP (MUL, 1, 1, 2), STEP (MUL, 0, 0, 3),
                                STEP (ADD, 0, 0, 1) } };
/* a, b */
static const Step multiply = { 2, 3, { LOAD (0), LOAD (1), STEP (MUL, 0, 0, 1) } };
/* x, mean, rstd, g: g x̂ */
static const Step correlate = { 4,
                                7,
                                { LOAD (0), LOAD (1), LOAD (2), LOAD (3), STEP (SUB, 0, 0, 1),
                                  STEP (MUL, 0, 0, 2), STEP (MUL, 0, 0, 3) } };
/* x, mean, rstd, h, mean of h, mean of h x̂ */
static const Step combine = { 6,
                              12,
                              { LOAD (0), LOAD (1), LOAD (2), LOAD (3), LOAD (4), LOAD (5),
                                STEP (SUB, 0, 0, 1), STEP (MUL, 0, 0, 2), STEP (MUL, 0, 0, 5),
                                STEP (ADD, 0, 0, 4), STEP (SUB, 0, 3, 0), STEP (MUL, 0, 0, 2) } };

static void
apply (
    AdjKQueue *queue, const Step *step, AdjKType type, const AdjKView *out, const AdjKView *inputs)
{
  AdjKProgram program = {
    .klass = type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : ADJ_K_CLASS_F32,
    .n_inputs = (gint) step->n_inputs,
    .n_regs = (gint) step->n_inputs,
    .n_code = (gint) step->n_code,
    .code = step->code,
  };

  adj_q_pointwise (queue, &program, out, inputs);
}

/* -- views -- */

/* @what, which has the dims of @x in the mask @dims, expanded along the others or with size 1
 * there. */
static AdjKView
over (const AdjKView *x, guint32 dims, const AdjKView *what, gboolean spread)
{
  AdjKView out = *x;
  gint n = 0;

  out.data = what->data;
  out.type = what->type;
  for (gint i = 0; i < x->rank; i++)
    if ((dims >> i & 1) != 0)
      out.stride[i] = what->stride[n++];
    else
      {
        out.stride[i] = spread ? 0 : 1;
        out.size[i] = spread ? x->size[i] : 1;
      }
  return out;
}

/* A number expanded to the sizes of @x. */
static AdjKView
number_over (AdjKQueue *queue, const AdjKView *x, const double *number)
{
  const AdjKView scalar = { .data = (gpointer) op_constant (queue, number, sizeof *number),
                            .type = ADJ_K_F64 };

  return over (x, 0, &scalar, TRUE);
}

static guint32
all_dims (const OpNorm *norm)
{
  return (1u << norm->x.rank) - 1;
}

AdjKType
op_norm_type (const OpNorm *norm)
{
  return norm->x.type == ADJ_K_F64 ? ADJ_K_F64 : ADJ_K_F32;
}

static const double zero = 0;
static const double one = 1;

static AdjKView
weight_over (AdjKQueue *queue, const OpNorm *norm)
{
  return norm->w.data != NULL ? over (&norm->x, norm->weights, &norm->w, TRUE)
                              : number_over (queue, &norm->x, &one);
}

static AdjKView
bias_over (AdjKQueue *queue, const OpNorm *norm)
{
  return norm->b.data != NULL ? over (&norm->x, norm->weights, &norm->b, TRUE)
                              : number_over (queue, &norm->x, &zero);
}

gint64
op_norm_group_size (const OpNorm *norm)
{
  gint64 n = 1;

  for (gint i = 0; i < norm->x.rank; i++)
    if ((norm->statistics >> i & 1) == 0)
      n *= norm->x.size[i];
  return n;
}

/* -- some channels at a time --
 *
 * Statistics and weights belong to channels, dim 1 of x: a few of them, which stay in the cache
 * with their temporaries, are as good as all. */

#define CACHED (64 * 1024) /* elements of x */

/* A GPU takes all channels at once, for fewer launches. */
static gint64
channels_at_once (const AdjKQueue *queue, const OpNorm *norm)
{
  gint64 channels = norm->x.size[1];
  gint64 elements = op_norm_group_size (norm);

  for (gint i = 0; i < norm->x.rank; i++)
    if (i != 1 && (norm->statistics >> i & 1) != 0)
      elements *= norm->x.size[i];
  if (queue->device != NULL)
    return MAX (channels, 1);
  return CLAMP (CACHED / MAX (elements, 1), 1, MAX (channels, 1));
}

/* Channels @first … @first + @n - 1 of a view that has the dims of x in the mask @dims. */
static AdjKView
some_channels (const AdjKView *view, guint32 dims, gint64 first, gint64 n)
{
  AdjKView out = *view;
  gint dim = (gint) (dims & 1);

  if (view->data == NULL)
    return out;
  out.data =
      (char *) view->data + first * view->stride[dim] * (gint64) adj_k_type_get_size (view->type);
  out.size[dim] = n;
  return out;
}

static OpNorm
some_of_norm (const OpNorm *norm, gint64 first, gint64 n)
{
  OpNorm out = *norm;

  out.x = some_channels (&norm->x, all_dims (norm), first, n);
  out.w = some_channels (&norm->w, norm->weights, first, n);
  out.b = some_channels (&norm->b, norm->weights, first, n);
  return out;
}

/* -- forward and backward -- */

/* Whether the host can process channels without temporaries: only for batch norm. */
static gboolean
goes_by_channel (const AdjKQueue *queue, const OpNorm *norm)
{
  return queue->device == NULL && norm->statistics == 2 && norm->weights == 2 &&
         adj_k_channel_norm_fits (&norm->x);
}

static void
measure_channels (AdjKQueue *queue, const OpNorm *norm, const AdjKView *mean, const AdjKView *var)
{
  AdjKView m = over (&norm->x, norm->statistics, mean, FALSE);
  AdjKView v = over (&norm->x, norm->statistics, var, FALSE);

  adj_q_var_mean (queue, &v, &m, &norm->x, all_dims (norm) & ~norm->statistics, 0);
}

void
op_norm_measure (AdjKQueue *queue, const OpNorm *norm, const AdjKView *mean, const AdjKView *var)
{
  gint64 step = channels_at_once (queue, norm);

  if (goes_by_channel (queue, norm) && adj_k_channel_norm_measure (&norm->x, mean, var))
    return;
  for (gint64 i = 0; i < norm->x.size[1]; i += step)
    {
      gint64 n = MIN (step, norm->x.size[1] - i);
      OpNorm some = some_of_norm (norm, i, n);
      AdjKView m = some_channels (mean, norm->statistics, i, n);
      AdjKView v = some_channels (var, norm->statistics, i, n);

      measure_channels (queue, &some, &m, &v);
    }
}

void
op_norm_invert_deviation (AdjKQueue *queue, const AdjKView *rstd, const AdjKView *var, double eps)
{
  AdjKView inputs[] = { *var, number_over (queue, rstd, &eps) };

  apply (queue, &invert, rstd->type, rstd, inputs);
}

void
op_norm_write (AdjKQueue *queue,
               const OpNorm *norm,
               const AdjKView *mean,
               const AdjKView *rstd,
               const AdjKView *y)
{
  AdjKView inputs[] = {
    norm->x,
    over (&norm->x, norm->statistics, mean, TRUE),
    over (&norm->x, norm->statistics, rstd, TRUE),
    weight_over (queue, norm),
    bias_over (queue, norm),
  };
  const AdjKChannelNorm whole = { norm->x, *y, *mean, *rstd, norm->w, norm->b };

  if (goes_by_channel (queue, norm) && adj_k_channel_norm_fits (y))
    adj_k_channel_norm_write (&whole);
  else
    apply (queue, &normalize, op_norm_type (norm), y, inputs);
}

/* gw and gb, each nullable, with the dims of the weights. */
static void
differentiate_weights (AdjKQueue *queue,
                       const OpNorm *norm,
                       const AdjKView *g,
                       const AdjKView *statistics,
                       const AdjKView *gw,
                       const AdjKView *gb)
{
  guint32 dims = all_dims (norm) & ~norm->weights;
  AdjKView sums, products;

  if (gw != NULL)
    {
      AdjKView inputs[] = { norm->x, statistics[0], statistics[1], *g };
      g_autofree gpointer memory = op_temporary (queue, &norm->x, op_norm_type (norm), &products);

      apply (queue, &correlate, products.type, &products, inputs);
      sums = over (&norm->x, norm->weights, gw, FALSE);
      adj_q_reduce (queue, ADJ_K_SUM, &sums, &products, dims);
    }
  if (gb != NULL)
    {
      sums = over (&norm->x, norm->weights, gb, FALSE);
      adj_q_reduce (queue, ADJ_K_SUM, &sums, g, dims);
    }
}

/* @statistics: mean and rstd, expanded to x. */
static void
differentiate_input (AdjKQueue *queue,
                     const OpNorm *norm,
                     const AdjKView *g,
                     const AdjKView *statistics,
                     gboolean constant,
                     const AdjKView *gx)
{
  AdjKType type = op_norm_type (norm);
  guint32 dims = all_dims (norm) & ~norm->statistics;
  AdjKView kept = norm->x, h, products, mean_h, mean_p, m, p;
  g_autofree gpointer memory_h = op_temporary (queue, &norm->x, type, &h);
  g_autofree gpointer memory = NULL, first = NULL, second = NULL;
  AdjKView weighted[] = { *g, weight_over (queue, norm) };

  apply (queue, &multiply, type, &h, weighted);
  if (constant)
    {
      AdjKView scaled[] = { h, statistics[1] };

      apply (queue, &multiply, type, gx, scaled);
      return;
    }

  for (gint i = 0; i < kept.rank; i++)
    if ((dims >> i & 1) != 0)
      kept.size[i] = 1;
  memory = op_temporary (queue, &norm->x, type, &products);
  first = op_temporary (queue, &kept, type, &mean_h);
  second = op_temporary (queue, &kept, type, &mean_p);
  {
    AdjKView inputs[] = { norm->x, statistics[0], statistics[1], h };

    apply (queue, &correlate, type, &products, inputs);
  }
  adj_q_reduce (queue, ADJ_K_MEAN, &mean_h, &h, dims);
  adj_q_reduce (queue, ADJ_K_MEAN, &mean_p, &products, dims);
  m = mean_h;
  p = mean_p;
  for (gint i = 0; i < kept.rank; i++)
    if ((dims >> i & 1) != 0)
      {
        m.size[i] = p.size[i] = norm->x.size[i];
        m.stride[i] = p.stride[i] = 0;
      }
  {
    AdjKView inputs[] = { norm->x, statistics[0], statistics[1], h, m, p };

    apply (queue, &combine, type, gx, inputs);
  }
}

static void
differentiate_channels (AdjKQueue *queue, const OpNorm *norm, const OpNormGradients *to)
{
  AdjKView statistics[] = { over (&norm->x, norm->statistics, &to->mean, TRUE),
                            over (&norm->x, norm->statistics, &to->rstd, TRUE) };

  differentiate_weights (queue, norm, &to->g, statistics, to->gw, to->gb);
  if (to->gx != NULL)
    differentiate_input (queue, norm, &to->g, statistics, to->constant, to->gx);
}

void
op_norm_differentiate (AdjKQueue *queue, const OpNorm *norm, const OpNormGradients *to)
{
  const AdjKChannelNormBackward whole = { norm->x, to->g,  to->mean, to->rstd,
                                          norm->w, to->gx, to->gw,   to->gb };
  gint64 step = channels_at_once (queue, norm);

  if (goes_by_channel (queue, norm) && !to->constant && adj_k_channel_norm_fits (&to->g) &&
      (to->gx == NULL || adj_k_channel_norm_fits (to->gx)) && adj_k_channel_norm_backward (&whole))
    return;
  for (gint64 i = 0; i < norm->x.size[1]; i += step)
    {
      gint64 n = MIN (step, norm->x.size[1] - i);
      OpNorm some = some_of_norm (norm, i, n);
      OpNormGradients part = *to;
      AdjKView gx, gw, gb;

      part.g = some_channels (&to->g, all_dims (norm), i, n);
      part.mean = some_channels (&to->mean, norm->statistics, i, n);
      part.rstd = some_channels (&to->rstd, norm->statistics, i, n);
      if (to->gx != NULL)
        {
          gx = some_channels (to->gx, all_dims (norm), i, n);
          part.gx = &gx;
        }
      if (to->gw != NULL)
        {
          gw = some_channels (to->gw, norm->weights, i, n);
          part.gw = &gw;
        }
      if (to->gb != NULL)
        {
          gb = some_channels (to->gb, norm->weights, i, n);
          part.gb = &gb;
        }
      differentiate_channels (queue, &some, &part);
    }
}

void
op_norm_average (AdjKQueue *queue,
                 const AdjKView *out,
                 const AdjKView *running,
                 const AdjKView *statistic,
                 double momentum,
                 double factor)
{
  double rest = 1 - momentum;
  AdjKView inputs[] = { *running, *statistic, number_over (queue, out, &momentum),
                        number_over (queue, out, &rest), number_over (queue, out, &factor) };

  apply (queue, &average, out->type == ADJ_K_F64 ? ADJ_K_F64 : ADJ_K_F32, out, inputs);
}

/* -- shape rules -- */

gboolean
op_norm_check_channels (const AdjOpCall *call, guint arg, AdjSize channels, AdjDType *dtype)
{
  const AdjTensor *tensor = adj_op_call_tensor_or_null (call, arg);
  const AdjTensorMeta *meta;

  if (tensor == NULL)
    return !adj_context_has_error (call->cx);
  meta = adj_tensor_get_meta (tensor);
  if (meta->shape.rank != 1 ||
      !adj_size_test (op_symbols (call), ADJ_SIZE_EQ, meta->shape.size[0], channels))
    return adj_op_call_fail (call, "argument '%s' must have one entry per channel",
                             call->schema->arguments[arg].name);
  if (dtype != NULL)
    *dtype = meta->dtype;
  return TRUE;
}

gboolean
op_norm_check_input (const AdjOpCall *call, const AdjTensorMeta *input)
{
  if (adj_context_has_error (call->cx))
    return FALSE;
  if (input->shape.rank < 2 || input->shape.rank >= ADJ_MAX_RANK)
    return adj_op_call_fail (call, "the input has rank %u: no channels", input->shape.rank);
  if (!adj_dtype_is_floating (input->dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (input->dtype)->torch_name);
  return TRUE;
}

gboolean
op_norm_add_gradients (AdjOpCall *call, guint input, guint mask, AdjDType dtype)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, input);

  for (guint i = 0; i < 3; i++)
    if (!op_wants (call, mask, i))
      adj_op_call_add_none (call);
    else if (i == 0)
      op_add_format (call, meta->dtype, meta->shape.rank, meta->shape.size,
                     op_is_channels_last (call, input));
    else
      op_add_contiguous (call, dtype, 1, &meta->shape.size[1]);
  return TRUE;
}

/* -- costs -- */

double
op_norm_flops (const AdjOpCall *call)
{
  return 8 * op_count (call, &adj_op_call_meta (call, 0)->shape);
}

double
op_norm_backward_flops (const AdjOpCall *call)
{
  return 12 * op_count (call, &adj_op_call_meta (call, 1)->shape);
}

double
op_norm_reduction (const AdjOpCall *call)
{
  double statistics = op_count (call, &call->results[1].meta.shape);

  return op_count (call, &adj_op_call_meta (call, 0)->shape) / MAX (statistics, 1);
}

double
op_norm_backward_reduction (const AdjOpCall *call)
{
  const AdjShape *input = &adj_op_call_meta (call, 1)->shape;
  gint64 channels = 1;

  adj_size_get_hint (op_symbols (call), input->size[1], &channels);
  return op_count (call, input) / (double) MAX (channels, 1);
}
