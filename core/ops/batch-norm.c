/* SPDX-License-Identifier: MIT */
#include "ops/spatial-private.h"
#include "ops/table-private.h"

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
apply (const Step *step, AdjKType type, const AdjKView *out, const AdjKView *inputs)
{
  AdjKProgram program = {
    .klass = type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : ADJ_K_CLASS_F32,
    .n_inputs = (gint) step->n_inputs,
    .n_regs = (gint) step->n_inputs,
    .n_code = (gint) step->n_code,
    .code = step->code,
  };

  adj_k_pointwise (&program, out, inputs);
}

/* -- views -- */

/* @what, whose dims are those of @x in the mask @dims, spread over the others, or of size 1 there.
 */
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

/* A number, everywhere in the sizes of @x. */
static AdjKView
number_over (const AdjKView *x, const double *number)
{
  const AdjKView scalar = { .data = (gpointer) number, .type = ADJ_K_F64 };

  return over (x, 0, &scalar, TRUE);
}

/* Dimension 1 of @view as [groups, size / groups]. */
static AdjKView
split_channels (const AdjKView *view, gint dim, gint64 groups)
{
  AdjKView out = *view;

  for (gint i = view->rank; i > dim + 1; i--)
    {
      out.size[i] = view->size[i - 1];
      out.stride[i] = view->stride[i - 1];
    }
  out.rank = view->rank + 1;
  out.size[dim] = groups;
  out.size[dim + 1] = view->size[dim] / groups;
  out.stride[dim] = view->stride[dim] * out.size[dim + 1];
  out.stride[dim + 1] = view->stride[dim];
  return out;
}

/* What is normalised, and which of its dims the statistics and the weights have. */
typedef struct
{
  AdjKView x;
  guint32 statistics, weights;
  AdjKView w, b; /* with the dims of weights; without data: 1 and 0 */
} Norm;

static guint32
all_dims (const Norm *norm)
{
  return (1u << norm->x.rank) - 1;
}

static AdjKType
compute_type (const AdjKView *x)
{
  return x->type == ADJ_K_F64 ? ADJ_K_F64 : ADJ_K_F32;
}

static const double zero = 0;
static const double one = 1;

static AdjKView
weight_over (const Norm *norm)
{
  return norm->w.data != NULL ? over (&norm->x, norm->weights, &norm->w, TRUE)
                              : number_over (&norm->x, &one);
}

static AdjKView
bias_over (const Norm *norm)
{
  return norm->b.data != NULL ? over (&norm->x, norm->weights, &norm->b, TRUE)
                              : number_over (&norm->x, &zero);
}

/* Elements per statistic. */
static gint64
group_size (const Norm *norm)
{
  gint64 n = 1;

  for (gint i = 0; i < norm->x.rank; i++)
    if ((norm->statistics >> i & 1) == 0)
      n *= norm->x.size[i];
  return n;
}

/* -- forward and backward -- */

/* @mean and @var: dense, of the compute type, with the dims of the statistics. */
static void
measure (const Norm *norm, const AdjKView *mean, const AdjKView *var)
{
  AdjKView m = over (&norm->x, norm->statistics, mean, FALSE);
  AdjKView v = over (&norm->x, norm->statistics, var, FALSE);

  adj_k_var_mean (&v, &m, &norm->x, all_dims (norm) & ~norm->statistics, 0);
}

/* @rstd = 1 / √(@var + eps); may be the same. */
static void
invert_deviation (const AdjKView *rstd, const AdjKView *var, double eps)
{
  AdjKView inputs[] = { *var, number_over (rstd, &eps) };

  apply (&invert, rstd->type, rstd, inputs);
}

static void
write_normal (const Norm *norm, const AdjKView *mean, const AdjKView *rstd, const AdjKView *y)
{
  AdjKView inputs[] = {
    norm->x,
    over (&norm->x, norm->statistics, mean, TRUE),
    over (&norm->x, norm->statistics, rstd, TRUE),
    weight_over (norm),
    bias_over (norm),
  };

  apply (&normalize, compute_type (&norm->x), y, inputs);
}

/* gw and gb, each nullable, with the dims of the weights. */
static void
differentiate_weights (const Norm *norm,
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
      g_autofree gpointer memory = op_temporary (&norm->x, compute_type (&norm->x), &products);

      apply (&correlate, products.type, &products, inputs);
      sums = over (&norm->x, norm->weights, gw, FALSE);
      adj_k_reduce (ADJ_K_SUM, &sums, &products, dims);
    }
  if (gb != NULL)
    {
      sums = over (&norm->x, norm->weights, gb, FALSE);
      adj_k_reduce (ADJ_K_SUM, &sums, g, dims);
    }
}

