/* SPDX-License-Identifier: MIT */
/* Objects in pickles: of TorchScript's classes, whose state is lost alone if it cannot be read, and
 * of Python's, which may have attributes and items. */

#include "base/adj-file-part-internal.h"
#include "call/adj-object.h"
#include "formats/pt2-private.h"
#include "formats/torch-save-private.h"
#include "ir/adj-opaque.h"
#include "objects/adj-object-text.h"
#include "support/adj-test.h"
#include "support/zip-bytes.h"

#define BYTES(text) g_bytes_new_static (text, sizeof text - 1)

/* A list of an object of ns.C, whose state follows, and 7. */
#define BEFORE "\200\2](c__torch__.ns\nC\n)\201q\0"
#define AFTER "bK\7e."
#define LISTS_10 "]]]]]]]]]]"
#define APPENDS_10 "aaaaaaaaaa"
#define LISTS_70 LISTS_10 LISTS_10 LISTS_10 LISTS_10 LISTS_10 LISTS_10 LISTS_10
#define APPENDS_70 APPENDS_10 APPENDS_10 APPENDS_10 APPENDS_10 APPENDS_10 APPENDS_10 APPENDS_10

typedef struct
{
  const char *name;
  ZipPart parts[3];
  const char *why;
} Lost;

#define LOST(what, state, reason)                                                                  \
  {                                                                                                \
    .name = what,                                                                                  \
    .parts = { { "a/data.pkl", BEFORE state AFTER, sizeof BEFORE state AFTER - 1 } },              \
    .why = "x.pt: a/data.pkl: " reason                                                             \
  }

static const Lost losts[] = {
  LOST ("an object in itself", "h\0\205", "a value contains itself"),
  LOST ("a list in itself", "]q\1h\1a", "a value contains itself"),
  LOST ("deep lists", "]" LISTS_70 APPENDS_70, "values are nested too deeply"),
  LOST ("no tensor", "ctorch._utils\n_rebuild_tensor_v2\n)R", "a tensor whose sizes are none"),
};

static void
check_lost (const Lost *lost)
{
  g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (zip_bytes_new (lost->parts));
  g_autoptr (AdjFilePart) part = adj_file_part_new_for_bytes (bytes);
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autofree char *warning =
      g_strconcat (lost->why, "; of an object of '__torch__.ns.C' only the class is known", NULL);
  g_autofree char *message = g_strconcat (
      "__torch__.ns.C.__obj_flatten__: the state of this object is not known: ", lost->why, NULL);
  g_auto (AdjValue) value = ADJ_NONE;
  g_auto (AdjValue) state = ADJ_NONE;
  g_autoptr (GError) error = NULL;

  g_test_message ("%s", lost->name);
  torch_save_read (part, "x.pt", diags, &value, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (value.n, ==, 2);
  g_assert_cmpint (value.items[1].integer, ==, 7);
  g_assert_cmpstr (adj_opaque_get_type (value.items[0].object), ==, "__torch__.ns.C");
  g_assert_false (
      adj_object_flatten (adj_object_from_opaque (value.items[0].object), &state, &error));
  g_assert_cmpstr (error->message, ==, message);
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 1);
  g_assert_cmpint (adj_diags_get (diags, 0)->severity, ==, ADJ_SEVERITY_WARNING);
  g_assert_cmpstr (adj_diags_get (diags, 0)->message, ==, warning);
}

static void
a_state_that_cannot_be_read_is_lost_alone (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (losts); i++)
    check_lost (&losts[i]);
}

/* -- Python's classes -- */

static void
assert_object (GBytes *pickle, const char *expected)
{
  g_autoptr (GBytes) bytes = pickle;
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjOpaque) object = pt2_object_read (bytes, "opaque_obj_0", &error);
  g_autoptr (GString) text = g_string_new (NULL);

  g_assert_no_error (error);
  adj_object_print (adj_object_from_opaque (object), 12, text);
  g_assert_cmpstr (text->str, ==, expected);
}

/* What pickle.dumps (…, 2) gives of a list and of a dict with attributes. */
static void
attributes_and_items_are_both_shown (void)
{
#define ATTRIBUTE "}X\1\0\0\0aK\3s"
  assert_object (BYTES ("\200\2c__main__\nL\n)\201" ATTRIBUTE "b."), "__main__.L\n  a: 3\n");
  assert_object (BYTES ("\200\2c__main__\nL\n)\201(K\1K\2e" ATTRIBUTE "b."),
                 "__main__.L\n  a: 3\n  listitems: [1, 2]\n");
  assert_object (BYTES ("\200\2c__main__\nD\n)\201X\1\0\0\0kK\4s" ATTRIBUTE "b."),
                 "__main__.D\n  a: 3\n  dictitems: {'k': 4}\n");
  assert_object (BYTES ("\200\2c__main__\nB\n)\201K\1aX\1\0\0\0kK\4s" ATTRIBUTE "b."),
                 "__main__.B\n  a: 3\n  listitems: [1]\n  dictitems: {'k': 4}\n");
#undef ATTRIBUTE
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/pickled-objects/a-state-that-cannot-be-read-is-lost-alone",
                   a_state_that_cannot_be_read_is_lost_alone);
  g_test_add_func ("/formats/pickled-objects/attributes-and-items-are-both-shown",
                   attributes_and_items_are_both_shown);
  return g_test_run ();
}
