import { oneLine } from '../../contract/fields.ts'
import { type CiName, ciOf, type Variables } from '../input/ci-defaults.ts'
import { type Markup, markupOf } from './markup.ts'
import { elapsed } from './words.ts'

export type Output = { readonly write: (text: string) => unknown; readonly isTTY?: boolean; readonly columns?: number }

/** Where a run says what happens. The rows are its deployments. */
export type Screen = {
  readonly mask: (secret: string) => void
  /** A deployment begins: `title` with the address of its page. */
  readonly begin: (row: Row) => void
  readonly step: (row: Row, atSeconds: number, text: string) => void
  /** The last step of a deployment. */
  readonly finish: (row: Row, atSeconds: number, text: string) => void
  /** A sentence about the run, on a line of its own. */
  readonly say: (text: string) => void
  /** Ends the progress; then come reports. */
  readonly end: () => void
  readonly report: (lines: readonly string[]) => void
  readonly annotate: (title: string, message: string) => void
}

export type Row = { readonly app: string; readonly title: string; readonly url: string; readonly startedMs: number }

export type ScreenOptions = {
  readonly output: Output
  readonly variables: Variables
  /** Of all rows, so that columns fit. */
  readonly names: readonly string[]
}

const heartbeatMs = 60_000
const redrawMs = 1_000

/** A live line for each deployment on a terminal; else a line for each step. Jenkins fakes a terminal. */
export function createScreen({ output, variables, names }: ScreenOptions): Screen {
  const ci = ciOf(variables)
  const isLive = output.isTTY === true && ci === undefined && !variables.CI && variables.TERM !== 'dumb'
  const markup = markupOf(ci)
  const print = (text: string) => void output.write(`${text}\n`)
  const label = createLabel(names)
  const paint = isColoured(output, variables, ci) ? colours : noColours
  return isLive ? createLiveScreen({ output, print, label, paint }) : createLineScreen({ print, markup, label, paint })
}

/** Names the application in front of a step, where there are several. */
function createLabel(names: readonly string[]) {
  if (names.length <= 1) return () => ''
  const width = Math.min(40, Math.max(...names.map(({ length }) => length)))
  return (app: string) => `${oneLine(app).padEnd(width)}  `
}

type Paint = { readonly bold: (text: string) => string; readonly red: (text: string) => string }
const noColours: Paint = { bold: (text) => text, red: (text) => text }
const colours: Paint = { bold: (text) => `\x1b[1m${text}\x1b[22m`, red: (text) => `\x1b[31m${text}\x1b[39m` }

/** https://no-color.org, and FORCE_COLOR as Node reads it */
function isColoured({ isTTY }: Output, { NO_COLOR, FORCE_COLOR }: Variables, ci: CiName | undefined): boolean {
  if (NO_COLOR) return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return isTTY === true && ci === undefined
}

type Parts = { readonly print: (text: string) => void; readonly label: (app: string) => string; readonly paint: Paint }

const stepOf = (label: string, atSeconds: number, text: string) =>
  `${label}${elapsed(atSeconds).padEnd(6)} ${oneLine(text)}`

function createLineScreen({ print, markup, label, paint }: Parts & { readonly markup: Markup }): Screen {
  const last = new Map<Row, string>()
  let isOpen = false
  let lastPrintedMs = performance.now()
  const printLine = (text: string) => {
    lastPrintedMs = performance.now()
    print(markup.line(text))
  }
  const printMark = (mark: string) => {
    if (mark !== '') print(mark)
  }
  const heartbeat = setInterval(() => {
    if (performance.now() - lastPrintedMs < heartbeatMs) return
    const [[row, text] = [], ...others] = last
    if (row === undefined) return
    const more = others.length === 0 ? '' : `, and ${others.length} more`
    printLine(stepOf(label(row.app), secondsOf(row), `still ${text}${more}`))
  }, heartbeatMs / 4)
  heartbeat.unref()

  return {
    mask: (secret) => printMark(markup.mask(secret)),
    begin(row) {
      if (!isOpen) printMark(markup.begin('Deployments'))
      isOpen = true
      last.set(row, 'in progress')
      printLine(`${row.title}   ${row.url}`)
    },
    step(row, atSeconds, text) {
      last.set(row, text)
      printLine(stepOf(label(row.app), atSeconds, text))
    },
    finish(row, atSeconds, text) {
      last.delete(row)
      printLine(stepOf(label(row.app), atSeconds, text))
    },
    say: (text) => printLine(oneLine(text)),
    end() {
      clearInterval(heartbeat)
      if (isOpen) printMark(markup.end())
      isOpen = false
    },
    report: (lines) => void lines.map((line, index) => printLine(index === 0 ? paint.red(line) : line)),
    annotate: (title, message) => printMark(markup.error(title, message)),
  }
}

function createLiveScreen({ output, print, label, paint }: Parts & { readonly output: Output }): Screen {
  const rows = new Map<Row, string>()
  let drawn = 0
  const erase = () => {
    if (drawn > 0) output.write(`\x1b[${drawn}A\x1b[J`)
    drawn = 0
  }
  const draw = () => {
    erase()
    const width = (output.columns || 80) - 1 // 0 where the size is not known
    for (const [row, text] of rows) {
      print(stepOf(label(row.app), secondsOf(row), text).slice(0, width))
      drawn += 1
    }
  }
  const sayAbove = (text: string) => {
    erase()
    print(text)
    draw()
  }
  const timer = setInterval(draw, redrawMs)
  timer.unref()
  return {
    mask: () => {},
    begin(row) {
      sayAbove(`${paint.bold(row.title)}   ${row.url}`)
      rows.set(row, 'in progress')
      draw()
    },
    step(row, _atSeconds, text) {
      rows.set(row, text)
      draw()
    },
    finish(row, atSeconds, text) {
      rows.delete(row)
      sayAbove(stepOf(label(row.app), atSeconds, text))
    },
    say: (text) => sayAbove(oneLine(text)),
    end() {
      clearInterval(timer)
      erase()
      rows.clear()
    },
    report: (lines) => void lines.map((line, index) => print(index === 0 ? paint.red(line) : line)),
    annotate: () => {},
  }
}

const secondsOf = ({ startedMs }: Row) => (performance.now() - startedMs) / 1_000
