/* SPDX-License-Identifier: MIT */
/* The lexer, and Python's literals. */

#include <math.h>
#include <string.h>

#include "base/adj-lexer.h"

static const char kind_letters[] = "$nifjsp#~!"; /* in the order of AdjTokenKind */

/* "n:add p:( i:1 p:) $:" */
static char *
lex (const char *text, gsize length, gboolean keep_newlines)
{
  GString *out = g_string_new (NULL);
  AdjLexer lexer;
  AdjToken token;
  guint n = 0;

  adj_lexer_init (&lexer, text, length, 1);
  lexer.keep_newlines = keep_newlines;
  do
    {
      AdjToken ahead = adj_lexer_peek (&lexer);
      g_autofree char *value = NULL;

      token = adj_lexer_next (&lexer);
      g_assert_true (token.text == ahead.text && token.kind == ahead.kind);
      g_assert_true (token.text >= text && token.text + token.length <= text + length);
      g_assert_cmpuint (n++, <=, length);
      value = token.kind == ADJ_TOKEN_NEWLINE ? g_strdup ("") : adj_token_dup (&token);
      g_string_append_printf (out, "%s%c:%s", out->len > 0 ? " " : "", kind_letters[token.kind],
                              value);
    }
  while (token.kind != ADJ_TOKEN_END);
  return g_string_free (out, FALSE);
}

static void
assert_lexes (const char *text, const char *expected)
{
  g_autofree char *got = lex (text, strlen (text), FALSE);

  g_assert_cmpstr (got, ==, expected);
}

static void
test_kinds (void)
{
  assert_lexes ("", "$:");
  assert_lexes ("add_1 = x", "n:add_1 p:= n:x $:");
  assert_lexes ("1 1. .5 1.5 1e5 1e-05 1.e+3 2j 1.5j",
                "i:1 f:1. f:.5 f:1.5 f:1e5 f:1e-05 f:1.e+3 j:2j j:1.5j $:");
  assert_lexes ("1e", "i:1 n:e $:");
  assert_lexes ("2jx", "i:2 n:jx $:");
  assert_lexes ("a**b//c<<d", "n:a p:** n:b p:// n:c p:<< n:d $:");
  assert_lexes ("a<=b!=c->d**=e", "n:a p:<= n:b p:!= n:c p:-> n:d p:**= n:e $:");
  assert_lexes ("x[...]", "n:x p:[ p:... p:] $:");
  assert_lexes ("'a' \"b\" b'c' bb", "s:'a' s:\"b\" s:b'c' n:bb $:");
  assert_lexes ("'it\\'s' '\\\\'", "s:'it\\'s' s:'\\\\' $:");
  assert_lexes ("a # b\nc", "n:a n:c $:");
  assert_lexes ("a:b;c", "n:a p:: n:b p:; n:c $:");
}

static void
test_bad (void)
{
  assert_lexes ("'abc\nx", "!:'abc n:x $:");
  assert_lexes ("'abc\\", "!:'abc\\ $:");
  assert_lexes ("$", "!:$ $:");
  assert_lexes ("a “b”", "n:a !:“ n:b !:” $:");
  assert_lexes ("\xff\x80", "!:\xff\x80 $:");
}

static void
test_newlines (void)
{
  static const char text[] = "a # b\r\n\n  c";
  g_autofree char *got = lex (text, strlen (text), TRUE);

  g_assert_cmpstr (got, ==, "n:a #:# b ~: ~: n:c $:");
}

static void
test_spans (void)
{
  static const char text[] = "a\n  bc 'x\\\ny' d";
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, text, strlen (text), 10);
  token = adj_lexer_next (&lexer);
  g_assert_cmpuint (token.span.line, ==, 10);
  g_assert_cmpuint (token.span.column, ==, 1);
  token = adj_lexer_next (&lexer);
  g_assert_cmpuint (token.span.line, ==, 11);
  g_assert_cmpuint (token.span.column, ==, 3);
  g_assert_cmpuint (token.span.length, ==, 2);
  token = adj_lexer_next (&lexer);
  g_assert_cmpint (token.kind, ==, ADJ_TOKEN_STRING);
  token = adj_lexer_next (&lexer);
  g_assert_cmpuint (token.span.line, ==, 12);
  g_assert_cmpuint (token.span.column, ==, 4);
}

