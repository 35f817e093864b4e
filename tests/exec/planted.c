/* SPDX-License-Identifier: MIT */
/* Planted faults: damages results as a broken kernel would. */

#include "planted.h"

#include <math.h>
#include <string.h>

#include "call/adj-op.h"
#include "interpreter/adj-numeric-internal.h"
#include "ir/adj-graph.h"

/* Damages a result of @n elements; @size: relative L2 size of the damage. */
typedef void (*Damage) (GRand *rand, double *values, gint64 n, double norm, double size);

static void
damage_one (GRand *rand, double *values, gint64 n, double norm, double size)
{
  values[g_rand_int_range (rand, 0, (gint32) n)] += size * norm;
}

static void
damage_all (GRand *rand, double *values, gint64 n, double norm, double size)
{
  for (gint64 i = 0; i < n; i++)
    values[i] += g_rand_double_range (rand, -2, 2) * size * norm / sqrt ((double) n);
}

static void
damage_scale (GRand *rand, double *values, gint64 n, double norm, double size)
{
  for (gint64 i = 0; i < n; i++)
    values[i] *= 1 + 2 * size;
}

static void
damage_tail (GRand *rand, double *values, gint64 n, double norm, double size)
{
  for (gint64 i = n - n / 8 - 1; i < n; i++)
    values[i] = 0;
}

static void
damage_swap (GRand *rand, double *values, gint64 n, double norm, double size)
{
  gint64 a = g_rand_int_range (rand, 0, (gint32) n), b = g_rand_int_range (rand, 0, (gint32) n);
  double kept = values[a];

  values[a] = values[b];
  values[b] = kept;
}

static void
damage_nan (GRand *rand, double *values, gint64 n, double norm, double size)
{
  values[g_rand_int_range (rand, 0, (gint32) n)] = NAN;
}

static const struct
{
  const char *name;
  Damage damage;
} damages[] = {
  { "one element", damage_one }, { "noise", damage_all },          { "scale", damage_scale },
  { "tail", damage_tail },       { "two exchanged", damage_swap }, { "NaN", damage_nan },
};

/* Returns the elements of @dense in the strides of @like if @like fills its memory. */
static AdjTensorData *
laid_out (AdjTensorData *dense, const AdjTensorData *like)
{
  AdjTensorMeta meta = *adj_tensor_data_get_meta (like);
  gint64 n = adj_tensor_data_get_numel (dense);
  gsize size = adj_dtype_info (meta.dtype)->n_bytes;
  const guint8 *source = g_bytes_get_data (adj_tensor_data_get_bytes (dense), NULL);
  g_autofree guint8 *target = g_malloc0 ((gsize) n * size);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  AdjTensorData *data;

  if (!adj_shape_is_dense (&meta.shape, NULL))
    return adj_tensor_data_ref (dense);
  for (gint64 i = 0; i < n; i++)
    {
      gint64 rest = i, offset = 0;

      for (guint d = meta.shape.rank; d-- > 0; rest /= meta.shape.size[d].word)
        offset += rest % meta.shape.size[d].word * meta.shape.stride[d].word;
      memcpy (target + (gsize) offset * size, source + (gsize) i * size, size);
    }
  bytes = g_bytes_new (target, (gsize) n * size);
  meta.shape.offset = ADJ_SIZE (0);
  data = adj_tensor_data_new (&meta, bytes, &error);
  g_assert_no_error (error);
  return data;
}

/* Rounds to the dtype of @like, so that a kernel could have produced the value. */
static AdjTensorData *
pack (const AdjTensorData *like, double *values, gint64 n)
{
  AdjTensorMeta meta = *adj_tensor_data_get_meta (like);
  g_autoptr (GBytes) bytes = g_bytes_new (values, (gsize) n * sizeof (double));
  g_autoptr (AdjTensorData) wide = NULL;
  g_autoptr (AdjTensorData) dense = NULL;
  g_autoptr (GError) error = NULL;
  gint64 sizes[ADJ_MAX_RANK];

  for (guint i = 0; i < meta.shape.rank; i++)
    sizes[i] = meta.shape.size[i].word;
  adj_shape_init_ints (&meta.shape, meta.shape.rank, sizes);
  meta.dtype = ADJ_DTYPE_F64;
  wide = adj_tensor_data_new (&meta, bytes, &error);
  g_assert_no_error (error);
  dense = adj_tensor_data_cast (wide, adj_tensor_data_get_meta (like)->dtype);
  return laid_out (dense, like);
}

static AdjTensorData *
damaged (GRand *rand, AdjTensorData *original, double size, const char **kind)
{
  gint64 n = adj_tensor_data_get_numel (original);
  g_autofree double *values = g_new (double, n);
  guint which = (guint) g_rand_int_range (rand, 0, G_N_ELEMENTS (damages));
  double norm = 0;

  adj_tensor_data_read_doubles (original, values);
  for (gint64 i = 0; i < n; i++)
    norm += isfinite (values[i]) ? values[i] * values[i] : 0;
  damages[which].damage (rand, values, n, sqrt (norm), size);
  *kind = damages[which].name;
  return pack (original, values, n);
}

/* The tolerance of a node: that of its class, or one rounding if the class is exact. */
static double
tolerance (const AdjNode *node, AdjDType dtype)
{
  double limit = node->op != NULL ? adj_band_limit (node->op->band, dtype, 1) : 0;

  return MAX (limit, adj_dtype_unit_roundoff (dtype));
}

PlantedFault *
planted_fault_draw (GRand *rand, const AdjGraph *graph, GHashTable *values, double bands)
{
  for (;;)
    {
      guint index = (guint) g_rand_int_range (rand, 0, (gint32) adj_graph_get_n_nodes (graph));
      const AdjNode *node = adj_graph_get_node (graph, index);
      AdjTensorData *original = g_hash_table_lookup (values, node->name);
      g_autoptr (AdjTensorData) changed = NULL;
      AdjTensorDifference difference;
      const char *kind;
      PlantedFault *fault;
      double limit;

      if (node->opcode != ADJ_OPCODE_CALL_FUNCTION || original == NULL ||
          !adj_dtype_is_floating (adj_tensor_data_get_meta (original)->dtype) ||
          adj_tensor_data_get_numel (original) == 0)
        continue;
      limit = bands * tolerance (node, adj_tensor_data_get_meta (original)->dtype);
      changed = damaged (rand, original, limit * exp2 (g_rand_double_range (rand, 0.5, 12)), &kind);
      adj_tensor_compare (changed, original, &difference);
      if (difference.n_class_mismatch == 0 && !(difference.rel_l2 > limit))
        continue;
      fault = g_new0 (PlantedFault, 1);
      *fault = (PlantedFault){ { index }, kind, g_steal_pointer (&changed) };
      return fault;
    }
}

void
planted_fault_free (PlantedFault *fault)
{
  adj_tensor_data_unref (fault->value);
  g_free (fault);
}

gboolean
planted_fault_replace (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data)
{
  PlantedFault *fault = data;

  if (id.index != fault->node.index)
    return FALSE;
  *out = ADJ_DATA (adj_tensor_data_ref (fault->value));
  return TRUE;
}
