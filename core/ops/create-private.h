/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/kernel-private.h"

G_BEGIN_DECLS

/* What operators that make new tensors share. */

/* The argument of that name; -1: there is none. */
gint op_find_option (const AdjOpCall *call, const char *name);

/* The dtype that the call asks for. */
AdjDType op_option_dtype (const AdjOpCall *call, AdjDType if_none);

/* A contiguous shape of the sizes in argument @arg; fails the call when one is negative. */
gboolean op_new_shape (const AdjOpCall *call, guint arg, AdjShape *out);

/* Gives @shape the strides in argument @arg; fails the call unless there is one for each size. */
gboolean op_set_strides (const AdjOpCall *call, guint arg, AdjShape *shape);

/* A result on the device that the call asks for; fails it when its layout is not strided. */
gboolean op_add_new (AdjOpCall *call, AdjDType dtype, const AdjShape *shape);

/* Meta functions: sizes in the first argument; shaped like the first argument. */
gboolean op_factory_meta (AdjOpCall *call);
gboolean op_like_meta (AdjOpCall *call);

/* For .traced: the strides of arithmetic on the first argument, unless the call says a format. */
void op_like_traced (AdjOpCall *call);

G_END_DECLS
