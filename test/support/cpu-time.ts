/** Processor time of this thread in ms, which other work on a busy machine does not lengthen. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
