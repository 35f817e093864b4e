/* SPDX-License-Identifier: MIT */
/* The operators of random programs. */

#include "compiled_autograd/random-private.h"

/* -- of one tensor -- */

static void
add_pointwise (Machine *m)
{
  static const char *const names[] = { "neg", "relu", "clone",   "sin",  "cos",
                                       "exp", "sqrt", "sigmoid", "tanh", "log" };
  const Var source = *random_pick_var (m);
  gint n = (m->flags & RANDOM_EXACT) != 0 ? 3 : (gint) G_N_ELEMENTS (names);
  AdjValue result;

  if (RANDOM_CALL (m, names[random_pick (m, 0, n)], &result, T (source.tensor)))
    random_add (m, result.tensor, &source, 0);
}

static void
add_number (Machine *m)
{
  static const char *const names[] = {
    "mul.Tensor",        "add.Tensor", "sub.Tensor", "mul.Scalar",
    "pow.Tensor_Scalar", "div.Tensor", "div.Scalar",
  };
  const Var source = *random_pick_var (m);
  gint which = random_pick (m, 0, (m->flags & RANDOM_EXACT) != 0 ? 5 : G_N_ELEMENTS (names));
  AdjValue number = ADJ_INT (random_pick (m, 2, 4)), result;

  if (random_chance (m, 30))
    number = ADJ_FLOAT ((m->flags & RANDOM_EXACT) != 0 ? 0.5 : 1.3);
  if (which == 4)
    number = ADJ_INT (2 + (m->step == 2 && random_chance (m, 20)));
  if (RANDOM_CALL (m, names[which], &result, T (source.tensor), number))
    random_add (m, result.tensor, &source, 0);
}

static void
add_reduction (Machine *m)
{
  static const char *const names[] = { "sum.dim_IntList", "mean.dim" };
  const Var source = *random_pick_var (m);
  const gboolean keeps = random_chance (m, 40);
  guint which = (m->flags & RANDOM_EXACT) != 0 ? 0 : (guint) random_pick (m, 0, 2);
  Dim dims[RANDOM_MAX_RANK];
  guint dim, rank = 0;
  AdjValue result;

  if (source.rank == 0)
    return;
  dim = (guint) random_pick (m, 0, (gint) source.rank);
  for (guint i = 0; i < source.rank; i++)
    if (i != dim || keeps)
      dims[rank++] = i == dim ? (Dim){ DIM_ONE, 1 } : source.dims[i];
  if (RANDOM_CALL (m, names[which], &result, T (source.tensor), LIST (ADJ_INT (dim)),
                   ADJ_BOOL (keeps)))
    random_add_dims (m, result.tensor, dims, rank);
}

static void
add_softmax (Machine *m)
{
  const Var source = *random_pick_var (m);
  AdjValue result;

  if (source.rank == 0 || (m->flags & RANDOM_EXACT) != 0)
    return;
  if (RANDOM_CALL (m, random_chance (m, 50) ? "_softmax" : "_log_softmax", &result,
                   T (source.tensor), ADJ_INT (random_pick (m, 0, (gint) source.rank)),
                   ADJ_BOOL (FALSE)))
    random_add (m, result.tensor, &source, 0);
}

/* -- views -- */

static void
add_transposed (Machine *m)
{
  const Var source = *random_pick_var (m);
  Dim dims[RANDOM_MAX_RANK];
  AdjValue result;

  if (source.rank < 2)
    return;
  for (guint i = 0; i < source.rank; i++)
    dims[i] = source.dims[i];
  dims[0] = source.dims[source.rank - 1];
  dims[source.rank - 1] = source.dims[0];
  if (RANDOM_CALL (m, "transpose.int", &result, T (source.tensor), ADJ_INT (0), ADJ_INT (-1)))
    random_add_dims (m, result.tensor, dims, source.rank);
}

static void
add_unsqueezed (Machine *m)
{
  const Var source = *random_pick_var (m);
  Dim dims[RANDOM_MAX_RANK];
  guint at = (guint) random_pick (m, 0, (gint) source.rank + 1);
  AdjValue result;

  if (source.rank + 1 > RANDOM_MAX_RANK)
    return;
  for (guint i = 0; i <= source.rank; i++)
    dims[i] = i == at ? (Dim){ DIM_ONE, 1 } : source.dims[i - (i > at)];
  if (RANDOM_CALL (m, "unsqueeze", &result, T (source.tensor), ADJ_INT (at)))
    random_add_dims (m, result.tensor, dims, source.rank + 1);
}

