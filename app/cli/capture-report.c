/* SPDX-License-Identifier: MIT */
/* Captured backwards as text and as JSON: their parts, hooks and reasons for captures. */

#include "capture-report.h"

#include <stdio.h>

#include "json-members.h"
#include "stage-report.h"

static const AdjPipelineCapture *
get_capture (const AdjPipelineResult *result, guint index)
{
  return &g_array_index (result->captures, AdjPipelineCapture, index);
}

static guint
count_captures (const AdjPipelineResult *result)
{
  return result->captures != NULL ? result->captures->len : 0;
}

guint
adj_capture_report_count_others (const AdjPipelineResult *result)
{
  return count_captures (result) > 0 ? get_capture (result, 0)->first
                                     : adj_recording_get_n_stages (result->recording);
}

static gboolean
is_named (guint index, const char *id)
{
  g_autofree char *name = g_strdup_printf ("ca%u", index);

  return g_str_equal (name, id);
}

void
adj_capture_report_text (const AdjPipelineResult *result, const char *id, gboolean steps)
{
  for (guint i = 0; i < count_captures (result); i++)
    {
      const AdjPipelineCapture *capture = get_capture (result, i);

      if (id != NULL && !is_named (i, id))
        continue;
      printf ("%sca%u: %s\n", capture->first > 0 && id == NULL ? "\n" : "", i, capture->reason);
      adj_stage_report_text (result->recording, capture->first, capture->n, steps);
      printf ("ran %" G_GUINT64_FORMAT " %s\n", capture->n_runs,
              capture->n_runs == 1 ? "time" : "times");
    }
  if (count_captures (result) > 0)
    printf ("\nbackwards: %u captured, %" G_GUINT64_FORMAT " ran what had been captured, "
            "%" G_GUINT64_FORMAT " ran eagerly\n",
            count_captures (result), result->n_hits, result->n_fallbacks);
  if (result->fallback_reason != NULL)
    printf ("not captured: %s\n", result->fallback_reason);
}

void
adj_capture_report_json (const AdjPipelineResult *result, const char *id, JsonBuilder *builder)
{
  json_builder_set_member_name (builder, "captures");
  json_builder_begin_array (builder);
  for (guint i = 0; i < count_captures (result); i++)
    {
      const AdjPipelineCapture *capture = get_capture (result, i);
      g_autofree char *name = g_strdup_printf ("ca%u", i);

      if (id != NULL && !is_named (i, id))
        continue;
      json_builder_begin_object (builder);
      adj_json_add_string (builder, "id", name);
      adj_json_add_string (builder, "reason", capture->reason);
      adj_json_add_int (builder, "runs", capture->n_runs);
      adj_stage_report_json (result->recording, capture->first, capture->n, builder);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  adj_json_add_int (builder, "hits", result->n_hits);
  adj_json_add_int (builder, "fallbacks", result->n_fallbacks);
  adj_json_add_string (builder, "not_captured",
                       result->fallback_reason != NULL ? result->fallback_reason : "");
}

/* Always %FALSE. */
static gboolean
refuse (const AdjPipelineResult *result, const char *id, GError **error)
{
  const char *reason = result->fallback_reason;
  const guint n = count_captures (result);
  g_autofree char *why = NULL;

  if (n > 0)
    why = g_strdup_printf ("there are %u, ca0 %s", n, n > 1 ? "and on" : "alone");
  else if (reason != NULL)
    why = g_strdup_printf ("no backward was captured: %s", reason);
  else
    why = g_strdup ("no backward was captured, as --pipeline compiled-autograd does");
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "there is no capture '%s'; %s", id, why);
  return FALSE;
}

gboolean
adj_capture_report_find (
    const AdjPipelineResult *result, const char *id, guint *first, guint *n, GError **error)
{
  *first = 0;
  *n = adj_recording_get_n_stages (result->recording);
  if (id == NULL)
    return TRUE;
  for (guint i = 0; i < count_captures (result); i++)
    if (is_named (i, id))
      {
        *first = get_capture (result, i)->first;
        *n = get_capture (result, i)->n;
        return TRUE;
      }
  return refuse (result, id, error);
}
