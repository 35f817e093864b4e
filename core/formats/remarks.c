/* SPDX-License-Identifier: MIT */
/* Remarks of a TRACE log on graph breaks and failures, for a region and for a log that holds no
 * graph. */

#include "formats/remarks-private.h"

#define MAX_REMARKS 1000
#define MAX_REASONS 5 /* in one message */

typedef void (*Tell) (const char *text, gpointer data);

static char *
describe_break (const JsonItem *item)
{
  const char *frame = json_get_text (item, "frame");
  const char *what = json_get_text (item, "what"), *why = json_get_text (item, "why");

  if (what == NULL || why == NULL)
    return NULL;
  return g_strdup_printf ("%s%s%s: %s", frame != NULL ? frame : "", frame != NULL ? ": " : "", what,
                          why);
}

static const JsonItem *
get_array (const JsonItem *manifest, const char *key)
{
  static const JsonItem empty = { .kind = JSON_ARRAY };
  const JsonItem *list = json_get (manifest, key);

  return list != NULL && list->kind == JSON_ARRAY ? list : &empty;
}

static void
each_break (const JsonItem *manifest, Tell tell, gpointer data)
{
  const JsonItem *breaks = get_array (manifest, "breaks");

  for (guint i = 0; i < MIN (breaks->n, MAX_REMARKS); i++)
    {
      g_autofree char *text = describe_break (&breaks->items[i]);

      if (text != NULL)
        tell (text, data);
    }
}

static void
add_note (const char *text, gpointer diags)
{
  adj_diags_add (diags, ADJ_SEVERITY_NOTE, (AdjSpan){ 0 }, "%s", text);
}

void
remarks_read (const JsonItem *manifest, AdjDiags *diags)
{
  const JsonItem *notes = get_array (manifest, "notes");

  each_break (manifest, add_note, diags);
  for (guint i = 0; i < MIN (notes->n, MAX_REMARKS); i++)
    if (notes->items[i].kind == JSON_STRING)
      add_note (notes->items[i].text, diags);
}

typedef struct
{
  GString *text;
  guint n;
} Reasons;

static void
add_reason (const char *text, gpointer data)
{
  Reasons *reasons = data;

  if (reasons->n++ < MAX_REASONS)
    g_string_append_printf (reasons->text, "%s%s", reasons->n > 1 ? "; " : ": ", text);
}

char *
remarks_why_empty (const JsonItem *manifest)
{
  Reasons reasons = { NULL, 0 };

  if (json_get_int (manifest, "frames", -1) == 0)
    return g_strdup ("nothing that torch.compile made was called for the first time while it was "
                     "recorded");
  if (json_get (manifest, "breaks") == NULL)
    return NULL;
  reasons.text = g_string_new ("nothing was compiled");
  each_break (manifest, add_reason, &reasons);
  if (reasons.n > MAX_REASONS)
    g_string_append_printf (reasons.text, "; and %u more", reasons.n - MAX_REASONS);
  return g_string_free (reasons.text, FALSE);
}