/* Arbitrary bytes: every token lies inside the text, and the lexer reaches the end. */
static void
test_any_bytes (void)
{
  static const char alphabet[] = "ab1.e+'\"\\#\n \r()*j\xc3\xa9\x00";

  for (guint round = 0; round < 3000; round++)
    {
      gsize length = (gsize) g_test_rand_int_range (0, 40);
      g_autofree char *text = g_malloc (length + 1);
      g_autofree char *got = NULL;

      for (gsize i = 0; i < length; i++)
        text[i] = round % 3 == 0 ? (char) g_test_rand_int_range (0, 256)
                                 : alphabet[g_test_rand_int_range (0, sizeof alphabet)];
      got = lex (text, length, round % 2);
      g_assert_true (g_str_has_suffix (got, "$:"));
    }
}

/* -- Literals ------------------------------------------------------------------------------ */

static char *
unquote (const char *text, GError **error)
{
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, text, strlen (text), 1);
  token = adj_lexer_next (&lexer);
  g_assert_cmpint (token.kind, ==, ADJ_TOKEN_STRING);
  return adj_token_unquote (&token, error);
}

/* The values are Python's. */
static void
test_unquote (void)
{
  static const char *const rows[][2] = {
    { "''", "" },
    { "'a\"b'", "a\"b" },
    { "'\\n\\t\\r\\\\\\'\\\"'", "\n\t\r\\'\"" },
    { "'\\x41\\101\\u00e9\\U0001F600'", "AAé😀" },
    { "'\\a\\b\\f\\v'", "\a\b\f\v" },
    { "'\\q\\8'", "\\q\\8" },
    { "'a\\\nb'", "ab" },
    { "b'\\x41\\u0041'", "A\\u0041" },
    { "b'\\xff'", "ÿ" },
    { "'é'", "é" },
    { "'\\1234'", "S4" },
  };
  static const char *const bad[] = { "'\\x4'",    "'\\u12'",       "'\\N{DASH}'", "'\\0'",
                                     "'\\ud800'", "'\\U00110000'", "'\xff'",      "'\\xg0'" };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *value = unquote (rows[i][0], &error);

      g_assert_no_error (error);
      g_assert_cmpstr (value, ==, rows[i][1]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (unquote (bad[i], &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
    }
}

/* repr() of Python. */
static void
test_print_string (void)
{
  static const char *const rows[][2] = {
    { "", "''" },
    { "abc", "'abc'" },
    { "it's", "\"it's\"" },
    { "\"", "'\"'" },
    { "'\"", "'\\'\"'" },
    { "a\\b", "'a\\\\b'" },
    { "\n\r\t", "'\\n\\r\\t'" },
    { "\x01\x7f", "'\\x01\\x7f'" },
    { "é😀", "'é😀'" },
    { "\u00a0\u200b", "'\\xa0\\u200b'" },
    { "\U000e0001", "'\\U000e0001'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GString) out = g_string_new (NULL);
      g_autofree char *back = NULL;

      adj_print_string (out, rows[i][0]);
      g_assert_cmpstr (out->str, ==, rows[i][1]);
      back = unquote (out->str, NULL);
      g_assert_cmpstr (back, ==, rows[i][0]);
    }
}

/* repr() of Python. */
static void
test_print_float (void)
{
  static const struct
  {
    double value;
    const char *text;
  } rows[] = {
    { 0.0, "0.0" },
    { -0.0, "-0.0" },
    { 1.0, "1.0" },
    { -2.5, "-2.5" },
    { 0.1, "0.1" },
    { 1.0 / 3, "0.3333333333333333" },
    { 100.0, "100.0" },
    { 123456.789, "123456.789" },
    { 1e-4, "0.0001" },
    { 1e-5, "1e-05" },
    { 1.5e-7, "1.5e-07" },
    { 1e15, "1000000000000000.0" },
    { 1e16, "1e+16" },
    { 1.25e17, "1.25e+17" },
    { 1e22, "1e+22" },
    { 1e100, "1e+100" },
    { 5e-324, "5e-324" },
    { 1.7976931348623157e308, "1.7976931348623157e+308" },
    { 9007199254740993.0, "9007199254740992.0" },
    { 0.30000000000000004, "0.30000000000000004" },
    { INFINITY, "inf" },
    { -INFINITY, "-inf" },
    { NAN, "nan" },
    { -NAN, "nan" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GString) out = g_string_new (NULL);

      adj_print_float (out, rows[i].value);
      g_assert_cmpstr (out->str, ==, rows[i].text);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/lexer/kinds", test_kinds);
  g_test_add_func ("/base/lexer/bad", test_bad);
  g_test_add_func ("/base/lexer/newlines", test_newlines);
  g_test_add_func ("/base/lexer/spans", test_spans);
  g_test_add_func ("/base/lexer/any-bytes", test_any_bytes);
  g_test_add_func ("/base/literal/unquote", test_unquote);
  g_test_add_func ("/base/literal/print-string", test_print_string);
  g_test_add_func ("/base/literal/print-float", test_print_float);
  return g_test_run ();
}
