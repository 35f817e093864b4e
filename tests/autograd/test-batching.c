/* SPDX-License-Identifier: MIT */
/* Tests of batched calls against calls on each entry.  Every dimension has two elements, so that
 * a write to the wrong elements is not caught as a shape error. */

#include <string.h>

#include "autograd/case.h"
#include "support/tape.h"

#define N_ENTRIES 2
#define N_ELEMENTS 16 /* in one entry, of four dimensions */

/* -- writing by indices -- */

/* How each dimension is indexed: '-' not at all, 'i' and 'j' by a vector, 'k' by a matrix; 'm'
 * by a mask of one dimension, 'n' by a mask of two. */
static const char *const patterns[] = { "i",  "-i",  "--i", "ij", "i-j", "-ij", "-i-j", "i--j",
                                        "-k", "-ik", "k-i", "m",  "-m",  "m-i", "-n",   "n-i" };

typedef struct
{
  gboolean indices, values; /* each entry has its own */
  gboolean one;             /* a single value for all elements written in an entry */
  gboolean in_place;
} Variant;

static AdjTensor *
square (AdjContext *cx, AdjTensor *tensor)
{
  return CALL (cx, "view", T (tensor), LIST (ADJ_INT (2), ADJ_INT (2)));
}

static AdjValue
make_index (AdjContext *cx, char kind, guint entry)
{
  static const double numbers[N_ENTRIES][4] = { { 1, 0, 0, 1 }, { 0, 1, 1, 0 } };
  const gboolean matrix = kind == 'k' || kind == 'n', mask = kind == 'm' || kind == 'n';
  AdjTensor *index;

  if (kind == '-')
    return ADJ_NONE;
  index = tape_tensor (cx, matrix ? 4 : 2, numbers[kind == 'j' ? 1 - entry : entry]);
  index = mask ? CALL (cx, "gt.Scalar", T (index), ADJ_FLOAT (0.5))
               : CALL (cx, "to.dtype", T (index), ADJ_DTYPE (ADJ_DTYPE_I64));
  return T (matrix ? square (cx, index) : index);
}

/* @items: space for the indices of a pattern. */
static AdjValue
make_indices (AdjContext *cx, const char *pattern, guint entry, AdjValue *items)
{
  const guint n = (guint) strlen (pattern);

  for (guint i = 0; i < n; i++)
    items[i] = make_index (cx, pattern[i], entry);
  return (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n, .items = items };
}

static AdjTensor *
stack (AdjContext *cx, AdjTensor *const *entries)
{
  return CALL (cx, "stack", LIST (T (entries[0]), T (entries[1])), ADJ_INT (0));
}

/* Returns @tensor as a batch whose first dimension counts the entries. */
static AdjTensor *
hide (AdjContext *cx, AdjTensor *tensor, const AdjValue *level)
{
  const AdjValue args[] = { T (tensor), ADJ_INT (0), *level };
  AdjValue hidden;

  g_assert_true (case_step (cx, ADJ_TRANSFORM_ADD_DIM, args, 3, &hidden));
  return adj_scope_add (cx, hidden.tensor);
}

static AdjTensor *
show (AdjContext *cx, AdjTensor *tensor, const AdjValue *level)
{
  const AdjValue args[] = { T (tensor), *level, ADJ_INT (N_ENTRIES), ADJ_INT (0) };
  AdjValue shown;

  g_assert_true (case_step (cx, ADJ_TRANSFORM_REMOVE_DIM, args, 4, &shown));
  return adj_scope_add (cx, shown.tensor);
}

typedef struct
{
  AdjTensor *selves[N_ENTRIES], *values[N_ENTRIES];
  AdjValue items[N_ENTRIES][4], indices[N_ENTRIES];
} Entries;

/* The written values are the negated former ones, so that every written element differs. */
static void
make_entries (AdjContext *cx, const char *pattern, const Variant *v, Entries *out)
{
  AdjTensor *all = CALL (cx, "arange.start", ADJ_FLOAT (1), ADJ_FLOAT (1 + N_ENTRIES * N_ELEMENTS));

  all = CALL (cx, "view", T (all),
              LIST (ADJ_INT (N_ENTRIES), ADJ_INT (2), ADJ_INT (2), ADJ_INT (2), ADJ_INT (2)));
  for (guint e = 0; e < N_ENTRIES; e++)
    {
      AdjTensor *read;

      out->selves[e] = CALL (cx, "select.int", T (all), ADJ_INT (0), ADJ_INT (e));
      out->indices[e] = make_indices (cx, pattern, v->indices ? e : 0, out->items[e]);
      read = CALL (cx, "index.Tensor", T (out->selves[e]), out->indices[e]);
      if (v->one)
        read = CALL (cx, "sum", T (read));
      out->values[e] = v->values || e == 0 ? CALL (cx, "neg", T (read)) : out->values[0];
    }
}

/* The indices of the first entry, or with @own those of all; @items: space for them. */
static AdjValue
batch_indices (
    AdjContext *cx, const Entries *entries, gboolean own, const AdjValue *level, AdjValue *items)
{
  AdjValue indices = entries->indices[0];

  for (guint i = 0; i < indices.n; i++)
    {
      AdjTensor *each[] = { entries->items[0][i].tensor, entries->items[1][i].tensor };

      items[i] = entries->items[0][i];
      if (own && items[i].kind == ADJ_VALUE_TENSOR)
        items[i].tensor = hide (cx, stack (cx, each), level);
    }
  indices.items = items;
  return indices;
}

