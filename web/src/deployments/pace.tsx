import { duration } from '../ui/duration.ts'
import { useUsual } from './read-summaries.ts'

const [width, height] = [190, 8]

/** The time taken against the usual one, which is the mark. Nothing where none is known. */
export function Pace({ app, seconds }: { app: string; seconds: number }) {
  const usual = useUsual(app)
  if (usual === undefined) return null
  const { median, p95 = median } = usual
  const at = (moment: number) => Math.min(width, (Math.max(0, moment) / (Math.max(p95, median) * 1.1 || 1)) * width)
  const isLonger = seconds > median
  return (
    <>
      <svg className="pace" preserveAspectRatio="none" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        <rect className="bg" width={width} height={height} />
        <rect className={isLonger ? 'over' : 'fg'} width={at(seconds)} height={height} />
        <rect className="tick" x={at(median)} width="1.4" height={height} />
      </svg>
      <span>
        {isLonger ? 'Longer than usual. ' : ''}Usual {duration(median)} (the mark)
        {usual.p95 === undefined ? '' : `, 95 of 100 within ${duration(p95)}`}
      </span>
    </>
  )
}