/* Expands dimensions of size 1 to another size and adds one in front. */
static void
add_expanded (Machine *m)
{
  const Var source = *random_pick_var (m);
  const guint tag = (guint) random_pick (m, 0, RANDOM_N_DIMS);
  const guint more = source.rank < RANDOM_MAX_RANK && random_chance (m, 40);
  AdjValue sizes[RANDOM_MAX_RANK + 1], result;
  Dim dims[RANDOM_MAX_RANK + 1];

  dims[0] = (Dim){ tag, m->sizes[tag] };
  for (guint i = 0; i < source.rank; i++)
    dims[i + more] = source.dims[i].tag == DIM_ONE ? (Dim){ tag, m->sizes[tag] } : source.dims[i];
  for (guint i = 0; i < source.rank + more; i++)
    sizes[i] = ADJ_INT (dims[i].size);
  if (RANDOM_CALL (m, "expand", &result, T (source.tensor),
                   ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = source.rank + more, .items = sizes })))
    random_add_dims (m, result.tensor, dims, source.rank + more);
}

static void
add_flat (Machine *m)
{
  const Var source = *random_pick_var (m);
  AdjTensor *tensor = source.tensor;
  AdjValue result;

  if (random_chance (m, 50))
    {
      if (!RANDOM_CALL (m, "clone", &result, T (tensor)))
        return;
      tensor = result.tensor;
    }
  if (RANDOM_CALL (m, random_chance (m, 50) ? "view" : "reshape", &result, T (tensor),
                   LIST (ADJ_INT (-1))))
    random_add (m, result.tensor, &source, 1);
}

static void
add_folded (Machine *m)
{
  const Var source = *random_pick_var (m);
  AdjValue sizes[RANDOM_MAX_RANK], flat, result;

  for (guint i = 0; i < source.rank; i++)
    sizes[i] = ADJ_INT (source.dims[i].size);
  if (RANDOM_CALL (m, "reshape", &flat, T (source.tensor), LIST (ADJ_INT (-1))) &&
      RANDOM_CALL (m, "view", &result, flat,
                   ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = source.rank, .items = sizes })))
    random_add_dims (m, result.tensor, source.dims, source.rank);
}

static void
add_part (Machine *m)
{
  const Var source = *random_pick_var (m);
  const gboolean selects = random_chance (m, 40);
  guint dim;
  AdjValue result;

  if (source.rank == 0)
    return;
  dim = (guint) random_pick (m, 0, (gint) source.rank);
  if (selects && source.dims[dim].size > 0 &&
      RANDOM_CALL (m, "select.int", &result, T (source.tensor), ADJ_INT (dim), ADJ_INT (-1)))
    {
      Var rest = source;

      for (guint i = dim; i + 1 < rest.rank; i++)
        rest.dims[i] = rest.dims[i + 1];
      random_add_dims (m, result.tensor, rest.dims, rest.rank - 1);
    }
  else if (!selects && RANDOM_CALL (m, "slice.Tensor", &result, T (source.tensor), ADJ_INT (dim),
                                    ADJ_INT (1), ADJ_INT (3)))
    random_add (m, result.tensor, &source, 2);
}

static void
add_parts (Machine *m)
{
  static const char *const names[] = { "unbind.int", "split.Tensor", "split_with_sizes" };
  const Var source = *random_pick_var (m);
  guint which = (guint) random_pick (m, 0, G_N_ELEMENTS (names));
  AdjValue result;
  gboolean done;

  if (source.rank == 0 || source.dims[0].size < 2)
    return;
  if (which == 0)
    done = RANDOM_CALL (m, names[0], &result, T (source.tensor), ADJ_INT (0));
  else if (which == 1)
    done = RANDOM_CALL (m, names[1], &result, T (source.tensor), ADJ_INT (2), ADJ_INT (0));
  else
    done = RANDOM_CALL (m, names[2], &result, T (source.tensor),
                        LIST (ADJ_INT (1), ADJ_INT (source.dims[0].size - 1)), ADJ_INT (0));
  for (guint i = 0; done && i < MIN (result.n, 2); i++)
    random_add (m, result.items[random_chance (m, 30) ? result.n - 1 : i].tensor, &source, 3);
}

/* -- along one dimension, and what chooses elements -- */