static AdjTensor *
write_batch (AdjContext *cx, const Variant *v, const Entries *entries)
{
  AdjValue items[4], level, indices, size = ADJ_INT (N_ENTRIES);
  AdjTensor *self, *values = entries->values[0];

  g_assert_true (case_step (cx, ADJ_TRANSFORM_BEGIN_BATCH, &size, 1, &level));
  indices = batch_indices (cx, entries, v->indices, &level, items);
  if (v->values)
    values = hide (cx, stack (cx, entries->values), &level);
  self = hide (cx, stack (cx, entries->selves), &level);
  self = v->in_place ? CALL (cx, "index_put_", T (self), indices, T (values))
                     : CALL (cx, "index_put", T (self), indices, T (values));
  return show (cx, self, &level);
}

static void
check_write (const char *pattern, const Variant *v)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *batch;
  Entries entries;

  make_entries (cx, pattern, v, &entries);
  batch = write_batch (cx, v, &entries);
  for (guint e = 0; e < N_ENTRIES; e++)
    {
      AdjTensor *alone =
          CALL (cx, "index_put", T (entries.selves[e]), entries.indices[e], T (entries.values[e]));

      for (guint i = 0; i < N_ELEMENTS; i++)
        if (tape_at (batch, e * N_ELEMENTS + i) != tape_at (alone, i))
          g_error ("%s, own indices %d, own values %d, one value %d: element %u of entry %u is %g, "
                   "not %g",
                   pattern, v->indices, v->values, v->one, i, e,
                   tape_at (batch, e * N_ELEMENTS + i), tape_at (alone, i));
    }
}

static void
indices_write_entries (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    for (guint bits = 0; bits < 16; bits++)
      {
        const Variant v = { bits & 1, (bits >> 1) & 1, (bits >> 2) & 1, (bits >> 3) & 1 };
        const gboolean masks = strpbrk (patterns[i], "mn") != NULL;

        /* Indexes each tensor of the batch separately, without a write. */
        if (!masks || !v.indices || !v.in_place)
          check_write (patterns[i], &v);
      }
}

/* -- reading by indices -- */

static void
check_read (const char *pattern, gboolean own_selves, gboolean own_indices)
{
  g_autoptr (AdjContext) cx = tape_new ();
  const Variant v = { .indices = own_indices };
  AdjValue items[4], level, indices, size = ADJ_INT (N_ENTRIES);
  AdjTensor *self, *batch;
  Entries entries;

  make_entries (cx, pattern, &v, &entries);
  g_assert_true (case_step (cx, ADJ_TRANSFORM_BEGIN_BATCH, &size, 1, &level));
  indices = batch_indices (cx, &entries, own_indices, &level, items);
  self = own_selves ? hide (cx, stack (cx, entries.selves), &level) : entries.selves[0];
  batch = show (cx, CALL (cx, "index.Tensor", T (self), indices), &level);
  for (guint e = 0; e < N_ENTRIES; e++)
    {
      AdjTensor *alone = CALL (cx, "index.Tensor", T (entries.selves[own_selves ? e : 0]),
                               entries.indices[own_indices ? e : 0]);
      AdjTensor *entry = CALL (cx, "select.int", T (batch), ADJ_INT (0), ADJ_INT (e));
      AdjTensor *error =
          CALL (cx, "sum", T (CALL (cx, "abs", T (CALL (cx, "sub.Tensor", T (entry), T (alone))))));

      g_assert_cmpuint (adj_tensor_get_rank (entry), ==, adj_tensor_get_rank (alone));
      if (tape_at (error, 0) != 0)
        g_error ("%s, own tensor %d, own indices %d: entry %u differs", pattern, own_selves,
                 own_indices, e);
    }
}

static void
indices_read_entries (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    for (guint bits = 1; bits < 4; bits++)
      {
        const gboolean masks = strpbrk (patterns[i], "mn") != NULL;

        /* Masks of entries select different numbers of elements. */
        if (!masks || (bits & 2) == 0)
          check_read (patterns[i], bits & 1, (bits & 2) != 0);
      }
}

/* -- ranks -- */

/* x + y if y already has the maximal number of dimensions: none is left for the batch. */
static void
ranks_are_bounded (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_tensor (cx, 2, (double[]){ 1, 2 }), *y = tape_scalar (cx, 3);
  AdjValue size = ADJ_INT (2), level;

  for (guint i = 0; i < ADJ_MAX_RANK; i++)
    y = CALL (cx, "unsqueeze", T (y), ADJ_INT (0));
  g_assert_true (case_step (cx, ADJ_TRANSFORM_BEGIN_BATCH, &size, 1, &level));
  x = hide (cx, x, &level);
  g_assert_false (tape_try (cx, "add.Tensor", 2, (AdjValue[]){ T (x), T (y) }));
  tape_assert_error (cx, ADJ_ERROR_LIMIT, "a batch has more than 16 dimensions");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/autograd/batching/indices-write-entries", indices_write_entries);
  g_test_add_func ("/autograd/batching/indices-read-entries", indices_read_entries);
  g_test_add_func ("/autograd/batching/ranks-are-bounded", ranks_are_bounded);

  return g_test_run ();
}
