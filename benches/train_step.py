"""A training step of a 5.3 M-parameter GPT beside the same step in PyTorch, in CPU seconds.

    python benches/train_step.py [STEPS]

Needs PyTorch and NumPy, and what `make bench` builds. Sixteen sequences of 128 tokens, f32,
AdamW; medians over the steps after a first one that warms up. One thread each: PyTorch's threads spin
while they wait, which on a busy machine counts as CPU seconds and would make it look slow.
"""

import json
import os
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

from built import program

BATCH, CONTEXT, VOCABULARY, LAYERS, HEADS, WIDTH = 16, 128, 2048, 6, 8, 256


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(WIDTH, bias=False)
        self.ln_2 = nn.LayerNorm(WIDTH, bias=False)
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.c_proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.c_fc = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.c_out = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.c_attn(self.ln_1(x)).split(WIDTH, dim=2)
        q, k, v = (z.view(b, t, HEADS, c // HEADS).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, WIDTH)
        self.wpe = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln_f = nn.LayerNorm(WIDTH, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, ids, targets):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = self.ln_f(x) @ self.wte.weight.T
        return F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1))


def peer(steps):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Gpt()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    ids, targets = (torch.randint(VOCABULARY, (BATCH, CONTEXT)) for _ in range(2))
    passes, updates = [], []
    for step in range(steps + 1):
        start = time.process_time()
        loss = model(ids, targets)
        loss.backward()
        middle = time.process_time()
        optimizer.step()
        optimizer.zero_grad()
        if step > 0:
            passes.append(middle - start)
            updates.append(time.process_time() - middle)
    return median(passes), median(updates)


def median(values):
    return sorted(values)[len(values) // 2]


def ours(steps):
    command = [program("train_step"), str(BATCH), str(CONTEXT), str(steps)]
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(done.stderr)
    found = json.loads(done.stdout)
    return found["passes_cpu_seconds"], found["update_cpu_seconds"], found["parameters"]


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    passes, update, parameters = ours(steps)
    peer_passes, peer_update = peer(steps)
    print(f"train step: GPT of {parameters / 1e6:.1f} M parameters, {BATCH}x{CONTEXT}, f32")
    print("part                  metier s   torch s   metier / torch")
    for name, mine, theirs in [
        ("forward and backward", passes, peer_passes),
        ("AdamW", update, peer_update),
        ("whole step", passes + update, peer_passes + peer_update),
    ]:
        print(f"{name:20} {mine:9.3f} {theirs:9.3f} {mine / theirs:16.2f}")


if __name__ == "__main__":
    main()
