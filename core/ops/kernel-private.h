/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-backend.h"

#include "call/adj-context-internal.h"
#include "call/adj-context.h"
#include "call/adj-op.h"

G_BEGIN_DECLS

/* Where the kernels of a call run: adj_q_copy (op_queue (call), &out, &in). */
static inline AdjKQueue *
op_queue (const AdjOpCall *call)
{
  return adj_context_get_queue (call->cx);
}

/* Where kernels find these bytes of the host. */
const void *op_constant (AdjKQueue *queue, const void *bytes, gsize size);

gboolean op_is_complex (AdjDType dtype);

/* From calls to the kernels' views.  All of them fail the call, and return %FALSE, when a dtype is
 * none that the kernels know. */

gboolean
op_view (const AdjOpCall *call, AdjTensor *tensor, const AdjTensorMeta *meta, AdjKView *out);
gboolean op_input (const AdjOpCall *call, guint arg, AdjKView *out);
/* Argument @arg spread over the sizes of @to.  A number becomes a tensor without dimensions whose
 * value is kept in @number. */
gboolean
op_input_as (const AdjOpCall *call, guint arg, const AdjShape *to, AdjKView *out, gpointer number);
/* A number that is an argument, or the part of it that the kernel takes. */
double op_number (const AdjOpCall *call, guint arg, double if_none);
/* %NULL in @pointer when the argument is None, else @out. */
gboolean
op_input_or_null (const AdjOpCall *call, guint arg, AdjKView *out, const AdjKView **pointer);
gboolean op_output (const AdjOpCall *call, guint result, AdjKView *out);
/* Makes all bytes of a fresh result zeros: its memory may be another's that was. */
void op_clear (const AdjOpCall *call, guint result);
/* A tensor that is an argument, to be written.  Look at arguments to be read after this: the
 * storage may get other memory. */
gboolean op_argument_to_write (const AdjOpCall *call, guint arg, AdjKView *out);
gboolean op_tensor_to_write (const AdjOpCall *call, AdjTensor *tensor, AdjKView *out);

/* Writes @from into @to, of the same sizes. */
gboolean op_write_tensor (const AdjOpCall *call, AdjTensor *to, AdjTensor *from);

/* A dense view over fresh memory, all zeros, of the host where @queue is %NULL; the caller frees
 * what is returned, which is %NULL where the memory is the queue's. */
gpointer op_temporary (AdjKQueue *queue, const AdjKView *like, AdjKType type, AdjKView *out);

/* (transfer full): as @meta says, where the kernels of @call run, for as long as the call. */
AdjTensor *op_temporary_tensor (const AdjOpCall *call, const AdjTensorMeta *meta);

/* Fails the call when @n elements of 8 bytes are more than the machine can hold: views may repeat
 * elements without end. */
gboolean op_check_temporary (const AdjOpCall *call, gint64 n);
/* Fails the call: a kernel found no memory for its temporaries. */
gboolean op_no_memory (const AdjOpCall *call);
/* (transfer full) (nullable): argument @arg as numbers in row-major order, where the host reads
 * them; %NULL: the call failed. */
double *op_read_numbers (const AdjOpCall *call, guint arg);
/* The same of a tensor or a number, spread over the first result; @dense becomes a view of what is
 * returned. */
double *op_read_spread (const AdjOpCall *call, guint arg, AdjKView *dense);

/* Of two doubles, NaN last; for qsort() and bsearch(). */
int op_compare_numbers (gconstpointer a, gconstpointer b);

/* The number of elements of a shape, by hints; 0 when unknown. */
double op_count (const AdjOpCall *call, const AdjShape *shape);

/* What a number of type @type holds of @x. */
double op_rounded (AdjKType type, double x);

/* Whether argument @arg, a tensor, has no elements, so that none of them can be looked at. */
gboolean op_is_fake (const AdjOpCall *call, guint arg);

/* A new symbol for a size that data decide, where self has none.  Fails the call where that is not
 * allowed (nonzero.c). */
gboolean op_unbacked_size (const AdjOpCall *call, gint64 least, gint64 most, AdjSize *out);

/* How many elements of @tensor are not 0: counted, or a symbol where there are no data.  Fails the
 * call where that is not allowed (nonzero.c). */
gboolean op_count_nonzero (const AdjOpCall *call, AdjTensor *tensor, AdjSize *out);

/* Fails the call: the operator has no kernel on the CPU. */
gboolean op_needs_cuda (const AdjOpCall *call);

/* A tensor without dimensions becomes a row of one element. */
void op_need_dim (AdjKView *view);

/* Fails the call: index @bad is out of range. */
gboolean op_bad_index (const AdjOpCall *call, gint64 bad);

/* -- for meta functions -- */

static inline AdjSymbols *
op_symbols (const AdjOpCall *call)
{
  return adj_context_get_symbols (call->cx);
}

/* "[2, 3]" for messages. */
char *op_sizes_text (const AdjOpCall *call, const AdjShape *shape);

/* The dimension that argument @arg names, wrapped; fails the call and gives 0 when out of range.
 * @rank counts as 1 for a tensor without dimensions. */
guint op_dim (const AdjOpCall *call, guint arg, guint rank);

/* Fails the call when two indices of @shape may name one element. */
gboolean op_check_writable (const AdjOpCall *call, const AdjShape *shape);

/* A contiguous result of these sizes. */
AdjOpResult *op_add_contiguous (AdjOpCall *call, AdjDType dtype, guint rank, const AdjSize *sizes);

/* Gives result @result the strides of a pointwise operator over these @n arguments. */
void op_lay_out_pointwise (AdjOpCall *call, guint result, const guint *args, guint n);

/* For .traced: the strides of arithmetic on the first argument, where kernels keep its own ones;
 * those of a contiguous tensor. */
void op_pointwise_traced (AdjOpCall *call);
void op_contiguous_traced (AdjOpCall *call);

/* The promotion of the operands of @call: @compute is what the body computes in, the result is
 * the dtype of the result.  ADJ_DTYPE_NONE after a failure. */
AdjDType op_promote (const AdjOpCall *call, AdjDType *compute);

G_END_DECLS