/* @statistics: mean and rstd, spread over x. */
static void
differentiate_input (const Norm *norm,
                     const AdjKView *g,
                     const AdjKView *statistics,
                     gboolean constant,
                     const AdjKView *gx)
{
  AdjKType type = compute_type (&norm->x);
  guint32 dims = all_dims (norm) & ~norm->statistics;
  AdjKView kept = norm->x, h, products, mean_h, mean_p, m, p;
  g_autofree gpointer memory_h = op_temporary (&norm->x, type, &h);
  g_autofree gpointer memory = NULL, first = NULL, second = NULL;
  AdjKView weighted[] = { *g, weight_over (norm) };

  apply (&multiply, type, &h, weighted);
  if (constant)
    {
      AdjKView scaled[] = { h, statistics[1] };

      apply (&multiply, type, gx, scaled);
      return;
    }

  for (gint i = 0; i < kept.rank; i++)
    if ((dims >> i & 1) != 0)
      kept.size[i] = 1;
  memory = op_temporary (&norm->x, type, &products);
  first = op_temporary (&kept, type, &mean_h);
  second = op_temporary (&kept, type, &mean_p);
  {
    AdjKView inputs[] = { norm->x, statistics[0], statistics[1], h };

    apply (&correlate, type, &products, inputs);
  }
  adj_k_reduce (ADJ_K_MEAN, &mean_h, &h, dims);
  adj_k_reduce (ADJ_K_MEAN, &mean_p, &products, dims);
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

    apply (&combine, type, gx, inputs);
  }
}

/* -- batch norm: meta -- */

/* A tensor or None must have one entry per channel; its dtype into @dtype when it is there. */
static gboolean
check_channels (const AdjOpCall *call, guint arg, AdjSize channels, AdjDType *dtype)
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

static gboolean
check_input (const AdjOpCall *call, const AdjTensorMeta *input)
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

/* y and the two statistics, which are empty when they were given. */
static gboolean
add_normal (AdjOpCall *call, guint n_running, gboolean training)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, 0);
  AdjSize channels = ADJ_SIZE (0), length;
  AdjDType dtype = input->dtype;

  if (!check_input (call, input))
    return FALSE;
  channels = input->shape.size[1];
  if (!check_channels (call, 2, channels, NULL) ||
      (n_running > 0 && (!check_channels (call, 4, channels, NULL) ||
                         !check_channels (call, 3, channels, &dtype))) ||
      !check_channels (call, 1, channels, &dtype))
    return FALSE;
  length = training ? channels : ADJ_SIZE (0);
  op_add_format (call, input->dtype, input->shape.rank, input->shape.size,
                 op_is_channels_last (call, 0));
  op_add_contiguous (call, dtype, 1, &length);
  op_add_contiguous (call, dtype, 1, &length);
  return TRUE;
}

static gboolean
batch_norm_meta (AdjOpCall *call)
{
  if (!add_normal (call, 2, adj_op_call_bool (call, 5)))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    {
      const AdjTensorMeta *running = adj_op_call_meta (call, 3 + i);

      op_add_contiguous (call, running->dtype, 1, running->shape.size);
    }
  return TRUE;
}

static gboolean
no_stats_meta (AdjOpCall *call)
{
  if (!adj_op_call_bool (call, 3))
    return adj_op_call_fail (call, "there are no statistics to use without training");
  return add_normal (call, 0, TRUE);
}

static gboolean
no_training_meta (AdjOpCall *call)
{
  return add_normal (call, 2, FALSE);
}

static gboolean
batch_norm_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  const AdjTensorMeta *input = adj_op_call_meta (call, 1);
  gboolean train = adj_op_call_bool (call, 7);
  AdjDType dtype = input->dtype;
  AdjSize channels;

  if (!check_input (call, input))
    return FALSE;
  channels = input->shape.size[1];
  if (!adj_shape_same_sizes (&grad->shape, &input->shape, op_symbols (call)))
    return adj_op_call_fail (call, "the gradient has not the sizes of the input");
  for (guint arg = train ? 5 : 3, i = 0; i < 2; i++)
    if (adj_op_call_tensor (call, arg + i) == NULL ||
        !check_channels (call, arg + i, channels, &dtype))
      return FALSE;
  if (!check_channels (call, 2, channels, &dtype))
    return FALSE;

  if (op_wants (call, 9, 0))
    op_add_format (call, input->dtype, input->shape.rank, input->shape.size,
                   op_is_channels_last (call, 1));
  else
    adj_op_call_add_none (call);
  for (guint i = 1; i < 3; i++)
    if (op_wants (call, 9, i))
      op_add_contiguous (call, dtype, 1, &channels);
    else
      adj_op_call_add_none (call);
  return TRUE;
}

