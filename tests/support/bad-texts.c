/* SPDX-License-Identifier: MIT */
/* Test data: damaged graph texts. */

#include "bad-files-private.h"

#define NAME "a.txt"
#define CLASS "class G(torch.nn.Module):\n    def forward(self, x):\n"

/* Row 2: text */
static const AdjBadFile files[] = {
  SHOWN ("lambda",
         "class <lambda>(torch.nn.Module):\n    def forward(self, x):\n        return (x,)\n",
         "0-0-inference",
         NULL),
  SHOWN ("nested classes",
         CLASS "        y = self.inner(x)\n        return (y,)\n        \n"
               "    class inner(torch.nn.Module):\n        def forward(self, a):\n"
               "            return (a,)\n",
         "user",
         NULL),
  SHOWN ("colours",
         "\033[32m" CLASS "        y = \033[1mx\033[0m + 1\n        return (y,)\n",
         "user",
         NULL),
  SHOWN ("annotations without quotes",
         "class G(torch.nn.Module):\n    def forward(self, x: f32[2, 3]):\n"
         "        mm: f32[2, 2] = torch.ops.aten.mm.default(x, x)\n        return (mm,)\n",
         "user",
         NULL),
  SHOWN ("joint header, plain",
         "class joint_helper(torch.nn.Module):\n"
         "    def forward(self, primals_1: \"f32[4]\", tangents_1: \"f32[4]\"):\n"
         "        return (primals_1, tangents_1)\n",
         "0-0-joint",
         NULL),
  SHOWN ("joint header, expanded",
         "class inner_f(torch.nn.Module):\n    def forward(\n        self,\n"
         "        primals_1: \"f32[4]\",  # PlainAOTInput(idx=0)\n"
         "        tangents_1: \"f32[4]\",  # TangentAOTInput(output=PlainAOTOutput(idx=0))\n"
         "    ):\n        return (\n            primals_1,  # PlainAOTOutput(idx=0)\n"
         "            tangents_1,  # GradAOTOutput(grad_of=PlainAOTInput(idx=0))\n        )\n",
         "0-0-joint",
         NULL),
  SHOWN ("joint header, by a pytree",
         "class joint_helper(torch.nn.Module):\n    def forward(self, primals, tangents):\n"
         "        primals_1: \"f32[4]\"; tangents_1: \"f32[4]\"; \n    \n"
         "        primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], "
         "self._in_spec)\n        return pytree.tree_unflatten([primals_1], self._out_spec)\n",
         "0-0-joint",
         NULL),
  SHOWN ("joint header, by a pytree of 2.1",
         "class joint_helper(torch.nn.Module):\n    def forward(self, primals, tangents):\n"
         "        primals_1: f32[4], tangents_1: f32[4], = fx_pytree.tree_flatten_spec([primals, "
         "tangents], self._in_spec)\n"
         "        return pytree.tree_unflatten([primals_1], self._out_spec)\n",
         "0-0-joint",
         NULL),
  SHOWN ("no parameters but an unpacking",
         "class G(torch.nn.Module):\n    def forward(self):\n"
         "        x, = fx_pytree.tree_flatten_spec([], self._in_spec)\n"
         "        weight = self.fc1.weight\n        return pytree.tree_unflatten((x, weight), "
         "self._out_spec)\n",
         "user",
         NULL),
  SHOWN ("trailer", CLASS "        return (x,)\n\n\n # graph id: 42\n", "user", NULL),
  SHOWN ("odd comment",
         CLASS "        # File: /a, code: b/x.py:12 in f, code: y = x  # , code: '#'\n"
               "        y = x + 1\n        return (y,)\n",
         "user",
         NULL),
  SHOWN ("module in a list",
         CLASS "        y = getattr(self.layers, \"0\")(x)\n        return (y,)\n",
         "user",
         NULL),
  SHOWN ("in place",
         CLASS
         "        x += 1;  iadd = x\n        x[0] = 1;  setitem = x\n        return (iadd,)\n",
         "user",
         NULL),
  SHOWN ("higher-order operator",
         CLASS "        y = torch.ops.higher_order.cond(x, self.a, self.b, {'x': x, 'y': [x]})\n"
               "        return (y,)\n",
         "user",
         NULL),
  SHOWN ("keyword called as a node",
         CLASS "        dim = x + 1\n        y = torch.sum(x, dim = dim)\n        return (y,)\n",
         "user",
         NULL),
  REFUSED ("cut before the function",
           "class G(torch.nn.Module):\n",
           "a.txt:2:1: expected 'def forward("),
  REFUSED ("cut in the header",
           "class G(torch.nn.Module):\n    def forward(self, x: \"f32[",
           "a.txt:2:31: the parameters of forward are not understood"),
  SHOWN (
      "cut in the body", CLASS "        y = torch.ops.aten.sin.def", "user", "a.txt:1:1: warning:"),
  REFUSED ("no graph", "once upon a time\n", "a.txt:2:1: there is no graph in this text"),
  REFUSED ("nothing", "", "a.txt: the file is empty"),
  REFUSED ("not UTF-8", CLASS "        y = x + '\xff'\n", "a.txt: not UTF-8"),
};

LIST (adj_bad_texts, "texts");
