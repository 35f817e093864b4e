/* SPDX-License-Identifier: MIT */
/* Clones, casts, copies, and the scatter counterparts of views. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "ops/adj-pointwise-internal.h"
#include "ops/kernel-private.h"
#include "ops/table-private.h"
#include "tensor/adj-shape-internal.h"

/* -- clones and casts -- */

static gboolean
clone_with (AdjOpCall *call, AdjDType dtype, const char *format_argument)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjMemoryFormat format = ADJ_MEMORY_FORMAT_PRESERVE;
  AdjShape shape = self->shape;

  if (format_argument != NULL)
    {
      const AdjValue *value = &call->args[adj_op_call_find (call, format_argument)];

      if (value->kind == ADJ_VALUE_MEMORY_FORMAT)
        format = value->format;
    }
  if (!adj_shape_set_format (&shape, op_symbols (call), format, &self->shape))
    return adj_op_call_fail (call, "the memory format needs another rank");
  shape.offset = ADJ_SIZE (0);
  adj_op_call_add (call, dtype, &shape);
  return TRUE;
}

static gboolean
clone_meta (AdjOpCall *call)
{
  return clone_with (call, adj_op_call_meta (call, 0)->dtype, "memory_format");
}

static gboolean
lift_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return TRUE;
}

/* functorch copies numbers, too: they become tensors without dimensions. */
static gboolean
is_number_copied (const AdjOpCall *call)
{
  return adj_op_number_dtype (&call->args[0]) != ADJ_DTYPE_NONE;
}

static gboolean
to_copy_meta (AdjOpCall *call)
{
  guint dtype = adj_op_call_find (call, "dtype");
  const AdjValue *device = &call->args[adj_op_call_find (call, "device")];

  if (is_number_copied (call))
    op_add_contiguous (call, adj_op_call_dtype (call, dtype, adj_op_number_dtype (&call->args[0])),
                       0, NULL);
  else if (!clone_with (call, adj_op_call_dtype (call, dtype, adj_op_call_meta (call, 0)->dtype),
                        "memory_format"))
    return FALSE;
  if (device->kind == ADJ_VALUE_DEVICE)
    call->results[0].meta.device = device->device;
  return TRUE;
}

static gboolean
convert_meta (AdjOpCall *call)
{
  return clone_with (call, adj_op_call_dtype (call, 1, ADJ_DTYPE_F32), NULL);
}

/* Whether the imaginary part is computed while argument @arg is real. */
static gboolean
is_real_copied (const AdjOpCall *call, guint arg)
{
  return call->part == ADJ_PART_IMAGINARY && !op_is_complex (adj_op_call_meta (call, arg)->dtype);
}

static gboolean
fill_zeros (const AdjOpCall *call)
{
  AdjKView out;

  if (!op_output (call, 0, &out))
    return FALSE;
  adj_q_fill_f64 (op_queue (call), &out, 0);
  return TRUE;
}

static gboolean
clone_kernel (AdjOpCall *call)
{
  AdjKView in, out;

  if (is_real_copied (call, 0))
    return fill_zeros (call);
  if (!op_input (call, 0, &in) || !op_output (call, 0, &out))
    return FALSE;
  adj_q_copy (op_queue (call), &out, &in);
  return TRUE;
}

static gboolean
to_copy_kernel (AdjOpCall *call)
{
  AdjKView in, out;
  double number;

  if (!is_number_copied (call))
    return clone_kernel (call);
  if (!op_output (call, 0, &out) || !op_input_as (call, 0, &(AdjShape){ .rank = 0 }, &in, &number))
    return FALSE;
  adj_q_copy (op_queue (call), &out, &in);
  return TRUE;
}

/* -- copies into the layout of self -- */

/* A result with the strides of self, gaps included. */
static gboolean
keep_layout_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjShape shape = self->shape;

  if (adj_shape_may_overlap (&shape, op_symbols (call)))
    adj_shape_init (&shape, op_symbols (call), self->shape.rank, self->shape.size);
  shape.offset = ADJ_SIZE (0);
  adj_op_call_add (call, self->dtype, &shape);
  return TRUE;
}

static gboolean
check_source (AdjOpCall *call)
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  const AdjShape *src = &adj_op_call_meta (call, 1)->shape;
  AdjShape spread;

  if (!adj_shape_expand (src, op_symbols (call), self, &spread))
    {
      g_autofree char *a = op_sizes_text (call, src);
      g_autofree char *b = op_sizes_text (call, self);

      return adj_op_call_fail (call, "shape %s does not broadcast to %s", a, b);
    }
  return TRUE;
}

static gboolean
copy_meta (AdjOpCall *call)
{
  return check_source (call) && keep_layout_meta (call);
}

