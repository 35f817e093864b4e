/* SPDX-License-Identifier: MIT */
/* Tensors of plain pickles and of streams that torch.save wrote before 1.6; damaged ones are
 * refused in one sentence. */

#include <string.h>

#include "formats/adj-tensor-list-internal.h"
#include "formats/torch-stream-private.h"
#include "support/adj-test.h"
#include "tensor/adj-late-bytes-internal.h"

static AdjTensorList *
load (const char *file)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "pickles", file, NULL);
  g_autoptr (GError) error = NULL;
  AdjTensorList *list;

  g_assert_true (adj_tensor_list_is (path));
  list = adj_tensor_list_load (path, &error);
  g_assert_no_error (error);
  return list;
}

static void
check (const AdjTensorList *list, const char *name, const char *text)
{
  g_autoptr (GError) error = NULL;
  AdjTensorData *data = adj_tensor_list_find (list, name, &error);
  g_autofree char *found = NULL;

  g_assert_no_error (error);
  g_assert_true (adj_tensor_data_fetch (data, &error));
  found = adj_tensor_data_print (data, 100);
  g_assert_cmpstr (found, ==, text);
}

static void
test_named (gconstpointer file)
{
  g_autoptr (AdjTensorList) list = load (file);
  g_autoptr (GError) error = NULL;
  const AdjTensorMeta *meta;

  check (list, "x", "tensor([[ 4.,  6.],\n        [ 8., 10.]])");
  check (list, "short",
         "tensor([[-200, -199, -198],\n        [-197, -196, -195]], dtype=torch.int16)");
  check (list, "turned", "tensor([[0., 1., 2.],\n        [3., 4., 5.]], dtype=torch.float64)");
  check (list, "number", "tensor(2.5000)");
  check (list, "parameter", "tensor([1., 1.], dtype=torch.bfloat16)");
  check (list, "flags", "tensor([ True, False])");
  check (list, "half", "tensor([1.5000], dtype=torch.float16)");
  check (list, "many", "tensor([4000000000], dtype=torch.uint32)");
  check (list, "inner.flag", "tensor(True)");
  check (list, "inner.list", "tensor([1, 2, 3])");
  meta = adj_tensor_data_get_meta (adj_tensor_list_find (list, "none", NULL));
  g_assert_cmpint (meta->dtype, ==, ADJ_DTYPE_C64);
  g_assert_cmpint (meta->shape.size[1].word, ==, 3);
  g_assert_true (
      adj_tensor_data_get_meta (adj_tensor_list_find (list, "parameter", NULL))->requires_grad);
  g_assert_null (adj_tensor_list_find (list, "other", &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
}

/* Tensors of one storage share it. */
static void
test_stream (void)
{
  g_autoptr (AdjTensorList) list = load ("stream.pt");

  check (list, "u", "tensor([ 8.,  9., 10., 11.])");
  check (list, "i", "tensor([7])");
  check (list, "v",
         "tensor([[ 0.,  4.,  8.],\n        [ 1.,  5.,  9.],\n        [ 2.,  6., 10.],\n"
         "        [ 3.,  7., 11.]])");
  g_assert_true (adj_tensor_data_get_bytes (adj_tensor_list_find (list, "w", NULL)) ==
                 adj_tensor_data_get_bytes (adj_tensor_list_find (list, "v", NULL)));
}

/* Cut at any byte, a file is refused by its name, or what was cut off did not count. */
static void
test_cut (gconstpointer file)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "pickles", file, NULL);
  gsize length;
  g_autofree char *text = adj_test_read_file (path, &length);

  for (gsize n = 0; n < length; n++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = g_bytes_new (text, n);
      AdjValue value = ADJ_NONE;

      if (torch_stream_read (bytes, "a.pkl", NULL, &value, &error))
        adj_value_clear (&value);
      g_assert_nonnull (error);
      g_assert_true (g_str_has_prefix (error->message, "a.pkl: "));
      g_assert_null (strchr (error->message, '\n'));
    }
}

#define HEAD "\200\2"
#define STORAGE "ctorch.storage\n_load_from_bytes\n"
#define TENSOR(storage) "ctorch._utils\n_rebuild_tensor_v2\n(" storage "K\0K\1\205K\1\205\211}tR."
#define DTYPE "cnumpy\ndtype\nU\2f4\211\210\207R"

static const struct
{
  const char *name;
  const char *pickle;
  gsize length;
  const char *message;
} refused[] = {
#define REFUSED(name, pickle, message)                                                             \
  {                                                                                                \
    name, HEAD pickle, sizeof HEAD pickle - 1, message                                             \
  }
  REFUSED ("no storage", TENSOR ("N"), "a.pkl: a tensor without a storage"),
  REFUSED ("storage of nothing",
           TENSOR (STORAGE ")R"),
           "a.pkl: a storage that torch.save did not write"),
  REFUSED ("storage of a number",
           TENSOR (STORAGE "K\1\205R"),
           "a.pkl: a storage that torch.save did not write"),
  REFUSED ("storage that lies nowhere",
           TENSOR ("(U\7storagectorch\nFloatStorage\nU\1aU\3cpuK\1tQ"),
           "a.pkl: a tensor without a storage"),
  REFUSED ("array without elements",
           "cnumpy.core.numeric\n_frombuffer\n(N" DTYPE "K\1\205U\1CtR.",
           "a.pkl: an array without elements"),
  REFUSED ("array without sizes",
           "cnumpy.core.numeric\n_frombuffer\n(C\4abcd" DTYPE "K\1U\1CtR.",
           "a.pkl: an array whose sizes are none"),
  REFUSED ("array of nothing",
           "cnumpy.core.multiarray\n_reconstruct\n)R.",
           "a.pkl: an array of which nothing is said"),
};

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new_static (refused[i].pickle, refused[i].length);
      g_autoptr (GError) error = NULL;
      AdjValue value = ADJ_NONE;

      g_test_message ("%s", refused[i].name);
      g_assert_false (torch_stream_read (bytes, "a.pkl", NULL, &value, &error));
      g_assert_cmpstr (error->message, ==, refused[i].message);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/formats/plain-pickles/protocol-2", "named-2.pkl", test_named);
  g_test_add_data_func ("/formats/plain-pickles/protocol-3", "named-3.pkl", test_named);
  g_test_add_data_func ("/formats/plain-pickles/protocol-4", "named-4.pkl", test_named);
  g_test_add_data_func ("/formats/plain-pickles/protocol-5", "named-5.pkl", test_named);
  g_test_add_data_func ("/formats/plain-pickles/archive", "archive.pt", test_named);
  g_test_add_func ("/formats/plain-pickles/stream", test_stream);
  g_test_add_data_func ("/formats/plain-pickles/cut-pickle", "named-5.pkl", test_cut);
  g_test_add_data_func ("/formats/plain-pickles/cut-latin", "named-2.pkl", test_cut);
  g_test_add_data_func ("/formats/plain-pickles/cut-stream", "stream.pt", test_cut);
  g_test_add_func ("/formats/plain-pickles/refused", test_refused);
  return g_test_run ();
}
