import { cpus, loadavg, totalmem } from 'node:os'

/** Figures mean nothing without the machine and what else it was doing. */
export function describeMachine(): string {
  const [model] = cpus()
  const load = loadavg().map((figure) => figure.toFixed(2))
  return (
    `${cpus().length} cores (${model?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, ` +
    `Node ${process.versions.node}; load ${load.join(' ')}`
  )
}
