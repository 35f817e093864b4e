/* SPDX-License-Identifier: MIT */
/* Immutable tensors: bounds, reading, conversion. */

#include <math.h>
#include <string.h>

#include "tensor/adj-tensor-data.h"
#include "tensor/table.h"

static AdjTensorMeta
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  AdjTensorMeta meta = { 0 };

  adj_tensor_meta_parse (text, -1, NULL, &meta, &error);
  g_assert_no_error (error);
  return meta;
}

static AdjTensorData *
new_data (const char *annotation, gconstpointer values, gsize n_bytes)
{
  g_autoptr (GBytes) bytes = g_bytes_new (values, n_bytes);
  g_autoptr (GError) error = NULL;
  AdjTensorMeta meta = parse (annotation);
  AdjTensorData *data = adj_tensor_data_new (&meta, bytes, &error);

  g_assert_no_error (error);
  return data;
}

/* -- Bounds -------------------------------------------------------------------------------- */

static const struct
{
  const char *annotation;
  gint64 offset;
  gsize n_bytes;
  gboolean fits;
} bounds[] = {
  { "f32[2, 3][3, 1]cpu", 0, 24, TRUE },
  { "f32[2, 3][3, 1]cpu", 0, 23, FALSE },
  { "f32[2, 3][3, 1]cpu", 1, 24, FALSE },
  { "f32[2, 3][3, 1]cpu", 1, 28, TRUE },
  { "f32[2, 3][1, 2]cpu", 0, 24, TRUE },
  { "f32[2, 3][4, 1]cpu", 0, 24, FALSE },
  { "f32[2, 3][0, 1]cpu", 0, 12, TRUE },
  { "f32[0, 3][3, 1]cpu", 0, 0, TRUE },
  { "f32[][]cpu", 0, 4, TRUE },
  { "f32[][]cpu", 0, 3, FALSE },
  { "f32[2][-1]cpu", 1, 8, FALSE },
  { "f32[-2][1]cpu", 0, 8, FALSE },
  { "f32[2][1]cpu", -1, 80, FALSE },
  { "u8[9223372036854775807][1]cpu", 0, 8, FALSE },
  { "u8[9223372036854775807][1]cpu", 9, 8, FALSE },
  { "f64[2][9223372036854775807]cpu", 0, 8, FALSE },
  { "f64[4294967296, 4294967296][0, 0]cpu", 0, 8, FALSE },
  { "f64[2147483648, 1024][0, 0]cpu", 0, 8, FALSE },
  { "f64[2][2305843009213693952]cpu", 0, 8, FALSE },
  { "f32[2][1]cpu", 9223372036854775807, 8, FALSE },
  { "f4e2m1fnx2[2][1]cpu", 0, 8, FALSE },
};

static void
test_bounds (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (bounds); i++)
    {
      g_autofree guint8 *zeros = g_malloc0 (bounds[i].n_bytes + 1);
      g_autoptr (GBytes) bytes = g_bytes_new (zeros, bounds[i].n_bytes);
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjTensorData) data = NULL;
      AdjTensorMeta meta = parse (bounds[i].annotation);

      meta.shape.offset = ADJ_SIZE (bounds[i].offset);
      data = adj_tensor_data_new (&meta, bytes, &error);
      g_test_message ("%s", bounds[i].annotation);
      g_assert_cmpint (data != NULL, ==, bounds[i].fits);
      g_assert_cmpint (error == NULL, ==, bounds[i].fits);
      if (error != NULL)
        g_assert_true (error->domain == ADJ_ERROR);
    }
}