/* -- batch norm: kernels -- */

/* x, weight and perhaps bias of a batch norm; the weight is argument @weight. */
static gboolean
read_batch_norm (const AdjOpCall *call, guint input, guint weight, gboolean has_bias, Norm *norm)
{
  const AdjKView *given;

  *norm = (Norm){ .statistics = 2, .weights = 2 };
  return op_input (call, input, &norm->x) && op_input_or_null (call, weight, &norm->w, &given) &&
         (!has_bias || op_input_or_null (call, weight + 1, &norm->b, &given));
}

static AdjKView
channels_of (const Norm *norm)
{
  return (AdjKView){ .rank = 1, .size = { norm->x.size[1] }, .stride = { 1 } };
}

/* y from statistics that arguments 3 and 4 hold. */
static gboolean
no_training_kernel (AdjOpCall *call)
{
  double eps = adj_op_call_double (call, adj_op_call_find (call, "eps"), 0);
  AdjKView mean, var, rstd, y;
  g_autofree gpointer memory = NULL;
  Norm norm;

  if (!read_batch_norm (call, 0, 1, TRUE, &norm) || !op_input (call, 3, &mean) ||
      !op_input (call, 4, &var) || !op_output (call, 0, &y))
    return FALSE;
  memory = op_temporary (&var, compute_type (&norm.x), &rstd);
  invert_deviation (&rstd, &var, eps);
  write_normal (&norm, &mean, &rstd, &y);
  return TRUE;
}

/* y and the statistics of the batch; @var is left with the variance. */
static gboolean
train (AdjOpCall *call, const Norm *norm, const AdjKView *mean, const AdjKView *var)
{
  double eps = adj_op_call_double (call, adj_op_call_find (call, "eps"), 0);
  AdjKView y, save_mean, save_rstd, rstd;
  g_autofree gpointer memory = op_temporary (mean, mean->type, &rstd);

  if (!op_output (call, 0, &y) || !op_output (call, 1, &save_mean) ||
      !op_output (call, 2, &save_rstd))
    return FALSE;
  measure (norm, mean, var);
  invert_deviation (&rstd, var, eps);
  adj_k_copy (&save_mean, mean);
  adj_k_copy (&save_rstd, &rstd);
  write_normal (norm, mean, &rstd, &y);
  return TRUE;
}

static gboolean
no_stats_kernel (AdjOpCall *call)
{
  g_autofree gpointer first = NULL, second = NULL;
  AdjKView channels, mean, var;
  Norm norm;

  if (!read_batch_norm (call, 0, 1, TRUE, &norm))
    return FALSE;
  channels = channels_of (&norm);
  first = op_temporary (&channels, compute_type (&norm.x), &mean);
  second = op_temporary (&channels, compute_type (&norm.x), &var);
  return train (call, &norm, &mean, &var);
}

/* Result 3 + @index: the running statistic, moved towards @factor · @statistic. */
static gboolean
move_running (AdjOpCall *call, guint index, const AdjKView *statistic, double factor)
{
  double momentum = adj_op_call_double (call, 6, 0), rest = 1 - momentum;
  AdjKView running, out;

  if (!op_input (call, 3 + index, &running) || !op_output (call, 3 + index, &out))
    return FALSE;
  {
    AdjKView inputs[] = { running, *statistic, number_over (&out, &momentum),
                          number_over (&out, &rest), number_over (&out, &factor) };

    apply (&average, compute_type (&out), &out, inputs);
  }
  return TRUE;
}

static gboolean
batch_norm_kernel (AdjOpCall *call)
{
  g_autofree gpointer first = NULL, second = NULL;
  AdjKView channels, mean, var;
  double n;
  Norm norm;

  if (!adj_op_call_bool (call, 5))
    {
      for (guint i = 0; i < 2; i++)
        {
          AdjKView running, out;

          if (!op_input (call, 3 + i, &running) || !op_output (call, 3 + i, &out))
            return FALSE;
          adj_k_copy (&out, &running);
        }
      return no_training_kernel (call);
    }
  if (!read_batch_norm (call, 0, 1, TRUE, &norm))
    return FALSE;
  channels = channels_of (&norm);
  first = op_temporary (&channels, compute_type (&norm.x), &mean);
  second = op_temporary (&channels, compute_type (&norm.x), &var);
  n = (double) group_size (&norm);
  return train (call, &norm, &mean, &var) && move_running (call, 0, &mean, 1) &&
         move_running (call, 1, &var, n / (n - 1));
}

