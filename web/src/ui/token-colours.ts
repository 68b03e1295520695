/**
 * Reads colours of the tokens as a canvas or an image needs them: a custom property is given unresolved, the colour of an
 * element is not.
 */
export function tokenColours<Name extends string>(element: HTMLElement, names: readonly Name[]): Record<Name, string> {
  const probe = element.appendChild(document.createElement('i'))
  const colours = names.map((name) => {
    probe.style.color = `var(${name})`
    return [name, getComputedStyle(probe).color]
  })
  probe.remove()
  return Object.fromEntries(colours)
}
