/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-object.h"

G_BEGIN_DECLS

/* (transfer full) (nullable): the object whose text continues with @inside after "Scale(", up to
 * the closing parenthesis, or the member of an enumeration after "Speed."; %NULL with
 * ADJ_ERROR_PARSE, or the error of read() or unflatten(). */
AdjObject *object_read_written (const AdjObjectClass *klass, const char *inside, GError **error);

G_END_DECLS
