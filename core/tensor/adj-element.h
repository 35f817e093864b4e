/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-dtype.h"

G_BEGIN_DECLS

/* The value of one element of any dtype. */
typedef struct
{
  double real;
  double imaginary;
  gint64 integer; /* exact where the dtype is an integer; uint64 wraps */
  gboolean is_integer;
} AdjElement;

/* @at need not be aligned; @dtype has whole bytes.  Elements that are packed bits read as the
 * integer of their byte. */
AdjElement adj_element_load (AdjDType dtype, const guint8 *at);

/* Rounds to nearest even.  A float becomes an integer by truncation; NaN and values out of range
 * give the most negative int64, which then wraps to the width.  A bool is x != 0. */
void adj_element_store (AdjDType dtype, guint8 *at, AdjElement element);

G_END_DECLS
