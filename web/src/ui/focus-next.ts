/** Moves the focus to the next (1) or previous (-1) of these elements; from outside them to the first or the last. */
export function focusNext(elements: readonly HTMLElement[], step: 1 | -1): void {
  const at = elements.findIndex((element) => element.matches(':focus'))
  const next = at < 0 ? (step === 1 ? 0 : elements.length - 1) : at + step
  elements[next]?.focus()
}