static void
test_symbolic (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  g_autoptr (GBytes) bytes = g_bytes_new ("12345678", 8);
  g_autoptr (GError) error = NULL;
  AdjTensorMeta meta;

  g_assert_true (adj_tensor_meta_parse ("u8[s0]", -1, symbols, &meta, &error));
  g_assert_null (adj_tensor_data_new (&meta, bytes, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
}

/* -- Values -------------------------------------------------------------------------------- */

static void
test_reading (void)
{
  static const gint16 values[] = { 0, 1, 2, 3, 4, 5 };
  static const double expected[] = { 0, 2, 4, 1, 3, 5 };
  g_autoptr (AdjTensorData) data = new_data ("i16[2, 3][1, 2]cpu", values, sizeof values);
  g_autoptr (AdjTensorData) dense = adj_tensor_data_contiguous (data);
  g_autoptr (AdjTensorData) again = adj_tensor_data_contiguous (dense);
  double read[6];

  g_assert_cmpint (adj_tensor_data_get_numel (data), ==, 6);
  adj_tensor_data_read_doubles (data, read);
  for (guint i = 0; i < 6; i++)
    {
      g_assert_cmpfloat (read[i], ==, expected[i]);
      g_assert_cmpfloat (adj_tensor_data_get_double (data, i), ==, expected[i]);
      g_assert_cmpfloat (adj_tensor_data_get_double (dense, i), ==, expected[i]);
    }
  g_assert_true (adj_shape_is_contiguous (&adj_tensor_data_get_meta (dense)->shape, NULL));
  g_assert_true (again == dense);
  g_assert_true (dense != data);
}

/* "float64 0.1 bfloat16 -> cd3d" */
static void
check_conversion (char **words, guint n, const char *line)
{
  double value = g_ascii_strtod (words[1], NULL);
  float single = (float) value;
  gboolean narrow = strcmp (words[0], "float32") == 0;
  g_autoptr (AdjTensorData) data =
      new_data (narrow ? "f32[1][1]cpu" : "f64[1][1]cpu",
                narrow ? (gconstpointer) &single : (gconstpointer) &value,
                narrow ? sizeof single : sizeof value);
  g_autoptr (AdjTensorData) cast =
      adj_tensor_data_cast (data, adj_dtype_from_torch_name (words[2]));
  g_autoptr (GString) hex = g_string_new (NULL);
  gsize n_bytes;
  const guint8 *bytes = g_bytes_get_data (adj_tensor_data_get_bytes (cast), &n_bytes);

  for (gsize i = 0; i < n_bytes; i++)
    g_string_append_printf (hex, "%02x", bytes[i]);
  g_test_message ("%s", line);
  g_assert_cmpstr (hex->str, ==, words[4]);
}

static void
test_conversion (void)
{
  table_read ("convert.txt", check_conversion);
}

/* Widening is exact, so that every 8- and 16-bit float must come back. */
static void
check_round_trip (AdjDType dtype)
{
  const AdjDTypeInfo *info = adj_dtype_info (dtype);
  guint n = info->n_bytes == 1 ? 256 : 65536;
  g_autofree guint16 *patterns = g_new0 (guint16, n);
  g_autofree char *annotation = g_strdup_printf ("%s[%u][1]cpu", info->code, n);
  g_autoptr (AdjTensorData) data = NULL;
  g_autoptr (AdjTensorData) wide = NULL;
  g_autoptr (AdjTensorData) back = NULL;
  const guint8 *before;
  const guint8 *after;

  for (guint i = 0; i < n; i++)
    if (info->n_bytes == 1)
      ((guint8 *) patterns)[i] = (guint8) i;
    else
      patterns[i] = (guint16) i;
  data = new_data (annotation, patterns, (gsize) n * info->n_bytes);
  wide = adj_tensor_data_cast (data, ADJ_DTYPE_F64);
  back = adj_tensor_data_cast (wide, dtype);

  before = g_bytes_get_data (adj_tensor_data_get_bytes (data), NULL);
  after = g_bytes_get_data (adj_tensor_data_get_bytes (back), NULL);
  for (guint i = 0; i < n; i++)
    if (!isnan (adj_tensor_data_get_double (wide, i)))
      g_assert_cmpmem (before + (gsize) i * info->n_bytes, info->n_bytes,
                       after + (gsize) i * info->n_bytes, info->n_bytes);
    else
      g_assert_true (isnan (adj_tensor_data_get_double (back, i)));
}

static void
test_round_trip (void)
{
  static const AdjDType dtypes[] = {
    ADJ_DTYPE_F16,        ADJ_DTYPE_BF16,       ADJ_DTYPE_F8E4M3FN,  ADJ_DTYPE_F8E5M2,
    ADJ_DTYPE_F8E4M3FNUZ, ADJ_DTYPE_F8E5M2FNUZ, ADJ_DTYPE_F8E8M0FNU,
  };

  for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++)
    check_round_trip (dtypes[i]);
}

static void
test_integers_are_exact (void)
{
  static const gint64 values[] = { G_MAXINT64, G_MININT64, (G_GINT64_CONSTANT (1) << 53) + 1, -1,
                                   300 };
  g_autoptr (AdjTensorData) data = new_data ("i64[5][1]cpu", values, sizeof values);
  g_autoptr (AdjTensorData) u64 = adj_tensor_data_cast (data, ADJ_DTYPE_U64);
  g_autoptr (AdjTensorData) u8 = adj_tensor_data_cast (data, ADJ_DTYPE_U8);

  g_assert_cmpmem (g_bytes_get_data (adj_tensor_data_get_bytes (u64), NULL), sizeof values, values,
                   sizeof values);
  g_assert_cmpfloat (adj_tensor_data_get_double (u8, 3), ==, 255);
  g_assert_cmpfloat (adj_tensor_data_get_double (u8, 4), ==, 44);
}

/* -- Printing ------------------------------------------------------------------------------ */

static GBytes *
decode_hex (const char *hex)
{
  gsize n = strcmp (hex, "-") == 0 ? 0 : strlen (hex) / 2;
  guint8 *bytes = g_malloc (n + 1);

  for (gsize i = 0; i < n; i++)
    bytes[i] =
        (guint8) (g_ascii_xdigit_value (hex[2 * i]) * 16 + g_ascii_xdigit_value (hex[2 * i + 1]));
  return g_bytes_new_take (bytes, n);
}

static void
check_print (char **words, guint n, const char *line)
{
  g_autoptr (GString) annotation = g_string_new (NULL);
  g_autoptr (GBytes) bytes = decode_hex (words[3]);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjTensorData) data = NULL;
  g_autofree char *printed = NULL;
  g_auto (GStrv) lines = NULL;
  g_autofree char *joined = NULL;
  AdjTensorMeta meta;

  g_string_printf (annotation, "%s[%s]cpu",
                   adj_dtype_info (adj_dtype_from_torch_name (words[0]))->code,
                   strcmp (words[1], "-") == 0 ? "" : words[1]);
  meta = parse (annotation->str);
  data = adj_tensor_data_new (&meta, bytes, &error);
  g_assert_no_error (error);

  printed = adj_tensor_data_print (data, (guint) g_ascii_strtoull (words[2], NULL, 10));
  lines = g_strsplit (printed, "\n", -1);
  joined = g_strjoinv ("\\n", lines);
  g_assert_cmpstr (joined, ==, strstr (line, " => ") + 4);
}

