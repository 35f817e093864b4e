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
  check (list, "axes",
         "tensor([[[ 0,  1,  2],\n         [ 6,  7,  8]],\n\n        [[ 3,  4,  5],\n"
         "         [ 9, 10, 11]]], dtype=torch.int8)");
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

/* -- pickles written here -- */

#define HEAD "\200\2"
#define DTYPE_OF(order)                                                                            \
  "cnumpy\ndtype\nU\2f4\211\210\207R(K\3" order "NNNJ\377\377\377\377J\377\377\377\377K\0tb"
#define STORAGE "ctorch.storage\n_load_from_bytes\n"
#define TENSOR(storage) "ctorch._utils\n_rebuild_tensor_v2\n(" storage "K\0K\1\205K\1\205\211}tR."
#define DTYPE DTYPE_OF ("U\1<")
#define ARRAY(bytes, dtype, order)                                                                 \
  "cnumpy.core.numeric\n_frombuffer\n(" bytes dtype "K\1\205" order "tR"

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
           "a.pkl: an array of numpy without elements"),
  REFUSED ("array without sizes",
           "cnumpy.core.numeric\n_frombuffer\n(C\4abcd" DTYPE "K\1U\1CtR.",
           "a.pkl: an array of numpy whose sizes are none"),
  REFUSED ("array in an order",
           "cnumpy.core.numeric\n_frombuffer\n(C\4abcd" DTYPE "K\1\205U\1AtR.",
           "a.pkl: an array of numpy in an order that is not known"),
  REFUSED ("array with axes twice",
           "cnumpy.core.numeric\n_frombuffer\n(C\4abcd" DTYPE "K\1K\1\206U\1KK\0K\0\206tR.",
           "a.pkl: an array of numpy whose axes are none"),
  REFUSED ("array with one axis too few",
           "cnumpy.core.numeric\n_frombuffer\n(C\4abcd" DTYPE "K\1K\1\206U\1KK\0\205tR.",
           "a.pkl: an array of numpy whose axes are none"),
  REFUSED ("array of nothing",
           "cnumpy.core.multiarray\n_reconstruct\n)R.",
           "a.pkl: an array of numpy of which nothing is said"),
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

/* (transfer full): the value of @pickle. */
static AdjValue
read_all (SavedValues *values, AdjArena *arena, const char *pickle, gsize length)
{
  g_autoptr (GError) error = NULL;
  const PickleItem *item = pickle_read (arena, (const guint8 *) pickle, length, "a.pkl", &error);
  AdjValue value;

  g_assert_no_error (error);
  saved_values_init (values, "a.pkl", NULL);
  g_assert_true (saved_values_read (values, item, &value, &error));
  g_assert_no_error (error);
  return value;
}

/* Two arrays of one object of bytes, which Python shares when they are short, are two; the bytes
 * are decoded once. */
static void
test_shared_bytes (void)
{
  static const char pickle[] =
      HEAD "(c_codecs\nencode\nX\5\0\0\0\302\200abcq\0U\6latin1\206Rq\1" DTYPE "q\2"
           "00"
           "cnumpy.core.numeric\n_frombuffer\n(h\1h\2K\1\205U\1CtRq\3"
           "cnumpy.core.numeric\n_frombuffer\n(c_codecs\nencode\nh\0U\6latin1\206Rh\2K\1\205U\1CtR"
           "h\3t.";
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_auto (SavedValues) values = { 0 };
  g_auto (AdjValue) value = read_all (&values, arena, pickle, sizeof pickle - 1);

  g_assert_cmpuint (value.n, ==, 3);
  g_assert_true (adj_tensor_data_get_storage (value.items[0].data) !=
                 adj_tensor_data_get_storage (value.items[1].data));
  g_assert_true (adj_tensor_data_get_storage (value.items[0].data) ==
                 adj_tensor_data_get_storage (value.items[2].data));
  g_assert_cmpuint (g_hash_table_size (values.bytes), ==, 1);
}

