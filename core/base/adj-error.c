/* SPDX-License-Identifier: MIT */
/* The error domain: the nodes, inputs or outputs that an error blames, and one-line messages. */

#include "base/adj-error.h"

#include "base/adj-error-internal.h"

typedef struct
{
  GArray *blames; /* of AdjBlame */
} AdjErrorPrivate;

static void
blame_clear (gpointer data)
{
  g_free (((AdjBlame *) data)->name);
}

static void
add (AdjErrorPrivate *self, AdjBlameKind kind, guint index, const char *name)
{
  AdjBlame blame = { kind, index, g_strdup (name) };

  g_array_append_val (self->blames, blame);
}

static void
adj_error_private_init (AdjErrorPrivate *self)
{
  g_return_if_fail (self != NULL);

  self->blames = g_array_new (FALSE, FALSE, sizeof (AdjBlame));
  g_array_set_clear_func (self->blames, blame_clear);
}

static void
adj_error_private_copy (const AdjErrorPrivate *from, AdjErrorPrivate *to)
{
  g_return_if_fail (from != NULL && to != NULL);

  for (guint i = 0; i < from->blames->len; i++)
    {
      const AdjBlame *blame = &g_array_index (from->blames, AdjBlame, i);

      add (to, blame->kind, blame->index, blame->name);
    }
}

static void
adj_error_private_clear (AdjErrorPrivate *self)
{
  g_return_if_fail (self != NULL);

  g_array_unref (self->blames);
}

/* The private data that GLib puts before an error is aligned. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-align"
G_DEFINE_EXTENDED_ERROR (AdjError, adj_error)
#pragma GCC diagnostic pop

/* (nullable): %NULL for other domains */
static AdjErrorPrivate *
get_private (const GError *error)
{
  return error != NULL && error->domain == ADJ_ERROR ? adj_error_get_private (error) : NULL;
}

static void
blame (GError *error, AdjBlameKind kind, guint index, const char *name)
{
  AdjErrorPrivate *self = get_private (error);

  if (self != NULL)
    add (self, kind, index, name);
}

void
adj_error_blame_node (GError *error, const char *name, guint index)
{
  blame (error, ADJ_BLAME_NODE, index, name);
}

void
adj_error_blame_input (GError *error, guint input)
{
  blame (error, ADJ_BLAME_INPUT, input, NULL);
}

void
adj_error_blame_output (GError *error, guint output)
{
  blame (error, ADJ_BLAME_OUTPUT, output, NULL);
}

const AdjBlame *
adj_error_get_blame (const GError *error, guint *n)
{
  const AdjErrorPrivate *self = get_private (error);

  *n = self != NULL ? self->blames->len : 0;
  return self != NULL ? (const AdjBlame *) (gconstpointer) self->blames->data : NULL;
}

void
adj_message_make_line (char *message)
{
  for (char *at = message; *at != '\0'; at++)
    {
      gboolean is_c1 = at[0] == '\xc2' && (guchar) at[1] >= 0x80 && (guchar) at[1] < 0xa0;

      if (g_ascii_iscntrl (*at))
        *at = ' ';
      else if (is_c1)
        at[0] = at[1] = ' ';
    }
}
