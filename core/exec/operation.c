/* SPDX-License-Identifier: MIT */
/* Computes one node alone, from given inputs. */

#include "exec/replay-inputs-private.h"

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
