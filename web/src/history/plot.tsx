import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { Axis, Options, Series } from 'uplot'
import type { HistoryDay } from '../../../contract/history.ts'
import { useColours } from '../ui/colours.ts'
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
  '--locked-mark',
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
  /** Locked times, a rail below the days, on an axis on which day `n` goes from `n - 0.5` to `n + 0.5`. */
  readonly fields: readonly (readonly [from: number, to: number])[]
}

type Props = PlotData & {
  /** The plot in a sentence: it is one stop for the keyboard and the ear. */
  label: string
  /** Said while a day is pointed at. */
  titleOf: (day: HistoryDay) => string
  /** A click at a height of a day's column. */
  onPick?: (day: HistoryDay, height: number) => void
}

type Pointed = { readonly index: number /** In pixels from the left end. */; readonly left: number }

/**
 * A chart of days, drawn when the library has come; until then its place is kept. After an upgrade an open page may ask for a
 * file that is gone. The pointer and the arrow keys show the values of a day.
 */
export function Plot({ label, titleOf, onPick, ...data }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<Chart>(undefined)
  const [outcome, setOutcome] = useState<'drawn' | 'failed'>()
  const [pointed, setPointed] = useState<Pointed>()
  const scheme = useColours()
  const handlers = useRef({ setPointed, onPick })
  handlers.current = { setPointed, onPick }
  const drawn = JSON.stringify([data.days, data.bars, data.lines, data.ticks, data.fields, scheme])
  const newest = useRef(data)
  newest.current = data
  // biome-ignore lint/correctness/useExhaustiveDependencies: `drawn` says whether the data or the colours are other ones
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const drawing = draw(element, newest.current, handlers).then(
      (made) => {
        chart.current = made
        setOutcome('drawn')
        return made
      },
      () => setOutcome('failed'),
    )
    return () => void drawing.then((made) => made?.remove())
  }, [drawn])
  if (outcome === 'failed') return <p className="why">The chart could not be loaded. Reload the page.</p>
  const onKeyDown = (event: KeyboardEvent) => {
    const last = data.days.length - 1
    const at = pointed?.index
    const to = { ArrowLeft: (at ?? last + 1) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: last }[event.key]
    if (event.key === 'Escape') chart.current?.point(undefined)
    if (to === undefined) return
    event.preventDefault()
    chart.current?.point(Math.min(last, Math.max(0, to)))
  }
  const day = data.days[pointed?.index ?? -1]
  return (
    <div className="plot-frame">
      <div
        className={`plot-area ${onPick === undefined ? '' : 'can-pick'}`}
        ref={place}
        role="img"
        aria-label={label}
        aria-busy={outcome === undefined}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the sentence is a stop; its figures are links in the table below
        tabIndex={0}
        onKeyDown={onKeyDown}
        onBlur={() => chart.current?.point(undefined)}
      />
      <p className="plot-tip" role="status" style={{ left: pointed?.left ?? 0 }}>
        {day === undefined ? '' : titleOf(day)}
      </p>
    </div>
  )
}

/** A day is pointed at by its index. */
type Chart = { readonly remove: () => void; readonly point: (index: number | undefined) => void }

const height = 192
const axisWidth = 72
const phoneWidth = 480
const railHeight = 4
const tipWidth = 224

type Handlers = {
  readonly current: { setPointed: (pointed: Pointed | undefined) => void; onPick: Props['onPick'] | undefined }
}

async function draw(element: HTMLElement, data: PlotData, handlers: Handlers): Promise<Chart> {
  const [{ default: UPlot }] = await Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')])
  if (!element.isConnected) return { remove: () => undefined, point: () => undefined }
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
    cursor: { points: { show: false }, drag: { x: false, y: false }, y: false },
    scales: {
      x: { time: false, range: [-0.5, days.length - 0.5] },
      y: { range: [ticks[0] ?? 0, ticks.at(-1) ?? 1] },
    },
    axes: axesOf(data, colours),
    series,
    hooks: {
      draw: [
        (plot) => {
          const { ctx, bbox } = plot
          ctx.fillStyle = colours['--locked-mark']
          for (const [from, to] of fields) {
            const left = plot.valToPos(from, 'x', true)
            const width = Math.max(1, plot.valToPos(to, 'x', true) - left)
            ctx.fillRect(left, bbox.top + bbox.height, width, railHeight * devicePixelRatio)
          }
        },
      ],
      setCursor: [
        ({ cursor: { idx, left = -1 }, over }) => {
          const isOnDay = typeof idx === 'number' && left >= 0
          const inset = Math.min(tipWidth / 2, over.clientWidth / 2)
          const middle = Math.min(over.clientWidth - inset, Math.max(inset, left)) + over.offsetLeft
          handlers.current.setPointed(isOnDay ? { index: idx, left: middle } : undefined)
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
  return {
    remove() {
      resizing.disconnect()
      plot.destroy()
    },
    point: (index) => plot.setCursor({ left: index === undefined ? -1 : plot.valToPos(index, 'x'), top: 0 }),
  }
}

function axesOf({ days, ticks, tickWords }: PlotData, colours: PlotColours): Axis[] {
  const font = `12px ${getComputedStyle(document.body).fontFamily}`
  const common = { font, stroke: colours['--ink-3'], ticks: { show: false } }
  return [
    {
      ...common,
      size: 32,
      gap: 8,
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
