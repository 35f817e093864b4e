/* SPDX-License-Identifier: MIT */
/* Shapes: strides, views and memory formats as in PyTorch. */

#include <string.h>

#include "tensor/adj-shape-internal.h"
#include "tensor/adj-shape.h"
#include "tensor/table.h"

static guint
parse_ints (const char *text, AdjSize *out)
{
  g_auto (GStrv) words = NULL;
  guint n;

  if (strcmp (text, "-") == 0)
    return 0;
  words = g_strsplit (text, ",", -1);
  for (n = 0; words[n] != NULL; n++)
    out[n] = ADJ_SIZE (g_ascii_strtoll (words[n], NULL, 10));
  return n;
}

/* Parses "2,3/3,1": sizes and strides. */
static AdjShape
parse_shape (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "/", 2);
  AdjShape shape = { 0 };

  shape.rank = parse_ints (parts[0], shape.size);
  g_assert_cmpuint (parse_ints (parts[1], shape.stride), ==, shape.rank);
  return shape;
}

static void
append_ints (GString *out, const AdjSize *sizes, guint n)
{
  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", sizes[i].word);
  if (n == 0)
    g_string_append_c (out, '-');
}

static void
assert_shape (const AdjShape *shape, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  append_ints (text, shape->size, shape->rank);
  g_string_append_c (text, '/');
  append_ints (text, shape->stride, shape->rank);
  g_assert_cmpstr (text->str, ==, expected);
}

/* -- Against PyTorch ----------------------------------------------------------------------- */

static void
check_pointwise (char **words, guint n, const char *line)
{
  AdjShape operands[8];
  const AdjShape *pointers[8];
  AdjShape out;
  guint n_operands = n - 2;

  g_test_message ("%s", line);
  for (guint i = 0; i < n_operands; i++)
    {
      operands[i] = parse_shape (words[i]);
      pointers[i] = &operands[i];
    }
  g_assert_true (adj_shape_pointwise (&out, NULL, pointers, n_operands, NULL));
  assert_shape (&out, words[n - 1]);
}

static void
test_pointwise (void)
{
  table_read ("pointwise.txt", check_pointwise);
}

static void
check_view (char **words, guint n, const char *line)
{
  g_autoptr (GError) error = NULL;
  AdjShape operand = parse_shape (words[0]);
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = parse_ints (words[1], sizes);
  AdjShape out;
  gboolean fine = adj_shape_view (&operand, NULL, sizes, rank, &out, &error);

  g_test_message ("%s", line);
  if (strcmp (words[3], "error") == 0)
    {
      g_assert_false (fine);
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
      return;
    }
  g_assert_no_error (error);
  assert_shape (&out, words[3]);
}

static void
test_view (void)
{
  table_read ("view.txt", check_view);
}

static void
check_strides (const AdjShape *operand,
               AdjMemoryFormat format,
               const AdjShape *like,
               const char *expected)
{
  AdjShape copy;
  g_autoptr (GString) text = g_string_new (NULL);

  adj_shape_init (&copy, NULL, operand->rank, operand->size);
  g_assert_true (adj_shape_set_format (&copy, NULL, format, like));
  append_ints (text, copy.stride, copy.rank);
  g_assert_cmpstr (text->str, ==, expected);
}

static void
check_format (char **words, guint n, const char *line)
{
  AdjShape operand = parse_shape (words[0]);

  g_test_message ("%s", line);
  g_assert_cmpuint (n, ==, 8);
  g_assert_cmpint (adj_shape_is_contiguous (&operand, NULL), ==, words[2][0] == '1');
  g_assert_cmpint (adj_shape_is_channels_last (&operand, NULL), ==, words[3][0] == '1');
  g_assert_cmpint (adj_shape_is_dense (&operand, NULL), ==, words[4][0] == '1');
  g_assert_cmpint (adj_shape_suggest_format (&operand, NULL) != ADJ_MEMORY_FORMAT_CONTIGUOUS, ==,
                   strcmp (words[5], "channels_last") == 0);

  check_strides (&operand, ADJ_MEMORY_FORMAT_PRESERVE, &operand, words[6]);
  if (strcmp (words[7], "none") != 0)
    check_strides (&operand,
                   operand.rank == 4 ? ADJ_MEMORY_FORMAT_CHANNELS_LAST
                                     : ADJ_MEMORY_FORMAT_CHANNELS_LAST_3D,
                   NULL, words[7]);
}

