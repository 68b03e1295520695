import type { PodMark } from '../deployments/running-images.ts'

const [width, height] = [76, 10]

/** The Pods of the requested version as a bar in the place of the gates: ready, failing, and those that start. */
export function PodBar({ marks, label }: { marks: readonly PodMark[]; label: string }) {
  const widthOf = (mark: PodMark) => (marks.filter((one) => one === mark).length / marks.length) * width
  const [ready, failing] = [widthOf('ready'), widthOf('failing')]
  return (
    <svg className="mini" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <rect className="p-ready" y="1" width={ready} height="8" />
      <rect className="s" x={ready} y="1" width={failing} height="8" />
      <rect className="o" x=".5" y="1.5" width={width - 1} height="7" />
    </svg>
  )
}
