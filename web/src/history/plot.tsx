import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { Axis, Options, Series } from 'uplot'
import type { HistoryDay } from '../../../contract/history.ts'
import { tokenColours } from '../ui/token-colours.ts'
import { shortDay } from './figures.ts'
import { labelledDays, lonelyPoints } from './plot-data.ts'

/** Drawn in this order: solid, dashed, dotted. */
const lineLooks = [
  { colour: '--ink', dash: [] },
  { colour: '--accent-mark', dash: [6, 4] },
  { colour: '--ink-3', dash: [1, 5] },
] as const

const plotColours = [
  '--ink',
  '--ink-3',
  '--accent-mark',
  '--bg',
  '--line',
  '--line-strong',
  '--locked-soft',
  '--deployed-mark',
  '--failed-mark',
  '--aborted-mark',
] as const
type PlotColours = Record<(typeof plotColours)[number], string>

export type PlotData = {
  readonly days: readonly HistoryDay[]
  /** Tops of stacked bars, from the base up, with the name of their colour; or lines, whose gaps are null. */
  readonly bars?: readonly { readonly colour: keyof PlotColours; readonly tops: readonly (number | null)[] }[]
  readonly lines?: readonly (readonly (number | null)[])[]
  readonly ticks: readonly number[]
  readonly tickWords: (value: number) => string
  /** Fields behind the days, on an axis on which day `n` goes from `n - 0.5` to `n + 0.5`. */
  readonly fields: readonly (readonly [from: number, to: number])[]
}

type Props = PlotData & {
  /** The plot in a sentence: it is one stop for the keyboard and the ear. */
  label: string
  /** Said while the pointer is on a day. */
  titleOf: (day: HistoryDay) => string
  /** A click at a height of a day's column. */
  onPick?: (day: HistoryDay, height: number) => void
}

/**
 * A chart of days, drawn when the library has come; until then its place is kept. After an upgrade an open page may ask for a
 * file that is gone.
 */
export function Plot({ label, titleOf, onPick, ...data }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const [outcome, setOutcome] = useState<'drawn' | 'failed'>()
  const scheme = useComputedColorScheme('light')
  const handlers = useRef({ titleOf, onPick })
  handlers.current = { titleOf, onPick }
  const drawn = JSON.stringify([data.days, data.bars, data.lines, data.ticks, data.fields, scheme])
  const newest = useRef(data)
  newest.current = data
  // biome-ignore lint/correctness/useExhaustiveDependencies: `drawn` says whether the data or the colours are other ones
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const chart = draw(element, newest.current, handlers).then(
      (remove) => {
        setOutcome('drawn')
        return remove
      },
      () => setOutcome('failed'),
    )
    return () => void chart.then((remove) => remove?.())
  }, [drawn])
  if (outcome === 'failed') return <p className="why">The chart could not be loaded. Reload the page.</p>
  return (
    <div
      className={`plot-area ${onPick === undefined ? '' : 'can-pick'}`}
      ref={place}
      role="img"
      aria-label={label}
      aria-busy={outcome === undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the sentence is a stop; its figures are links in the table below
      tabIndex={0}
    />
  )
}

const height = 192
const axisWidth = 72
const phoneWidth = 480

type Handlers = { readonly current: { titleOf: Props['titleOf']; onPick: Props['onPick'] | undefined } }

/** Returns how to remove it. */
async function draw(element: HTMLElement, data: PlotData, handlers: Handlers): Promise<() => void> {
  const [{ default: UPlot }] = await Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')])
  if (!element.isConnected) return () => undefined
  const { days, bars = [], lines = [], ticks, fields } = data
  const colours = tokenColours(element, plotColours)
  const columns = UPlot.paths.bars?.({ size: [0.56, 24] })
  const series: Series[] = [
    {},
    // The highest first: each lower part is painted over it.
    ...bars.toReversed().map(
      ({ colour }): Series => ({
        fill: colours[colour],
        stroke: colours['--bg'],
        width: 1,
        points: { show: false },
        ...(columns && { paths: columns }),
      }),
    ),
    ...lines.map((values, index): Series => {
      const { colour, dash } = lineLooks[index] ?? lineLooks[0]
      const lonely = lonelyPoints(values)
      return {
        stroke: colours[colour],
        width: 2,
        dash: [...dash],
        spanGaps: false,
        points: { show: lonely.length > 0, filter: () => [...lonely], size: 5, fill: colours[colour] },
      }
    }),
  ]
  const values = [
    days.map((_, index) => index),
    ...bars.toReversed().map(({ tops }) => [...tops]),
    ...lines.map((line) => [...line]),
  ]
  const options: Options = {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { points: { show: false }, drag: { x: false, y: false }, x: false, y: false },
    scales: {
      x: { time: false, range: [-0.5, days.length - 0.5] },
      y: { range: [ticks[0] ?? 0, ticks.at(-1) ?? 1] },
    },
    axes: axesOf(data, colours),
    series,
    hooks: {
      drawClear: [
        (plot) => {
          const { ctx, bbox } = plot
          ctx.fillStyle = colours['--locked-soft']
          for (const [from, to] of fields) {
            const left = plot.valToPos(from, 'x', true)
            ctx.fillRect(left, bbox.top, Math.max(1, plot.valToPos(to, 'x', true) - left), bbox.height)
          }
        },
      ],
      setCursor: [
        (plot) => {
          const day = days[plot.cursor.idx ?? -1]
          plot.over.title = day === undefined ? '' : handlers.current.titleOf(day)
        },
      ],
    },
  }
  const plot = new UPlot(options, values as [number[], ...(number | null)[][]], element)
  plot.over.addEventListener('click', ({ offsetX, offsetY }) => {
    const day = days[Math.round(plot.posToVal(offsetX, 'x'))]
    if (day !== undefined) handlers.current.onPick?.(day, plot.posToVal(offsetY, 'y'))
  })
  const resizing = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
  resizing.observe(element)
  return () => {
    resizing.disconnect()
    plot.destroy()
  }
}

function axesOf({ days, ticks, tickWords }: PlotData, colours: PlotColours): Axis[] {
  const font = `12px ${getComputedStyle(document.body).fontFamily}`
  const common = { font, stroke: colours['--ink-3'], ticks: { show: false } }
  return [
    {
      ...common,
      size: 28,
      grid: { show: false },
      border: { show: true, stroke: colours['--line-strong'], width: 1 },
      splits: ({ width }) => [...labelledDays(days.length, width < phoneWidth ? 3 : 5)],
      values: (_, at) => at.map((index) => shortDay(days[index]?.day ?? '')),
    },
    {
      ...common,
      size: axisWidth,
      grid: { stroke: colours['--line'], width: 1 },
      splits: () => [...ticks],
      values: (_, at) => at.map(tickWords),
    },
  ]
}