static void
test_format (void)
{
  table_read ("format.txt", check_format);
}

/* -- The rest ------------------------------------------------------------------------------ */

static void
test_numbers (void)
{
  AdjShape shape = parse_shape ("2,3,4/1,2,10");
  AdjShape empty = parse_shape ("2,0,4/1,2,10");
  AdjShape huge = parse_shape ("4611686018427387904,4/4,1");

  g_assert_cmpint (adj_shape_numel (&shape, NULL).word, ==, 24);
  g_assert_cmpint (adj_shape_span (&shape, NULL).word, ==, 1 + 1 + 4 + 30);
  g_assert_cmpint (adj_shape_numel (&empty, NULL).word, ==, 0);
  g_assert_cmpint (adj_shape_span (&empty, NULL).word, ==, 0);
  g_assert_cmpint (adj_shape_numel (&huge, NULL).word, ==, G_MAXINT64);
}

static void
test_wrap_dim (void)
{
  AdjShape shape = parse_shape ("2,3/3,1");
  AdjShape scalar = parse_shape ("-/-");

  g_assert_cmpint (adj_shape_wrap_dim (&shape, -1), ==, 1);
  g_assert_cmpint (adj_shape_wrap_dim (&shape, 1), ==, 1);
  g_assert_cmpint (adj_shape_wrap_dim (&shape, 2), ==, -1);
  g_assert_cmpint (adj_shape_wrap_dim (&shape, -3), ==, -1);
  g_assert_cmpint (adj_shape_wrap_dim (&scalar, -1), ==, 0);
  g_assert_cmpint (adj_shape_wrap_dim (&scalar, 1), ==, -1);
}

static void
test_broadcast_names_shapes (void)
{
  g_autoptr (GError) error = NULL;
  AdjShape a = parse_shape ("2,3/3,1");
  AdjShape b = parse_shape ("4/1");
  const AdjShape *operands[] = { &a, &b };
  AdjShape out = parse_shape ("7/1");

  g_assert_false (adj_shape_pointwise (&out, NULL, operands, 2, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "[2, 3]"));
  g_assert_nonnull (strstr (error->message, "[4]"));
  assert_shape (&out, "7/1");
}

static void
test_expand (void)
{
  AdjShape shape = parse_shape ("3,1/1,3");
  AdjShape to = parse_shape ("2,3,4/12,4,1");
  AdjShape wrong = parse_shape ("2,4,4/16,4,1");
  AdjShape out;

  g_assert_true (adj_shape_expand (&shape, NULL, &to, &out));
  assert_shape (&out, "2,3,4/0,1,0");
  g_assert_false (adj_shape_expand (&shape, NULL, &wrong, &out));
  g_assert_false (adj_shape_expand (&to, NULL, &shape, &out));
}

/* The sizes that tracing writes for a product of two symbolic sizes, and views back. */
static void
test_symbolic (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  AdjTensorMeta meta;
  AdjTensorMeta expected;
  AdjShape flat;
  AdjSize sizes[2];

  g_assert_true (
      adj_tensor_meta_parse ("f32[s0, s1, s2][s1*s2, s2, 1]cpu", -1, symbols, &meta, &error));
  g_assert_true (adj_shape_is_contiguous (&meta.shape, symbols));
  g_assert_true (adj_size_parse (symbols, "s0*s1", -1, &sizes[0], &error));
  sizes[1] = meta.shape.size[2];
  g_assert_true (adj_shape_view (&meta.shape, symbols, sizes, 2, &flat, &error));
  g_assert_no_error (error);

  g_assert_true (
      adj_tensor_meta_parse ("f32[s0*s1, s2][s2, 1]cpu", -1, symbols, &expected, &error));
  g_assert_true (adj_size_same (flat.size[0], expected.shape.size[0]));
  g_assert_true (adj_size_same (flat.stride[0], expected.shape.stride[0]));
  g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, 0);

  sizes[1] = ADJ_SIZE (-1);
  g_assert_true (adj_shape_view (&meta.shape, symbols, sizes, 2, &flat, &error));
  adj_size_print (symbols, flat.size[1], text);
  g_assert_cmpstr (text->str, ==, "s2");
}

