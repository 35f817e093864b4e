/* SPDX-License-Identifier: MIT */
/* Fuzzes pickles, read as data together with a storage for the tensors they refer to. */

#include "formats/pickle-private.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  const PickleItem *item = pickle_read (arena, data, size, "fuzz", NULL);

  if (item != NULL)
    pickle_get_int (item, "x", 0);
  return 0;
}
