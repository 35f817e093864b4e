/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "ir/adj-opaque.h"

G_BEGIN_DECLS

/* Opaque objects (call/SPEC.md §9): state behind methods, as values of programs and graphs.  A
 * class is one constant record; objects/ has those of the library, a plugin brings its own. */

typedef struct _AdjObject AdjObject;
typedef struct _AdjObjectClass AdjObjectClass;

typedef struct
{
  const char *schema; /* "push(Tensor x) -> ()": without the object; no argument is written, no
                         result is a view */
  const char *help;   /* one line */
  gboolean pure; /* neither changes the state nor reads what another method changes: no effect */
  /* It is pure, and of its arguments it reads no element but by operators, so that a plan can have
   * these as calls of its own: they are then called on tensors without elements, of a real object.
   */
  gboolean by_operators;
  /* @args: by argument of @schema; @result (out) (transfer full).  Operators that it calls are
   * seen neither by autograd nor by a trace.  %FALSE: the context is in error. */
  gboolean (*call) (AdjObject *self, AdjContext *cx, const AdjValue *args, AdjValue *result);
} AdjMethod;

struct _AdjObjectClass
{
  const char *name; /* qualified: "_TorchScriptTesting::_TensorQueue", "__main__.Counter" */
  const char *help; /* one line */
  gsize size;       /* of an instance, which begins with an AdjObject; the rest begins zeroed */
  const AdjMethod *methods;
  guint n_methods;
  /* The state as plain values, a TUPLE of TUPLEs of name and value: none, bool, int, float,
   * string, tensors as DATA (or TENSOR, of a fake object), and lists and tuples of these.
   * @state (out) (transfer full). */
  gboolean (*flatten) (const AdjObject *self, AdjValue *state, GError **error);
  /* Gives a new instance the state that flatten() told; the class need not be the same one: a
   * fake object is made of the state of a real one. */
  gboolean (*unflatten) (AdjObject *self, const AdjValue *state, GError **error);
  void (*finalize) (AdjObject *self); /* (nullable): frees what is beyond the struct */
  /* (nullable): what stands for it where there are no bytes; may be the class itself.  Its
   * methods are found by name and called by the schemas of this class. */
  const AdjObjectClass *fake;
  gboolean is_real_in_traces; /* it is called itself in a trace, and has nothing that changes */
  /* (nullable) (transfer full): of values, whose objects never change: "Scale(2.0)".  A trace has
   * no input or attribute for one, but writes it so into the calls that take it. */
  char *(*write) (const AdjObject *self);
  /* (nullable): the opposite: what write() had between the parentheses, @args, a TUPLE, and
   * @kwargs, a DICT, as the state that flatten() tells; of a member of an enumeration,
   * "Speed.FAST", its name.  @state (out) (transfer full). */
  gboolean (*read) (const AdjValue *args, const AdjValue *kwargs, AdjValue *state, GError **error);
  /* (nullable): what __getstate__ of the class gives in PyTorch, @pickled, as the state that
   * flatten() tells: of objects a .pt2 has that alone.  @state (out) (transfer full). */
  gboolean (*restore) (const AdjValue *pickled, AdjValue *state, GError **error);
};

/* What instances begin with. */
struct _AdjObject
{
  AdjOpaque parent;
  struct _AdjObjectHeader *header; /* (owned): what the library keeps of it */
};

/**
 * adj_object_new:
 * @state: (nullable): TUPLE of TUPLEs of name and value, as flatten() gives it; tensors as DATA
 *
 * Checks the record of @klass on the way.
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_UNSUPPORTED when the record is wrong,
 *   or with the error of its unflatten()
 */
ADJ_PUBLIC AdjObject *
adj_object_new (const AdjObjectClass *klass, const AdjValue *state, GError **error);
/* (transfer none) (nullable): the same, in the innermost scope; %NULL with the context in error. */
ADJ_PUBLIC AdjObject *
adj_object_new_in (AdjContext *cx, const AdjObjectClass *klass, const AdjValue *state);
/* (transfer full): what is known of an object that cannot be called: its class, and (@state:
 * nullable) its state, in which tensors may be META, or RAW: why that is not known.  @klass:
 * (nullable): %NULL: only its name is known. */
