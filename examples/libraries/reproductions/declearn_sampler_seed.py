import os
import subprocess
import sys

code = "from declearn.client_sampler import UniformClientSampler as S; print(sorted(S(2, 0).sample(set('abcdefgh'))))"
drawn = set()
for hashing in "123":  # Python chooses this number anew for each process
    env = {**os.environ, "PYTHONHASHSEED": hashing}
    drawn.add(subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=env, capture_output=True).stdout)
print("expected one cohort in 3 processes, got", len(drawn))
