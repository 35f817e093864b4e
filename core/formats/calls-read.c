/* SPDX-License-Identifier: MIT */
/* Reads the recorded calls and kept runs of .adjoint: inputs, outputs, gradients and values of
 * nodes. */

#include "formats/adj-bundle-private.h"
#include "formats/backward-private.h"
#include "formats/calls-private.h"

static gboolean
read_values (const CallReader *reader,
             const JsonItem *call,
             const char *key,
             const AdjValue **out,
             guint *n,
             GError **error)
{
  const JsonItem *list = json_get (call, key);
  AdjValue value = { .kind = ADJ_VALUE_LIST };

  if (list != NULL && list->kind != JSON_ARRAY)
    {
      json_fail (reader->json, list, error, "\"%s\" must be an array", key);
      return FALSE;
    }
  if (list != NULL && !value_read (&reader->values, list, &value, error))
    return FALSE;
  *out = value.items;
  *n = value.n;
  return TRUE;
}

/* Reads a list that is parallel to another of length @n; it may be empty. */
static gboolean
read_aligned (const CallReader *reader,
              const JsonItem *call,
              const char *key,
              guint n,
              const AdjValue **out,
              GError **error)
{
  guint n_read;

  if (!read_values (reader, call, key, out, &n_read, error))
    return FALSE;
  if (n_read == 0 || n_read == n)
    return TRUE;
  json_fail (reader->json, json_get (call, key), error, "\"%s\" has %u values, not %u", key, n_read,
             n);
  return FALSE;
}

/* Members that are dicts: the states of generators, what surrounds a backward. */
static gboolean
read_dicts (const CallReader *reader,
            const JsonItem *item,
            AdjRecordedCall *call,
            AdjValue values[2],
            GError **error)
{
  const JsonItem *rng = json_get (item, "rng");
  const JsonItem *backward = json_get (item, "backward");
  ValueReader plain = reader->values;

  plain.plain = TRUE;
  if (rng != NULL && rng->kind == JSON_OBJECT)
    {
      if (!value_read (&plain, rng, &values[0], error))
        return FALSE;
      call->rng = &values[0];
    }
  if (backward != NULL && backward->kind != JSON_NULL)
    {
      if (!adjoint_read_backward (&plain, backward, &values[1], error))
        return FALSE;
      call->backward = &values[1];
    }
  return TRUE;
}

/* @origin: (nullable): makes it a run */
static gboolean
read_call (const CallReader *reader,
           const JsonItem *item,
           const AdjRunOrigin *origin,
           GError **error)
{
  const JsonItem *derived = json_get (item, "derived");
  const char *id = json_get_text (item, "graph");
  gint64 n = json_get_int (item, "n", 0);
  AdjRecordedCall call = { .derived = derived != NULL && derived->kind == JSON_TRUE,
                           .origin = origin };
  AdjValue dicts[2];

  if (id == NULL || n < 0 || n > G_MAXUINT)
    {
      json_fail (reader->json, item, error, "a call needs a graph and a number");
      return FALSE;
    }
  call.n = n;
  if (!read_values (reader, item, "inputs", &call.inputs, &call.n_inputs, error) ||
      !read_values (reader, item, "outputs", &call.outputs, &call.n_outputs, error) ||
      !read_aligned (reader, item, "gradients", call.n_inputs, &call.gradients, error) ||
      !read_aligned (reader, item, "tangents", call.n_outputs, &call.tangents, error) ||
      !read_dicts (reader, item, &call, dicts, error))
    return FALSE;
  if (adj_bundle_builder_add_call (reader->builder, &call, id, error))
    return TRUE;
  g_prefix_error (error, "%s:%u: ", reader->json->name, item->line);
  return FALSE;
}

static gboolean
read_taps (const CallReader *reader, const JsonItem *item, GError **error)
{
  return tensor_files_set_taps (reader->files, reader->builder, reader->json,
                                json_get (item, "taps"), error);
}

gboolean
call_read (const CallReader *reader, const JsonItem *item, GError **error)
{
  return read_call (reader, item, NULL, error) && read_taps (reader, item, error);
}

gboolean
weights_read (const CallReader *reader, const JsonItem *item, GError **error)
{
  const char *id = json_get_text (item, "graph");
  const AdjValue *inputs;
  guint n;

  if (id == NULL)
    {
      json_fail (reader->json, item, error, "weights need a graph");
      return FALSE;
    }
  if (!read_values (reader, item, "inputs", &inputs, &n, error))
    return FALSE;
  if (bundle_builder_add_weights (reader->builder, id, inputs, n, error))
    return TRUE;
  g_prefix_error (error, "%s:%u: ", reader->json->name, item->line);
  return FALSE;
}

/* (nullable): a text that fits into one line. */
static const char *
get_line (const JsonItem *run, const char *key)
{
  const char *text = json_get_text (run, key);

  return text != NULL && adj_run_name_is_valid (text) ? text : NULL;
}

static gboolean
read_run (const CallReader *reader, const JsonItem *item, GError **error)
{
  const JsonItem *run = json_get (item, "run");
  const JsonItem *float64 = run != NULL ? json_get (run, "float64") : NULL;
  AdjRunOrigin origin = { 0 };

  if (run == NULL || run->kind != JSON_OBJECT ||
      (origin.name = json_get_text (run, "name")) == NULL)
    {
      json_fail (reader->json, item, error, "a run needs a name");
      return FALSE;
    }
  if (!adj_run_name_is_valid (origin.name))
    {
      json_fail (reader->json, run, error, "the name of a run is a line of 1 to 100 bytes");
      return FALSE;
    }
  origin.producer = get_line (run, "producer");
  origin.executor = get_line (run, "executor");
  origin.inputs = get_line (run, "inputs");
  origin.date = get_line (run, "date");
  origin.graph = get_line (run, "graph");
  origin.float64 = float64 != NULL && float64->kind == JSON_TRUE;
  return read_call (reader, item, &origin, error);
}

void
run_read (const CallReader *reader, const JsonItem *item)
{
  const JsonItem *run = json_get (item, "run");
  const char *name = run != NULL ? json_get_text (run, "name") : NULL;
  g_autoptr (GError) error = NULL;

  if (!read_run (reader, item, &error))
    adj_diags_add (reader->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 },
                   "a run that was kept is left out: %s", error->message);
  else if (!read_taps (reader, item, &error))
    adj_diags_add (reader->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 },
                   "the run '%s' has lost its values: %s", name, error->message);
  else if (bundle_builder_last_is_stale (reader->builder))
    adj_diags_add (reader->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 },
                   "the run '%s' was made before graph '%s' was changed", name,
                   json_get_text (item, "graph"));
}
