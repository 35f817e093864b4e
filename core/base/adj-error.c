/* SPDX-License-Identifier: MIT */
#include "base/adj-error.h"

typedef struct
{
  char *node; /* (nullable) */
  guint index;
  guint input;
  guint output;
} AdjErrorPrivate;

static void
adj_error_private_init (AdjErrorPrivate *blame)
{
  g_return_if_fail (blame != NULL);

  *blame = (AdjErrorPrivate){ .input = G_MAXUINT, .output = G_MAXUINT };
}

static void
adj_error_private_copy (const AdjErrorPrivate *from, AdjErrorPrivate *to)
{
  g_return_if_fail (from != NULL && to != NULL);

  *to = *from;
  to->node = g_strdup (from->node);
}

static void
adj_error_private_clear (AdjErrorPrivate *blame)
{
  g_return_if_fail (blame != NULL);

  g_free (blame->node);
}

/* GLib aligns what it puts before an error. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-align"
G_DEFINE_EXTENDED_ERROR (AdjError, adj_error)
#pragma GCC diagnostic pop

/* (nullable): of another domain */
static AdjErrorPrivate *
get_blame (const GError *error)
{
  return error != NULL && error->domain == ADJ_ERROR ? adj_error_get_private (error) : NULL;
}

void
adj_error_blame_node (GError *error, const char *name, guint index)
{
  AdjErrorPrivate *blame = get_blame (error);

  if (blame == NULL)
    return;
  g_free (blame->node);
  blame->node = g_strdup (name);
  blame->index = index;
}

void
adj_error_blame_input (GError *error, guint input)
{
  AdjErrorPrivate *blame = get_blame (error);

  if (blame != NULL)
    blame->input = input;
}

void
adj_error_blame_output (GError *error, guint output)
{
  AdjErrorPrivate *blame = get_blame (error);

  if (blame != NULL)
    blame->output = output;
}

const char *
adj_error_get_node (const GError *error, guint *index)
{
  const AdjErrorPrivate *blame = get_blame (error);

  if (blame == NULL || blame->node == NULL)
    return NULL;
  *index = blame->index;
  return blame->node;
}

guint
adj_error_get_input (const GError *error)
{
  const AdjErrorPrivate *blame = get_blame (error);

  return blame != NULL ? blame->input : G_MAXUINT;
}

guint
adj_error_get_output (const GError *error)
{
  const AdjErrorPrivate *blame = get_blame (error);

  return blame != NULL ? blame->output : G_MAXUINT;
}