/* The same of storages: each call makes one, the stream is read once. */
static void
test_shared_stream (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "pickles", "named-4.pkl", NULL);
  gsize length;
  g_autofree char *text = adj_test_read_file (path, &length);
  const char *magic = "\200\2\212\12\154\374\234\106\371\40\152\250\120";
  const char *stream = memmem (text, length, magic, 13);
  g_autoptr (GString) pickle = g_string_new_len (HEAD "(B", 4);
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_auto (SavedValues) values = { 0 };
  g_auto (AdjValue) value = ADJ_NONE;
  guint32 n;

  memcpy (&n, stream - 4, sizeof n); /* of the instruction BINBYTES before it */
  n = GUINT32_FROM_LE (n);
  g_string_append_len (pickle, stream - 4, (gssize) n + 4);
  g_string_append_len (pickle,
                       "q\0"
                       "0",
                       3);
  for (guint i = 0; i < 2; i++)
    {
      static const char tensor[] =
          "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE "h\0\205RK\0K\1\205K\1\205\211}tR";

      g_string_append_len (pickle, tensor, sizeof tensor - 1);
    }
  g_string_append (pickle, "t.");
  value = read_all (&values, arena, pickle->str, pickle->len);
  g_assert_cmpuint (value.n, ==, 2);
  g_assert_true (adj_tensor_data_get_storage (value.items[0].data) !=
                 adj_tensor_data_get_storage (value.items[1].data));
  g_assert_cmpuint (g_hash_table_size (values.streams), ==, 1);
}

static void
check_raw (const AdjValue *value, const char *text)
{
  g_assert_cmpint (value->kind, ==, ADJ_VALUE_RAW);
  g_assert_cmpstr (value->text, ==, text);
}

/* What is no little-endian array, and what makes no tensor of a class, is named. */
static void
test_named_only (void)
{
#define OF_CLASS(name) "ctorch._tensor\n_rebuild_from_type_v2\n(c" name "\nctorch\nTensor\n)NtR"
  static const char pickle[] = HEAD "(" ARRAY ("C\4abcd", DTYPE_OF ("C\1>"), "U\1C")
      ARRAY ("C\4abcd", DTYPE_OF ("N"), "U\1C") ARRAY ("C\4abcd", DTYPE_OF ("U\2<<"), "U\1C")
          OF_CLASS ("__torch__\nA") OF_CLASS ("__torch__\nB") OF_CLASS ("os\nsystem") "t.";
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_auto (SavedValues) values = { 0 };
  g_auto (AdjValue) value = read_all (&values, arena, pickle, sizeof pickle - 1);

  g_assert_cmpuint (value.n, ==, 6);
  for (guint i = 0; i < 3; i++)
    check_raw (&value.items[i], "numpy.core.numeric._frombuffer(...)");
  check_raw (&value.items[3], "__torch__.A(...)");
  check_raw (&value.items[4], "__torch__.B(...)");
  check_raw (&value.items[5], "os.system(...)");
}

/* -- files -- */

/* (transfer full) (nullable) */
static AdjTensorList *
load_bytes (gconstpointer data, gsize length, GError **error)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "a.bin", NULL);

  g_assert_true (g_file_set_contents (path, data, (gssize) length, NULL));
  return adj_tensor_list_load (path, error);
}

/* A header of 128 bytes more than a multiple of 256 begins like a pickle. */
static void
test_safetensors (void)
{
  for (guint64 n = 128; n < 2048; n += 256)
    {
      static const char header[] = "{\"x\":{\"dtype\":\"F32\",\"shape\":[1],"
                                   "\"data_offsets\":[0,4]}}";
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_autofree char *padded = g_strdup_printf ("%-*s", (int) n, header);
      g_autoptr (AdjTensorList) list = NULL;
      g_autoptr (GError) error = NULL;
      const guint64 length = GUINT64_TO_LE (n);

      g_byte_array_append (file, (const guint8 *) &length, sizeof length);
      g_byte_array_append (file, (const guint8 *) padded, (guint) n);
      g_byte_array_append (file, (const guint8 *) "\0\0\200\77", 4);
      list = load_bytes (file->data, file->len, &error);
      g_assert_no_error (error);
      check (list, "x", "tensor([1.])");
    }
}