static void
add_along (Machine *m)
{
  static const char *const names[] = {
    "cumsum", "flip", "tril", "amax", "prod.dim_int", "logsumexp"
  };
  const Var source = *random_pick_var (m);
  const guint which =
      (guint) random_pick (m, 0, (m->flags & RANDOM_EXACT) != 0 ? 3 : G_N_ELEMENTS (names));
  AdjValue dim = ADJ_INT (random_pick (m, 0, (gint) source.rank)), result;
  const AdjValue list = { .kind = ADJ_VALUE_LIST, .n = 1, .items = &dim };
  gboolean done;

  if (source.rank == 0)
    return;
  if (which == 2)
    done = source.rank > 1 && RANDOM_CALL (m, names[2], &result, T (source.tensor));
  else if (which < 2)
    done = RANDOM_CALL (m, names[which], &result, T (source.tensor), which == 1 ? list : dim);
  else
    done = RANDOM_CALL (m, names[which], &result, T (source.tensor), which == 4 ? dim : list,
                        ADJ_BOOL (TRUE));
  if (done)
    random_add (m, result.tensor, &source, 5);
}

static void
add_chosen (Machine *m)
{
  static const gint64 zeros[8] = { 0 };
  const Var source = *random_pick_var (m);
  const gint64 n = 1 + m->step;
  AdjTensor *index = adj_from_array (m->cx, ADJ_DTYPE_I64, &n, 1, zeros);
  AdjTensor *values = adj_from_array (m->cx, ADJ_DTYPE_F32, NULL, 0, zeros);
  AdjValue items[] = { T (index) }, result;
  const AdjValue indices = { .kind = ADJ_VALUE_LIST, .n = 1, .items = items };
  gboolean done;

  if (source.rank == 0 || source.dims[0].size == 0)
    return;
  if (random_chance (m, 40))
    done = RANDOM_CALL (m, "index_select", &result, T (source.tensor), ADJ_INT (0), T (index));
  else if (random_chance (m, 50))
    done = RANDOM_CALL (m, "index.Tensor", &result, T (source.tensor), indices);
  else
    done = RANDOM_CALL (m, "index_put", &result, T (source.tensor), indices, T (values));
  if (done)
    random_add (m, result.tensor, &source, 6);
}

/* -- of several tensors -- */

/* Computes the broadcast dimensions; %FALSE: they do not match. */
static gboolean
broadcast (const Var *a, const Var *b, Dim *dims)
{
  const Var *longer = a->rank >= b->rank ? a : b, *other = longer == a ? b : a;
  guint more = longer->rank - other->rank;

  for (guint i = 0; i < longer->rank; i++)
    {
      dims[i] = longer->dims[i];
      if (i < more || other->dims[i - more].tag == dims[i].tag)
        continue;
      if (dims[i].tag == DIM_ONE)
        dims[i] = other->dims[i - more];
      else if (other->dims[i - more].tag != DIM_ONE)
        return FALSE;
    }
  return TRUE;
}

static void
add_binary (Machine *m)
{
  static const char *const names[] = { "add.Tensor", "sub.Tensor", "mul.Tensor",
                                       "mul.Tensor", "maximum",    "div.Tensor" };
  const Var a = *random_pick_var (m);
  gint n = (gint) G_N_ELEMENTS (names) - ((m->flags & RANDOM_EXACT) != 0 ? 2 : 0);
  const char *name = names[random_pick (m, 0, n)];
  Dim dims[RANDOM_MAX_RANK];
  AdjValue result;

  for (guint i = 0; i < 6; i++)
    {
      const Var b = *random_pick_var (m);

      if (!broadcast (&a, &b, dims))
        continue;
      if (RANDOM_CALL (m, name, &result, T (a.tensor), T (b.tensor)))
        random_add_dims (m, result.tensor, dims, MAX (a.rank, b.rank));
      return;
    }
}

static void
add_product (Machine *m)
{
  for (guint i = 0; i < 12; i++)
    {
      const Var a = *random_pick_var (m), b = *random_pick_var (m);
      const gboolean turns = b.rank == 2 && random_chance (m, 40);
      const Dim *outer = &b.dims[turns ? 0 : 1];
      AdjValue right, result;

      if (a.rank != 2 || b.rank != 2 || a.dims[1].tag != b.dims[turns ? 1 : 0].tag ||
          adj_tensor_get_meta (a.tensor)->dtype != adj_tensor_get_meta (b.tensor)->dtype)
        continue;
      right = T (b.tensor);
      if (turns && !RANDOM_CALL (m, "t", &right, T (b.tensor)))
        return;
      if (RANDOM_CALL (m, "mm", &result, T (a.tensor), right))
        random_add_dims (m, result.tensor, (const Dim[]){ a.dims[0], *outer }, 2);
      return;
    }
}

