/* SPDX-License-Identifier: MIT */
/* Computes one node alone, from given inputs. */

#include "exec/replay-inputs-private.h"
#include "exec/verdict-private.h"

AdjValue
operation_compute (const Operation *operation, NodeRounding *rounding)
{
  Replay replay = { .operation = operation, .kind = REPLAY_AS_IT_IS };

  return replay_compute (&replay, rounding);
}

AdjValue
operation_repeat (const Operation *operation)
{
  Replay replay = { .operation = operation, .kind = REPLAY_AS_IT_CAME };
  NodeRounding rounding;

  return replay_compute (&replay, &rounding);
}

static AdjValue
repeat_on (const Operation *operation, const gboolean *unset, guint8 byte)
{
  Replay replay = {
    .operation = operation, .kind = REPLAY_AS_IT_CAME, .unset = unset, .byte = byte
  };
  NodeRounding rounding;

  return replay_compute (&replay, &rounding);
}

gboolean
operation_reads_unset (const Operation *operation, const gboolean *unset)
{
  g_auto (AdjValue) zeros = repeat_on (operation, unset, 0);
  g_auto (AdjValue) ones = repeat_on (operation, unset, 1);
  g_autoptr (GPtrArray) a = list_tensors (&zeros);
  g_autoptr (GPtrArray) b = list_tensors (&ones);

  if (a->len == 0 || a->len != b->len)
    return TRUE;
  for (guint i = 0; i < a->len; i++)
    if (nth_tensor (a, i) == NULL || nth_tensor (b, i) == NULL ||
        !deviation_is_none (nth_tensor (a, i), nth_tensor (b, i)))
      return TRUE;
  return FALSE;
}
