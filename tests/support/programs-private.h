/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/programs.h"

G_BEGIN_DECLS

#define PROGRAM_MAX_VARS 64
#define PROGRAM_MAX_INPUTS 3

typedef enum
{
  STATEMENT_CALL,
  STATEMENT_GRAD_MODE, /* switches grad mode from here on */
  STATEMENT_HOOK,      /* doubles the gradient of a variable */
} StatementKind;

typedef struct
{
  StatementKind kind;
  const AdjOp *op;
  AdjValue args; /* TUPLE; NODE refers to a variable */
  AdjValue kwargs;
  guint out;         /* first variable that gets a result */
  guint n_out;       /* 0: the result is unused */
  gint guard;        /* variable of the condition; -1: unconditional */
  gint64 guard_size; /* runs if the variable has at least this many elements; else each result is
                        the first argument */
  gboolean on;       /* GRAD_MODE */
  guint var;         /* HOOK */
} Statement;

typedef enum
{
  INPUT_FRESH,
  INPUT_SAME, /* the same tensor as an earlier input */
  INPUT_ROW,  /* a view of an earlier input: row 0 */
  INPUT_FLAT, /* a view of all of an earlier input */
} InputKind;

typedef struct
{
  InputKind kind;
  guint of; /* index of the earlier input */
  AdjTensorMeta meta;
  gboolean requires_grad;
  gboolean is_leaf; /* else a copy of a leaf, which can be written */
} Input;

struct _Program
{
  guint32 seed;
  guint n_inputs;
  Input inputs[PROGRAM_MAX_INPUTS];
  GArray *statements; /* of Statement */
  guint n_vars;       /* inputs come first */
  guint n_outputs;
  guint outputs[4];
};

void statement_clear (Statement *statement);
/* %FALSE: the context has an error. */
gboolean statement_run (const Statement *statement, AdjContext *cx, AdjTensor **vars);
/* Returns the variable that @statement reads first; -1: none. */
gint statement_first_var (const Statement *statement);

G_END_DECLS