static gboolean
batch_norm_backward_kernel (AdjOpCall *call)
{
  gboolean trained = adj_op_call_bool (call, 7);
  const AdjKView *gx, *gw, *gb;
  AdjKView g, mean, rstd, x_view, w_view, b_view, statistics[2];
  g_autofree gpointer memory = NULL;
  Norm norm;

  if (!read_batch_norm (call, 1, 2, FALSE, &norm) || !op_input (call, 0, &g) ||
      !op_input (call, trained ? 5 : 3, &mean) || !op_input (call, trained ? 6 : 4, &rstd) ||
      !op_output_or_null (call, 0, &x_view, &gx) || !op_output_or_null (call, 1, &w_view, &gw) ||
      !op_output_or_null (call, 2, &b_view, &gb))
    return FALSE;
  if (!trained)
    {
      AdjKView var = rstd;

      memory = op_temporary (&var, compute_type (&norm.x), &rstd);
      invert_deviation (&rstd, &var, adj_op_call_double (call, 8, 0));
    }
  statistics[0] = over (&norm.x, norm.statistics, &mean, TRUE);
  statistics[1] = over (&norm.x, norm.statistics, &rstd, TRUE);
  differentiate_weights (&norm, &g, statistics, gw, gb);
  if (gx != NULL)
    differentiate_input (&norm, &g, statistics, !trained, gx);
  return TRUE;
}

/* -- group norm -- */

/* The input, argument @input, must have N · C · HxW elements as the arguments from @sizes say. */
static gboolean
check_groups (const AdjOpCall *call, guint input, guint sizes)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *meta = adj_op_call_meta (call, input);
  AdjSize batch = adj_op_call_size (call, sizes, ADJ_SIZE (0));
  AdjSize channels = adj_op_call_size (call, sizes + 1, ADJ_SIZE (0));
  AdjSize area = adj_op_call_size (call, sizes + 2, ADJ_SIZE (0));
  gint64 groups = adj_op_call_int (call, sizes + 3, 1);
  AdjSize per_group;

  if (!check_input (call, meta))
    return FALSE;
  if (groups < 1)
    return adj_op_call_fail (call, "group must be positive");
  per_group = adj_size_floordiv (symbols, channels, ADJ_SIZE (groups));
  if (!adj_size_test (symbols, ADJ_SIZE_EQ, meta->shape.size[0], batch) ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, meta->shape.size[1], channels) ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, adj_shape_numel (&meta->shape, symbols),
                      adj_size_mul (symbols, adj_size_mul (symbols, batch, channels), area)) ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, adj_size_mul (symbols, per_group, ADJ_SIZE (groups)),
                      channels))
    return adj_op_call_fail (call, "N, C, HxW and group do not fit the input");
  return TRUE;
}

static gboolean
group_norm_meta (AdjOpCall *call)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, 0);
  AdjDType dtype = input->dtype;
  AdjSize statistics[2];

  if (!check_groups (call, 0, 3) || !check_channels (call, 2, input->shape.size[1], NULL) ||
      !check_channels (call, 1, input->shape.size[1], &dtype))
    return FALSE;
  statistics[0] = input->shape.size[0];
  statistics[1] = adj_op_call_size (call, 6, ADJ_SIZE (1));
  op_add_format (call, input->dtype, input->shape.rank, input->shape.size,
                 op_is_channels_last (call, 0));
  op_add_contiguous (call, dtype, 2, statistics);
  op_add_contiguous (call, dtype, 2, statistics);
  return TRUE;
}

static gboolean
group_norm_backward_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *input = adj_op_call_meta (call, 1);
  AdjDType dtype = input->dtype;
  AdjSize statistics[2];
  AdjShape wanted;

  if (!check_groups (call, 1, 5) || !check_channels (call, 4, input->shape.size[1], &dtype))
    return FALSE;
  statistics[0] = input->shape.size[0];
  statistics[1] = adj_op_call_size (call, 8, ADJ_SIZE (1));
  adj_shape_init (&wanted, symbols, 2, statistics);
  if (!adj_shape_same_sizes (&adj_op_call_meta (call, 0)->shape, &input->shape, symbols) ||
      !adj_shape_same_sizes (&adj_op_call_meta (call, 2)->shape, &wanted, symbols) ||
      !adj_shape_same_sizes (&adj_op_call_meta (call, 3)->shape, &wanted, symbols))
    return adj_op_call_fail (call, "the gradient, mean or rstd has not the sizes of the forward "
                                   "results");
  if (op_wants (call, 9, 0))
    op_add_format (call, input->dtype, input->shape.rank, input->shape.size,
                   op_is_channels_last (call, 1));
  else
    adj_op_call_add_none (call);
  for (guint i = 1; i < 3; i++)
    if (op_wants (call, 9, i))
      op_add_contiguous (call, dtype, 1, &input->shape.size[1]);
    else
      adj_op_call_add_none (call);
  return TRUE;
}