static gboolean
copy_inplace_meta (AdjOpCall *call)
{
  if (!check_source (call) || !op_check_writable (call, &adj_op_call_meta (call, 0)->shape))
    return FALSE;
  adj_op_call_add_view (call, 0, &adj_op_call_meta (call, 0)->shape);
  return TRUE;
}

/* Also for copy_, whose result is self and may overlap with the source. */
static gboolean
copy_kernel (AdjOpCall *call)
{
  AdjTensor *src = adj_op_call_tensor (call, 1);
  g_autofree gpointer memory = NULL;
  AdjKView in, out, copy;
  double number;

  if (is_real_copied (call, 1))
    return fill_zeros (call);
  if (!op_output (call, 0, &out) ||
      !op_input_as (call, 1, &call->results[0].meta.shape, &in, &number))
    return FALSE;
  if (adj_tensor_get_storage (src) == adj_tensor_get_storage (call->results[0].tensor))
    {
      memory = op_temporary (op_queue (call), &in, in.type, &copy);
      adj_q_copy (op_queue (call), &copy, &in);
      in = copy;
    }
  adj_q_copy (op_queue (call), &out, &in);
  return TRUE;
}

gboolean
adj_op_call_is_copy (const AdjOpCall *call, guint *arg)
{
  *arg = call->op->kernel == copy_kernel ? 1 : 0;
  return (call->op->kernel == clone_kernel || call->op->kernel == copy_kernel ||
          (call->op->kernel == to_copy_kernel && !is_number_copied (call))) &&
         !op_is_complex (call->results[0].meta.dtype) &&
         !op_is_complex (adj_op_call_meta (call, *arg)->dtype);
}

/* -- writing through a view --
 *
 * slice_backward (g, sizes, …) puts g into zeros, slice_scatter (self, src, …) puts src into a copy
 * of self; the arguments from the third on are those of the view. */

typedef struct
{
  const char *name;
  AdjOpId view;
  gboolean backward;
} Scatter;

static const Scatter scatters[] = {
  { "slice_backward", ADJ_OP_slice_Tensor, TRUE },
  { "select_backward", ADJ_OP_select_int, TRUE },
  { "diagonal_backward", ADJ_OP_diagonal, TRUE },
  { "slice_scatter", ADJ_OP_slice_Tensor, FALSE },
  { "select_scatter", ADJ_OP_select_int, FALSE },
  { "diagonal_scatter", ADJ_OP_diagonal, FALSE },
  { "as_strided_scatter", ADJ_OP_as_strided, FALSE },
};

static const Scatter *
find_scatter (const AdjOpCall *call)
{
  for (guint i = 0; i < G_N_ELEMENTS (scatters); i++)
    if (strcmp (scatters[i].name, call->schema->name) == 0)
      return &scatters[i];
  g_assert_not_reached ();
}

/* Makes a storage offset relative to the start of self, where the result starts. */
static gboolean
move_offset (const AdjOpCall *call, AdjTensorMeta *part)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjSize start = adj_op_call_meta (call, 0)->shape.offset;

  if (call->args[4].kind == ADJ_VALUE_NONE)
    return TRUE;
  part->shape.offset = adj_size_sub (symbols, part->shape.offset, start);
  return !adj_size_test (symbols, ADJ_SIZE_LT, part->shape.offset, ADJ_SIZE (0)) ||
         adj_op_call_fail (call, "the view begins before self does");
}

/* The view of @whole that the call describes. */
static gboolean
view_of (const AdjOpCall *call, const Scatter *scatter, AdjTensor *whole, AdjTensorMeta *out)
{
  const AdjOp *op = adj_op (scatter->view);
  AdjValue args[8];
  AdjOpCall view = {
    .cx = call->cx, .op = op, .schema = adj_op_get_schema (op), .args = args, .within = call
  };
  gboolean done;

  g_assert (call->schema->n_arguments - 1 == view.schema->n_arguments);

  args[0] = ADJ_TENSOR (whole);
  memcpy (&args[1], &call->args[2], (view.schema->n_arguments - 1) * sizeof *args);
  done = adj_op_call_infer (&view);
  if (done)
    *out = view.results[0].meta;
  adj_op_call_clear (&view);
  return done && (scatter->view != ADJ_OP_as_strided || move_offset (call, out));
}

