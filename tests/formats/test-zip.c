/* SPDX-License-Identifier: MIT */
/* Zip archives from other programs, ZIP64, checksums, limits. */

#include <string.h>

#include <gio/gio.h>

#include "damage.h"
#include "formats/zip-private.h"
#include "support/adj-test.h"
#include "support/zip-bytes.h"

static GBytes *
read_data (const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "formats", "data", name, NULL);
  gsize length;
  char *data = adj_test_read_file (path, &length);

  return g_bytes_new_take (data, length);
}

static ZipArchive *
open_zip (GBytes *bytes, const char *name, GError **error)
{
  g_autoptr (AdjFilePart) part = adj_file_part_new_for_bytes (bytes);

  return zip_open (part, name, error);
}

static void
assert_entry (ZipArchive *archive, const char *name, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (GBytes) content = NULL;
  guint index;
  gsize length;
  const char *data;

  g_assert_true (zip_find (archive, name, &index));
  g_assert_cmpstr (zip_get_name (archive, index), ==, name);
  content = zip_read (archive, index, G_MAXUINT64, diags, &error);
  g_assert_no_error (error);
  data = g_bytes_get_data (content, &length);
  g_assert_cmpmem (data, length, expected, strlen (expected));
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 0);
}

static char *
repeat (const char *text, guint n)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append (out, text);
  return g_string_free (out, FALSE);
}

static void
test_reads_python (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = read_data ("python.zip");
  g_autoptr (ZipArchive) archive = open_zip (bytes, "python.zip", &error);
  g_autofree char *again = repeat ("again and again\n", 40);

  g_assert_no_error (error);
  g_assert_cmpuint (zip_get_n (archive), ==, 4);
  assert_entry (archive, "stored.txt", "stored as it is\n");
  assert_entry (archive, "folder/deflated.txt", again);
  assert_entry (archive, "large.txt", "sizes of 64 bits\n");
  assert_entry (archive, "empty", "");
}

static void
test_reads_info_zip (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = read_data ("infozip.zip");
  g_autoptr (ZipArchive) archive = open_zip (bytes, "infozip.zip", &error);
  g_autofree char *again = repeat ("again and again\n", 40);

  g_assert_no_error (error);
  g_assert_cmpuint (zip_get_n (archive), ==, 3);
  assert_entry (archive, "stored.txt", "stored as it is\n");
  assert_entry (archive, "folder/deflated.txt", again);
}

/* ZIP64 throughout: end record, locator, extra fields. */
static void
test_reads_zip64 (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = read_data ("stream.zip");
  g_autoptr (ZipArchive) archive = open_zip (bytes, "stream.zip", &error);

  g_assert_no_error (error);
  assert_entry (archive, "-", "from a pipe\n");
}

/* The check value of CRC-32 is that of "123456789". */
static void
test_checksum (void)
{
  g_assert_cmphex (zip_crc32 (0, (const guint8 *) "123456789", 9), ==, 0xcbf43926);
  g_assert_cmphex (zip_crc32 (0, NULL, 0), ==, 0);
}

/* -- archives made here -- */

static GByteArray *
make_archive (const char *first, const char *second)
{
  const ZipPart parts[] = { { first, "one one one", 11 }, { second, "two", 3 }, { NULL } };

  return zip_bytes_new (parts);
}

static void
set_disk (GByteArray *bytes)
{
  bytes->data[zip_bytes_at_end (bytes, 4)] = 1;
}

static void
set_entry_disk (GByteArray *bytes)
{
  bytes->data[zip_bytes_at_record (bytes, 0, 34)] = 1;
}

static void
set_count (GByteArray *bytes)
{
  bytes->data[zip_bytes_at_end (bytes, 8)] = bytes->data[zip_bytes_at_end (bytes, 10)] = 200;
}

static void
set_fewer (GByteArray *bytes)
{
  bytes->data[zip_bytes_at_end (bytes, 8)] = bytes->data[zip_bytes_at_end (bytes, 10)] = 1;
}

static void
set_directory (GByteArray *bytes)
{
  zip_bytes_put32 (bytes, zip_bytes_at_end (bytes, 16), 0x7fffffff);
}

static void
set_offset (GByteArray *bytes)
{
  zip_bytes_put32 (bytes, zip_bytes_at_record (bytes, 1, 42), 0x7fffffff);
}

static void
set_local (GByteArray *bytes)
{
  bytes->data[0] = 'Q';
}

static void
set_length (GByteArray *bytes)
{
  zip_bytes_put32 (bytes, zip_bytes_at_record (bytes, 1, 20), 0x10000);
  zip_bytes_put32 (bytes, zip_bytes_at_record (bytes, 1, 24), 0x10000);
}

static void
set_two_sizes (GByteArray *bytes)
{
  zip_bytes_put32 (bytes, zip_bytes_at_record (bytes, 1, 24), 2);
}

static void
set_extra64 (GByteArray *bytes)
{
  zip_bytes_put32 (bytes, zip_bytes_at_record (bytes, 1, 24), 0xffffffff);
}

static void
set_nul (GByteArray *bytes)
{
  bytes->data[zip_bytes_at_record (bytes, 0, ZIP_RECORD_NAME)] = 0;
}

