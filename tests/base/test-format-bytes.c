/* SPDX-License-Identifier: MIT */
/* Byte counts as text. */

#include "base/adj-format-bytes.h"

static void
rounds_to_what_is_read (void)
{
  static const struct
  {
    guint64 bytes;
    const char *text;
  } cases[] = {
    { 0, "0 B" },
    { 1, "1 B" },
    { 1023, "1023 B" },
    { 1024, "1 KiB" },
    { 1536, "1.5 KiB" },
    { 100 * 1024 + 512, "100 KiB" },
    { (guint64) 5 << 40, "5 TiB" },
    { G_MAXUINT64, "16 EiB" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = adj_format_bytes (cases[i].bytes);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/format-bytes/rounds-to-what-is-read", rounds_to_what_is_read);
  return g_test_run ();
}
