/* SPDX-License-Identifier: MIT */
/* Launches pointwise programs: both forms become the steps that the one kernel interprets. */

#include <string.h>

#include "launch.h"
#include "source.h"

enum
{
  MAX_VIEWS = ADJ_K_MAX_INPUTS + 1
};

static bool
run_steps (AdjKQueue *queue, const AdjKStep *steps, int n_steps, AdjKView *views, int n_views)
{
  FusedArgs args = { .n = adj_k_view_count (&views[0]), .n_steps = n_steps };

  adj_k_views_merge_any_order (views, n_views);
  if (adj_k_cuda_run_steps (queue, steps, n_steps, views, n_views))
    return true;
  args.faults = queue->faults;
  args.steps = queue->device->constant (queue, steps, (size_t) n_steps * sizeof *steps);
  args.operands = queue->device->constant (queue, views, (size_t) n_views * sizeof *views);
  if (args.steps != NULL && args.operands != NULL)
    RUN_AS_IT_IS (queue, "adj_fused", args.n, args);
  return true;
}

/* The operand whose strides decide the order of dims: a stored one, else the first. */
static int
find_first (const AdjKStep *steps, int n_steps)
{
  for (int i = 0; i < n_steps; i++)
    if (steps[i].kind == ADJ_K_STEP_STORE)
      return steps[i].operand;
  return 0;
}

bool
adj_k_cuda_fused (AdjKQueue *queue, const AdjKFused *fused, const AdjKView *operands)
{
  AdjKView views[ADJ_K_MAX_OPERANDS];
  AdjKStep steps[UINT8_MAX * 8];
  int first = find_first (fused->steps, fused->n_steps);

  if (fused->n_operands == 0)
    return true;
  if (fused->n_steps > (int) (sizeof steps / sizeof steps[0]))
    {
      adj_k_queue_lacks (queue, "fused");
      return true;
    }
  memcpy (views, operands, (size_t) fused->n_operands * sizeof *views);
  memcpy (steps, fused->steps, (size_t) fused->n_steps * sizeof *steps);
  views[0] = operands[first];
  views[first] = operands[0];
  for (int i = 0; i < fused->n_steps; i++)
    if (steps[i].operand == 0 || steps[i].operand == first)
      steps[i].operand = (uint8_t) (first - steps[i].operand);
  return run_steps (queue, steps, fused->n_steps, views, fused->n_operands);
}

static AdjKStep
step_of (const AdjKProgram *program, const AdjKCode *code)
{
  AdjKStep step = {
    .kind = ADJ_K_STEP_OP,
    .klass = (uint8_t) program->klass,
    .op = (uint8_t) code->op,
    .dst = code->dst,
    .a = code->a,
    .b = code->b,
    .c = code->c,
  };

  if (code->op == ADJ_K_OP_LOAD)
    {
      step.kind = ADJ_K_STEP_LOAD;
      step.operand = (uint8_t) (code->imm.i + 1);
    }
  else if (code->op == ADJ_K_OP_CONST)
    {
      step.kind = ADJ_K_STEP_CONST;
      step.type = program->klass == ADJ_K_CLASS_I64 ? ADJ_K_I64 : ADJ_K_F64;
      step.imm.i = code->imm.i;
    }
  return step;
}

bool
adj_k_cuda_pointwise (AdjKQueue *queue,
                      const AdjKProgram *program,
                      const AdjKView *out,
                      const AdjKView *inputs)
{
  AdjKView views[MAX_VIEWS];
  AdjKStep steps[UINT8_MAX * 8];

  if (program->n_code + 1 > (int) (sizeof steps / sizeof steps[0]))
    {
      adj_k_queue_lacks (queue, "pointwise");
      return true;
    }
  views[0] = *out;
  memcpy (views + 1, inputs, (size_t) program->n_inputs * sizeof *views);
  for (int i = 0; i < program->n_code; i++)
    steps[i] = step_of (program, &program->code[i]);
  steps[program->n_code] = (AdjKStep){ .kind = ADJ_K_STEP_STORE,
                                       .klass = (uint8_t) program->klass,
                                       .a = (uint8_t) program->result };
  return run_steps (queue, steps, program->n_code + 1, views, program->n_inputs + 1);
}
