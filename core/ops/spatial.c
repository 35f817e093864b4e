/* SPDX-License-Identifier: MIT */
/* What operators over images share: numbers of axes, windows, memory formats. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "ops/spatial-private.h"

guint
op_n_axes (const AdjOpCall *call)
{
  const char *name = call->schema->name;
  const char *digit = strpbrk (name, "123");

  g_assert (digit != NULL && digit[1] == 'd');
  return (guint) (*digit - '0');
}

void
op_make_volume (AdjKView *view, guint n)
{
  guint extra = OP_MAX_AXES - n, at = (guint) view->rank - n;

  memmove (view->size + at + extra, view->size + at, n * sizeof *view->size);
  memmove (view->stride + at + extra, view->stride + at, n * sizeof *view->stride);
  for (guint i = at; i < at + extra; i++)
    {
      view->size[i] = 1;
      view->stride[i] = 0;
    }
  view->rank += (int) extra;
}

gboolean
op_axes (
    const AdjOpCall *call, guint arg, guint n, gint64 least, const gint64 *if_empty, gint64 *out)
{
  const char *name = call->schema->arguments[arg].name;
  AdjSize sizes[ADJ_MAX_RANK];
  guint given = adj_op_call_sizes (call, arg, sizes);

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (given == 0 && if_empty != NULL)
    {
      memcpy (out, if_empty, sizeof *out * n);
      return TRUE;
    }
  if (given != 1 && given != n)
    return adj_op_call_fail (call, "argument '%s' has %u entries for %u dimensions", name, given,
                             n);
  for (guint i = 0; i < n; i++)
    {
      AdjSize size = sizes[given == 1 ? 0 : i];

      if (!adj_size_is_int (size) || size.word < least || size.word > G_MAXINT32)
        return adj_op_call_fail (
            call, "argument '%s' must be integers of at least %" G_GINT64_FORMAT, name, least);
      out[i] = size.word;
    }
  return TRUE;
}

/* PyTorch rounds the last window up only when it begins in the input or the left padding. */
static AdjSize
windows_rounded_up (AdjSymbols *symbols, const OpWindow *window, AdjSize room, AdjSize size)
{
  AdjSize stride = ADJ_SIZE (window->stride);
  AdjSize n = adj_size_floordiv (
      symbols, adj_size_add (symbols, room, ADJ_SIZE (window->stride - 1)), stride);
  AdjSize last = adj_size_mul (symbols, n, stride);
  AdjSize end = adj_size_add (symbols, size, ADJ_SIZE (window->padding));

  return adj_size_test (symbols, ADJ_SIZE_GE, last, end) ? adj_size_sub (symbols, n, ADJ_SIZE (1))
                                                         : n;
}

AdjSize
op_windows (const AdjOpCall *call, const OpWindow *window, AdjSize size)
{
  AdjSymbols *symbols = op_symbols (call);
  gint64 reach = window->dilation * (window->kernel - 1) + 1;
  AdjSize room = adj_size_add (symbols, size, ADJ_SIZE (2 * window->padding - reach));
  AdjSize n;

  if (adj_size_test (symbols, ADJ_SIZE_LT, room, ADJ_SIZE (0)))
    {
      g_autoptr (GString) text = g_string_new (NULL);

      adj_size_print (symbols, size, text);
      adj_op_call_fail (call,
                        "a window over %" G_GINT64_FORMAT " elements does not fit into %s elements "
                        "padded by %" G_GINT64_FORMAT,
                        reach, text->str, window->padding);
      return ADJ_SIZE (0);
    }
  if (window->ceil)
    n = windows_rounded_up (symbols, window, room, size);
  else
    n = adj_size_floordiv (symbols, room, ADJ_SIZE (window->stride));
  return adj_size_add (symbols, n, ADJ_SIZE (1));
}

AdjOpResult *
op_add_format (
    AdjOpCall *call, AdjDType dtype, guint rank, const AdjSize *sizes, gboolean channels_last)
{
  AdjShape shape;

  adj_shape_init (&shape, op_symbols (call), rank, sizes);
  if (channels_last && (rank == 4 || rank == 5))
    adj_shape_set_format (
        &shape, op_symbols (call),
        rank == 4 ? ADJ_MEMORY_FORMAT_CHANNELS_LAST : ADJ_MEMORY_FORMAT_CHANNELS_LAST_3D, NULL);
  return adj_op_call_add (call, dtype, &shape);
}

gboolean
op_is_channels_last (const AdjOpCall *call, guint arg)
{
  const AdjShape *shape = &adj_op_call_meta (call, arg)->shape;

  return adj_shape_suggest_format (shape, op_symbols (call)) != ADJ_MEMORY_FORMAT_CONTIGUOUS;
}

gboolean
op_wants (const AdjOpCall *call, guint arg, guint index)
{
  const AdjValue *mask = &call->args[arg];

  return adj_value_is_container (mask) && index < mask->n &&
         adj_op_value_is_true (&mask->items[index]);
}

gboolean
op_output_or_null (const AdjOpCall *call, guint result, AdjKView *out, const AdjKView **pointer)
{
  *pointer = call->results[result].tensor != NULL ? out : NULL;
  return *pointer == NULL || op_output (call, result, out);
}
