"""Record a run, ask why, switch a head off.

python examples/look_inside.py
"""

import clearhead
from clearhead.explain import as_text

model = clearhead.load("storyteller")
text = "Once upon a time, there was a little dog"

run = model.trace(text)
print(run)
print(run.heatmap("decoder.0.self.pattern", head=0).terminal(width=100))

likeliest = int(run["logits"][0, -1].argmax())
print(as_text(run.why("logits", by="block", T=-1, V=likeliest), most=20))

print(model.complete(text, temperature=0, max_new_tokens=20))
with model.edit(clearhead.ablate("decoder.0.self")):
    print(model.complete(text, temperature=0, max_new_tokens=20))
