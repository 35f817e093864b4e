/* SPDX-License-Identifier: MIT */
/* Names of nodes as torch.fx gives them: cleaned, unique, with _1, _2 … behind. */

#include "ir/adj-namespace.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/adj-arena.h"

/* Python's keywords and builtins, and what every graph has in its globals.  Sorted. */
static const char *const illegal_names[] = {
  /* clang-format off */
  "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup",
  "BlockingIOError", "BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError",
  "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError",
  "DeprecationWarning", "EOFError", "Ellipsis", "EncodingWarning", "EnvironmentError",
  "Exception", "ExceptionGroup", "False", "FileExistsError", "FileNotFoundError",
  "FloatingPointError", "FutureWarning", "GeneratorExit", "IOError", "ImportError",
  "ImportWarning", "IndentationError", "IndexError", "InterruptedError", "IsADirectoryError",
  "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError", "ModuleNotFoundError",
  "NameError", "None", "NoneType", "NotADirectoryError", "NotImplemented", "NotImplementedError",
  "OSError", "OverflowError", "PendingDeprecationWarning", "PermissionError",
  "ProcessLookupError", "RecursionError", "ReferenceError", "ResourceWarning", "RuntimeError",
  "RuntimeWarning", "StopAsyncIteration", "StopIteration", "SyntaxError", "SyntaxWarning",
  "SystemError", "SystemExit", "TabError", "TimeoutError", "True", "TypeError",
  "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError",
  "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError", "Warning",
  "ZeroDivisionError", "__build_class__", "__debug__", "__doc__", "__import__", "__loader__",
  "__name__", "__package__", "__spec__", "abs", "aiter", "all", "and", "anext", "any", "as",
  "ascii", "assert", "async", "await", "bin", "bool", "break", "breakpoint", "bytearray", "bytes",
  "callable", "chr", "class", "classmethod", "compile", "complex", "continue", "copyright",
  "credits", "def", "del", "delattr", "device", "dict", "dir", "divmod", "elif", "else",
  "enumerate", "eval", "except", "exec", "exit", "filter", "finally", "float", "for", "format",
  "from", "frozenset", "fx_pytree", "getattr", "global", "globals", "hasattr", "hash", "help",
  "hex", "id", "if", "import", "in", "inf", "input", "int", "is", "isinstance", "issubclass",
  "iter", "lambda", "len", "license", "list", "locals", "map", "max", "memoryview", "min", "nan",
  "next", "nonlocal", "not", "object", "oct", "open", "or", "ord", "pass", "pow", "print",
  "property", "pytree", "quit", "raise", "range", "repr", "return", "reversed", "round", "set",
  "setattr", "slice", "sorted", "staticmethod", "str", "sum", "super", "torch", "try", "tuple",
  "type", "vars", "while", "with", "yield", "zip",
  /* clang-format on */
};

/* The use of one text as a name and as the base of other names. */
typedef struct
{
  guint64 last; /* last number given to a name of this base */
  guint node;   /* index of the node with this name, plus one; 0: none */
  gboolean used;
  char name[];
} Entry;

struct _AdjNamespace
{
  AdjArena *arena;
  GHashTable *entries; /* name → Entry, keyed by its own name */
  char *buffer;        /* for the name being made */
  gsize capacity;
};

AdjNamespace *
adj_namespace_new (void)
{
  AdjNamespace *space = g_new0 (AdjNamespace, 1);

  space->arena = adj_arena_new ();
  space->entries = g_hash_table_new (g_str_hash, g_str_equal);

  return space;
}

void
adj_namespace_free (AdjNamespace *space)
{
  if (space == NULL)
    return;
  g_hash_table_unref (space->entries);
  adj_arena_free (space->arena);
  g_free (space->buffer);
  g_free (space);
}

static int
compare_names (gconstpointer key, gconstpointer entry)
{
  return strcmp (key, *(const char *const *) entry);
}

static gboolean
is_illegal (const char *name)
{
  return bsearch (name, illegal_names, G_N_ELEMENTS (illegal_names), sizeof (char *),
                  compare_names) != NULL;
}

