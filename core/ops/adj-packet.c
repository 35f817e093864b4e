/* SPDX-License-Identifier: MIT */
/* Python names and their overloads: finds the overloads of a name and calls the first that fits. */

#include "ops/adj-packet.h"

#include <string.h>

#include "ops/adj-op-table.h"
#include "ops/packet-private.h"
#include "ops/table-private.h"

/* Names of ops/torch.inc and their packets; made once, then constant. */
typedef struct
{
  GHashTable *packets;   /* "add" → AdjPacket: the overloads of torch.ops.aten.add */
  GHashTable *functions; /* "torch.nn.functional.relu" → AdjPacket */
  GHashTable *methods;   /* "float" → AdjPacket */
} Names;

typedef struct
{
  const char *prefix; /* "torch.linalg." */
  const char *stem;   /* "linalg_": prefix of the operators' names */
} Space;

static const Space spaces[] = {
#define SPACE(prefix, stem) { prefix, stem },
#define ALIAS(name, packet)
#define FUNCTION(schema, help, rule)
#include "ops/torch.inc"
#undef SPACE
#undef ALIAS
#undef FUNCTION
};

static const struct
{
  const char *name; /* ".T" for a method */
  const char *packet;
} aliases[] = {
#define SPACE(prefix, stem)
#define ALIAS(name, packet) { name, packet },
#define FUNCTION(schema, help, rule)
#include "ops/torch.inc"
#undef SPACE
#undef ALIAS
#undef FUNCTION
};

/* Operators of arithmetic accept numbers for tensors. */
static gboolean
takes_numbers (const char *name)
{
  static const char *const names[] = {
    "add",     "sub",       "mul",       "div",          "true_divide",
    "divide",  "multiply",  "subtract",  "floor_divide", "copy",
    "add_",    "sub_",      "mul_",      "div_",         "true_divide_",
    "divide_", "multiply_", "subtract_", "copy_",        "floor_divide_"
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i], name) == 0)
      return TRUE;
  return FALSE;
}

static AdjPacket *
ensure (GHashTable *table, const char *name)
{
  AdjPacket *packet = g_hash_table_lookup (table, name);

  if (packet == NULL)
    {
      packet = g_new0 (AdjPacket, 1);
      packet->name = g_strdup (name);
      packet->overloads = g_ptr_array_new ();
      packet->takes_numbers = takes_numbers (name);
      g_hash_table_insert (table, (gpointer) packet->name, packet);
    }
  return packet;
}

/* -- making the names -- */

static guint
count_scalars (const AdjOp *op)
{
  const AdjSchema *schema = adj_op_get_schema (op);
  guint n = 0;

  for (guint i = 0; i < schema->n_arguments; i++)
    n += schema->arguments[i].type.kind == ADJ_TYPE_KIND_SCALAR;
  return n;
}

/* Overloads with tensors are tried before those with numbers, as in Python. */
static gint
compare_overloads (gconstpointer a, gconstpointer b)
{
  const AdjOp *const *left = a, *const *right = b;
  guint n = count_scalars (*left), m = count_scalars (*right);

  if (n != m)
    return n < m ? -1 : 1;
  return *left < *right ? -1 : *left > *right; /* of one table */
}

static void
add_operator (Names *names, const AdjOp *op)
{
  const AdjSchema *schema = adj_op_get_schema (op);
  gboolean aten = strcmp (schema->ns, "aten") == 0;
  g_autofree char *name = g_strconcat (aten ? "" : schema->ns, aten ? "" : ".", schema->name, NULL);

  g_ptr_array_add (ensure (names->packets, name)->overloads, (gpointer) op);
}

static void
add_overloads (AdjPacket *packet, const AdjPacket *more)
{
  packet->takes_numbers |= more->takes_numbers;
  for (guint i = 0; i < more->overloads->len; i++)
    g_ptr_array_add (packet->overloads, g_ptr_array_index (more->overloads, i));
}

/* A function of torch itself, "torch.nn.functional::relu(…)"; methods are functions of
 * torch.Tensor. */
