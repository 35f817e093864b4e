/* SPDX-License-Identifier: MIT */
/* Group norm: statistics over groups of channels of each sample. */

#include "ops/channel-norm-private.h"
#include "ops/table-private.h"

/* Dimension @dim of @view as [groups, size / groups]. */
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

/* Checks that argument @input has N · C · HxW elements, the arguments from @sizes on. */
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

  if (!op_norm_check_input (call, meta))
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

  if (!check_groups (call, 0, 3) || !op_norm_check_channels (call, 2, input->shape.size[1], NULL) ||
      !op_norm_check_channels (call, 1, input->shape.size[1], &dtype))
    return FALSE;
  statistics[0] = input->shape.size[0];
  statistics[1] = adj_op_call_size (call, 6, ADJ_SIZE (1));
  op_add_format (call, input->dtype, input->shape.rank, input->shape.size,
                 op_is_channels_last (call, 0));
  op_add_contiguous (call, dtype, 2, statistics);
  op_add_contiguous (call, dtype, 2, statistics);
  return TRUE;
}

/* PyTorch's traces have mean and rstd in the dtype of the input. */
static void
group_norm_traced (AdjOpCall *call)
{
  for (guint i = 1; i < 3; i++)
    call->results[i].meta.dtype = adj_op_call_meta (call, 0)->dtype;
}

/* Traced, the gradient of the input has the dtype of a product with the weight. */
static void
group_norm_backward_traced (AdjOpCall *call)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, 1);

  if (op_wants (call, 9, 0) && adj_op_call_tensor_or_null (call, 4) != NULL)
    call->results[0].meta.dtype =
        adj_dtype_promote (input->dtype, adj_op_call_meta (call, 4)->dtype);
}

static gboolean
group_norm_backward_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *input = adj_op_call_meta (call, 1);
  AdjDType dtype = input->dtype;
  AdjSize statistics[2];
  AdjShape wanted;

  if (!check_groups (call, 1, 5) || !op_norm_check_channels (call, 4, input->shape.size[1], &dtype))
    return FALSE;
  statistics[0] = input->shape.size[0];
  statistics[1] = adj_op_call_size (call, 8, ADJ_SIZE (1));
  adj_shape_init (&wanted, symbols, 2, statistics);
  if (!adj_shape_same_sizes (&adj_op_call_meta (call, 0)->shape, &input->shape, symbols) ||
      !adj_shape_same_sizes (&adj_op_call_meta (call, 2)->shape, &wanted, symbols) ||
      !adj_shape_same_sizes (&adj_op_call_meta (call, 3)->shape, &wanted, symbols))
    return adj_op_call_fail (call, "the gradient, mean or rstd has not the sizes of the forward "
                                   "results");
  return op_norm_add_gradients (call, 1, 9, dtype);
}

/* x as [N, groups, channels of a group, …]; a weight or None as [groups, channels of a group]. */
static gboolean
read_group_norm (const AdjOpCall *call, guint input, guint weight, gboolean has_bias, OpNorm *norm)
{
  gint64 groups = adj_op_call_int (call, adj_op_call_find (call, "group"), 1);
  const AdjKView *w = NULL, *b = NULL;
  AdjKView x, w_view, b_view;

  *norm = (OpNorm){ .statistics = 3, .weights = 6 };
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
  OpNorm norm;

  if (!read_group_norm (call, 0, 1, TRUE, &norm) || !op_output (call, 0, &y) ||
      !op_output (call, 1, &save_mean) || !op_output (call, 2, &save_rstd))
    return FALSE;
  first = op_temporary (op_queue (call), &save_mean, op_norm_type (&norm), &mean);
  second = op_temporary (op_queue (call), &save_mean, op_norm_type (&norm), &rstd);
  op_norm_measure (op_queue (call), &norm, &mean, &rstd);
  op_norm_invert_deviation (op_queue (call), &rstd, &rstd, adj_op_call_double (call, 7, 0));
  adj_q_copy (op_queue (call), &save_mean, &mean);
  adj_q_copy (op_queue (call), &save_rstd, &rstd);
  y = split_channels (&y, 1, norm.x.size[1]);
  op_norm_write (op_queue (call), &norm, &mean, &rstd, &y);
  return TRUE;
}

static gboolean
group_norm_backward_kernel (AdjOpCall *call)
{
  AdjKView x_view, w_view, b_view;
  OpNormGradients to = { .constant = FALSE };
  gint64 groups;
  OpNorm norm;

  if (!read_group_norm (call, 1, 4, FALSE, &norm) || !op_input (call, 0, &to.g) ||
      !op_input (call, 2, &to.mean) || !op_input (call, 3, &to.rstd) ||
      !op_output_or_null (call, 0, &x_view, &to.gx) ||
      !op_output_or_null (call, 1, &w_view, &to.gw) ||
      !op_output_or_null (call, 2, &b_view, &to.gb))
    return FALSE;
  groups = norm.x.size[1];
  to.g = split_channels (&to.g, 1, groups);
  if (to.gx != NULL)
    x_view = split_channels (to.gx, 1, groups);
  if (to.gw != NULL)
    w_view = split_channels (to.gw, 0, groups);
  if (to.gb != NULL)
    b_view = split_channels (to.gb, 0, groups);
  op_norm_differentiate (op_queue (call), &norm, &to);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/group-norm.inc"
};

const OpFamily adj_family_group_norm = { ops, G_N_ELEMENTS (ops) };