typedef struct
{
  const char *name;
  const char *first, *second; /* names of entries */
  void (*damage) (GByteArray *bytes);
  const char *message;
} Damage;

static const Damage damages[] = {
  { "cut", "a", "b", zip_bytes_cut, "not a whole ZIP archive" },
  { "trailing-bytes", "a", "b", zip_bytes_extend, "not a whole ZIP archive" },
  { "disk", "a", "b", set_disk, "several disks" },
  { "entry-disk", "a", "b", set_entry_disk, "on another disk" },
  { "encrypted", "a", "b", zip_bytes_encrypt_first, "a: encrypted" },
  { "method", "a", "b", zip_bytes_change_method, "b: unknown compression 12" },
  { "count", "a", "b", set_count, "does not fit" },
  { "fewer", "a", "b", set_fewer, "goes on behind its last entry" },
  { "directory", "a", "b", set_directory, "does not fit" },
  { "offset", "a", "b", set_offset, "b: no entry where" },
  { "local-header", "a", "b", set_local, "a: no entry where" },
  { "length", "a", "b", set_length, "b: reaches beyond" },
  { "two-sizes", "a", "b", set_two_sizes, "b: stored, but of two sizes" },
  { "overlap", "a", "b", zip_bytes_overlap, "overlap" },
  { "extra", "a", "b", set_extra64, "b: damaged extra field" },
  { "name-nul", "a", "b", set_nul, "entry 0, '': the name is no UTF-8" },
  { "name-twice", "a", "a", NULL, "a: stands in the archive twice" },
  { "name-absolute", "/a", "b", NULL, "entry 0, '/a': the name is absolute" },
  { "name-parent", "x/../../a", "b", NULL, "entry 0, 'x/../../a': the name has a part" },
  { "name-dot", "./a", "b", NULL, "entry 0, './a': the name has a part" },
  { "name-empty-part", "x//a", "b", NULL, "the name has an empty part" },
  { "name-backslash", "x\\a", "b", NULL, "the name has a backslash" },
  { "name-drive", "c:a", "b", NULL, "the name is absolute" },
  { "name-not-utf8", "\xff", "b", NULL, "entry 0, '\\377': the name is no UTF-8" },
  { "name-empty", "", "b", NULL, "the name is empty" },
};

static void
test_rejects (gconstpointer data)
{
  const Damage *damage = data;
  g_autoptr (GError) error = NULL;
  GByteArray *array = make_archive (damage->first, damage->second);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (ZipArchive) archive = NULL;

  if (damage->damage != NULL)
    damage->damage (array);
  bytes = g_byte_array_free_to_bytes (array);
  archive = open_zip (bytes, "x.zip", &error);
  g_assert_null (archive);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_nonnull (strstr (error->message, damage->message));
  g_assert_true (g_str_has_prefix (error->message, "x.zip: "));
}

/* PyTorch can omit checksums, which gives only a warning. */
static void
test_warns_of_checksum (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  GByteArray *array = make_archive ("a", "b");
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) content = NULL;
  g_autoptr (ZipArchive) archive = NULL;

  zip_bytes_change_checksum (array);
  bytes = g_byte_array_free_to_bytes (array);
  archive = open_zip (bytes, "x.zip", &error);
  g_assert_no_error (error);
  content = zip_read (archive, 1, 100, diags, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (content), ==, 3);
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 1);
  g_assert_cmpint (adj_diags_get (diags, 0)->severity, ==, ADJ_SEVERITY_WARNING);
}

/* Data is aligned, so that mapped tensors can be used in place. */
static void
test_writes_aligned (void)
{
  GByteArray *array = make_archive ("adjoint.json", "graphs/some-graph.json");
  g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (array);
  g_autoptr (GError) error = NULL;
  g_autoptr (ZipArchive) archive = open_zip (bytes, "x.zip", &error);
  const char *base = g_bytes_get_data (bytes, NULL);

  g_assert_no_error (error);
  g_assert_cmpmem (base + 30, 12, "adjoint.json", 12);
  g_assert_cmpmem (base + 64, 11, "one one one", 11);
  for (guint i = 0; i < zip_get_n (archive); i++)
    {
      g_autoptr (GBytes) content = zip_read (archive, i, 100, NULL, &error);
      const char *data = g_bytes_get_data (content, NULL);

      g_assert_cmpint ((data - base) % 64, ==, 0);
    }
}

static void
test_limit (void)
{
  GByteArray *array = make_archive ("a", "b");
  g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (array);
  g_autoptr (GError) error = NULL;
  g_autoptr (ZipArchive) archive = open_zip (bytes, "x.zip", &error);
  g_autoptr (GBytes) content = NULL;

  g_assert_no_error (error);
  content = zip_read (archive, 0, 10, NULL, &error);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT);
  g_assert_null (content);
}

/* -- deflate -- */