/* An array of 80 MiB is as long a text in protocol 2. */
static void
test_large (void)
{
  const guint32 n = 80 << 20, n_elements = n / 4;
  g_autoptr (GString) pickle = g_string_sized_new (n + 200);
  g_autoptr (AdjTensorList) list = NULL;
  g_autoptr (GError) error = NULL;
  gsize filled;

  g_string_append_len (pickle, HEAD "}U\1xcnumpy.core.numeric\n_frombuffer\n(c_codecs\nencode\nX",
                       sizeof HEAD "}U\1xcnumpy.core.numeric\n_frombuffer\n(c_codecs\nencode\nX" -
                           1);
  g_string_append_len (pickle, (const char *) &n, 4);
  filled = pickle->len;
  g_string_set_size (pickle, filled + n);
  memset (pickle->str + filled, 1, n);
  g_string_append_len (pickle, "U\6latin1\206R" DTYPE "J", sizeof "U\6latin1\206R" DTYPE "J" - 1);
  g_string_append_len (pickle, (const char *) &n_elements, 4);
  g_string_append (pickle, "\205U\1CtRs.");
  list = load_bytes (pickle->str, pickle->len, &error);
  g_assert_no_error (error);
  g_assert_cmpint (adj_tensor_data_get_numel (adj_tensor_list_find (list, "x", NULL)), ==,
                   n_elements);
}

/* One key of a mebibyte over a hundred tensors. */
/* A key of 1 MiB over 100 entries, each @entry. */
static void
refuse_long_names (const char *entry, gsize n_entry)
{
  const guint32 n = 1 << 20;
  g_autofree char *key = g_strnfill (n, 'k');
  g_autoptr (GString) pickle = g_string_new_len (HEAD "}X", 4);
  g_autoptr (AdjTensorList) list = NULL;
  g_autoptr (GError) error = NULL;

  g_string_append_len (pickle, (const char *) &n, 4);
  g_string_append (pickle, key);
  g_string_append (pickle, "}(");
  for (guint i = 0; i < 100; i++)
    {
      g_string_append_printf (pickle, "U\2%02u", i);
      g_string_append_len (pickle, entry, (gssize) n_entry);
    }
  g_string_append (pickle, "us.");
  list = load_bytes (pickle->str, pickle->len, &error);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT);
  g_assert_true (
      g_str_has_suffix (error->message, "the names of its entries are more than 64 MiB"));
}

static void
test_long_names (void)
{
  static const char array[] = ARRAY ("C\4abcd", DTYPE, "U\1C");

  refuse_long_names (array, sizeof array - 1);
  refuse_long_names ("K\1", 2);
}

static void
test_says_what_is_there (void)
{
  static const char pickle[] = HEAD "(" ARRAY ("C\4abcd", DTYPE_OF ("U\1>"), "U\1C") "t.";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjTensorList) list = load_bytes (pickle, sizeof pickle - 1, &error);

  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_true (g_str_has_suffix (
      error->message, "a.bin: holds no tensor that is read; the first other thing in it "
                      "is 'numpy.core.numeric._frombuffer(...)'"));
}

static void
test_protocol_0 (void)
{
  static const char pickle[] = "(dp0\nVx\np1\nI1\ns.";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjTensorList) list = load_bytes (pickle, sizeof pickle - 1, &error);

  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_true (g_str_has_suffix (error->message, "a.bin: not a file of tensors: expected "
                                                   "safetensors, an archive of torch.save, or a "
                                                   "pickle of protocol 2 to 5"));
}

static void
test_conjugate (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "pickles", "conjugate.pkl", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjTensorList) list = adj_tensor_list_load (path, &error);

  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_nonnull (strstr (error->message, "conjugates or negates when it is read"));
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
  g_test_add_func ("/formats/plain-pickles/shared-bytes", test_shared_bytes);
  g_test_add_func ("/formats/plain-pickles/shared-stream", test_shared_stream);
  g_test_add_func ("/formats/plain-pickles/named-only", test_named_only);
  g_test_add_func ("/formats/plain-pickles/safetensors", test_safetensors);
  g_test_add_func ("/formats/plain-pickles/large", test_large);
  g_test_add_func ("/formats/plain-pickles/long-names", test_long_names);
  g_test_add_func ("/formats/plain-pickles/says-what-is-there", test_says_what_is_there);
  g_test_add_func ("/formats/plain-pickles/protocol-0", test_protocol_0);
  g_test_add_func ("/formats/plain-pickles/conjugate", test_conjugate);
  return g_test_run ();
}
