/* SPDX-License-Identifier: MIT */
/* Reuses memory of earlier runs: the page faults of fresh memory cost more than most kernels that
 * write it. */

#include "plan/space-private.h"

#define ALIGNMENT 64

struct _PlanSpares
{
  gatomicrefcount ref_count; /* one of the space, and one for each piece that was passed on */
  guint n;
  gpointer pieces[]; /* (owned): of each buffer, or %NULL */
};

typedef struct
{
  PlanSpares *spares; /* (owned) */
  guint32 index;
  gpointer piece; /* (owned) */
} Given;

PlanSpares *
plan_spares_new (guint n)
{
  PlanSpares *self = g_malloc0 (sizeof *self + n * sizeof self->pieces[0]);

  g_atomic_ref_count_init (&self->ref_count);
  self->n = n;
  return self;
}

void
plan_spares_unref (PlanSpares *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  for (guint i = 0; i < self->n; i++)
    g_aligned_free (self->pieces[i]);
  g_free (self);
}

gpointer
plan_spares_take (PlanSpares *self, guint32 index, guint64 n_bytes)
{
  gpointer piece = g_atomic_pointer_exchange (&self->pieces[index], NULL);

  return piece != NULL ? piece : g_aligned_alloc (MAX (n_bytes, 1), 1, ALIGNMENT);
}

void
plan_spares_put (PlanSpares *self, guint32 index, gpointer piece)
{
  g_aligned_free (g_atomic_pointer_exchange (&self->pieces[index], piece));
}

static void
given_free (gpointer data)
{
  Given *given = data;

  plan_spares_put (given->spares, given->index, given->piece);
  plan_spares_unref (given->spares);
  g_free (given);
}

GBytes *
plan_spares_give (PlanSpares *self, guint32 index, gpointer piece, guint64 n_bytes)
{
  Given *given = g_new (Given, 1);

  *given = (Given){ self, index, piece };
  g_atomic_ref_count_inc (&self->ref_count);
  return g_bytes_new_with_free_func (piece, n_bytes, given_free, given);
}
