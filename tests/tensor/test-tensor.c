/* SPDX-License-Identifier: MIT */
/* Tensors: views, versions, slots. */

#include <string.h>

#include "tensor/adj-tensor-internal.h"
#include "tensor/adj-tensor.h"

static AdjTensorMeta
parse (const char *text, AdjSymbols *symbols)
{
  g_autoptr (GError) error = NULL;
  AdjTensorMeta meta = { 0 };

  adj_tensor_meta_parse (text, -1, symbols, &meta, &error);
  g_assert_no_error (error);
  return meta;
}

static void
test_empty (void)
{
  AdjTensorMeta meta = parse ("f32[2, 3][3, 1]cpu", NULL);
  g_autoptr (AdjTensor) tensor = adj_tensor_new_empty (&meta, NULL, FALSE);
  g_autoptr (AdjTensorData) data = adj_tensor_snapshot (tensor);

  g_assert_cmpuint (adj_storage_get_n_bytes (adj_tensor_get_storage (tensor)), ==, 24);
  g_assert_cmpuint (adj_tensor_get_rank (tensor), ==, 2);
  g_assert_cmpint (adj_tensor_get_size (tensor, 1), ==, 3);
  g_assert_cmpfloat (adj_tensor_data_get_double (data, 5), ==, 0.0);
}

static void
test_views_alias (void)
{
  AdjTensorMeta meta = parse ("f32[4][1]cpu", NULL);
  AdjTensorMeta tail = parse ("f32[2][1]cpu", NULL);
  g_autoptr (AdjTensor) base = adj_tensor_new_empty (&meta, NULL, FALSE);
  g_autoptr (AdjTensor) view = NULL;
  g_autoptr (AdjTensor) stranger = adj_tensor_new_empty (&meta, NULL, FALSE);
  g_autoptr (AdjTensorData) data = NULL;
  float *floats;

  tail.shape.offset = ADJ_SIZE (2);
  view = adj_tensor_new (&tail, adj_tensor_get_storage (base));
  g_assert_cmpint (adj_tensor_get_meta (view)->storage, ==, adj_tensor_get_meta (base)->storage);
  g_assert_cmpint (adj_tensor_get_meta (view)->storage, !=,
                   adj_tensor_get_meta (stranger)->storage);

  floats = adj_storage_write (adj_tensor_get_storage (base));
  floats[3] = 7.0f;
  data = adj_tensor_snapshot (view);
  g_assert_cmpfloat (adj_tensor_data_get_double (data, 1), ==, 7.0);
}

static void
test_from_data (void)
{
  AdjTensorMeta meta = parse ("i64[2][1]cpu", NULL);
  gint64 values[] = { 5, -6 };
  g_autoptr (GBytes) bytes = g_bytes_new (values, sizeof values);
  g_autoptr (AdjTensorData) data = adj_tensor_data_new (&meta, bytes, NULL);
  g_autoptr (AdjTensor) tensor = adj_tensor_new_from_data (data);
  g_autoptr (AdjTensorData) after = NULL;

  *(gint64 *) adj_storage_write (adj_tensor_get_storage (tensor)) = 9;
  after = adj_tensor_snapshot (tensor);
  g_assert_cmpfloat (adj_tensor_data_get_double (data, 0), ==, 5.0);
  g_assert_cmpfloat (adj_tensor_data_get_double (after, 0), ==, 9.0);
  g_assert_cmpfloat (adj_tensor_data_get_double (after, 1), ==, -6.0);
}

static void
test_fake (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSymbol symbol = { "s0", 10, 2, G_MAXINT64, NULL };
  AdjTensorMeta meta;
  AdjTensorMeta huge = parse ("f64[4611686018427387904, 4][4, 1]cpu", NULL);
  g_autoptr (AdjTensor) tensor = NULL;
  g_autoptr (AdjTensor) too_large = adj_tensor_new_empty (&huge, NULL, TRUE);

  adj_symbols_define (symbols, &symbol);
  meta = parse ("f32[s0, 3][3, 1]cuda:0", symbols);
  tensor = adj_tensor_new_empty (&meta, symbols, TRUE);
  g_assert_true (adj_storage_is_fake (adj_tensor_get_storage (tensor)));
  g_assert_cmpuint (adj_storage_get_n_bytes (adj_tensor_get_storage (tensor)), ==, 120);
  g_assert_null (adj_tensor_snapshot (tensor));
  g_assert_cmpuint (adj_storage_get_n_bytes (adj_tensor_get_storage (too_large)), ==, G_MAXSIZE);
}

static void
count_destroyed (gpointer state)
{
  (*(guint *) state)++;
}

static void
test_slots (void)
{
  AdjTensorMeta meta = parse ("f32[][]cpu", NULL);
  AdjTensor *tensor = adj_tensor_new_empty (&meta, NULL, FALSE);
  static const AdjSlotClass klass = { .free = count_destroyed };
  guint first = 0;
  guint second = 0;

  adj_tensor_set_slot (tensor, ADJ_SLOT_AUTOGRAD, &first, &klass);
  g_assert_true (adj_tensor_get_slot (tensor, ADJ_SLOT_AUTOGRAD) == &first);
  g_assert_null (adj_tensor_get_slot (tensor, ADJ_SLOT_CONSTANT));
  g_assert_false (adj_tensor_get_requires_grad (tensor));
  adj_tensor_set_slot (tensor, ADJ_SLOT_AUTOGRAD, &second, &klass);
  g_assert_cmpuint (first, ==, 1);
  adj_tensor_unref (adj_tensor_ref (tensor));
  g_assert_cmpuint (second, ==, 0);
  adj_tensor_unref (tensor);
  g_assert_cmpuint (second, ==, 1);
}

static void
test_set (void)
{
  AdjTensorMeta meta = parse ("f32[2, 3][3, 1]cpu", NULL);
  AdjTensorMeta turned = parse ("f32[3, 2][1, 3]cpu", NULL);
  g_autoptr (AdjTensor) tensor = adj_tensor_new_empty (&meta, NULL, FALSE);
  g_autoptr (AdjStorage) storage = adj_storage_new (24, ADJ_CPU);
  gint32 before = adj_tensor_get_meta (tensor)->storage;

  adj_tensor_set (tensor, &turned, NULL);
  g_assert_cmpint (adj_tensor_get_size (tensor, 0), ==, 3);
  g_assert_cmpint (adj_tensor_get_meta (tensor)->storage, ==, before);
  adj_tensor_set (tensor, &turned, storage);
  g_assert_true (adj_tensor_get_storage (tensor) == storage);
  g_assert_cmpint (adj_tensor_get_meta (tensor)->storage, !=, before);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tensor/tensor/empty", test_empty);
  g_test_add_func ("/tensor/tensor/views-alias", test_views_alias);
  g_test_add_func ("/tensor/tensor/from-data", test_from_data);
  g_test_add_func ("/tensor/tensor/fake", test_fake);
  g_test_add_func ("/tensor/tensor/slots", test_slots);
  g_test_add_func ("/tensor/tensor/set", test_set);
  return g_test_run ();
}
