import { duration } from '../ui/duration.ts'
import { At } from '../ui/when.tsx'
import { type Usual, useUsual } from './read-summaries.ts'

const [width, height] = [190, 8]

type Props = { app: string; seconds: number /** Unix seconds. */; deadline: number | undefined }

/** The time taken against the usual one, which is the mark, and when it times out. */
export function Pace({ app, seconds, deadline }: Props) {
  const usual = useUsual(app)
  return (
    <>
      {usual === undefined ? null : <Bar usual={usual} seconds={seconds} />}
      <span>
        {usual === undefined ? '' : `usually ${duration(usual.median)}`}
        {usual === undefined || deadline === undefined ? '' : ' · '}
        {deadline === undefined ? null : (
          <>
            times out at <At at={deadline} />
          </>
        )}
      </span>
    </>
  )
}

function Bar({ usual: { median, p95 = median }, seconds }: { usual: Usual; seconds: number }) {
  const at = (moment: number) => Math.min(width, (Math.max(0, moment) / (Math.max(p95, median) * 1.1 || 1)) * width)
  return (
    <svg className="pace" preserveAspectRatio="none" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <rect className="bg" width={width} height={height} />
      <rect className={seconds > median ? 'over' : 'fg'} width={at(seconds)} height={height} />
      <rect className="tick" x={at(median)} width="1.4" height={height} />
    </svg>
  )
}