ADJ_PUBLIC AdjObject *
adj_object_new_flat (const char *name, const AdjObjectClass *klass, const AdjValue *state);
/* (transfer none) (nullable): @opaque if it is an object of a class. */
ADJ_PUBLIC AdjObject *adj_object_from_opaque (AdjOpaque *opaque);

ADJ_PUBLIC const char *adj_object_get_name (const AdjObject *object); /* of its class, qualified */
/* (nullable): the class that it is an object of; of a fake object the real one. */
ADJ_PUBLIC const AdjObjectClass *adj_object_get_class (const AdjObject *object);
ADJ_PUBLIC gboolean adj_object_is_fake (const AdjObject *object);
/* Whether it is one of a class of values, which a trace writes into its calls. */
ADJ_PUBLIC gboolean adj_object_is_value (const AdjObject *object);
/* Whether methods can be called: it is no adj_object_new_flat(). */
ADJ_PUBLIC gboolean adj_object_is_live (const AdjObject *object);

/* -- state -- */

/* The flattened state, checked; @state (out) (transfer full).  %FALSE with ADJ_ERROR_UNSUPPORTED,
 * in the words of PyTorch: "Expect flat x to be a tuple of tuples." */
ADJ_PUBLIC gboolean adj_object_flatten (AdjObject *object, AdjValue *state, GError **error);
/* The same, and sure to give an equal object: it is put together again and told once more.
 * %FALSE with ADJ_ERROR_UNSUPPORTED when that gives another state. */
ADJ_PUBLIC gboolean adj_object_save (AdjObject *object, AdjValue *state, GError **error);
/* (transfer full) (nullable): an object of its own with an equal state; %NULL with
 * ADJ_ERROR_UNSUPPORTED as of adj_object_save(). */
ADJ_PUBLIC AdjObject *adj_object_deep_copy (AdjObject *object, GError **error);
/* Whether both are of one class and in one state, tensors bit for bit. */
ADJ_PUBLIC gboolean adj_object_equal (AdjObject *a, AdjObject *b);
/* Of states. */
ADJ_PUBLIC gboolean adj_object_state_equal (const AdjValue *a, const AdjValue *b);
/* (transfer full): a state of names and values, which are moved; ends with %NULL. */
ADJ_PUBLIC AdjValue adj_object_state_new (const char *name,
                                          AdjValue value,
                                          ...) G_GNUC_NULL_TERMINATED;
/* (transfer none) (nullable): the value that @state has under @name. */
ADJ_PUBLIC const AdjValue *adj_object_state_get (const AdjValue *state, const char *name);

/* -- for methods -- */

/* What @tensor holds now, to be kept in a state: DATA, or the tensor itself where it is fake.  An
 * object keeps values: what is written to @tensor later does not reach it, and it has no history.
 * (transfer full) */
ADJ_PUBLIC AdjValue adj_object_store (AdjTensor *tensor);
/* (transfer none) (nullable): a new tensor of what adj_object_store() gave, in the innermost scope;
 * %NULL with the context in error. */
ADJ_PUBLIC AdjTensor *adj_object_load (AdjContext *cx, const AdjValue *value);

/* -- calls -- */

/**
 * adj_object_call:
 * @args: (nullable): without the object
 * @kwargs: (nullable): DICT
 * @result: (out): borrowed from the innermost scope
 *
 * Calls a method, as an operator is called: through the modes, which order, record or fake it.
 * Gradients do not pass (call/SPEC.md §9.3).
 *
 * Returns: %FALSE when the context is in error
 */
ADJ_PUBLIC gboolean adj_object_call (AdjContext *cx,
                                     AdjObject *object,
                                     const char *method,
                                     const AdjValue *args,
                                     guint n_args,
                                     const AdjValue *kwargs,
                                     AdjValue *result);
/* Whether calls of methods go through the modes, %TRUE at first; else a method is a function of
 * the program like any other, and a trace has what it calls.  Returns the previous value. */
ADJ_PUBLIC gboolean adj_context_set_object_tracing (AdjContext *cx, gboolean enabled);

static inline void
adj_object_unref (AdjObject *object)
{
  adj_opaque_unref (object != NULL ? &object->parent : NULL);
}

#define ADJ_OBJECT(o) ADJ_OPAQUE (&(o)->parent)

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjObject, adj_object_unref)

G_END_DECLS
