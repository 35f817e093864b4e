/* SPDX-License-Identifier: MIT */
/* A list of diagnostics with their places in a text, and the GError that sums them up. */

#include "base/adj-diag.h"

#include <string.h>

#include "base/adj-diag-internal.h"
#include "base/adj-error-internal.h"

struct _AdjDiags
{
  GArray *kept;                         /* of AdjDiag */
  guint counts[ADJ_SEVERITY_ERROR + 1]; /* of all, kept or not */
};

static void
clear_diag (gpointer data)
{
  AdjDiag *diag = data;

  g_free (diag->message);
}

AdjDiags *
adj_diags_new (void)
{
  AdjDiags *diags = g_new0 (AdjDiags, 1);

  diags->kept = g_array_new (FALSE, FALSE, sizeof (AdjDiag));
  g_array_set_clear_func (diags->kept, clear_diag);
  return diags;
}

void
adj_diags_free (AdjDiags *diags)
{
  if (diags == NULL)
    return;

  g_array_unref (diags->kept);
  g_free (diags);
}

AdjDiags *
adj_diags_copy (const AdjDiags *diags)
{
  AdjDiags *copy = adj_diags_new ();

  g_array_append_vals (copy->kept, diags->kept->data, diags->kept->len);
  for (guint i = 0; i < copy->kept->len; i++)
    {
      AdjDiag *diag = &g_array_index (copy->kept, AdjDiag, i);

      diag->message = g_strdup (diag->message);
    }
  memcpy (copy->counts, diags->counts, sizeof copy->counts);
  return copy;
}

guint
adj_diags_get_n (const AdjDiags *diags)
{
  g_return_val_if_fail (diags != NULL, 0);

  return diags->kept->len;
}

const AdjDiag *
adj_diags_get (const AdjDiags *diags, guint index)
{
  g_return_val_if_fail (diags != NULL && index < diags->kept->len, NULL);

  return &g_array_index (diags->kept, AdjDiag, index);
}

guint
adj_diags_count (const AdjDiags *diags, AdjSeverity at_least)
{
  guint n = 0;

  g_return_val_if_fail (diags != NULL, 0);

  for (guint i = at_least; i <= ADJ_SEVERITY_ERROR; i++)
    n += diags->counts[i];
  return n;
}

void
adj_diags_add (AdjDiags *diags, AdjSeverity severity, AdjSpan span, const char *format, ...)
{
  AdjDiag diag = { .severity = severity, .span = span };
  gboolean first_error;
  va_list args;

  if (diags == NULL)
    return;

  first_error = severity == ADJ_SEVERITY_ERROR && diags->counts[severity] == 0;
  diags->counts[severity]++;
  if (diags->kept->len >= ADJ_DIAGS_MAX)
    {
      /* The first error is always kept, since adj_diags_to_error() reports it. */
      if (!first_error)
        return;
      g_array_set_size (diags->kept, ADJ_DIAGS_MAX - 1);
    }

  va_start (args, format);
  diag.message = g_strdup_vprintf (format, args);
  va_end (args);
  adj_message_make_line (diag.message);
  g_array_append_val (diags->kept, diag);
}

void
adj_diags_remove (AdjDiags *diags, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  if (diags == NULL)
    return;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  adj_message_make_line (message);
  for (guint i = diags->kept->len; i-- > 0;)
    {
      const AdjDiag *diag = &g_array_index (diags->kept, AdjDiag, i);

      if (diag->severity != ADJ_SEVERITY_WARNING || !g_str_equal (diag->message, message))
        continue;
      diags->counts[ADJ_SEVERITY_WARNING]--;
      g_array_remove_index (diags->kept, i);
    }
}

gboolean
adj_diags_to_error (const AdjDiags *diags, const char *file, GError **error)
{
  g_return_val_if_fail (diags != NULL, FALSE);

  if (file == NULL)
    file = "<text>";

  for (guint i = 0; i < diags->kept->len; i++)
    {
      const AdjDiag *diag = &g_array_index (diags->kept, AdjDiag, i);

      if (diag->severity != ADJ_SEVERITY_ERROR)
        continue;
      if (diag->span.line > 0)
        g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s:%u:%u: %s", file, diag->span.line,
                     diag->span.column, diag->message);
      else
        g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: %s", file, diag->message);
      return TRUE;
    }
  return FALSE;
}
