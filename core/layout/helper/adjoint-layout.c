/* SPDX-License-Identifier: MIT */

/* adjoint-layout: the only program that links Graphviz.
 *
 * Reads blocks from its input and writes their placements, each behind its length in four bytes,
 * until the input ends.  An answer of length 0 means that Graphviz failed.  Exit status 2: the
 * input is not what the library writes. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "graphviz.h"

#define MAX_MESSAGE (8u << 20)

/* Bytes read: @size, or fewer at the end of the input. */
static gsize
read_all (gpointer to, gsize size)
{
  gsize done = 0;

  while (done < size)
    {
      gssize n = read (STDIN_FILENO, (char *) to + done, size - done);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        break;
      done += (gsize) n;
    }
  return done;
}

static gboolean
write_all (gconstpointer from, gsize size)
{
  gsize done = 0;

  while (done < size)
    {
      gssize n = write (STDOUT_FILENO, (const char *) from + done, size - done);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      done += (gsize) n;
    }
  return TRUE;
}

static gboolean
answer (const AdjPlacement *placement)
{
  g_autoptr (GBytes) bytes = placement ? adj_placement_to_bytes (placement) : NULL;
  guint32 size = bytes ? (guint32) g_bytes_get_size (bytes) : 0;

  return write_all (&size, sizeof size) &&
         (size == 0 || write_all (g_bytes_get_data (bytes, NULL), size));
}

/* %FALSE: the input is malformed or the other end is gone. */
static gboolean
serve (GVC_t *context, guint32 size)
{
  g_autofree guint8 *message = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjBlockGraph) graph = NULL;
  g_autoptr (AdjPlacement) placement = NULL;

  if (size == 0 || size > MAX_MESSAGE)
    return FALSE;
  message = g_malloc (size);
  if (read_all (message, size) != size)
    return FALSE;
  bytes = g_bytes_new_take (g_steal_pointer (&message), size);
  graph = adj_block_graph_from_bytes (bytes);
  if (!graph)
    return FALSE;
  placement = dot_place (context, graph);
  return answer (placement);
}

int
main (void)
{
  GVC_t *context = gvContext ();
  guint32 size;
  gsize n;
  gboolean good = TRUE;

  agseterr (AGMAX);
  while (good && (n = read_all (&size, sizeof size)) > 0)
    good = n == sizeof size && serve (context, size);
  gvFreeContext (context);
  return good ? 0 : 2;
}
