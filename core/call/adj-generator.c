/* SPDX-License-Identifier: MIT */
/* PyTorch's generator of the CPU: uniform and normal numbers from the words of a Mersenne Twister,
 * its state as bytes. */

#include "call/adj-generator.h"

#include <math.h>
#include <string.h>

#include "call/adj-generator-internal.h"

#define N ADJ_K_TWISTER_WORDS

struct _AdjGenerator
{
  guint64 seed;
  AdjKTwister twister;
  gboolean has_normal;
  double normal; /* the second of a pair */
  AdjRandomSource source;
  gboolean has_float;
  float single; /* kept for states of other versions; nothing reads it */
};

AdjGenerator *
adj_generator_new (guint64 seed)
{
  AdjGenerator *generator = g_new0 (AdjGenerator, 1);

  adj_generator_seed (generator, seed);
  return generator;
}

void
adj_generator_free (AdjGenerator *generator)
{
  g_free (generator);
}

void
adj_generator_seed (AdjGenerator *generator, guint64 seed)
{
  *generator = (AdjGenerator){ .seed = seed, .source = generator->source };
  adj_k_twister_seed (&generator->twister, (guint32) seed);
}

void
adj_generator_set_source (AdjGenerator *generator, AdjRandomSource source)
{
  g_return_if_fail (generator != NULL);

  generator->source = source;
}

AdjRandomSource
adj_generator_get_source (const AdjGenerator *generator)
{
  g_return_val_if_fail (generator != NULL, ADJ_RANDOM_MKL);

  return generator->source;
}

/* -- numbers -- */

AdjKTwister *
adj_generator_get_twister (AdjGenerator *generator)
{
  return &generator->twister;
}

guint32
adj_generator_next32 (AdjGenerator *generator)
{
  return adj_k_twister_next (&generator->twister);
}

guint64
adj_generator_next64 (AdjGenerator *generator)
{
  guint64 high = adj_generator_next32 (generator);

  return high << 32 | adj_generator_next32 (generator);
}

double
adj_generator_next_uniform (AdjGenerator *generator)
{
  return (double) (adj_generator_next64 (generator) & ((1ull << 53) - 1)) * 0x1p-53;
}

double
adj_generator_next_normal (AdjGenerator *generator)
{
  double angle, radius;

  if (generator->has_normal)
    {
      generator->has_normal = FALSE;
      return generator->normal;
    }
  angle = 2 * G_PI * adj_generator_next_uniform (generator);
  radius = sqrt (-2 * log1p (-adj_generator_next_uniform (generator)));
  generator->normal = radius * sin (angle);
  generator->has_normal = TRUE;
  return radius * cos (angle);
}

/* -- states -- */

/* Offsets in a state; numbers are little-endian. */
enum
{
  AT_SEED = 0,          /* u64 */
  AT_LEFT = 8,          /* i32 */
  AT_SEEDED = 12,       /* i32: 1 */
  AT_NEXT = 16,         /* u64 */
  AT_STATE = 24,        /* u64 for each of the words */
  AT_NORMAL = 5024,     /* f64, after another that is 0 */
  AT_HAS_NORMAL = 5040, /* i32 */
  AT_FLOAT = 5048,      /* f32 */
  AT_HAS_FLOAT = 5052,
};

static void
put32 (guint8 *bytes, guint32 value)
{
  value = GUINT32_TO_LE (value);
  memcpy (bytes, &value, sizeof value);
}

static void
put64 (guint8 *bytes, guint64 value)
{
  value = GUINT64_TO_LE (value);
  memcpy (bytes, &value, sizeof value);
}

static guint32
take32 (const guint8 *bytes)
{
  guint32 value;

  memcpy (&value, bytes, sizeof value);
  return GUINT32_FROM_LE (value);
}

static guint64
take64 (const guint8 *bytes)
{
  guint64 value;

  memcpy (&value, bytes, sizeof value);
  return GUINT64_FROM_LE (value);
}

void
adj_generator_get_state (const AdjGenerator *generator, guint8 *bytes)
{
  guint64 normal = 0;
  guint32 single = 0;

  memset (bytes, 0, ADJ_GENERATOR_STATE_BYTES);
  put64 (bytes + AT_SEED, generator->seed);
  put32 (bytes + AT_LEFT, (guint32) generator->twister.left);
  put32 (bytes + AT_SEEDED, 1);
  put64 (bytes + AT_NEXT, generator->twister.next);
  for (guint i = 0; i < N; i++)
    put64 (bytes + AT_STATE + 8 * i, generator->twister.state[i]);
  if (generator->has_normal)
    memcpy (&normal, &generator->normal, sizeof normal);
  if (generator->has_float)
    memcpy (&single, &generator->single, sizeof single);
  put64 (bytes + AT_NORMAL, normal);
  put32 (bytes + AT_HAS_NORMAL, generator->has_normal);
  put32 (bytes + AT_FLOAT, single);
  bytes[AT_HAS_FLOAT] = (guint8) generator->has_float;
}

gboolean
adj_generator_set_state (AdjGenerator *generator,
                         const guint8 *bytes,
                         gsize n_bytes,
                         GError **error)
{
  guint32 left, single;
  guint64 next, normal;

  if (n_bytes != ADJ_GENERATOR_STATE_BYTES)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                   "a state of the CPU's random numbers has %d bytes, not %" G_GSIZE_FORMAT,
                   ADJ_GENERATOR_STATE_BYTES, n_bytes);
      return FALSE;
    }
  left = take32 (bytes + AT_LEFT);
  next = take64 (bytes + AT_NEXT);
  /* The last word before the twister is renewed is at next + left - 2. */
  if (take32 (bytes + AT_SEEDED) != 1 || left < 1 || left > N || next > N || next + left > N + 1)
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                           "these bytes are no state of the CPU's random numbers");
      return FALSE;
    }

  generator->seed = take64 (bytes + AT_SEED);
  generator->twister.left = (gint32) left;
  generator->twister.next = (guint32) next;
  for (guint i = 0; i < N; i++)
    generator->twister.state[i] = (guint32) take64 (bytes + AT_STATE + 8 * i);
  normal = take64 (bytes + AT_NORMAL);
  memcpy (&generator->normal, &normal, sizeof normal);
  generator->has_normal = take32 (bytes + AT_HAS_NORMAL) != 0;
  single = take32 (bytes + AT_FLOAT);
  memcpy (&generator->single, &single, sizeof single);
  generator->has_float = bytes[AT_HAS_FLOAT] != 0;
  return TRUE;
}