static void
add_function (Names *names, const AdjOp *op)
{
  const AdjSchema *schema = adj_op_get_schema (op);
  g_autofree char *name = g_strconcat (schema->ns, ".", schema->name, NULL);
  AdjPacket *packet = ensure (names->functions, name);

  g_ptr_array_add (packet->overloads, (gpointer) op);
  if (strcmp (schema->ns, "torch.Tensor") == 0 &&
      g_hash_table_lookup (names->methods, schema->name) == NULL)
    g_hash_table_insert (names->methods, (gpointer) schema->name, packet);
}

/* Adds the operator of that name after the functions, which PyTorch runs before the operator. */
static void
add_operators_behind (Names *names, const AdjOp *op)
{
  const AdjSchema *schema = adj_op_get_schema (op);
  const AdjPacket *operators = g_hash_table_lookup (names->packets, schema->name);
  g_autofree char *name = g_strconcat (schema->ns, ".", schema->name, NULL);
  AdjPacket *packet = g_hash_table_lookup (names->functions, name);

  if (operators == NULL || packet->complete || strcmp (schema->ns, "torch.nn.functional") == 0)
    return;
  packet->complete = TRUE;
  add_overloads (packet, operators);
}

/* Adds an alias after the functions of that name, which are special cases of it. */
static void
add_alias (Names *names, const char *name, const char *of)
{
  const AdjPacket *packet = g_hash_table_lookup (names->packets, of);

  if (packet == NULL)
    g_error ("torch.inc: '%s' stands for '%s', which is no operator", name, of);
  add_overloads (
      ensure (*name == '.' ? names->methods : names->functions, *name == '.' ? name + 1 : name),
      packet);
}

static Names *
make_names (void)
{
  Names *names = g_new0 (Names, 1);
  GHashTableIter iter;
  gpointer packet;

  names->packets = g_hash_table_new (g_str_hash, g_str_equal);
  names->functions = g_hash_table_new (g_str_hash, g_str_equal);
  names->methods = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < adj_ops_get_n (); i++)
    add_operator (names, adj_ops_get (i));
  g_hash_table_iter_init (&iter, names->packets);
  while (g_hash_table_iter_next (&iter, NULL, &packet))
    g_ptr_array_sort (((AdjPacket *) packet)->overloads, compare_overloads);
  for (guint i = 0; i < adj_functions_get_n (); i++)
    add_function (names, adj_functions_get (i));
  for (guint i = 0; i < adj_functions_get_n (); i++)
    add_operators_behind (names, adj_functions_get (i));
  for (guint i = 0; i < G_N_ELEMENTS (aliases); i++)
    add_alias (names, aliases[i].name, aliases[i].packet);
  return names;
}

static const Names *
get_names (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, GPOINTER_TO_SIZE (make_names ()));
  return GSIZE_TO_POINTER (once);
}

/* -- looking up -- */

static const AdjPacket *
find_in_spaces (const Names *names, const char *target)
{
  for (guint i = 0; i < G_N_ELEMENTS (spaces); i++)
    {
      g_autofree char *name = NULL;
      const AdjPacket *packet;

      if (!g_str_has_prefix (target, spaces[i].prefix))
        continue;
      name = g_strconcat (spaces[i].stem, target + strlen (spaces[i].prefix), NULL);
      packet = g_hash_table_lookup (names->packets, name);
      if (packet != NULL)
        return packet;
    }
  return NULL;
}

const AdjPacket *
adj_packet_find_function (const char *target)
{
  const Names *names = get_names ();
  const AdjPacket *packet;

  g_return_val_if_fail (target != NULL, NULL);

  packet = g_hash_table_lookup (names->functions, target);
  return packet != NULL ? packet : find_in_spaces (names, target);
}

const AdjPacket *
adj_packet_find_method (const char *name)
{
  const Names *names = get_names ();
  const AdjPacket *packet;

  g_return_val_if_fail (name != NULL, NULL);

  packet = g_hash_table_lookup (names->methods, name);
  return packet != NULL ? packet : g_hash_table_lookup (names->packets, name);
}

guint
adj_packet_get_n_overloads (const AdjPacket *packet)
{
  return packet->overloads->len;
}

const AdjOp *
adj_packet_get_overload (const AdjPacket *packet, guint index)
{
  g_return_val_if_fail (index < packet->overloads->len, NULL);

  return g_ptr_array_index (packet->overloads, index);
}

