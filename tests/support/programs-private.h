/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/programs.h"

G_BEGIN_DECLS

#define PROGRAM_MAX_VARS 64
#define PROGRAM_MAX_INPUTS 3

typedef enum
{
  STATEMENT_CALL,
  STATEMENT_GRAD_MODE, /* on or off from here */
  STATEMENT_HOOK,      /* doubles the gradient of a variable */
} StatementKind;

typedef struct
{
  StatementKind kind;
  const AdjOp *op;
  AdjValue args; /* TUPLE; NODE stands for a variable */
  AdjValue kwargs;
  guint out;         /* first variable that gets a result */
  guint n_out;       /* 0: the result is not looked at */
  gint guard;        /* variable; -1: always */
  gint64 guard_size; /* runs when the variable has that many elements at least; else results are the
                        first argument */
  gboolean on;       /* GRAD_MODE */
  guint var;         /* HOOK */
} Statement;

typedef enum
{
  INPUT_FRESH,
  INPUT_SAME, /* as an earlier input */
  INPUT_ROW,  /* a view of an earlier input: row 0 */
  INPUT_FLAT, /* all of it */
} InputKind;

typedef struct
{
  InputKind kind;
  guint of; /* the earlier input */
  AdjTensorMeta meta;
  gboolean requires_grad;
  gboolean is_leaf; /* else a copy of one, and can be written */
} Input;

struct _Program
{
  guint32 seed;
  guint n_inputs;
  Input inputs[PROGRAM_MAX_INPUTS];
  GArray *statements; /* Statement */
  guint n_vars;       /* the inputs come first */
  guint n_outputs;
  guint outputs[4];
};

void statement_clear (Statement *statement);
/* %FALSE: the context is in error. */
gboolean statement_run (const Statement *statement, AdjContext *cx, AdjTensor **vars);
/* The variable that @statement reads first; -1: none. */
gint statement_first_var (const Statement *statement);

G_END_DECLS
