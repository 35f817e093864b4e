/* SPDX-License-Identifier: MIT */
#include "call/adj-constant.h"
#include "call/allocate-private.h"

static gboolean
fake_call (AdjMode *mode, AdjOpCall *call)
{
  if (!adj_op_call_infer (call) || !adj_op_call_allocate (call, TRUE))
    return FALSE;
  if ((call->op->flags & ADJ_OP_METADATA) != 0 && !call->op->kernel (call))
    return FALSE;
  adj_op_call_bump_versions (call);
  adj_constant_propagate (call);
  return TRUE;
}

static const AdjModeClass fake_class = { .name = "fake", .call = fake_call };

AdjMode *
adj_fake_mode_new (void)
{
  AdjMode *mode = g_new0 (AdjMode, 1);

  mode->klass = &fake_class;
  return mode;
}