/* -- what was meant -- */

#define MAX_NAME 64

/* Edit distance: letters to insert, delete or replace. */
static guint
count_edits (const char *a, const char *b)
{
  gsize n = strlen (a), m = strlen (b);
  guint row[MAX_NAME + 1];

  if (n > MAX_NAME || m > MAX_NAME)
    return G_MAXUINT;
  for (guint j = 0; j <= m; j++)
    row[j] = j;
  for (guint i = 1; i <= n; i++)
    {
      guint diagonal = row[0];

      row[0] = i;
      for (guint j = 1; j <= m; j++)
        {
          guint replace = diagonal + (a[i - 1] != b[j - 1]);

          diagonal = row[j];
          row[j] = MIN (replace, MIN (row[j], row[j - 1]) + 1);
        }
    }
  return row[m];
}

typedef struct
{
  const char *name; /* (nullable) */
  guint n_edits;
} Nearest;

static void
offer (Nearest *nearest, const char *wanted, const char *name)
{
  guint n = count_edits (wanted, name);

  if (n < nearest->n_edits || (n == nearest->n_edits && strcmp (name, nearest->name) < 0))
    *nearest = (Nearest){ name, n };
}

static void
offer_all (Nearest *nearest, const char *wanted, GHashTable *table)
{
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    offer (nearest, wanted, name);
}

/* The operator that @name in @space may mean; @nearest is the best distance so far. (transfer full)
 * (nullable): the whole name, if it is better. */
static char *
suggest_in_space (const Names *names, const Space *space, const char *name, Nearest *nearest)
{
  g_autofree char *wanted = NULL;
  Nearest here = { "", nearest->n_edits };

  if (!g_str_has_prefix (name, space->prefix))
    return NULL;
  wanted = g_strconcat (space->stem, name + strlen (space->prefix), NULL);
  offer_all (&here, wanted, names->packets);
  if (*here.name == '\0' || !g_str_has_prefix (here.name, space->stem) ||
      here.n_edits >= nearest->n_edits)
    return NULL;
  *nearest = here;
  return g_strconcat (space->prefix, here.name + strlen (space->stem), NULL);
}

char *
adj_packet_suggest (const char *name, gboolean method)
{
  const Names *names = get_names ();
  Nearest nearest = { "", MAX ((guint) strlen (name) / 3, 2) + 1 };
  char *best = NULL;

  g_return_val_if_fail (name != NULL, NULL);

  offer_all (&nearest, name, method ? names->methods : names->functions);
  if (method)
    offer_all (&nearest, name, names->packets);
  if (*nearest.name != '\0')
    best = g_strdup (nearest.name);
  for (guint i = 0; !method && i < G_N_ELEMENTS (spaces); i++)
    {
      char *better = suggest_in_space (names, &spaces[i], name, &nearest);

      if (better != NULL)
        {
          g_free (best);
          best = better;
        }
    }
  return best;
}

/* -- calling -- */

static void
fail_all (AdjContext *cx, const AdjPacket *packet, const char *why)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < packet->overloads->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "; " : "",
                            ((const AdjOp *) g_ptr_array_index (packet->overloads, i))->schema);
  if (packet->overloads->len == 1)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s: %s: %s", packet->name, why, text->str);
  else
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s: the arguments fit none of %s",
                      packet->name, text->str);
}

gboolean
adj_packet_call (AdjContext *cx,
                 const AdjPacket *packet,
                 const AdjValue *args,
                 const AdjValue *kwargs,
                 AdjValue *result)
{
  PacketCall call = { .arena = adj_arena_new () };
  const char *why = NULL;
  gboolean called = FALSE;
  guint i = 0;

  *result = ADJ_NONE;
  while (i < packet->overloads->len &&
         !packet_bind (&call, adj_op_get_schema (g_ptr_array_index (packet->overloads, i)),
                       packet->takes_numbers, args, kwargs, &why))
    i++;
  if (i < packet->overloads->len)
    called =
        adj_call (cx, g_ptr_array_index (packet->overloads, i), &call.args, &call.kwargs, result);
  else
    fail_all (cx, packet, why);
  adj_arena_free (call.arena);
  return called;
}
