/** How much of each fault: whole numbers from the command line, for short runs. */
type Size = {
  readonly times: number | undefined
  readonly seconds: number | undefined
  readonly tasks: number | undefined
}

/** One line of the report: what was found, beside what is promised. */
type Finding = { readonly figure: string; readonly bar: string; readonly isMet: boolean }

export type Fault = (size: Size) => Promise<Finding>