static void
add_joined (Machine *m)
{
  const Var a = *random_pick_var (m), b = *random_pick_var (m);
  AdjValue result;

  for (guint i = 0; i < a.rank; i++)
    if (a.rank != b.rank || (i > 0 && a.dims[i].tag != b.dims[i].tag))
      return;
  if (a.rank == b.rank && a.rank > 0 &&
      RANDOM_CALL (m, "cat", &result, LIST (T (a.tensor), T (b.tensor), T (a.tensor))))
    random_add (m, result.tensor, &a, 4);
}

/* -- writing -- */

static void
write_into (Machine *m, AdjTensor *tensor, const Var *shape)
{
  static const char *const names[] = { "mul_.Tensor", "add_.Tensor", "mul_.Scalar", "relu_",
                                       "zero_" };
  guint which = (guint) random_pick (m, 0, G_N_ELEMENTS (names));
  const Var *other = random_pick_var (m);
  Dim dims[RANDOM_MAX_RANK];
  AdjValue result;

  if (which < 2 && other->rank <= shape->rank && broadcast (shape, other, dims) &&
      random_chance (m, 60))
    RANDOM_CALL (m, names[which], &result, T (tensor), T (other->tensor));
  else if (which < 3)
    RANDOM_CALL (m, names[which], &result, T (tensor), ADJ_INT (2));
  else
    RANDOM_CALL (m, names[which], &result, T (tensor));
}

static void
add_write (Machine *m)
{
  Var target = *random_pick_var (m);
  AdjValue result;

  if (random_chance (m, 85))
    {
      if (!RANDOM_CALL (m, "clone", &result, T (target.tensor)))
        return;
      random_add (m, result.tensor, &target, 0);
      target.tensor = result.tensor;
    }
  write_into (m, target.tensor, &target);
}

/* Writes a part of a copy; the copy and sometimes the part are used later. */
static void
add_write_through_view (Machine *m)
{
  const Var target = *random_pick_var (m);
  const guint which = (guint) random_pick (m, 0, 3);
  Var part = target;
  AdjValue copy, view;
  gboolean done;

  if (target.rank == 0 || target.dims[0].size == 0 ||
      !RANDOM_CALL (m, "clone", &copy, T (target.tensor)))
    return;
  if (which == 0)
    done = RANDOM_CALL (m, "select.int", &view, copy, ADJ_INT (0), ADJ_INT (0));
  else if (which == 1)
    done = RANDOM_CALL (m, "slice.Tensor", &view, copy, ADJ_INT (0), ADJ_INT (1), ADJ_INT (9));
  else
    done = RANDOM_CALL (m, "transpose.int", &view, copy, ADJ_INT (0), ADJ_INT (-1));
  if (!done)
    return;
  part.dims[0] = target.dims[target.rank - 1];
  part.dims[target.rank - 1] = target.dims[0];
  for (guint i = 0; which == 0 && i + 1 < target.rank; i++)
    part.dims[i] = target.dims[i + 1];
  part.rank -= which == 0;
  if (which == 1)
    part = target;
  if (which == 1)
    part.dims[0].tag = 1000 + target.dims[0].tag;
  write_into (m, view.tensor, &part);
  random_add (m, copy.tensor, &target, 0);
  if (random_chance (m, 30) && which != 1)
    random_add_dims (m, view.tensor, part.dims, part.rank);
}

static const struct
{
  void (*add) (Machine *m);
  guint weight;
} operations[] = {
  { add_pointwise, 6 },  { add_number, 5 },     { add_binary, 8 },
  { add_reduction, 4 },  { add_product, 5 },    { add_softmax, 2 },
  { add_transposed, 2 }, { add_unsqueezed, 2 }, { add_expanded, 3 },
  { add_flat, 2 },       { add_folded, 2 },     { add_part, 3 },
  { add_parts, 3 },      { add_joined, 3 },     { add_along, 3 },
  { add_chosen, 2 },     { add_write, 3 },      { add_write_through_view, 3 },
};

void
random_add_operation (Machine *m)
{
  guint total = 0, at;

  for (guint i = 0; i < G_N_ELEMENTS (operations); i++)
    total += operations[i].weight;
  at = (guint) random_pick (m, 0, (gint) total);
  for (guint i = 0; i < G_N_ELEMENTS (operations); i++)
    {
      if (at < operations[i].weight)
        {
          operations[i].add (m);
          return;
        }
      at -= operations[i].weight;
    }
}