static gboolean
scatter_meta (AdjOpCall *call)
{
  const Scatter *scatter = find_scatter (call);
  const AdjTensorMeta *first = adj_op_call_meta (call, 0);
  const AdjShape *src;
  g_autoptr (AdjTensor) whole = NULL;
  AdjTensorMeta part;
  AdjShape spread;

  if (scatter->backward)
    {
      AdjSize sizes[ADJ_MAX_RANK];
      guint rank = adj_op_call_sizes (call, 1, sizes);

      op_add_contiguous (call, first->dtype, rank, sizes);
      src = &first->shape;
    }
  else
    {
      keep_layout_meta (call);
      src = &adj_op_call_meta (call, 1)->shape;
    }
  whole = adj_tensor_new_empty (&call->results[0].meta, op_symbols (call), TRUE);
  if (adj_context_has_error (call->cx) || !view_of (call, scatter, whole, &part))
    return FALSE;
  if (!op_check_writable (call, &part.shape))
    return FALSE;
  if (!adj_shape_expand (src, op_symbols (call), &part.shape, &spread))
    {
      g_autofree char *a = op_sizes_text (call, src);
      g_autofree char *b = op_sizes_text (call, &part.shape);

      return adj_op_call_fail (call, "shape %s does not broadcast to %s", a, b);
    }
  return TRUE;
}

static gboolean
scatter_kernel (AdjOpCall *call)
{
  const Scatter *scatter = find_scatter (call);
  AdjTensor *whole = call->results[0].tensor;
  AdjTensorMeta part;
  AdjKView self, out, src, to;
  double number;

  if (!op_output (call, 0, &out))
    return FALSE;
  if (!scatter->backward)
    {
      if (!op_input (call, 0, &self))
        return FALSE;
      adj_q_copy (op_queue (call), &out, &self);
    }
  else
    op_clear (call, 0);
  if (!view_of (call, scatter, whole, &part) || !op_view (call, whole, &part, &to) ||
      !op_input_as (call, scatter->backward ? 0 : 1, &part.shape, &src, &number))
    return FALSE;
  adj_q_copy (op_queue (call), &to, &src);
  return TRUE;
}

/* -- a part, copied -- */

static gboolean
narrow_copy_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  guint dim = op_dim (call, 1, self->shape.rank);
  AdjSize start = adj_op_call_size (call, 2, ADJ_SIZE (0));
  AdjSize length = adj_op_call_size (call, 3, ADJ_SIZE (0)), sizes[ADJ_MAX_RANK];

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (self->shape.rank == 0)
    return adj_op_call_fail (call, "a scalar has no parts");
  if (adj_size_test (symbols, ADJ_SIZE_LT, start, ADJ_SIZE (0)))
    start = adj_size_add (symbols, start, self->shape.size[dim]);
  if (adj_size_test (symbols, ADJ_SIZE_LT, start, ADJ_SIZE (0)) ||
      adj_size_test (symbols, ADJ_SIZE_LT, length, ADJ_SIZE (0)) ||
      adj_size_test (symbols, ADJ_SIZE_GT, start, self->shape.size[dim]) ||
      adj_size_test (symbols, ADJ_SIZE_GT, length,
                     adj_size_sub (symbols, self->shape.size[dim], start)))
    return adj_op_call_fail (call, "dimension %u has no such part", dim);
  for (guint i = 0; i < self->shape.rank; i++)
    sizes[i] = i == dim ? length : self->shape.size[i];
  op_add_contiguous (call, self->dtype, self->shape.rank, sizes);
  return TRUE;
}

static gboolean
narrow_copy_kernel (AdjOpCall *call)
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  gint64 start = adj_op_call_size (call, 2, ADJ_SIZE (0)).word;
  AdjKView self, out;

  if (!op_input (call, 0, &self) || !op_output (call, 0, &out))
    return FALSE;
  start += start < 0 ? self.size[dim] : 0;
  self.size[dim] = out.size[dim];
  self.data = (char *) self.data +
              (gssize) (start * self.stride[dim]) * (gssize) adj_k_type_get_size (self.type);
  if (adj_k_view_count (&out) > 0)
    adj_q_copy (op_queue (call), &out, &self);
  return TRUE;
}

/* -- windows put back -- */

static const Scatter unfold_scatter = { "unfold_backward", ADJ_OP_unfold, TRUE };

static gboolean
unfold_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  g_autoptr (AdjTensor) whole = NULL;
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = adj_op_call_sizes (call, 1, sizes);
  AdjTensorMeta windows;
  AdjShape spread;

  op_add_contiguous (call, grad->dtype, rank, sizes);
  whole = adj_tensor_new_empty (&call->results[0].meta, op_symbols (call), TRUE);
  if (adj_context_has_error (call->cx) || !view_of (call, &unfold_scatter, whole, &windows))
    return FALSE;
  return (grad->shape.rank == windows.shape.rank &&
          adj_shape_expand (&grad->shape, op_symbols (call), &windows.shape, &spread)) ||
         adj_op_call_fail (call, "the gradient has not the sizes of the windows");
}

/* Windows that do not overlap are copied, so that -0 stays what it is. */
static gboolean
put_windows (AdjOpCall *call, const AdjKView *grad)
{
  AdjTensor *whole = call->results[0].tensor;
  AdjTensorMeta windows;
  AdjKView to;

  if (!view_of (call, &unfold_scatter, whole, &windows) || !op_view (call, whole, &windows, &to))
    return FALSE;
  adj_q_copy (op_queue (call), &to, grad);
  return TRUE;
}