char *
adj_name_clean (const char *candidate)
{
  GString *name = g_string_sized_new (strlen (candidate) + 1);
  gboolean in_run = FALSE;

  for (const char *p = candidate; *p != '\0'; p++)
    {
      gboolean legal = g_ascii_isalnum (*p) || *p == '_';

      if (legal)
        g_string_append_c (name, *p);
      else if (!in_run)
        g_string_append_c (name, '_');
      in_run = !legal;
    }

  if (name->len == 0)
    g_string_append (name, "_unnamed");
  if (g_ascii_isdigit (name->str[0]))
    g_string_prepend_c (name, '_');

  return g_string_free (name, FALSE);
}

static gboolean
is_clean (const char *candidate)
{
  if (*candidate == '\0' || g_ascii_isdigit (*candidate))
    return FALSE;
  while (g_ascii_isalnum (*candidate) || *candidate == '_')
    candidate++;

  return *candidate == '\0';
}

/* The length of @name without "_<digits>", at the first place where nothing but digits follows. */
static gsize
split_suffix (const char *name, gsize length, guint64 *number)
{
  gsize at = length;

  while (at > 0 && g_ascii_isdigit (name[at - 1]))
    at--;
  if (at == length || at < 2 || name[at - 1] != '_' || length - at > 9)
    return length;

  *number = g_ascii_strtoull (name + at, NULL, 10);

  return at - 1;
}

#define LONGEST_SUFFIX 21

/* Writes "_<number>" and ends the text there. */
static void
write_suffix (char *at, guint64 number)
{
  char digits[LONGEST_SUFFIX];
  guint n = 0;

  for (; number > 0 || n == 0; number /= 10)
    digits[n++] = (char) ('0' + number % 10);
  *at++ = '_';
  while (n > 0)
    *at++ = digits[--n];
  *at = '\0';
}

static Entry *
get_entry (AdjNamespace *space, const char *name)
{
  Entry *entry = g_hash_table_lookup (space->entries, name);

  if (entry == NULL)
    {
      gsize length = strlen (name);

      entry = adj_arena_alloc (space->arena, sizeof (Entry) + length + 1);
      memcpy (entry->name, name, length);
      g_hash_table_insert (space->entries, entry->name, entry);
    }

  return entry;
}

/* Room for a name of @length with a suffix. */
static char *
get_buffer (AdjNamespace *space, gsize length)
{
  if (space->capacity <= length + LONGEST_SUFFIX)
    {
      space->capacity = 2 * (length + LONGEST_SUFFIX);
      space->buffer = g_realloc (space->buffer, space->capacity);
    }

  return space->buffer;
}

const char *
adj_namespace_take (AdjNamespace *space, const char *candidate)
{
  g_autofree char *cleaned = is_clean (candidate) ? NULL : adj_name_clean (candidate);
  const char *wanted = cleaned != NULL ? cleaned : candidate;
  gsize length = strlen (wanted);
  char *name = get_buffer (space, length);
  Entry *entry = get_entry (space, wanted), *base = entry;
  guint64 number = 0;
  gsize stem = split_suffix (wanted, length, &number);

  memcpy (name, wanted, length + 1);
  if (stem < length)
    {
      name[stem] = '\0';
      base = get_entry (space, name);
    }
  if (stem == length || entry->used)
    {
      number = entry->last;
      if (stem == length && !entry->used && is_illegal (wanted))
        entry->used = TRUE; /* reserved by Python */
    }

  while (entry->used)
    {
      write_suffix (name + stem, ++number);
      entry = get_entry (space, name);
    }
  base->last = number;
  entry->used = TRUE;

  return entry->name;
}

const char *
adj_namespace_hold (AdjNamespace *space, const char *name)
{
  Entry *entry = get_entry (space, name);

  entry->used = TRUE;

  return entry->name;
}

gboolean
adj_namespace_bind (AdjNamespace *space, const char *name, guint node)
{
  Entry *entry = (gpointer) (name - offsetof (Entry, name));
  gboolean is_new = entry->node == 0;

  entry->node = node + 1;

  return is_new;
}

guint
adj_namespace_find (const AdjNamespace *space, const char *name)
{
  const Entry *entry = g_hash_table_lookup (space->entries, name);

  return entry != NULL && entry->node > 0 ? entry->node - 1 : G_MAXUINT;
}
