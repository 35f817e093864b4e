/* SPDX-License-Identifier: MIT */
/* Computes one node alone, from given inputs. */

#include "exec/feed-private.h"

AdjValue
operation_compute (const Operation *operation, NodeRounding *rounding)
{
  Feed feed = { .operation = operation, .kind = FEED_AS_IT_IS };

  return feed_compute (&feed, rounding);
}

AdjValue
operation_repeat (const Operation *operation)
{
  Feed feed = { .operation = operation, .kind = FEED_AS_IT_CAME };
  NodeRounding rounding;

  return feed_compute (&feed, &rounding);
}
