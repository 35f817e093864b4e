/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/autograd-private.h"
#include "base/adj-arena.h"

G_BEGIN_DECLS

/* One backward: the reached nodes and the gradients that have arrived. */

struct _TaskNode
{
  AdjGradNode *node; /* (owned) */
  guint64 sequence;  /* of @node */
  guint64 order;     /* counter value when it became ready */
  guint dependencies;
  guint n_left;     /* dependencies not listed yet, while nodes are listed */
  guint id;         /* order of first look-up, plus one; 0: it was not looked up */
  guint needed : 1; /* it runs, if targets restrict the backward */
  const GraphTask *task;
  TaskNode *outer;   /* (unowned) (nullable): state of the same node in an enclosing backward */
  GArray *captures;  /* (nullable): indices of targets */
  AdjTensor **grads; /* (nullable): by input, owned; gradients that have arrived */
};

typedef struct
{
  AdjBackwardDoneFunc callback;
  gpointer data;
} TaskCallback;

struct _GraphTask
{
  AdjContext *cx;
  Autograd *autograd;
  const GradRequest *request;
  AdjGradNode *root; /* (owned) */
  AdjArena *arena;
  GPtrArray *nodes; /* of TaskNode, in @arena, in order of discovery */
  guint64 id;
  const AdjGradNode *node; /* (nullable): the running node */
  GPtrArray *ready;        /* heap of TaskNode */
  guint64 n_ready;
  guint n_looked_up;
  GArray *callbacks; /* of TaskCallback */
  guint n_called;    /* number of callbacks already called */
};

/* @root (transfer full): the first node. */
void task_init (GraphTask *task, AdjGradNode *root);
void task_clear (GraphTask *task);

/* (nullable) */
TaskNode *task_find (const GraphTask *task, const AdjGradNode *node);
gboolean task_is_executable (const GraphTask *task, const TaskNode *node);
void task_clear_grads (TaskNode *node);

/* Queue of nodes without open dependencies; pops the latest first. */
void task_push (GraphTask *task, TaskNode *node);
TaskNode *task_pop (GraphTask *task);

G_END_DECLS