static GBytes *
deflate (const char *text, gsize length)
{
  g_autoptr (GZlibCompressor) zlib = g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW, 9);
  g_autoptr (GInputStream) plain = g_memory_input_stream_new_from_data (text, length, NULL);
  g_autoptr (GInputStream) packed = g_converter_input_stream_new (plain, G_CONVERTER (zlib));
  g_autoptr (GByteArray) out = g_byte_array_new ();
  guint8 buffer[4096];
  gssize n;

  while ((n = g_input_stream_read (packed, buffer, sizeof buffer, NULL, NULL)) > 0)
    g_byte_array_append (out, buffer, n);
  g_assert_cmpint (n, ==, 0);
  return g_byte_array_free_to_bytes (g_steal_pointer (&out));
}

/* Makes an archive of one entry "a", declared as deflated with @size unpacked bytes. */
static GBytes *
make_deflated (const void *packed, gsize length, guint size)
{
  const ZipPart parts[] = { { "a", packed, length }, { NULL } };
  GByteArray *array = zip_bytes_new (parts);

  array->data[zip_bytes_at_record (array, 0, 10)] = 8;
  zip_bytes_put32 (array, zip_bytes_at_record (array, 0, 24), size);
  return g_byte_array_free_to_bytes (array);
}

static void
assert_unpack_error (gsize length, guint size, AdjError code, const char *message)
{
  g_autofree char *text = repeat ("0123456789abcdef", length / 16);
  g_autoptr (GBytes) packed = deflate (text, length);
  g_autoptr (GBytes) bytes =
      make_deflated (g_bytes_get_data (packed, NULL), g_bytes_get_size (packed), size);
  g_autoptr (GError) error = NULL;
  g_autoptr (ZipArchive) archive = open_zip (bytes, "x.zip", &error);
  g_autoptr (GBytes) content = NULL;

  g_assert_no_error (error);
  content = zip_read (archive, 0, G_MAXUINT64, NULL, &error);
  g_assert_null (content);
  g_assert_error (error, ADJ_ERROR, (gint) code);
  g_assert_nonnull (strstr (error->message, message));
}

static void
test_deflate_lies (void)
{
  assert_unpack_error (640, 639, ADJ_ERROR_PARSE, "a: damaged compressed data");
  assert_unpack_error (640, 641, ADJ_ERROR_PARSE, "a: unpacks to another size");
  assert_unpack_error (640, 0, ADJ_ERROR_PARSE, "a: damaged compressed data");
}

/* Data after the end of the compressed stream is refused, because no reader would see it. */
static void
test_deflate_trailing (void)
{
  g_autoptr (GBytes) packed = deflate ("hello", 5);
  gsize length = g_bytes_get_size (packed);
  g_autofree guint8 *longer = g_malloc0 (length + 1);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (ZipArchive) archive = NULL;

  memcpy (longer, g_bytes_get_data (packed, NULL), length);
  bytes = make_deflated (longer, length + 1, 5);
  archive = open_zip (bytes, "x.zip", &error);
  g_assert_no_error (error);
  g_assert_null (zip_read (archive, 0, 100, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
}

static void
test_deflate_bomb (void)
{
  assert_unpack_error (1 << 20, 1 << 20, ADJ_ERROR_LIMIT, "1048576 bytes packed into");
  assert_unpack_error (640, 0xfffffff0, ADJ_ERROR_LIMIT, "bytes packed into");
}

static void
read_damaged (GBytes *damaged, gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ZipArchive) archive = open_zip (damaged, "x.zip", &error);

  g_assert_true ((archive != NULL) == (error == NULL));
  for (guint i = 0; archive != NULL && i < zip_get_n (archive); i++)
    {
      g_autoptr (GError) reason = NULL;
      g_autoptr (GBytes) content = zip_read (archive, i, 1 << 20, NULL, &reason);

      g_assert_true ((content != NULL) == (reason == NULL));
    }
}

static void
test_damaged (gconstpointer name)
{
  g_autoptr (GBytes) bytes = read_data (name);

  damage_each (bytes, read_damaged, NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/zip/reads-python", test_reads_python);
  g_test_add_func ("/formats/zip/reads-info-zip", test_reads_info_zip);
  g_test_add_func ("/formats/zip/reads-zip64", test_reads_zip64);
  g_test_add_func ("/formats/zip/checksum", test_checksum);
  for (guint i = 0; i < G_N_ELEMENTS (damages); i++)
    {
      g_autofree char *path = g_strdup_printf ("/formats/zip/rejects/%s", damages[i].name);

      g_test_add_data_func (path, &damages[i], test_rejects);
    }
  g_test_add_func ("/formats/zip/warns-of-checksum", test_warns_of_checksum);
  g_test_add_func ("/formats/zip/writes-aligned", test_writes_aligned);
  g_test_add_func ("/formats/zip/limit", test_limit);
  g_test_add_func ("/formats/zip/deflate-lies", test_deflate_lies);
  g_test_add_func ("/formats/zip/deflate-trailing", test_deflate_trailing);
  g_test_add_func ("/formats/zip/deflate-bomb", test_deflate_bomb);
  g_test_add_data_func ("/formats/zip/damaged/python", "python.zip", test_damaged);
  g_test_add_data_func ("/formats/zip/damaged/zip64", "stream.zip", test_damaged);
  return g_test_run ();
}
