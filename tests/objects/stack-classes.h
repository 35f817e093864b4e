/* SPDX-License-Identifier: MIT */
#pragma once

#include <adjoint-extend.h>

G_BEGIN_DECLS

/* Provides unseen::Stack, unseen::Average and unseen::add_top, as in captures/stack.py. */
ADJ_PUBLIC const AdjProgram *stack_classes (void);

G_END_DECLS