static void
test_print (void)
{
  table_read ("prints.txt", check_print);
}

/* The same elements in other layouts, and whole storages in another dtype. */
static void
test_layouts (void)
{
  static const float values[] = { 0, 1, 2, 3, 4, 5 };
  static const float turned[] = { 0, 3, 1, 4, 2, 5 };
  g_autoptr (AdjTensorData) data = new_data ("f32[2, 3][3, 1]cpu", values, sizeof values);
  g_autoptr (AdjTensorData) columns = new_data ("f32[2, 3][1, 2]cpu", turned, sizeof turned);
  g_autoptr (AdjTensorData) spread = new_data ("f32[2, 3][0, 1]cpu", values, 3 * sizeof (float));
  g_autoptr (AdjTensorData) laid =
      adj_tensor_data_lay_out (data, &adj_tensor_data_get_meta (columns)->shape);
  g_autoptr (AdjTensorData) kept =
      adj_tensor_data_lay_out (data, &adj_tensor_data_get_meta (spread)->shape);
  g_autoptr (AdjTensorData) wide = adj_tensor_data_cast_storage (columns, ADJ_DTYPE_F64);
  gsize size;
  const void *bytes = g_bytes_get_data (adj_tensor_data_get_bytes (laid), &size);

  g_assert_cmpmem (bytes, size, turned, sizeof turned);
  g_assert_true (kept == data);
  g_assert_cmpint (adj_tensor_data_get_meta (wide)->shape.stride[1].word, ==, 2);
  for (gint64 i = 0; i < 6; i++)
    {
      g_assert_cmpfloat (adj_tensor_data_get_double (laid, i), ==, (double) i);
      g_assert_cmpfloat (adj_tensor_data_get_double (wide, i), ==, (double) i);
    }
}

/* Invalid sizes and dtypes of a C array are refused before its elements are read. */
static void
test_from_array (void)
{
  static const struct
  {
    AdjDType dtype;
    guint rank;
    gint64 sizes[2];
    const char *message; /* (nullable): %NULL: accepted */
  } rows[] = {
    { ADJ_DTYPE_I32, 2, { 2, 3 }, NULL },
    { ADJ_DTYPE_I32, 0, { 0 }, NULL },
    { ADJ_DTYPE_I32, 2, { 0, 5 }, NULL },
    { ADJ_DTYPE_I32, 2, { 2, -1 }, "*negative*" },
    { ADJ_DTYPE_I32, 2, { G_MAXINT64, 3 }, "*reaches outside*" },
    { ADJ_DTYPE_NONE, 1, { 1 }, "*no elements of whole bytes*" },
    { ADJ_DTYPE_I32, ADJ_MAX_RANK + 1, { 0 }, "*no elements of whole bytes*" },
  };
  const gint32 elements[] = { 1, 2, 3, 4, 5, 6 };
  const gint64 many[ADJ_MAX_RANK + 1] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      const gint64 *sizes = rows[i].rank > 2 ? many : rows[i].sizes;
      g_autoptr (AdjTensorData) data =
          adj_tensor_data_new_from_array (rows[i].dtype, sizes, rows[i].rank, elements, &error);

      if (rows[i].message != NULL)
        {
          g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
          if (!g_pattern_match_simple (rows[i].message, error->message))
            g_error ("row %u: %s", i, error->message);
          g_assert_null (data);
          continue;
        }
      g_assert_no_error (error);
      for (gint64 k = 0; k < adj_tensor_data_get_numel (data); k++)
        g_assert_cmpfloat (adj_tensor_data_get_double (data, k), ==, (double) elements[k]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tensor/tensor-data/bounds", test_bounds);
  g_test_add_func ("/tensor/tensor-data/refuses-symbolic", test_symbolic);
  g_test_add_func ("/tensor/tensor-data/reading", test_reading);
  g_test_add_func ("/tensor/tensor-data/converts-as-pytorch", test_conversion);
  g_test_add_func ("/tensor/tensor-data/round-trip", test_round_trip);
  g_test_add_func ("/tensor/tensor-data/integers-are-exact", test_integers_are_exact);
  g_test_add_func ("/tensor/tensor-data/prints-as-pytorch", test_print);
  g_test_add_func ("/tensor/tensor-data/layouts", test_layouts);
  g_test_add_func ("/tensor/tensor-data/from-array", test_from_array);

  return g_test_run ();
}
