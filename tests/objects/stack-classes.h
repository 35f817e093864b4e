/* SPDX-License-Identifier: MIT */
#pragma once

#include <adjoint-extend.h>

G_BEGIN_DECLS

/* unseen::Stack, unseen::Average and unseen::add_top, as captures/stack.py has them. */
ADJ_PUBLIC const AdjProgram *stack_classes (void);

G_END_DECLS