/* Unbacked sizes: nothing may be assumed about their values. */
static void
test_unbacked (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  g_autoptr (GError) error = NULL;
  AdjTensorMeta a;
  AdjTensorMeta b;
  AdjShape out;
  AdjSize sizes[2] = { ADJ_SIZE (4), ADJ_SIZE (2) };
  const AdjShape *operands[] = { &a.shape, &b.shape };

  g_assert_true (adj_tensor_meta_parse ("f32[u0, 8][8, 1]", -1, symbols, &a, &error));
  g_assert_true (adj_tensor_meta_parse ("f32[u0, 1][1, 1]", -1, symbols, &b, &error));
  g_assert_true (adj_shape_pointwise (&out, symbols, operands, 2, &error));
  g_assert_true (adj_size_same (out.size[0], a.shape.size[0]));
  g_assert_cmpint (out.size[1].word, ==, 8);

  g_assert_true (adj_tensor_meta_parse ("f32[8][1]", -1, symbols, &b, &error));
  g_assert_true (adj_shape_view (&b.shape, symbols, sizes, 2, &out, &error));
  sizes[0] = a.shape.size[0];
  sizes[1] = ADJ_SIZE (8);
  g_assert_true (adj_shape_view (&a.shape, symbols, sizes, 2, &out, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, 0);
}

/* -- Overlap ------------------------------------------------------------------------------- */

/* s0 is 4. */
static const struct
{
  const char *a, *b, *b_offset; /* @a begins at 0 */
  gboolean overlap;
  const char *guards;
} overlaps[] = {
  { "f32[4][1]", "f32[4][1]", "4", FALSE, "" },
  { "f32[4][1]", "f32[4][1]", "3", TRUE, "" },
  { "f32[0][1]", "f32[4][1]", "0", FALSE, "" },
  { "f32[3, 2][4, 1]", "f32[3, 2][4, 1]", "2", FALSE, "" },
  { "f32[3, 2][4, 1]", "f32[3, 2][4, 1]", "1", TRUE, "" },
  { "f32[3, 2][4, 1]", "f32[3, 3][4, 1]", "2", TRUE, "" },
  { "f32[3, 2][0, 1]", "f32[3, 2][0, 1]", "0", TRUE, "" },
  { "f32[s0][1]", "f32[2][1]", "5", FALSE, "s0 <= 5; " },
  { "f32[s0][1]", "f32[2][1]", "3", TRUE, "" },
  { "f32[s0][1]", "f32[s0][1]", "s0", FALSE, "" },
  { "f32[u0][1]", "f32[2][1]", "5", TRUE, "" },
  { "f32[3, s0][8, 1]", "f32[3, 2][8, 1]", "5", FALSE, "s0 <= 5; " },
  { "f32[3, s0][8, 1]", "f32[3, 2][8, 1]", "3", TRUE, "" },
  { "f32[3, s0][8, 1]", "f32[3, 5][8, 1]", "6", TRUE, "" },
};

static void
test_overlap (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (overlaps); i++)
    {
      g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
      g_autoptr (GString) guards = g_string_new (NULL);
      g_autoptr (GError) error = NULL;
      AdjTensorMeta a, b;
      AdjSize s0 = adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, 4, NULL);

      adj_symbols_add_unbacked (symbols, 0, 8, NULL);
      g_assert_false (adj_size_is_int (s0));
      g_assert_true (adj_tensor_meta_parse (overlaps[i].a, -1, symbols, &a, &error));
      g_assert_true (adj_tensor_meta_parse (overlaps[i].b, -1, symbols, &b, &error));
      g_assert_true (adj_size_parse (symbols, overlaps[i].b_offset, -1, &b.shape.offset, &error));
      g_assert_cmpint (adj_shapes_may_overlap (&a.shape, &b.shape, symbols), ==,
                       overlaps[i].overlap);
      g_assert_cmpint (adj_shapes_may_overlap (&b.shape, &a.shape, symbols), ==,
                       overlaps[i].overlap);
      for (guint k = 0; k < adj_symbols_get_n_guards (symbols); k++)
        {
          adj_size_print (symbols, adj_symbols_get_guard (symbols, k).condition, guards);
          g_string_append (guards, adj_symbols_get_guard (symbols, k).holds ? "; " : " not; ");
        }
      g_assert_cmpstr (guards->str, ==, overlaps[i].guards);
    }
}

