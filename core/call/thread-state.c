/* SPDX-License-Identifier: MIT */
/* State that PyTorch keeps per thread: grad mode and autocast. */

#include <string.h>

#include "call/context-private.h"

gboolean
adj_context_is_keeping (const AdjContext *cx)
{
  return cx->is_keeping;
}

gboolean
adj_context_set_keeping (AdjContext *cx, gboolean is_keeping)
{
  gboolean before = cx->is_keeping;

  cx->is_keeping = is_keeping;
  return before;
}

gboolean
adj_context_get_grad_enabled (const AdjContext *cx)
{
  return cx->grad_enabled;
}

gboolean
adj_context_set_grad_enabled (AdjContext *cx, gboolean enabled)
{
  gboolean before = cx->grad_enabled;

  cx->grad_enabled = enabled;
  return before;
}

AdjAutocast
adj_context_get_autocast (const AdjContext *cx, AdjDeviceType device)
{
  return cx->autocast[device];
}

AdjAutocast
adj_context_set_autocast (AdjContext *cx, AdjDeviceType device, AdjAutocast autocast)
{
  AdjAutocast before = cx->autocast[device];

  cx->autocast[device] = autocast;
  return before;
}

AdjThreadState
adj_context_get_thread_state (const AdjContext *cx)
{
  AdjThreadState thread_state = { .no_grad = !cx->grad_enabled };

  memcpy (thread_state.autocast, cx->autocast, sizeof thread_state.autocast);
  return thread_state;
}

void
adj_context_set_thread_state (AdjContext *cx, const AdjThreadState *thread_state)
{
  cx->grad_enabled = !thread_state->no_grad;
  memcpy (cx->autocast, thread_state->autocast, sizeof cx->autocast);
}

void
adj_context_add_thread_state (AdjContext *cx, const AdjThreadState *thread_state)
{
  cx->grad_enabled = cx->grad_enabled && !thread_state->no_grad;
  for (guint i = 0; i < ADJ_N_AUTOCAST; i++)
    if (thread_state->autocast[i].on)
      cx->autocast[i] = thread_state->autocast[i];
}
