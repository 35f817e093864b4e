/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-macros.h"

G_BEGIN_DECLS

/* What a node does, by the words of torch.fx. */
typedef enum
{
  ADJ_OPCODE_PLACEHOLDER,
  ADJ_OPCODE_GET_ATTR,
  ADJ_OPCODE_CALL_FUNCTION,
  ADJ_OPCODE_CALL_METHOD,
  ADJ_OPCODE_CALL_MODULE,
  ADJ_OPCODE_OUTPUT,
  ADJ_OPCODE_RAW, /* a statement that we could not read; target is its text */
  ADJ_N_OPCODES,
} AdjOpcode;

/* "call_function" and so on. */
ADJ_PUBLIC const char *adj_opcode_name (AdjOpcode opcode);
ADJ_PUBLIC AdjOpcode adj_opcode_from_name (const char *name); /* ADJ_N_OPCODES when unknown */

G_END_DECLS