/* @grad expanded if it has one element for all windows. */
static gboolean
spread_over_windows (AdjOpCall *call, AdjKView *grad)
{
  AdjTensorMeta windows;

  if (!view_of (call, &unfold_scatter, call->results[0].tensor, &windows))
    return FALSE;
  for (gint i = 0; i < grad->rank; i++)
    if (grad->size[i] == 1 && windows.shape.size[i].word != 1)
      {
        grad->size[i] = windows.shape.size[i].word;
        grad->stride[i] = 0;
      }
  return TRUE;
}

static gboolean
unfold_backward_kernel (AdjOpCall *call)
{
  guint dim = op_dim (call, 2, call->results[0].meta.shape.rank);
  gint64 step = adj_op_call_int (call, 4, 1);
  g_autofree gint64 *places = NULL;
  AdjKView grad, out, index;
  gint64 bad;

  if (!op_input (call, 0, &grad) || !op_output (call, 0, &out) ||
      !spread_over_windows (call, &grad))
    return FALSE;
  op_clear (call, 0);
  if (step >= adj_op_call_int (call, 3, 1) || grad.size[dim] <= 1)
    return put_windows (call, &grad);
  index = (AdjKView){ .rank = 1, .size = { grad.size[dim] } };
  places = op_temporary (op_queue (call), &index, ADJ_K_I64, &index);
  grad.rank--;
  /* Element k of all windows at a time, which do not overlap.  From the last k on, so that an
   * element's summands are added in the order of the windows. */
  for (gint64 k = grad.size[grad.rank]; k-- > 0;)
    {
      AdjKView part = grad;

      part.data = (char *) grad.data +
                  (gsize) (k * grad.stride[grad.rank]) * adj_k_type_get_size (grad.type);
      adj_q_iota_i64 (op_queue (call), &index, k, step);
      if (!adj_q_index_add (op_queue (call), &out, (int) dim, &index, &part, 1, &bad))
        return op_bad_index (call, bad);
    }
  return TRUE;
}

static double
unfold_reduction (const AdjOpCall *call)
{
  gint64 step = MAX (adj_op_call_int (call, 4, 1), 1);

  return 1 + (double) adj_op_call_int (call, 3, 1) / (double) step;
}

/* -- vectors as diagonals -- */

static gboolean
diag_embed_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  guint rank = self->shape.rank + 1, from = 0;
  gint64 offset = adj_op_call_int (call, 1, 0);
  AdjSize sizes[ADJ_MAX_RANK], side;
  guint dim1, dim2;

  if (self->shape.rank == 0 || rank > ADJ_MAX_RANK)
    return adj_op_call_fail (call, "self must have one dimension at least, and not more than %d",
                             ADJ_MAX_RANK - 1);
  if (offset > G_MAXINT32 || offset < -(gint64) G_MAXINT32)
    return adj_op_call_fail (call, "the offset is too large");
  dim1 = op_dim (call, 2, rank);
  dim2 = op_dim (call, 3, rank);
  if (dim1 == dim2)
    return adj_op_call_fail (call, "the two dimensions are the same");
  side = adj_size_add (symbols, self->shape.size[rank - 2], ADJ_SIZE (ABS (offset)));
  for (guint i = 0; i < rank; i++)
    sizes[i] = i == dim1 || i == dim2 ? side : self->shape.size[from++];
  op_add_contiguous (call, self->dtype, rank, sizes);
  return !adj_context_has_error (call->cx);
}

static gboolean
diag_embed_kernel (AdjOpCall *call)
{
  guint rank = adj_op_call_meta (call, 0)->shape.rank + 1, to = 0;
  gint64 offset = adj_op_call_int (call, 1, 0);
  guint dim1 = op_dim (call, 2, rank), dim2 = op_dim (call, 3, rank);
  AdjKView self, out, diagonal;

  op_clear (call, 0);
  if (!op_input (call, 0, &self) || !op_output (call, 0, &out))
    return FALSE;
  diagonal = self;
  diagonal.type = out.type;
  for (guint i = 0; i < rank; i++)
    if (i != dim1 && i != dim2)
      diagonal.stride[to++] = out.stride[i];
  diagonal.stride[to] = out.stride[dim1] + out.stride[dim2];
  diagonal.data =
      (char *) out.data + (gsize) (ABS (offset) * out.stride[offset < 0 ? dim1 : dim2]) *
                              adj_k_type_get_size (out.type);
  if (adj_k_view_count (&self) > 0)
    adj_q_copy (op_queue (call), &diagonal, &self);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/copy.inc"
};

const OpFamily adj_family_copy = { ops, G_N_ELEMENTS (ops) };
