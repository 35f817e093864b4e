/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* An operator's parsed schema string:
 *   "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" */

typedef enum
{
  ADJ_TYPE_KIND_TENSOR,
  ADJ_TYPE_KIND_SCALAR, /* int, float, bool, complex or a symbolic number */
  ADJ_TYPE_KIND_INT,
  ADJ_TYPE_KIND_SYMINT,
  ADJ_TYPE_KIND_FLOAT,
  ADJ_TYPE_KIND_BOOL,
  ADJ_TYPE_KIND_STR,
  ADJ_TYPE_KIND_SCALAR_TYPE,
  ADJ_TYPE_KIND_LAYOUT,
  ADJ_TYPE_KIND_DEVICE,
  ADJ_TYPE_KIND_MEMORY_FORMAT,
  ADJ_TYPE_KIND_GENERATOR,
  ADJ_TYPE_KIND_ANY,
  ADJ_N_TYPE_KINDS,
} AdjTypeKind;

typedef struct
{
  AdjTypeKind kind;
  gboolean is_list;
  gint list_size; /* int[2]: the length, to which a lone int is repeated; -1: any length */
  gboolean element_optional;  /* Tensor?[] */
  gboolean optional;          /* T?, T[]? */
  char alias;                 /* 'a' of Tensor(a), 0: none */
  gboolean written;           /* Tensor(a!) */
  gboolean alias_of_elements; /* Tensor(a -> *) */
  const char *name;           /* of ANY: the type as written */
} AdjType;

/* "Tensor(a!)", "int[2]?". */
ADJ_PUBLIC void adj_type_print (const AdjType *type, GString *out);
/* Whether @value is accepted for an argument of type @type. */
ADJ_PUBLIC gboolean adj_type_accepts (const AdjType *type, const AdjValue *value);

/* Bound of the arguments, and of the results, of a schema. */
#define ADJ_MAX_ARGUMENTS 64

typedef struct
{
  const char *name; /* (nullable) for unnamed returns */
  AdjType type;
  gboolean has_default;
  AdjValue default_value;
  gboolean keyword_only;
} AdjArgument;

typedef struct
{
  const char *text;     /* the string it was parsed from */
  const char *ns;       /* "aten" */
  const char *name;     /* "add" */
  const char *overload; /* "Tensor"; "" when unnamed, which targets spell "default" */
  const char *target;   /* "torch.ops.aten.add.Tensor" */
  guint n_arguments;
  AdjArgument *arguments;
  guint n_positional; /* arguments before the '*' */
  guint n_returns;
  AdjArgument *returns;
} AdjSchema;

/* (transfer full): the canonical string; equals the parsed one for every schema of the table. */
ADJ_PUBLIC char *adj_schema_print (const AdjSchema *schema);

/* Whether any argument is written, and whether any return aliases an argument. */
ADJ_PUBLIC gboolean adj_schema_mutates (const AdjSchema *schema);
ADJ_PUBLIC gboolean adj_schema_is_view (const AdjSchema *schema);

/**
 * adj_schema_bind:
 * @args: (nullable): TUPLE of positional arguments
 * @kwargs: (nullable): DICT
 * @bound: (array length=n_arguments) (out caller-allocates): borrowed from @args, @kwargs and the
 *   defaults; numbers stay numbers in Tensor slots
 *
 * Checks number, names and kinds.
 *
 * Returns: %FALSE with ADJ_ERROR_SHAPE: "aten::add.Tensor: argument 'other' must be Tensor, not
 *   str"
 */
ADJ_PUBLIC gboolean adj_schema_bind (const AdjSchema *schema,
                                     const AdjValue *args,
                                     const AdjValue *kwargs,
                                     AdjValue *bound,
                                     GError **error);

G_END_DECLS