/* -- Annotations --------------------------------------------------------------------------- */

static void
check_annotation (char **words, guint n, const char *line)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) printed = g_string_new (NULL);
  AdjTensorMeta meta;

  adj_tensor_meta_parse (line, -1, symbols, &meta, &error);
  g_assert_no_error (error);
  adj_tensor_meta_print (&meta, symbols, printed);
  g_assert_cmpstr (printed->str, ==, line);
}

static void
test_annotations (void)
{
  table_read ("annotations.txt", check_annotation);
}

static void
test_annotation_parts (void)
{
  g_autoptr (GError) error = NULL;
  AdjTensorMeta meta;

  g_assert_true (adj_tensor_meta_parse ("bf16[2, 3][1, 2]cuda:1", -1, NULL, &meta, &error));
  g_assert_cmpint (meta.dtype, ==, ADJ_DTYPE_BF16);
  g_assert_true (meta.has_strides);
  assert_shape (&meta.shape, "2,3/1,2");
  g_assert_cmpint (meta.device.type, ==, ADJ_DEVICE_CUDA);
  g_assert_cmpint (meta.device.index, ==, 1);
  g_assert_cmpuint (adj_tensor_meta_bytes (&meta, NULL), ==, 12);

  g_assert_true (adj_tensor_meta_parse ("i64[2, 3]", -1, NULL, &meta, &error));
  g_assert_false (meta.has_strides);
  assert_shape (&meta.shape, "2,3/3,1");
  g_assert_true (adj_device_equal (meta.device, ADJ_DEVICE_NONE));
}

static void
test_bad_annotations (void)
{
  static const char *const bad[] = {
    "",
    "f32",
    "f33[2]",
    "f32[2",
    "f32[2][1",
    "f32[2, 3][1]",
    "f32[2]gpu",
    "f32[2][1]cp",
    "f32[,]",
    "f32[2,,3]",
    "f32[s0 +]",
    "f32[(2]",
    "f32[2] cpu",
    "[2]",
    "f32[2][1][1]",
    "f32[\x80\xff]",
    "f32[99999999999999999999]j",
    "f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
      g_autoptr (GError) error = NULL;
      AdjTensorMeta meta;

      g_assert_false (adj_tensor_meta_parse (bad[i], -1, symbols, &meta, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tensor/shape/pointwise-as-pytorch", test_pointwise);
  g_test_add_func ("/tensor/shape/view-as-pytorch", test_view);
  g_test_add_func ("/tensor/shape/format-as-pytorch", test_format);
  g_test_add_func ("/tensor/shape/numbers", test_numbers);
  g_test_add_func ("/tensor/shape/wrap-dim", test_wrap_dim);
  g_test_add_func ("/tensor/shape/broadcast-names-shapes", test_broadcast_names_shapes);
  g_test_add_func ("/tensor/shape/expand", test_expand);
  g_test_add_func ("/tensor/shape/symbolic", test_symbolic);
  g_test_add_func ("/tensor/shape/unbacked", test_unbacked);
  g_test_add_func ("/tensor/shape/overlap", test_overlap);
  g_test_add_func ("/tensor/meta/annotations-of-pytorch", test_annotations);
  g_test_add_func ("/tensor/meta/parts", test_annotation_parts);
  g_test_add_func ("/tensor/meta/refuses-malformed", test_bad_annotations);
  return g_test_run ();
}
