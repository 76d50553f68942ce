// An independent timer for tests: what a graph's first and last kernel write
// tells how long the graph ran, whatever the driver's events say.

// Writes the GPU's clock, in nanoseconds, to `to`. One thread.
extern "C" __global__ void reprise_stamp(unsigned long long* to) {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  *to = now;
}
