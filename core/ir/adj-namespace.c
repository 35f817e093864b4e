/* SPDX-License-Identifier: MIT */
#include "ir/adj-namespace.h"

#include <stdlib.h>
#include <string.h>

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

typedef struct
{
  guint64 last; /* number given to a base */
} Count;

struct _AdjNamespace
{
  GHashTable *used;   /* set of (owned) names */
  GHashTable *counts; /* base → Count */
};

AdjNamespace *
adj_namespace_new (void)
{
  AdjNamespace *space = g_new0 (AdjNamespace, 1);

  space->used = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  space->counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  return space;
}

void
adj_namespace_free (AdjNamespace *space)
{
  g_hash_table_unref (space->used);
  g_hash_table_unref (space->counts);
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

/* Cuts "_<digits>" off @name, at the first place where nothing but digits follows. */
static gboolean
split_suffix (char *name, guint64 *number)
{
  gsize end = strlen (name), at = end;

  while (at > 0 && g_ascii_isdigit (name[at - 1]))
    at--;
  if (at == end || at < 2 || name[at - 1] != '_' || end - at > 9)
    return FALSE;

  *number = g_ascii_strtoull (name + at, NULL, 10);
  name[at - 1] = '\0';

  return TRUE;
}

static guint64
get_count (const AdjNamespace *space, const char *base)
{
  const Count *count = g_hash_table_lookup (space->counts, base);

  return count != NULL ? count->last : 0;
}

static void
set_count (AdjNamespace *space, const char *base, guint64 number)
{
  Count *count = g_hash_table_lookup (space->counts, base);

  if (count == NULL)
    {
      count = g_new (Count, 1);
      g_hash_table_insert (space->counts, g_strdup (base), count);
    }
  count->last = number;
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

const char *
adj_namespace_take (AdjNamespace *space, const char *candidate)
{
  g_autofree char *base = adj_name_clean (candidate);
  gsize length = strlen (base);
  char *name = g_malloc (length + LONGEST_SUFFIX + 1);
  gboolean numbered, used;
  guint64 number = 0;
  char *suffix;

  memcpy (name, base, length + 1);
  used = g_hash_table_contains (space->used, name);
  numbered = split_suffix (base, &number);
  suffix = name + (numbered ? strlen (base) : length);

  if (!numbered || used)
    {
      number = get_count (space, name);
      if (!numbered && is_illegal (name))
        {
          write_suffix (suffix, ++number);
          used = g_hash_table_contains (space->used, name);
        }
    }

  while (used)
    {
      write_suffix (suffix, ++number);
      used = g_hash_table_contains (space->used, name);
    }

  set_count (space, base, number);
  g_hash_table_add (space->used, name);

  return name;
}

void
adj_namespace_reserve (AdjNamespace *space, const char *name)
{
  if (!g_hash_table_contains (space->used, name))
    g_hash_table_add (space->used, g_strdup (name));
}