/* x as [N, groups, channels of a group, …]; a weight or None as [groups, channels of a group]. */
static gboolean
read_group_norm (const AdjOpCall *call, guint input, guint weight, gboolean has_bias, Norm *norm)
{
  gint64 groups = adj_op_call_int (call, adj_op_call_find (call, "group"), 1);
  const AdjKView *w = NULL, *b = NULL;
  AdjKView x, w_view, b_view;

  *norm = (Norm){ .statistics = 3, .weights = 6 };
  if (!op_input (call, input, &x) || !op_input_or_null (call, weight, &w_view, &w) ||
      (has_bias && !op_input_or_null (call, weight + 1, &b_view, &b)))
    return FALSE;
  norm->x = split_channels (&x, 1, groups);
  if (w != NULL)
    norm->w = split_channels (w, 0, groups);
  if (b != NULL)
    norm->b = split_channels (b, 0, groups);
  return TRUE;
}

static gboolean
group_norm_kernel (AdjOpCall *call)
{
  g_autofree gpointer first = NULL, second = NULL;
  AdjKView y, save_mean, save_rstd, mean, rstd;
  Norm norm;

  if (!read_group_norm (call, 0, 1, TRUE, &norm) || !op_output (call, 0, &y) ||
      !op_output (call, 1, &save_mean) || !op_output (call, 2, &save_rstd))
    return FALSE;
  first = op_temporary (&save_mean, compute_type (&norm.x), &mean);
  second = op_temporary (&save_mean, compute_type (&norm.x), &rstd);
  measure (&norm, &mean, &rstd);
  invert_deviation (&rstd, &rstd, adj_op_call_double (call, 7, 0));
  adj_k_copy (&save_mean, &mean);
  adj_k_copy (&save_rstd, &rstd);
  y = split_channels (&y, 1, norm.x.size[1]);
  write_normal (&norm, &mean, &rstd, &y);
  return TRUE;
}

static gboolean
group_norm_backward_kernel (AdjOpCall *call)
{
  const AdjKView *gx, *gw, *gb;
  AdjKView g, mean, rstd, x_view, w_view, b_view, statistics[2];
  gint64 groups;
  Norm norm;

  if (!read_group_norm (call, 1, 4, FALSE, &norm) || !op_input (call, 0, &g) ||
      !op_input (call, 2, &mean) || !op_input (call, 3, &rstd) ||
      !op_output_or_null (call, 0, &x_view, &gx) || !op_output_or_null (call, 1, &w_view, &gw) ||
      !op_output_or_null (call, 2, &b_view, &gb))
    return FALSE;
  groups = norm.x.size[1];
  g = split_channels (&g, 1, groups);
  statistics[0] = over (&norm.x, norm.statistics, &mean, TRUE);
  statistics[1] = over (&norm.x, norm.statistics, &rstd, TRUE);
  if (gw != NULL)
    w_view = split_channels (gw, 0, groups);
  if (gb != NULL)
    b_view = split_channels (gb, 0, groups);
  differentiate_weights (&norm, &g, statistics, gw, gb);
  if (gx != NULL)
    {
      x_view = split_channels (gx, 1, groups);
      differentiate_input (&norm, &g, statistics, FALSE, &x_view);
    }
  return TRUE;
}

/* -- costs -- */

static double
norm_flops (const AdjOpCall *call)
{
  return 8 * op_count (call, &adj_op_call_meta (call, 0)->shape);
}

static double
norm_backward_flops (const AdjOpCall *call)
{
  return 12 * op_count (call, &adj_op_call_meta (call, 1)->shape);
}

static double
norm_reduction (const AdjOpCall *call)
{
  double statistics = op_count (call, &call->results[1].meta.shape);

  return op_count (call, &adj_op_call_meta (call, 0)->shape) / MAX (statistics, 1);
}

static double
norm_backward_reduction (const AdjOpCall *call)
{
  const AdjShape *input = &adj_op_call_meta (call, 1)->shape;
  gint64 channels = 1;

  adj_size_get_hint (op_symbols (call), input->size[1], &channels);
  return op_count (call, input) / (double) MAX (channels, 1);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/batch-norm.inc"
};

const OpFamily adj_family_batch_norm = { ops, G_N_ELEMENTS (ops) };
